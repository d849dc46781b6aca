//! Errors in the form of each vendor: status, headers, body.
//!
//! The sentences matter: agents and Longhaul distinguish errors by their words.

mod limits;

use serde_json::{Map, Value, json};

use super::api::Api;
use super::request::Request;
use super::script::{Kind, Problem};

/// An error as it goes over the wire.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

/// An error before it gets the shape of an API.
struct Said {
    status: u16,
    kind: &'static str,
    message: String,
    /// Further entries of the error.
    more: Map<String, Value>,
    headers: Vec<(&'static str, String)>,
}

impl Said {
    fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), more: Map::new(), headers: Vec::new() }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// The error of a step, at a time in seconds since 1970.
pub(super) fn failure(problem: &Problem, request: &Request, now: u64) -> Failure {
    let mut said = said(problem, request, now);
    if let Some(seconds) = &problem.retry_after {
        said.headers.retain(|(name, _)| *name != "retry-after");
        said = said.header("retry-after", seconds.clone());
    }
    said.status = problem.status.unwrap_or(said.status);
    said.message = problem.message.clone().unwrap_or(said.message);
    shaped(request.api, said)
}

/// An error of this endpoint, not of the script.
pub(super) fn ours(api: Api, message: &str) -> Failure {
    shaped(api, bad_request(api, message))
}

fn shaped(api: Api, said: Said) -> Failure {
    let Said { status, kind, message, more, headers } = said;
    let mut error = match api {
        Api::Anthropic => json!({"type": kind, "message": message}),
        Api::Gemini => json!({"code": status, "message": message, "status": kind}),
        Api::Responses | Api::Chat => json!({"message": message, "type": kind, "param": null, "code": null}),
    };
    if let Value::Object(entries) = &mut error {
        entries.extend(more);
    }
    let body = match api {
        Api::Anthropic => json!({"type": "error", "error": error, "request_id": "req_scripted"}),
        _ => json!({"error": error}),
    };
    Failure { status, headers, body }
}

fn said(problem: &Problem, request: &Request, now: u64) -> Said {
    let api = request.api;
    match problem.kind {
        Kind::RateLimit => limits::rate_limit(request, problem.retry_after.as_deref().unwrap_or("1")),
        Kind::UsageLimit(limit) => limits::usage_limit(api, limit, problem.reset, now),
        Kind::Billing => limits::billing(api),
        Kind::Overloaded => overloaded(api),
        Kind::ServerError => server_error(api),
        Kind::ContextOverflow => context_overflow(api),
        Kind::Auth => auth(api),
        Kind::Forbidden => forbidden(api),
        Kind::NoModel => no_model(api, &request.model),
        Kind::BadRequest => bad_request(api, "The script says that this request is wrong."),
    }
}

fn overloaded(api: Api) -> Said {
    match api {
        Api::Anthropic => Said::new(529, "overloaded_error", "Overloaded"),
        Api::Gemini => Said::new(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        Api::Responses | Api::Chat => {
            let words = "Our servers are currently overloaded. Please try again later.";
            Said::new(503, "service_unavailable_error", words).with("code", "server_is_overloaded")
        }
    }
}

fn server_error(api: Api) -> Said {
    match api {
        Api::Anthropic => Said::new(500, "api_error", "Internal server error"),
        Api::Gemini => Said::new(500, "INTERNAL", "An internal error has occurred."),
        Api::Responses | Api::Chat => {
            Said::new(500, "server_error", "The server had an error while processing your request. Sorry about that!")
        }
    }
}

fn context_overflow(api: Api) -> Said {
    let openai = |param: &str, words: &str| {
        Said::new(400, "invalid_request_error", words).with("param", param).with("code", "context_length_exceeded")
    };
    match api {
        Api::Anthropic => Said::new(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        Api::Gemini => {
            let words = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
            Said::new(400, "INVALID_ARGUMENT", words)
        }
        Api::Responses => openai(
            "input",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        Api::Chat => {
            let words = "This model's maximum context length is 128000 tokens. However, your messages resulted in \
                         213462 tokens. Please reduce the length of the messages.";
            openai("messages", words)
        }
    }
}

fn auth(api: Api) -> Said {
    match api {
        Api::Anthropic => Said::new(401, "authentication_error", "invalid x-api-key"),
        Api::Gemini => {
            let reason = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            }]);
            let words = "API key not valid. Please pass a valid API key.";
            Said::new(400, "INVALID_ARGUMENT", words).with("details", reason)
        }
        Api::Responses | Api::Chat => {
            let words = "Incorrect API key provided. You can find your API key in your account settings.";
            Said::new(401, "invalid_request_error", words).with("code", "invalid_api_key")
        }
    }
}

fn forbidden(api: Api) -> Said {
    let kind = if api == Api::Gemini { "PERMISSION_DENIED" } else { "permission_error" };
    Said::new(403, kind, "Your API key does not have permission to use this resource.")
}

fn no_model(api: Api, model: &str) -> Said {
    match api {
        Api::Anthropic => Said::new(404, "not_found_error", format!("model: {model}")),
        Api::Gemini => {
            let words = "is not found for API version v1beta, or is not supported for generateContent.";
            Said::new(404, "NOT_FOUND", format!("models/{model} {words}"))
        }
        Api::Responses | Api::Chat => {
            let words = format!("The model `{model}` does not exist or you do not have access to it.");
            Said::new(404, "invalid_request_error", words).with("code", "model_not_found")
        }
    }
}

fn bad_request(api: Api, message: &str) -> Said {
    let kind = if api == Api::Gemini { "INVALID_ARGUMENT" } else { "invalid_request_error" };
    Said::new(400, kind, message)
}
