//! Why a request came to nothing, as `application/problem+json`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_lang::Report;
use longhaul_runtime::Error;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// What a request came to that came to nothing: boxed, because most come to something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem(Box<Body>);

/// Why a request came to nothing, and what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct Body {
    /// The page of the manual, or `about:blank`.
    #[serde(rename = "type")]
    kind: String,
    /// What happened, a sentence.
    title: String,
    status: u16,
    /// `LH…`.
    code: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Where a workflow or its inputs are at fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<longhaul_lang::diagnostic::Report<'static>>")]
    diagnostics: Vec<Value>,
    /// Seconds to wait.
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, title: impl Into<String>, detail: &str) -> Self {
        Self(Box::new(Body {
            kind: format!("/docs/errors/{code}"),
            title: title.into(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
            diagnostics: Vec::new(),
            retry_after: None,
        }))
    }

    /// Nobody is signed in.
    pub(crate) fn unknown_caller() -> Self {
        let detail = "Open the address that the server printed, or send `Authorization: Bearer TOKEN`; `longhaul serve token` makes a token.";
        Self::new(StatusCode::UNAUTHORIZED, "LH0701", "Nobody is signed in, or the token is wrong.", detail)
    }

    /// The request may not be made.
    pub(crate) fn forbidden(title: &str, detail: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "LH0702", title, detail)
    }

    /// There is no such thing.
    pub(crate) fn missing(title: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "LH0703", title, "It may have been pruned, or belongs to another project.")
    }

    /// It is on another machine.
    pub(super) fn elsewhere(run: &RunId, path: &StepPath, host: &str) -> Self {
        let title = format!("`{path}` was made on {host}; what it said and printed is there, not here.");
        let detail = format!("There: longhaul logs {run} {path}; or ask a server on {host}.");
        Self::new(StatusCode::NOT_FOUND, "LH0703", title, &detail)
    }

    /// The path leads nowhere with this method.
    pub(crate) fn method() -> Self {
        let detail = "docs/reference/api.md lists what there is.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "LH0703", "This address does not take that method.", detail)
    }

    /// The request cannot be read.
    pub(crate) fn unreadable(title: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "LH0704", title, "Nothing was done.")
    }

    /// The request is too large to be read.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        let title = format!("The body has more than {bytes_max} bytes.");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "LH0704", title, "Nothing was done.")
    }

    /// The request did not arrive in time.
    pub(crate) fn too_slow(seconds: u64) -> Self {
        let title = format!("The body did not arrive within {seconds} s.");
        Self::new(StatusCode::REQUEST_TIMEOUT, "LH0704", title, "Nothing was done.")
    }

    /// One token has as many streams as it may have.
    pub(crate) fn too_many_streams(most: usize) -> Self {
        let title = format!("This token has {most} streams open, and that is the most.");
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "LH0710", title, "Close one of them first.");
        problem.0.retry_after = Some(5);
        problem
    }

    /// The run does not take that now.
    pub(crate) fn untimely(title: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "LH0705", sentence(title), "Look at the run again.")
    }

    /// The question belongs to somebody else.
    pub(crate) fn not_theirs(why: &str) -> Self {
        Self::new(StatusCode::CONFLICT, "LH0706", "This question belongs to somebody else.", why)
    }

    /// The key was used before.
    pub(crate) fn used_key() -> Self {
        let detail = "A new request needs a new key; the same one gets the same answer.";
        Self::new(StatusCode::CONFLICT, "LH0707", "This Idempotency-Key was used for another request.", detail)
    }

    /// Inputs or values do not fit.
    pub(crate) fn unfit(title: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "LH0708", sentence(title), "Nothing was done.")
    }

    /// The workflow has mistakes.
    pub(crate) fn mistakes(name: &str, report: &Report) -> Self {
        let title = format!("The workflow `{name}` has mistakes.");
        let found = report.diagnostics.iter().map(|found| json!(found.report(&report.sources)));
        let mut problem = Self::unfit(title);
        problem.0.diagnostics = found.collect();
        problem
    }

    /// The machine fails.
    pub(crate) fn failing(why: impl Into<String>) -> Self {
        let title = sentence(why);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "LH0709", title, "Nothing was done; try again in a while.")
    }

    /// Too many requests.
    pub(crate) fn too_many(seconds: u64) -> Self {
        let title = "There were too many requests.";
        let detail = format!("Wait {seconds} s, then try again.");
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "LH0710", title, &detail);
        problem.0.retry_after = Some(seconds);
        problem
    }
}

/// What somebody says, with a beginning and an end.
fn sentence(text: impl Into<String>) -> String {
    let text: String = text.into();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::UnknownRun(id) => Self::missing(format!("There is no run `{id}`.")),
            Error::Store(longhaul_store::Error::UnknownRun) => Self::missing("There is no such run."),
            Error::Ambiguous(id, all) => Self::missing(format!("More than one run begins with `{id}`: {all}.")),
            Error::Refused(why) => Self::untimely(why),
            Error::Misfit { .. } => Self::unfit(error.to_string()),
            Error::Input(why) => Self::unfit(why.split("; give it with").next().unwrap_or_default()),
            Error::Store(longhaul_store::Error::TooLarge { .. }) => Self::unfit(error.to_string()),
            Error::Store(_) | Error::Damaged(_) | Error::Newer(_) | Error::Files(_) => Self::failing(error.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(axum::body::Body::from(serde_json::to_vec(&self.0).unwrap_or_default()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.0.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
