//! Tests every route of the table: without a token, with a foreign host, from another site, with too low a role.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_core::origin::Origin;
use longhaul_project::Project;
use longhaul_runtime::{Clock, Engine, EngineOptions, System};
use longhaul_store::Memory;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::keys::{Keys, Role};
use super::route::{Access, Route, Verb};
use super::serve::{Site, cookie_name, listen, serve};
use super::table::ROUTES;
use crate::app_state::{AppState, ServerSetup};

struct Server {
    address: SocketAddr,
    folder: tempfile::TempDir,
    keys: Keys,
    stop: CancellationToken,
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = EngineOptions { runs_dir: folder.path().join("runs"), ..EngineOptions::default() };
        let engine = Engine::new(Arc::new(Memory::default()), Arc::new(System), options);
        let stop = CancellationToken::new();
        let setup = ServerSetup {
            engine,
            origin: Origin::cli("jane"),
            project: Project::around(folder.path()),
            data_dir: folder.path().to_owned(),
            tool_per_workflow: false,
            compat: Vec::new(),
            stop: stop.clone(),
        };
        let keys = Keys::of(folder.path());
        let site = Site {
            desk: AppState::new(setup),
            keys: keys.clone(),
            hosts: Vec::new(),
            store: "memory".to_owned(),
            drives: true,
        };
        let listener = listen("127.0.0.1:0".parse().unwrap(), true).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(site, listener));
        Self { address, folder, keys, stop }
    }

    fn token(&self, role: Role) -> String {
        self.keys.mint(role, 0, None).unwrap().token
    }

    /// The status of the answer to this request.
    async fn status(&self, method: &str, path: &str, headers: impl AsRef<[String]>) -> u16 {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let body =
            if method == "POST" { "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" } else { "\r\n" };
        let lines: String = headers.as_ref().iter().map(|line| format!("{line}\r\n")).collect();
        stream.write_all(format!("{head}{lines}{body}").as_bytes()).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
    }

    fn host(&self) -> String {
        format!("Host: {}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn address_of(route: &Route) -> String {
    let path = route.path.replace("{run}", "none-such").replace("{name}", "none");
    let query: Vec<String> =
        route.query.iter().filter(|param| param.is_needed).map(|param| format!("{}=1", param.name)).collect();
    format!("{path}?{}", query.join("&"))
}

fn method_of(route: &Route) -> &'static str {
    if route.verb == Verb::Get { "GET" } else { "POST" }
}

const OURS: &str = "X-Longhaul: 1";

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_closed_to_strangers() {
    let server = Server::start().await;
    let admin = server.token(Role::Admin);
    for route in ROUTES {
        let (method, path) = (method_of(route), address_of(route));
        let with = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let told = |headers: Vec<String>| server.status(method, &path, headers);
        let name = format!("{method} {}", route.path);
        let (host, token) = (server.host(), bearer(&admin));
        if route.access == Access::Open {
            let open = ["/health", "/health/ready", "/health/live", "/login"];
            assert!(open.contains(&route.path), "{name} is open");
        } else {
            assert_eq!(told(with(&[&host, OURS])).await, 401, "{name} without a token");
            let empty = with(&[&host, OURS, "Authorization: Bearer "]);
            assert!([401, 429].contains(&told(empty).await), "{name} with an empty token");
            let cookie = with(&[&host, OURS, "Cookie: longhaul=; longhaul-0=null"]);
            assert_eq!(told(cookie).await, 401, "{name} with cookies of others");
        }
        for host in ["Host: evil.example", "Host: localhost.evil.example:80", "Host: "] {
            assert_eq!(told(with(&[host, OURS, &token])).await, 403, "{name} as {host}");
        }
        for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"] {
            let origin = format!("Origin: {origin}");
            assert_eq!(told(with(&[&host, OURS, &token, &origin])).await, 403, "{name} from {origin}");
        }
        if route.verb == Verb::Post {
            assert_eq!(told(with(&[&host, &token])).await, 403, "{name} without {OURS}");
        }
        let own = format!("Origin: http://{}", server.address);
        let status = told(with(&[&host, OURS, &token, &own])).await;
        assert!(![401, 403, 405, 429].contains(&status) || route.path == "/login", "{name} for an admin: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_takes_its_role_and_no_less() {
    let server = Server::start().await;
    let roles = [Role::Viewer, Role::Operator, Role::Admin];
    let tokens = roles.map(|role| (role, server.token(role)));
    for route in ROUTES {
        let Access::Role(least) = route.access else { continue };
        for (role, token) in &tokens {
            let keys = Keys::of(server.folder.path());
            let cookie = keys.sign_in(&keys.by_token(token, 0).unwrap(), System.now_ms()).unwrap();
            let cookie = format!("Cookie: {}={cookie}", cookie_name(server.folder.path()));
            for shown in [bearer(token), cookie] {
                let headers = [server.host(), OURS.to_owned(), shown];
                let status = server.status(method_of(route), &address_of(route), &headers).await;
                assert_eq!(status == 403, *role < least, "{} as {role}: {status}", route.path);
                assert_ne!(status, 401, "{} as {role}", route.path);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_in_the_table_is_closed_or_a_page() {
    let server = Server::start().await;
    let (host, token) = (server.host(), bearer(&server.token(Role::Admin)));
    let viewer = bearer(&server.token(Role::Operator));
    for path in
        ["/api/v1/nothing", "/api", "/api/v1/runs/x/nothing", "/api/v1/about/health", "/api/v1/about/", "/mcp/x"]
    {
        assert_eq!(server.status("GET", path, std::slice::from_ref(&host)).await, 401, "{path}");
        assert_eq!(server.status("GET", path, [host.clone(), token.clone()]).await, 404, "{path}");
    }
    for path in ["/", "/runs/abc", "/workflows", "/assets/none.js", "/health/x"] {
        assert!([200, 404].contains(&server.status("GET", path, std::slice::from_ref(&host)).await), "{path}");
        assert_eq!(server.status("GET", path, ["Host: evil.example".to_owned()]).await, 403, "{path}");
        assert_eq!(server.status("DELETE", path, std::slice::from_ref(&host)).await, 401, "{path}");
    }
    assert_eq!(server.status("DELETE", "/api/v1/runs", [host.clone(), token.clone(), OURS.to_owned()]).await, 405);
    // The Model Context Protocol can write workflows, so it needs an admin, and no cookie opens it.
    assert_eq!(server.status("POST", "/mcp", std::slice::from_ref(&host)).await, 401);
    assert_eq!(server.status("POST", "/mcp", [host.clone(), viewer]).await, 403);
    assert!(![401, 403, 404].contains(&server.status("POST", "/mcp", [host, token]).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_guesses_is_slowed_down_and_others_are_not() {
    let server = Server::start().await;
    let token = server.token(Role::Viewer);
    let mut slowed = 0;
    for guess in 0..40 {
        let headers = [server.host(), bearer(&format!("lh_{guess}"))];
        match server.status("GET", "/api/v1/about", &headers).await {
            429 => slowed += 1,
            status => assert_eq!(status, 401),
        }
    }
    assert!(slowed >= 25, "{slowed}");
    let login = format!("/login?token={token}");
    assert_eq!(server.status("GET", &login, [server.host()]).await, 429, "not even looked at");
    assert_eq!(server.status("GET", "/api/v1/about", [server.host(), bearer(&token)]).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_with_a_wrong_token_gets_a_page_and_a_program_a_problem() {
    let server = Server::start().await;
    let wrong = |accept: &str| {
        format!(
            "GET /login?token=lh_wrong HTTP/1.1\r\n{}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n",
            server.host()
        )
    };
    for (accept, kind) in [("text/html,*/*", "text/html"), ("*/*", "application/problem+json")] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(wrong(accept).as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let answer = answer.to_lowercase();
        assert!(answer.starts_with("http/1.1 401") && answer.contains(&format!("content-type: {kind}")), "{answer}");
        assert!(!answer.contains("set-cookie"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_its_limit() {
    let server = Server::start().await;
    let token = server.token(Role::Admin);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let (host, token, size) = (server.host(), bearer(&token), (1 << 20) + 1);
    let head = format!(
        "POST /api/v1/check HTTP/1.1\r\n{host}\r\n{token}\r\n{OURS}\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that has refused the request may not read the rest.
    let _ = stream.write_all(&vec![b' '; size]).await;
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start[9..], b"413");
}
