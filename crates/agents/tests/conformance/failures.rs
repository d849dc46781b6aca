//! Tests the errors of the service behind a model, in the words of each program.

use longhaul_core::plan::ErrorClass;

use crate::conformance::bench::Bench;

async fn fails(bench: &Bench, scenario: &str, class: ErrorClass) {
    let done = bench.play(scenario).await;
    assert_eq!(done.class, Some(class), "{:?}", done.ending.trouble);
    assert!(done.ending.trouble.is_error);
    assert_eq!(done.ending.text, "", "an error is no answer");
}

pub(crate) async fn a_rate_limit(bench: &Bench) {
    fails(bench, "rate-limit", ErrorClass::RateLimit).await;
}

/// Some programs only report that the account is empty.
pub(crate) async fn a_usage_limit(bench: &Bench) {
    let billed = ["copilot", "opencode"].contains(&bench.driver.name());
    fails(bench, "usage-limit", if billed { ErrorClass::Billing } else { ErrorClass::UsageLimit }).await;
}

pub(crate) async fn an_overload(bench: &Bench) {
    fails(bench, "overload", ErrorClass::Overload).await;
}

pub(crate) async fn an_overflow(bench: &Bench) {
    fails(bench, "overflow", ErrorClass::Overflow).await;
}

pub(crate) async fn a_bad_key(bench: &Bench) {
    fails(bench, "bad-key", ErrorClass::Auth).await;
}

pub(crate) async fn an_unknown_model(bench: &Bench) {
    fails(bench, "no-model", ErrorClass::UnknownModel).await;
}

/// One of them calls it high demand.
pub(crate) async fn a_server_error(bench: &Bench) {
    let class = if bench.driver.name() == "codex" { ErrorClass::Overload } else { ErrorClass::Transient };
    fails(bench, "server-error", class).await;
}
