//! Signing in and out, and information about this server.

use std::time::{Duration, Instant};

use axum::http::{StatusCode, header};
use longhaul_core::origin::Auth;
use schemars::JsonSchema;
use serde::Serialize;

use super::call::{Call, Reply};
use super::keys::{Role, SIGNED_IN_MS};
use super::problem::Problem;

/// How long the store may take to answer a health check.
const WELL: Duration = Duration::from_secs(2);

/// Information about a server.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct About {
    version: &'static str,
    /// The folder of the project.
    project: String,
    store: String,
    /// The caller. If the token names nobody, the user who runs the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// Whether the caller's token names nobody.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared: bool,
    /// The role of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// Whether this server drives runs, or only shows them.
    drives: bool,
    /// The time of its clock.
    now: i64,
}

pub(super) async fn about(call: Call) -> Result<Reply, Problem> {
    Reply::json(&About {
        version: env!("CARGO_PKG_VERSION"),
        project: call.state().root().display().to_string(),
        store: call.site.store.clone(),
        user: call.origin().user,
        shared: call.caller().auth == Auth::SharedToken,
        role: call.visitor.as_ref().map(|visitor| visitor.role),
        drives: call.site.drives,
        now: call.state().engine().now_ms(),
    })
}

/// Exchanges a token for a cookie. A browser without a valid token gets a page with a form, not JSON.
pub(super) async fn login(call: Call) -> Result<Reply, Problem> {
    let is_browser = call.headers.get(header::ACCEPT).is_some_and(|kinds| {
        kinds.to_str().is_ok_and(|kinds| kinds.contains("text/html")) && longhaul_pages::page("/login").is_some()
    });
    match sign_in(&call) {
        Err(problem) if is_browser => Ok(Reply::page("/login", &call.headers, problem.status())),
        outcome => outcome,
    }
}

/// A client with too many wrong tokens is refused without a check.
fn sign_in(call: &Call) -> Result<Reply, Problem> {
    let spent = call.site.failures.is_spent(call.client, Instant::now());
    if let Some(time) = spent {
        return Err(Problem::too_many(time.as_secs() + 1));
    }
    let token = call.query("token").unwrap_or_default();
    let now = call.state().engine().now_ms();
    let Some(key) = call.site.keys.by_token(token, now) else {
        // The answer does not matter: the next request checks the bucket.
        let _ = call.site.failures.take(call.client, Instant::now());
        return Err(Problem::unknown_caller());
    };
    let name = &call.site.cookie;
    let cookie = call.site.keys.sign_in(&key, now).map_err(|error| Problem::failing(error.to_string()))?;
    let age = SIGNED_IN_MS / 1000;
    let cookie = format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}");
    Ok(Reply::status(StatusCode::SEE_OTHER).with(header::LOCATION, "/").with(header::SET_COOKIE, &cookie))
}

/// Signs the browser out: its cookie becomes invalid, and its streams end.
pub(super) async fn logout(call: Call) -> Result<Reply, Problem> {
    let holder = call.visitor.as_ref().map(|visitor| &visitor.holder);
    if let Some((holder, session)) = holder.and_then(|holder| Some((holder, holder.session.as_ref()?))) {
        call.site.keys.sign_out(session);
        call.site.passes.end(holder);
    }
    let cookie = format!("{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", call.site.cookie);
    Ok(Reply::status(StatusCode::NO_CONTENT).with(header::SET_COOKIE, &cookie))
}

/// The answer of a health check.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Health {
    ok: bool,
}

/// Whether the server works: the store answers in time.
pub(super) async fn health(call: Call) -> Result<Reply, Problem> {
    let query = longhaul_store::Query { limit: 1, ..longhaul_store::Query::default() };
    match tokio::time::timeout(WELL, call.state().engine().list(query)).await {
        Ok(listed) => drop(listed?),
        Err(_) => return Err(Problem::failing(format!("the store has not answered within {} s", WELL.as_secs()))),
    }
    Reply::json(&Health { ok: true })
}

/// Whether the server is there. It checks nothing else.
pub(super) async fn live(_: Call) -> Result<Reply, Problem> {
    Reply::json(&Health { ok: true })
}
