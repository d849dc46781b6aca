//! The protocol over HTTP, behind a door that is closed unless everything fits.
//!
//! **Invariant:** every request passes [`guard`] before anything else looks at it, whatever its path or method: its `Host` must be
//! one of ours, an `Origin` one that was allowed, and its token the right one. A page of a browser has none of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connections::{self, Limits, Unread, whole};
use crate::desk::Desk;
use crate::door::{Door, Foreign, bearer};
use crate::ending::Ending;
use crate::mcp::face::Face;
use crate::mcp::pipes::MESSAGE_BYTES_MAX;
use crate::mcp::sessions::Sessions;
use crate::token::Token;

/// The one path that leads anywhere.
const PATH: &str = "/mcp";
/// The last version of the protocol that has sessions.
const LAST_WITH_SESSIONS: &str = "2025-11-25";
/// How often it is looked whether the token is still that of the file.
const LOOK: Duration = Duration::from_millis(500);

/// Who may come in.
pub struct Doors {
    /// Where to listen.
    pub address: SocketAddr,
    /// What clients show.
    pub token: Token,
    /// Names of this machine, beside those of its loopback.
    pub hosts: Vec<String>,
    /// Pages that may call, such as `http://localhost:6274`.
    pub origins: Vec<String>,
}

/// The doors, and whether they are closed for good.
struct Entrance {
    doors: Doors,
    closed: CancellationToken,
}

/// Serves clients over HTTP until the desk is closed; `ready` is told the address.
pub async fn http(desk: Desk, doors: Doors, ready: impl FnOnce(&str)) -> Result<()> {
    let listener = TcpListener::bind(doors.address)
        .await
        .with_context(|| format!("{} cannot be listened on; is another server there?", doors.address))?;
    let address = listener.local_addr()?;
    let stop = desk.stop().clone();
    let entrance = Arc::new(Entrance { doors, closed: CancellationToken::new() });
    let app = router(desk.clone(), Arc::clone(&entrance));
    ready(&format!("http://{address}{PATH}"));
    // Streams of clients end with the sessions, and those with `stop`.
    tokio::join!(connections::serve(listener, app, stop.clone()), watch(&entrance, &stop));
    desk.close().await;
    Ok(())
}

/// Closes the doors for good when the token in the file is another one, or none.
async fn watch(entrance: &Entrance, stop: &CancellationToken) {
    while entrance.doors.token.is_kept() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    entrance.closed.cancel();
}

fn router(desk: Desk, entrance: Arc<Entrance>) -> Router {
    let protocol = service(desk);
    let answer = move |request: Request| {
        let protocol = protocol.clone();
        async move { guarded(&protocol, request, &Limits::usual()).await }
    };
    Router::new()
        .route(PATH, any(answer))
        .fallback(|| async { (StatusCode::NOT_FOUND, format!("there is nothing here; the protocol is at {PATH}\n")) })
        .layer(from_fn_with_state(entrance, guard))
}

/// The protocol as a service.
pub(crate) type Protocol = StreamableHttpService<Face, LocalSessionManager>;

/// The protocol, for whoever has been let in.
pub(crate) fn service(desk: Desk) -> Protocol {
    let mut config = StreamableHttpServerConfig::default()
        .with_cancellation_token(desk.stop().child_token())
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
        // Our own check is outside, and knows more.
        .disable_allowed_hosts();
    config.session_store = Some(Arc::new(Sessions::of(&desk)));
    let face = Face::new(desk);
    StreamableHttpService::new(move || Ok(face.clone()), Arc::new(LocalSessionManager::default()), config)
}

/// Has the protocol answer a request whose body is short enough and arrives in time.
pub(crate) async fn guarded(protocol: &Protocol, request: Request, limits: &Limits) -> Response {
    let (parts, body) = request.into_parts();
    match whole(body, MESSAGE_BYTES_MAX, limits).await {
        Ok(body) => protocol.handle(Request::from_parts(parts, Body::from(body))).await.map(Body::new),
        Err(Unread::TooLarge) => (StatusCode::PAYLOAD_TOO_LARGE, "the message is too large\n").into_response(),
        Err(Unread::TooSlow) => (StatusCode::REQUEST_TIMEOUT, "the message did not arrive in time\n").into_response(),
    }
}

/// Ends a session as its client would.
pub(crate) async fn end_session(protocol: &Protocol, session: &str) {
    let request = Request::delete(PATH).header(header::HOST, "localhost").header("mcp-session-id", session);
    if let Ok(request) = request.header("mcp-protocol-version", LAST_WITH_SESSIONS).body(Body::empty()) {
        drop(protocol.handle(request).await);
    }
}

async fn guard(State(entrance): State<Arc<Entrance>>, request: Request, next: Next) -> Response {
    match refusal(&entrance.doors, request.uri().authority().map(|name| name.as_str()), request.headers()) {
        Some(refusal) => refusal,
        None => next.run(request).await.map(|body| Body::new(Ending::new(body, entrance.closed.clone(), ()))),
    }
}

/// Why a request is sent away, if it is.
fn refusal(doors: &Doors, authority: Option<&str>, headers: &HeaderMap) -> Option<Response> {
    let why = match doors.door().foreign(authority, headers) {
        Some(Foreign::Host) => "this is not the server that the request names; see --allow-host\n",
        Some(Foreign::Origin) => "pages of other sites may not call; see --allow-origin\n",
        None if bearer(headers).is_some_and(|shown| doors.token.is(shown) && doors.token.is_kept()) => return None,
        None => {
            let why = "a token is needed: Authorization: Bearer …\n";
            return Some((StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why).into_response());
        }
    };
    Some((StatusCode::FORBIDDEN, why).into_response())
}

impl Doors {
    fn door(&self) -> Door {
        let (hosts, origins) = (self.hosts.clone(), self.origins.clone());
        Door { address: self.address, hosts, origins, own_pages: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> u16 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        Token::of(&file).unwrap();
        std::fs::write(&file, "a".repeat(64)).unwrap();
        let doors = Doors {
            address: "127.0.0.1:4000".parse().unwrap(),
            token: Token::of(&file).unwrap(),
            hosts: vec!["box.example".to_owned()],
            origins: vec!["http://localhost:6274".to_owned()],
        };
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            headers.append(
                name.parse::<header::HeaderName>().unwrap(),
                value.replace("TOKEN", &"a".repeat(64)).parse().unwrap(),
            );
        }
        refusal(&doors, None, &headers).map_or(200, |response| response.status().as_u16())
    }

    #[test]
    fn only_whoever_names_us_and_shows_the_token_comes_in() {
        let token = "authorization: Bearer TOKEN";
        for host in ["127.0.0.1:4000", "localhost", "[::1]:4000", "box.example", "box.example:80"] {
            assert_eq!(told(&[&format!("host: {host}"), token]), 200, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:4000", "", "127.0.0.2"] {
            assert_eq!(told(&[&format!("host: {host}"), token]), 403, "{host}");
        }
        assert_eq!(told(&[token]), 403);
        assert_eq!(told(&["host: localhost", "host: evil.example", token]), 403);
    }

    #[test]
    fn pages_of_others_are_sent_away_even_with_a_token() {
        let with =
            |origin: &str| told(&["host: localhost", "authorization: Bearer TOKEN", &format!("origin: {origin}")]);
        assert_eq!(with("http://localhost:6274"), 200);
        for origin in
            ["null", "http://evil.example", "http://localhost:6274.evil.example", "https://localhost:6274", ""]
        {
            assert_eq!(with(origin), 403, "{origin}");
        }
    }

    #[test]
    fn a_token_is_needed_and_must_be_the_right_one() {
        let with = |header: &str| told(&["host: localhost", &format!("authorization: {header}")]);
        assert_eq!(told(&["host: localhost"]), 401);
        assert_eq!((with("bearer TOKEN"), with("Bearer  TOKEN")), (200, 200));
        for header in ["Bearer ", "Bearer", "TOKEN", "Basic TOKEN", "Bearer aTOKEN", "Bearer null", "Bearer undefined"]
        {
            assert_eq!(with(header), 401, "{header}");
        }
    }
}
