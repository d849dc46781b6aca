//! A route: method, path, who may take it, and what answers.

use std::pin::Pin;

use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

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

/// How something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Looks.
    Get,
    /// Changes something.
    Post,
}

impl Verb {
    /// As the protocol writes it.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
        }
    }
}

/// Makes the schema of something.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type.
pub(super) fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What a route answers when all is well.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    /// JSON, with one of these statuses.
    Json(&'static [u16], Shape),
    /// Nothing but a status.
    Nothing(u16),
    /// Text of a kind.
    Text(&'static str),
    /// Bytes, as text or as they are.
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
    /// With `{name}` for a segment that is free.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// What it is for, in a line.
    pub(super) about: &'static str,
    pub(super) query: &'static [Param],
    /// The body.
    pub(super) takes: Option<Shape>,
    /// Whether it takes a key under which it is done once.
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
        if route.verb.method() == *method {
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
