//! A route: method, path, who may take it, and what answers.

use std::pin::Pin;

use axum::http::Method;

use super::call::{Call, Reply};
use super::keys::Role;
use super::problem::Problem;

/// What a call comes to, some time.
pub(super) type Answering = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// Who may take a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody: there is nothing secret in the answer.
    Open,
    /// Whoever has at least this role.
    Role(Role),
}

/// A route.
pub(super) struct Route {
    pub(super) method: Method,
    /// With `{name}` for a segment that is free.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// What it is for, in a line.
    pub(super) about: &'static str,
    pub(super) answer: fn(Call) -> Answering,
}

/// What a request leads to.
pub(super) enum Match {
    /// A route, with what its free segments hold.
    Route(&'static Route, Vec<(&'static str, String)>),
    /// A path that is known, with another method.
    OtherMethod,
    /// Nothing.
    Nothing,
}

/// Finds the route of a request. `HEAD` is `GET` without the body.
pub(super) fn find(table: &'static [Route], method: &Method, path: &str) -> Match {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let mut found = Match::Nothing;
    for route in table {
        let Some(params) = fits(route.path, path) else { continue };
        if route.method == *method {
            return Match::Route(route, params);
        }
        found = Match::OtherMethod;
    }
    found
}

/// The free segments of a path, if it is of a pattern. Segments are cut before they are decoded.
fn fits(pattern: &'static str, path: &str) -> Option<Vec<(&'static str, String)>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut params = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(params),
            (Some(wanted), Some(given)) => match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) if !given.is_empty() => {
                    let value = percent_encoding::percent_decode_str(given).decode_utf8().ok()?;
                    params.push((name, value.into_owned()));
                }
                None if wanted == given => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_segment_by_segment() {
        let params = |path| fits("/api/v1/workflows/{name}", path).map(|params| params[0].1.clone());
        assert_eq!(params("/api/v1/workflows/tdd").as_deref(), Some("tdd"));
        assert_eq!(params("/api/v1/workflows/a%2Fb%20c").as_deref(), Some("a/b c"));
        for path in [
            "/api/v1/workflows",
            "/api/v1/workflows/",
            "/api/v1/workflows/a/b",
            "/api/v1/workflows/%ff",
            "//api/v1/workflows/a",
        ] {
            assert_eq!(params(path), None, "{path}");
        }
    }
}
