//! Limits: rate limits, which a short wait ends, and limits of plans, money and days, which it does not.

use serde_json::{Value, json};

use super::Said;
use crate::model_server::api::Api;
use crate::model_server::request::Request;
use crate::model_server::script::{Limit, Reset};

/// 2100-01-01: so far away that no test waits for it by accident.
const FAR: u64 = 4_102_444_800;

/// Too many requests now.
pub(super) fn rate_limit(request: &Request, wait: &str) -> Said {
    match request.api {
        Api::Anthropic => {
            let words = "This request would exceed your organization's rate limit of 40,000 input tokens per minute. \
                         Please try again later.";
            Said::new(429, "rate_limit_error", words)
        }
        Api::Gemini => {
            let mut details = vec![quota_of("GenerateRequestsPerMinutePerProjectPerModel")];
            details
                .push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{wait}s")}));
            let words = format!("Resource has been exhausted (e.g. check quota). Please retry in {wait}s.");
            Said::new(429, "RESOURCE_EXHAUSTED", words).with("details", details)
        }
        Api::Responses | Api::Chat => {
            let words = format!(
                "Rate limit reached for {} in organization org-test on tokens per min (TPM): Limit 30000, Used 30000, \
                 Requested 500. Please try again in {wait}s.",
                request.model
            );
            Said::new(429, "tokens", words).with("code", "rate_limit_exceeded")
        }
    }
}

/// A limit for hours or days.
pub(super) fn usage_limit(api: Api, limit: Limit, reset: Option<Reset>, now: u64) -> Said {
    let reset = match reset {
        Some(Reset::At(moment)) => moment,
        Some(Reset::In(seconds)) => now + seconds,
        None => FAR,
    };
    match api {
        Api::Anthropic => of_anthropic(limit, reset, now),
        Api::Gemini => of_gemini(),
        Api::Responses | Api::Chat => of_openai(limit, reset, now),
    }
}

/// There is no money left.
pub(super) fn billing(api: Api) -> Said {
    match api {
        Api::Anthropic => {
            let words = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to \
                         upgrade or purchase credits.";
            Said::new(400, "invalid_request_error", words)
        }
        Api::Gemini => of_gemini(),
        Api::Responses | Api::Chat => {
            let words = "Billing hard limit has been reached";
            Said::new(400, "invalid_request_error", words).with("code", "billing_hard_limit_reached")
        }
    }
}

fn of_anthropic(limit: Limit, reset: u64, now: u64) -> Said {
    if limit == Limit::Spend {
        let words = "You have reached your specified API usage limits. You will regain access on";
        return Said::new(400, "invalid_request_error", format!("{words} {}.", date(reset)));
    }
    let words = "This request would exceed your account's rate limit. Please try again later.";
    Said::new(429, "rate_limit_error", words)
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", reset.to_string())
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour")
        .header("anthropic-ratelimit-unified-5h-status", "rejected")
        .header("anthropic-ratelimit-unified-5h-reset", reset.to_string())
        .header("anthropic-ratelimit-unified-5h-utilization", "1.0")
        .header("retry-after", reset.saturating_sub(now).to_string())
}

/// `2030-03-17 at 17:46 UTC`.
fn date(moment: u64) -> String {
    let at = i64::try_from(moment).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    at.map_or_else(|| "a later day".to_owned(), |at| at.strftime("%Y-%m-%d at %H:%M UTC").to_string())
}

fn of_openai(limit: Limit, reset: u64, now: u64) -> Said {
    match limit {
        Limit::Window => Said::new(429, "usage_limit_reached", "The usage limit has been reached")
            .with("plan_type", "plus")
            .with("resets_at", reset)
            .with("resets_in_seconds", reset.saturating_sub(now)),
        Limit::Spend => billing(Api::Responses),
        Limit::Quota => {
            let words = "You exceeded your current quota, please check your plan and billing details.";
            Said::new(429, "insufficient_quota", words).with("code", "insufficient_quota")
        }
    }
}

fn of_gemini() -> Said {
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let details = vec![quota_of("GenerateRequestsPerDayPerProjectPerModel")];
    Said::new(429, "RESOURCE_EXHAUSTED", words).with("details", details)
}

fn quota_of(id: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": id, "quotaMetric": "generativelanguage.googleapis.com/generate_requests"}],
    })
}
