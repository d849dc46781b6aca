//! Tests errors in the shape of each API.

use crate::model_server::client::{APIS, post, question, server, streaming};

/// The status of a failure in each API.
fn statuses(step: &str) -> Vec<u16> {
    let server = server(&format!("always {step}"));
    let failed = |(api, path)| {
        let answer = post(&server, path, &question(api, "go", false, &[]));
        assert!(!answer.json()["error"]["message"].as_str().unwrap().is_empty(), "{step} {api}");
        answer.status
    };
    APIS.into_iter().map(failed).collect()
}

#[test]
fn statuses_are_those_of_the_vendors() {
    assert_eq!(statuses("rate-limit"), [429, 429, 429, 429]);
    assert_eq!(statuses("overloaded"), [529, 503, 503, 503]);
    assert_eq!(statuses("server-error"), [500, 500, 500, 500]);
    assert_eq!(statuses("server-error status=502"), [502, 502, 502, 502]);
    assert_eq!(statuses("context-overflow"), [400, 400, 400, 400]);
    assert_eq!(statuses("usage-limit"), [429, 429, 429, 429]);
    assert_eq!(statuses("usage-limit kind=spend"), [400, 400, 400, 429]);
    assert_eq!(statuses("usage-limit kind=quota"), [429, 429, 429, 429]);
    assert_eq!(statuses("billing"), [400, 400, 400, 429]);
    assert_eq!(statuses("auth"), [401, 401, 401, 400]);
    assert_eq!(statuses("forbidden"), [403, 403, 403, 403]);
    assert_eq!(statuses("no-model"), [404, 404, 404, 404]);
    assert_eq!(statuses("bad-request"), [400, 400, 400, 400]);
}

#[test]
fn a_pause_is_asked_for_in_the_header() {
    let server = server("rate-limit retry-after=7 message=slow down");
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[]));
    assert!(answer.headers.contains("retry-after: 7"), "{}", answer.headers);
    assert_eq!(answer.json()["error"]["message"], "slow down");
}

#[test]
fn the_end_of_a_limit_is_told_where_the_vendor_tells_it() {
    let server = server("2x usage-limit kind=window reset=1900000000\nusage-limit kind=spend reset=1900000000");
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[]));
    assert!(answer.headers.contains("anthropic-ratelimit-unified-reset: 1900000000"), "{}", answer.headers);
    let answer = post(&server, "/v1/responses", &question("responses", "go", false, &[]));
    assert_eq!(answer.json()["error"]["resets_at"], 1_900_000_000);
    assert_eq!(answer.json()["error"]["type"], "usage_limit_reached");
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[]));
    assert!(answer.body.contains("regain access on 2030-03-17 at 17:46 UTC"), "{}", answer.body);
}

#[test]
fn an_error_can_come_after_the_stream_has_begun() {
    let server = server("always stream-error context-overflow message=too much");
    for (api, path) in APIS {
        let answer = post(&server, &streaming(path), &question(api, "go", true, &[]));
        assert_eq!(answer.status, 200, "{api}");
        let last = answer.events().pop().unwrap();
        let message = last.pointer("/error/message").or_else(|| last.pointer("/response/error/message"));
        assert_eq!(message.unwrap(), "too much", "{api}: {last}");
    }
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[]));
    assert_eq!(answer.status, 400, "a request for no stream fails at once");
}
