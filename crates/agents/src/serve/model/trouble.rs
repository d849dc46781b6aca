//! Reads from a failed response what went wrong.

use longhaul_core::Json;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::wire::text_at;
use crate::contract::AgentTrouble;

/// The common code for a context that is too long.
pub(super) const OVERFLOW: &str = "context_length_exceeded";
const MESSAGE_BYTES_MAX: usize = 2_000;

/// The messages of many servers for a prompt that is too long.
const OVERFLOWS: [&str; 9] = [
    OVERFLOW,
    "exceed_context_size",
    "prompt is too long",
    "maximum context length",
    "exceed context limit",
    "exceeds the context window",
    "available context size",
    "maximum number of tokens",
    "request_too_large",
];

/// The status of errors inside a stream, which have none of their own.
const STATUSES: [(&str, u16); 8] = [
    ("overloaded_error", 529),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("authentication_error", 401),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("api_error", 500),
    ("server_error", 500),
];

/// Reads the body of an error.
pub(super) fn told(status: Option<u16>, body: &str) -> AgentTrouble {
    let json: Json = serde_json::from_str(body).unwrap_or(Json::Null);
    let error = json.get("error").filter(|error| error.is_object()).unwrap_or(&json);
    let word = text_at(error, "/code").or_else(|| text_at(error, "/type")).filter(|word| *word != "error");
    // Some servers give every error this type; with the status of a wrong request it says nothing.
    let word = word.filter(|word| *word != "api_error" || status.is_none_or(|status| status >= 500));
    let message = ["/message", "/error", "/detail"].iter().find_map(|name| text_at(error, name)).unwrap_or(body);
    let message = message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)].trim().to_owned();
    let inside = || {
        let number = error.get("code").and_then(Json::as_u64).and_then(|code| u16::try_from(code).ok());
        let known = STATUSES.iter().find(|(name, _)| Some(*name) == word || text_at(error, "/type") == Some(*name));
        number.or_else(|| known.map(|(_, status)| *status))
    };
    let code = if is_overflow(word.unwrap_or_default(), &message) { Some(OVERFLOW) } else { word };
    AgentTrouble {
        is_error: true,
        status: status.or_else(inside),
        code: code.map(str::to_owned),
        message: if message.is_empty() { "the endpoint gave no reason".to_owned() } else { message },
        ..AgentTrouble::default()
    }
}

fn is_overflow(word: &str, message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    OVERFLOWS.iter().any(|sign| word.contains(sign) || message.contains(sign))
}

/// Adds the pause that the headers ask for.
pub(super) fn with_pause(mut trouble: AgentTrouble, headers: &HeaderMap) -> AgentTrouble {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |name: &str| text(name).and_then(|text| text.parse::<f64>().ok()).filter(|number| *number >= 0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole milliseconds are enough")]
    let ms = |number: f64| number as u64;
    let after = number("retry-after-ms").or_else(|| number(RETRY_AFTER.as_str()).map(|seconds| seconds * 1000.0));
    trouble.retry_after_ms = after.map(ms);
    let date = text(RETRY_AFTER.as_str()).and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
    let reset = number("anthropic-ratelimit-unified-reset").and_then(|seconds| i64::try_from(ms(seconds)).ok());
    trouble.resets_at_ms = date
        .map(|date| date.timestamp().as_millisecond())
        .or_else(|| reset.map(|seconds| seconds.saturating_mul(1000)));
    trouble
}

/// The model refused.
pub(super) fn refused(why: &str) -> AgentTrouble {
    let message = if why.is_empty() { "the model refused to answer" } else { why };
    AgentTrouble { stop: Some("refusal".to_owned()), ..AgentTrouble::named("refusal", message) }
}

/// The context is too long.
pub(super) fn overflow(message: &str) -> AgentTrouble {
    AgentTrouble::named(OVERFLOW, message)
}

/// The answer is longer than the model may write.
pub(super) fn too_long() -> AgentTrouble {
    let message = "the model wrote as much as it may, and was not done; ask for less at once, or allow more";
    AgentTrouble { stop: Some("max_tokens".to_owned()), ..AgentTrouble::named("max_tokens", message) }
}

/// The answer was cut off, and a part of a value is no value.
pub(super) fn cut_value() -> AgentTrouble {
    let message = "the answer was cut off before its end: the model wrote as much as it may; answer in fewer words";
    AgentTrouble::named("cut_value", message)
}

/// The model writes calls that cannot be read.
pub(super) fn misread() -> AgentTrouble {
    let message =
        "the model writes its tool calls as text that cannot be read; use a model or a server that supports tools";
    AgentTrouble::named("tool_call_as_text", message)
}

/// The model returned no text.
pub(super) fn empty() -> AgentTrouble {
    AgentTrouble::named("empty_answer", "the model answered nothing")
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn check(status: Option<u16>, body: &str, expected: (Option<u16>, Option<&str>, &str)) {
        let trouble = told(status, body);
        assert!(trouble.is_error);
        assert_eq!((trouble.status, trouble.code.as_deref(), trouble.message.as_str()), expected, "{body}");
    }

    #[test]
    fn every_server_has_its_own_way_to_complain() {
        check(
            Some(429),
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
            (Some(429), Some("rate_limit_error"), "slow down"),
        );
        check(
            Some(429),
            r#"{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            (Some(429), Some("insufficient_quota"), "pay"),
        );
        check(Some(404), r#"{"error":"model 'x' not found"}"#, (Some(404), None, "model 'x' not found"));
        check(Some(422), r#"{"detail":"no"}"#, (Some(422), None, "no"));
        check(Some(502), "<html>Bad gateway</html>", (Some(502), None, "<html>Bad gateway</html>"));
        check(Some(500), "", (Some(500), None, "the endpoint gave no reason"));
    }

    #[test]
    fn errors_inside_a_stream_get_their_status_back() {
        check(
            None,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
            (Some(529), Some("overloaded_error"), "busy"),
        );
        check(None, r#"{"error":{"code":429,"message":"upstream"}}"#, (Some(429), None, "upstream"));
        check(None, r#"{"type":"error","code":"server_error","message":"x"}"#, (Some(500), Some("server_error"), "x"));
    }

    #[test]
    fn a_long_prompt_has_one_name() {
        for body in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
            r#"{"error":{"code":400,"message":"x","type":"exceed_context_size_error"}}"#,
            r#"{"error":"This model's maximum context length is 8 tokens"}"#,
        ] {
            assert_eq!(told(Some(400), body).code.as_deref(), Some(OVERFLOW), "{body}");
        }
    }

    #[test]
    fn a_pause_is_a_length_or_a_moment() {
        let pause = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            let trouble = with_pause(AgentTrouble::default(), &headers);
            (trouble.retry_after_ms, trouble.resets_at_ms)
        };
        assert_eq!(pause("retry-after", "7"), (Some(7_000), None));
        assert_eq!(pause("retry-after-ms", "1500"), (Some(1_500), None));
        assert_eq!(pause("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), (None, Some(784_111_777_000)));
        assert_eq!(pause("anthropic-ratelimit-unified-reset", "1700000000"), (None, Some(1_700_000_000_000)));
        assert_eq!(pause("retry-after", "soon"), (None, None));
    }
}
