//! A request as handlers see it, and their reply.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller, Face, Origin};
use longhaul_core::path::StepPath;
use longhaul_core::value::{self, Unread};
use longhaul_runtime::Loaded;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::keys::{Holder, Role};
use super::passes::Pass;
use super::problem::Problem;
use super::serve::Inner;
use crate::app_state::AppState;

/// The caller of a request.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// The role of the caller.
    pub(super) role: Role,
    /// Whether the request comes from one of our pages.
    pub(super) is_page: bool,
    /// The token or the cookie of the caller.
    pub(super) holder: Holder,
    /// The person who owns the token; `None` if the token names nobody.
    pub(super) user: Option<String>,
}

/// A request that passed the guard.
pub(super) struct Call {
    pub(super) site: Arc<Inner>,
    /// The caller; `None` on open routes.
    pub(super) visitor: Option<Visitor>,
    pub(super) client: IpAddr,
    pub(super) params: Vec<(&'static str, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Call {
    pub(super) fn state(&self) -> &AppState {
        &self.site.desk
    }

    /// The caller for a run: the person who owns the token.
    pub(super) fn caller(&self) -> Caller {
        let person = self.visitor.as_ref().and_then(|visitor| visitor.user.as_ref());
        let auth = if person.is_some() { Auth::Token } else { Auth::SharedToken };
        Caller { who: self.origin(), auth, ..Caller::default() }
    }

    /// The owner of a run that this request starts. A token without a person acts as the user who runs the server.
    pub(super) fn origin(&self) -> Origin {
        let is_page = self.visitor.as_ref().is_some_and(|visitor| visitor.is_page);
        let face = if is_page { Face::Dashboard } else { Face::Api };
        let server = self.state().origin().clone();
        let user = self.visitor.as_ref().and_then(|visitor| visitor.user.clone()).or_else(|| server.user.clone());
        Origin { face, user, ..server }
    }

    /// Reserves one of the caller's streams.
    pub(super) fn pass(&self) -> Result<Pass, Problem> {
        self.passes(1)
    }

    /// Reserves several of the caller's streams, for one connection.
    pub(super) fn passes(&self, streams: usize) -> Result<Pass, Problem> {
        let visitor = self.visitor.as_ref().ok_or_else(Problem::unknown_caller)?;
        self.site.passes.streams(&visitor.holder, streams)
    }

    /// A free segment of the path.
    pub(super) fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// The run that the path names.
    pub(super) async fn run(&self) -> Result<RunId, Problem> {
        let id = self.param("run");
        // Only these characters can be in an id, and an id is not longer.
        if id.len() > 40 || id.bytes().any(|byte| !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'))
        {
            return Err(Problem::missing("There is no such run."));
        }
        Ok(self.state().engine().find(id).await?)
    }

    /// The run that the path names, with its plan and state.
    pub(super) async fn load(&self) -> Result<(RunId, Loaded), Problem> {
        let run = self.run().await?;
        let loaded = self.state().engine().load(&run).await?;
        Ok((run, loaded))
    }

    /// A value of the query; the first one if there are several.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of the query.
    pub(super) fn query_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A number of the query, within bounds.
    pub(super) fn number(&self, name: &str, usual: u64, bounds: std::ops::RangeInclusive<u64>) -> Result<u64, Problem> {
        let Some(text) = self.query(name) else { return Ok(usual) };
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (bounds.start(), bounds.end());
            Problem::unreadable(format!("`{name}` must be a whole number from {least} to {most}."))
        })
    }

    /// The step that the query names.
    pub(super) fn path(&self) -> Result<StepPath, Problem> {
        let text = self.query("path").ok_or_else(|| Problem::unreadable("`path` is missing in the query."))?;
        path_of(text)
    }

    /// The body as this type. A missing body counts as an empty object.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
        if !self.body.is_empty() && !self.headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            return Err(Problem::unreadable("The body must be `application/json`."));
        }
        let text: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        if let Ok(Err(Unread::Lossy(why))) = std::str::from_utf8(text).map(value::read) {
            return Err(Problem::unreadable(format!("The body cannot be taken as it is: {why}.")));
        }
        serde_json::from_slice(text).map_err(|error| Problem::unreadable(format!("The body does not fit: {error}.")))
    }
}

/// A path of a step.
pub(super) fn path_of(text: &str) -> Result<StepPath, Problem> {
    text.parse().map_err(|why| Problem::unreadable(format!("`{text}` is not the path of a step: {why}.")))
}

/// The reply of a handler.
pub(super) struct Reply(Response);

impl Reply {
    /// Replies with a JSON value.
    pub(super) fn json(value: &impl Serialize) -> Result<Self, Problem> {
        Self::json_with(StatusCode::OK, value)
    }

    /// Replies with a JSON value and another status.
    pub(super) fn json_with(status: StatusCode, value: &impl Serialize) -> Result<Self, Problem> {
        let bytes = serde_json::to_vec(value).map_err(|error| Problem::failing(error.to_string()))?;
        Ok(Self::bytes(status, "application/json", bytes))
    }

    /// Replies with bytes as they are.
    pub(super) fn bytes(status: StatusCode, kind: &'static str, bytes: impl Into<Body>) -> Self {
        Self((status, [(header::CONTENT_TYPE, kind)], bytes.into()).into_response())
    }

    /// Replies with a page of the dashboard.
    pub(super) fn page(path: &str, headers: &HeaderMap, status: StatusCode) -> Self {
        let mut response = super::pages::page(path, headers);
        *response.status_mut() = status;
        Self(response)
    }

    /// Replies with a status only.
    pub(super) fn status(status: StatusCode) -> Self {
        Self(status.into_response())
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
        self
    }

    pub(super) fn into_response(self) -> Response {
        self.0
    }
}
