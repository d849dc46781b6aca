//! A route: method, path, required role, and handler.

use std::pin::Pin;

use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::call::{Call, Reply};
use super::keys::Role;
use super::problem::Problem;

/// The future of a handler.
pub(super) type Answering = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Everybody: the answer has no secrets.
    Open,
    /// Callers with at least this role.
    Role(Role),
}

/// The method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Reads.
    Get,
    /// Changes something.
    Post,
}

impl Verb {
    /// The HTTP method.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
        }
    }
}

/// Makes a schema.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub(super) fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The answer of a route on success.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    /// JSON, with one of these statuses.
    Json(&'static [u16], Shape),
    /// Only a status.
    Nothing(u16),
    /// Text of this content type.
    Text(&'static str),
    /// A file, as text or as bytes.
    File,
}

/// A value of the query.
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) is_needed: bool,
    pub(super) about: &'static str,
    pub(super) shape: Shape,
}

/// A route.
pub(super) struct Route {
    pub(super) verb: Verb,
    /// The path, with `{name}` for a variable segment.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// What the route does, in one line.
    pub(super) about: &'static str,
    pub(super) query: &'static [Param],
    /// The schema of the body.
    pub(super) takes: Option<Shape>,
    /// Whether it accepts an idempotency key.
    pub(super) is_keyed: bool,
    pub(super) gives: Gives,
    pub(super) answer: fn(Call) -> Answering,
}

impl Route {
    pub(super) const fn get(
        path: &'static str,
        access: Access,
        about: &'static str,
        answer: fn(Call) -> Answering,
    ) -> Self {
        let (verb, gives) = (Verb::Get, Gives::Nothing(200));
        Self { verb, path, access, about, query: &[], takes: None, is_keyed: false, gives, answer }
    }

    pub(super) const fn post(
        path: &'static str,
        access: Access,
        about: &'static str,
        answer: fn(Call) -> Answering,
    ) -> Self {
        let (verb, gives) = (Verb::Post, Gives::Nothing(204));
        Self { verb, path, access, about, query: &[], takes: None, is_keyed: false, gives, answer }
    }

    pub(super) const fn asks(mut self, query: &'static [Param]) -> Self {
        self.query = query;
        self
    }

    pub(super) const fn takes(mut self, shape: Shape) -> Self {
        self.takes = Some(shape);
        self
    }

    pub(super) const fn keyed(mut self) -> Self {
        self.is_keyed = true;
        self
    }

    pub(super) const fn gives(mut self, gives: Gives) -> Self {
        self.gives = gives;
        self
    }
}

/// The result of looking up a request.
pub(super) enum Match {
    /// A route, with the values of its variable segments.
    Route(&'static Route, Vec<(&'static str, String)>),
    /// The path exists, but not with this method.
    OtherMethod,
    /// The path does not exist.
    Nothing,
}

/// Finds the route of a request. `HEAD` is `GET` without the body.
pub(super) fn find(table: &'static [Route], method: &Method, path: &str) -> Match {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let mut found = Match::Nothing;
    for route in table {
        let Some(params) = fits(route.path, path) else { continue };
        if route.verb.method() == *method {
            return Match::Route(route, params);
        }
        found = Match::OtherMethod;
    }
    found
}

/// The variable segments of a path, if it matches the pattern. The path is split before it is decoded.
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
