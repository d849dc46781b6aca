//! Errors of requests, as `application/problem+json`.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::{Rejection, RejectionKind, Remedy};
use longhaul_core::schema::Violation;
use longhaul_lang::CheckReport;
use longhaul_runtime::Error;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The error of a request. It is boxed because most requests succeed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem(Box<Body>);

/// Why a request failed, and what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct Body {
    /// The page of the manual, or `about:blank`.
    #[serde(rename = "type")]
    kind: String,
    /// The problem, as a sentence.
    title: String,
    status: u16,
    /// The code of the problem: `LH…`.
    code: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The kind of rejection, if a command was rejected.
    #[serde(rename = "kind", skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The command that was applied first, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<First>,
    /// The places of the given value that do not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<Violation>,
    /// Findings about the workflow or its inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<longhaul_lang::diagnostic::DiagnosticReport<'static>>")]
    diagnostics: Vec<Value>,
    /// How many seconds to wait.
    #[serde(skip)]
    retry_after: Option<u64>,
}

/// A command that was applied before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct First {
    /// The outcome: `approved`, `denied`, `cancelled`, …
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Milliseconds since 1970, UTC.
    at: i64,
}

/// The status for each kind of rejection.
fn status(kind: RejectionKind) -> StatusCode {
    match kind {
        RejectionKind::NotFound => StatusCode::NOT_FOUND,
        RejectionKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        RejectionKind::Forbidden => StatusCode::FORBIDDEN,
        RejectionKind::Conflict | RejectionKind::Untimely => StatusCode::CONFLICT,
        RejectionKind::Busy | RejectionKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// What to do next, if a rejection does not say.
fn usual(kind: RejectionKind) -> &'static str {
    match kind {
        RejectionKind::NotFound => "It may have been pruned, or belongs to another project.",
        RejectionKind::Invalid => "Nothing was done.",
        RejectionKind::Forbidden => "",
        RejectionKind::Conflict | RejectionKind::Untimely => "Look at the run again.",
        RejectionKind::Busy | RejectionKind::Unavailable => "Nothing was done; try again in a while.",
    }
}

/// A remedy in the words of the API.
pub(super) fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::GiveInput(_) => "give it in `inputs`".to_owned(),
        Remedy::AnswerInstead => "or answer in its place, with `override: true`".to_owned(),
        Remedy::ListRuns => {
            "`GET /api/v1/runs` lists the runs; it may have been pruned, or belong to another project".to_owned()
        }
        Remedy::Follow(_) => "the `schema` of the question says which values fit".to_owned(),
        _ => remedy.plain(),
    }
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, title: impl Into<String>, detail: &str) -> Self {
        Self(Box::new(Body {
            kind: format!("/docs/errors/{code}"),
            title: title.into(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
            reason: None,
            first: None,
            fields: Vec::new(),
            diagnostics: Vec::new(),
            retry_after: None,
        }))
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// No valid token or cookie.
    pub(crate) fn unknown_caller() -> Self {
        let detail = "Open the address that the server printed, or send `Authorization: Bearer TOKEN`; `longhaul serve token` makes a token.";
        Self::new(StatusCode::UNAUTHORIZED, "LH0701", "Nobody is signed in, or the token is wrong.", detail)
    }

    /// The caller may not make this request.
    pub(crate) fn forbidden(title: &str, detail: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "LH0702", title, detail)
    }

    /// The thing does not exist.
    pub(crate) fn missing(title: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "LH0703", title, "It may have been pruned, or belongs to another project.")
    }

    /// The files are on another machine.
    pub(super) fn elsewhere(run: &RunId, path: &StepPath, host: &str) -> Self {
        let title = format!("`{path}` ran on {host}; its transcript and output are there, not here.");
        let detail = format!("There: longhaul logs {run} {path}; or ask a server on {host}.");
        Self::new(StatusCode::NOT_FOUND, "LH0703", title, &detail)
    }

    /// The path does not support this method.
    pub(crate) fn method() -> Self {
        let detail = "docs/reference/api.md lists all routes.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "LH0703", "This address does not support that method.", detail)
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

    /// A token has too many streams.
    pub(crate) fn too_many_streams(most: usize) -> Self {
        let title = format!("This token has {most} open streams, which is the limit.");
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "LH0710", title, "Close one of them first.");
        problem.0.retry_after = Some(5);
        problem
    }

    /// The idempotency key was used for another request.
    pub(crate) fn used_key() -> Self {
        let detail = "A new request needs a new key; the same one gets the same answer.";
        Self::new(StatusCode::CONFLICT, "LH0707", "This Idempotency-Key was used for another request.", detail)
    }

    /// Inputs or values do not fit.
    pub(crate) fn unfit(title: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "LH0708", sentence(title), "Nothing was done.")
    }

    /// The workflow has mistakes.
    pub(crate) fn mistakes(name: &str, report: &CheckReport) -> Self {
        let title = format!("The workflow `{name}` has mistakes.");
        let found = report.diagnostics.iter().map(|found| json!(found.report(&report.sources)));
        let mut problem = Self::unfit(title);
        problem.0.diagnostics = found.collect();
        problem
    }

    /// The machine has a problem.
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

/// Turns a text into a sentence, with a capital letter and a full stop.
fn sentence(text: impl Into<String>) -> String {
    let text: String = text.into();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        let kind = rejection.kind;
        let detail = rejection.remedy.as_ref().map_or_else(|| usual(kind).to_owned(), |known| sentence(remedy(known)));
        let mut problem = Self::new(status(kind), rejection.code, sentence(rejection.message), &detail);
        problem.0.reason = Some(kind.word());
        problem.0.first = rejection.first.map(|first| First { what: first.what, by: first.by, at: first.at });
        problem.0.fields = rejection.fields;
        problem.0.retry_after = (kind == RejectionKind::Busy).then_some(1);
        problem
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        error.rejection().into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
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

#[cfg(test)]
mod tests {
    use longhaul_core::rejection::FirstCommand;

    use super::*;

    #[test]
    fn each_kind_of_rejection_has_one_status() {
        let statuses = RejectionKind::ALL.map(|kind| (kind.word(), status(kind).as_u16()));
        let expected = [
            ("not_found", 404),
            ("invalid", 422),
            ("forbidden", 403),
            ("conflict", 409),
            ("untimely", 409),
            ("busy", 503),
            ("unavailable", 503),
        ];
        assert_eq!(statuses, expected);
    }

    #[test]
    fn a_rejection_becomes_a_problem_with_its_remedy_and_who_was_first() {
        let first = FirstCommand { what: "approved".to_owned(), by: Some("kim".to_owned()), at: 0 };
        let problem: Problem = Rejection::conflict("`go` has been answered").after(first).into();
        assert_eq!(
            serde_json::to_value(&problem.0).unwrap(),
            json!({"type": "/docs/errors/LH0705", "title": "`go` has been answered: kim approved it at 1970-01-01T00:00:00Z.",
                "status": 409, "code": "LH0705", "detail": "Look at the run again.", "kind": "conflict",
                "first": {"what": "approved", "by": "kim", "at": 0}})
        );
        let at = vec![Violation { at: "/port".to_owned(), message: "This must be at most 9.".to_owned() }];
        let unfit = Rejection::invalid("`port`: 10 is too much").with(Remedy::Follow("{}".to_owned())).at(at);
        assert_eq!(
            serde_json::to_value(Problem::from(unfit).0).unwrap(),
            json!({"type": "/docs/errors/LH0708", "title": "`port`: 10 is too much.", "status": 422, "code": "LH0708",
                "detail": "The `schema` of the question says which values fit.", "kind": "invalid",
                "fields": [{"at": "/port", "message": "This must be at most 9."}]})
        );
        let missing = Rejection::invalid("the input `a` is missing").with(Remedy::GiveInput("a".to_owned()));
        let problem: Problem = missing.into();
        assert_eq!((problem.0.status, problem.0.detail.as_deref()), (422, Some("Give it in `inputs`.")));
    }
}
