//! Checks every request before its route, including streams.
//!
//! **Invariant:** the guard checks host, origin, rate, caller and role in this order, before a handler sees the
//! request. A route is closed unless it is declared open.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};

use super::call::{Call, Visitor};
use super::compress::{compressed, takes_gzip};
use super::keys::{Holder, Role};
use super::problem::Problem;
use super::route::{Access, Match, find};
use super::serve::Inner;
use super::table::ROUTES;
use crate::connections::{Unread, whole};
use crate::mcp::http::guarded;
use crate::mcp::sessions;
use crate::mcp::tool::TokenOf;
use crate::origin_check::{Foreign, bearer};

/// The most bytes of a body.
pub(super) const BODY_BYTES_MAX: usize = 1 << 20;
/// The path of the Model Context Protocol.
pub(super) const PROTOCOL: &str = "/mcp";
/// The path of the liveness check. It has no rate limit.
const LIVE: &str = "/health/live";

/// Answers all requests.
pub(super) async fn answer(
    State(site): State<Arc<Inner>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let takes = takes_gzip(request.headers());
    let response = match let_in(&site, client.ip(), &request) {
        Err(problem) => problem.into_response(),
        Ok(visitor) if request.uri().path() == PROTOCOL => match (&site.protocol, visitor) {
            (Some(_), Some(visitor)) => {
                protocol(&site, &visitor, request).await.unwrap_or_else(IntoResponse::into_response)
            }
            _ => Problem::missing("This server does not serve MCP.").into_response(),
        },
        Ok(visitor) => handled(&site, client.ip(), visitor, request).await.unwrap_or_else(IntoResponse::into_response),
    };
    compressed(with_headers(response), takes).await
}

/// Serves the Model Context Protocol while the caller's token is valid.
async fn protocol(site: &Inner, visitor: &Visitor, mut request: Request) -> Result<Response, Problem> {
    let Some(protocol) = &site.protocol else { return Err(Problem::missing("There is nothing at this address.")) };
    let is_stream = request.method() == Method::GET;
    let pass = if is_stream { site.passes.streams(&visitor.holder, 1)? } else { site.passes.call(&visitor.holder) };
    let key = &visitor.holder.key;
    if sessions::id(request.headers()).is_some_and(|session| !site.owners.may_use(&session, key)) {
        return Err(Problem::missing("There is no such session."));
    }
    request.extensions_mut().insert(TokenOf(visitor.user.clone()));
    let response = tokio::select! {
        response = guarded(protocol, request, &site.limits) => response,
        () = pass.ended() => return Err(Problem::unknown_caller()),
    };
    for old in sessions::id(response.headers()).map(|session| site.owners.own(&session, key)).unwrap_or_default() {
        site.end_session(&old).await;
    }
    Ok(response.map(|body| pass.ends(body)))
}

/// The caller, if the request is allowed.
fn let_in(site: &Inner, client: IpAddr, request: &Request) -> Result<Option<Visitor>, Problem> {
    let authority = request.uri().authority().map(|name| name.as_str());
    match site.door.foreign(authority, request.headers()) {
        None => {}
        // A monitor of the machine uses its address as the host.
        Some(Foreign::Host) if is_probe(request) && site.door.is_asked_by_address(request.headers()) => {}
        Some(Foreign::Host) => {
            return Err(Problem::forbidden("This is not the server that the request names.", "See --allow-host."));
        }
        Some(Foreign::Origin) => {
            return Err(Problem::forbidden("Pages of other sites may not call.", "Use the pages of this server."));
        }
    }
    let now = Instant::now();
    if request.uri().path() != LIVE {
        site.requests.take(client, now).map_err(wait)?;
    }
    let access = access(request.method(), request.uri().path());
    let visitor = match visitor(site, request.headers()) {
        Seen::Nobody => None,
        Seen::Wrong => {
            site.failures.take(client, now).map_err(wait)?;
            None
        }
        Seen::Known(visitor) => Some(visitor),
    };
    let Access::Role(least) = access else { return Ok(visitor) };
    let Some(visitor) = visitor else { return Err(Problem::unknown_caller()) };
    if visitor.role < least {
        let title = format!("This needs the role `{least}`; the token has `{}`.", visitor.role);
        return Err(Problem::forbidden(&title, "`longhaul serve token --role …` makes another token."));
    }
    let is_protocol = request.uri().path() == PROTOCOL;
    let is_ours = request.headers().get("x-longhaul").is_some_and(|value| value == "1");
    if is_protocol && visitor.is_page {
        return Err(Problem::forbidden("MCP needs a token, not a cookie.", "Send `Authorization: Bearer TOKEN`."));
    }
    if !is_protocol && !is_ours && ![Method::GET, Method::HEAD].contains(request.method()) {
        return Err(Problem::forbidden(
            "The header `X-Longhaul: 1` is missing.",
            "Send it with every request that changes something.",
        ));
    }
    Ok(Some(visitor))
}

fn wait(time: Duration) -> Problem {
    Problem::too_many(time.as_secs() + 1)
}

/// Who may ask for a path. Pages have no secrets, so they are open. Everything else is closed.
fn access(method: &Method, path: &str) -> Access {
    if path == PROTOCOL {
        return Access::Role(Role::Admin);
    }
    match find(ROUTES, method, path) {
        Match::Route(route, _) => route.access,
        Match::Nothing if is_page(method, path) => Access::Open,
        Match::Nothing | Match::OtherMethod => Access::Role(Role::Viewer),
    }
}

/// Whether a request asks for one of the built pages.
fn is_page(method: &Method, path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    [Method::GET, Method::HEAD].contains(method) && !["api", "mcp"].contains(&first)
}

enum Seen {
    Nobody,
    Wrong,
    Known(Visitor),
}

/// Whether a request is only a health check.
fn is_probe(request: &Request) -> bool {
    let path = request.uri().path();
    [Method::GET, Method::HEAD].contains(request.method())
        && (path == "/health" || path == "/health/ready" || path == LIVE)
}

/// The caller that a request identifies. If there are a token and a cookie, the token counts.
fn visitor(site: &Inner, headers: &HeaderMap) -> Seen {
    let now = site.desk.engine().now_ms();
    let known = if headers.contains_key(header::AUTHORIZATION) {
        bearer(headers).and_then(|token| site.keys.by_token(token, now)).map(|key| (key, None))
    } else {
        let Some(cookie) = cookie(headers, &site.cookie) else { return Seen::Nobody };
        site.keys.by_cookie(cookie, now).map(|(key, session)| (key, Some(session)))
    };
    known.map_or(Seen::Wrong, |(key, session)| {
        let is_page = session.is_some();
        Seen::Known(Visitor { role: key.role, is_page, user: key.user, holder: Holder { key: key.id, session } })
    })
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

async fn handled(
    site: &Arc<Inner>,
    client: IpAddr,
    visitor: Option<Visitor>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let (route, params) = match find(ROUTES, &parts.method, parts.uri.path()) {
        Match::Route(route, params) => (route, params),
        Match::OtherMethod => return Err(Problem::method()),
        Match::Nothing if is_page(&parts.method, parts.uri.path()) => {
            return Ok(super::pages::page(parts.uri.path(), &parts.headers));
        }
        Match::Nothing => return Err(Problem::missing("There is nothing at this address.")),
    };
    let body = whole(body, BODY_BYTES_MAX, &site.limits).await.map_err(|unread| match unread {
        Unread::TooLarge => Problem::too_large(BODY_BYTES_MAX),
        Unread::TooSlow => Problem::too_slow(site.limits.body.as_secs()),
    })?;
    let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let call = Call { site: Arc::clone(site), visitor, client, params, query, headers: parts.headers, body };
    Ok((route.answer)(call).await?.into_response())
}

/// Adds the headers that all answers have.
fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
