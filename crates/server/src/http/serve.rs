//! Listens, and answers requests until it is stopped.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use tokio::net::TcpListener;

use super::guard;
use super::keys::Keys;
use super::passes::{self, Passes};
use super::rate::Rate;
use super::stream::Broadcaster;
use crate::app_state::AppState;
use crate::connections::{self, Limits};
use crate::mcp::http::{Protocol, end_session};
use crate::mcp::sessions::Owners;
use crate::origin_check::Door;

/// How many ports to try after one that is taken.
const PORTS_TRIED: u16 = 50;

/// The parts of a server.
pub struct Site {
    /// The engine and its project.
    pub desk: AppState,
    /// The tokens of the server.
    pub keys: Keys,
    /// Names of this machine, in addition to those of its loopback.
    pub hosts: Vec<String>,
    /// The name of the store.
    pub store: String,
    /// Whether this process drives runs.
    pub drives: bool,
}

pub(super) struct Inner {
    pub(super) desk: AppState,
    pub(super) keys: Keys,
    pub(super) door: Door,
    pub(super) store: String,
    pub(super) drives: bool,
    /// The name of this server's cookie. Browsers also send the cookies of other servers on this machine.
    pub(super) cookie: String,
    pub(super) hub: Broadcaster,
    /// The Model Context Protocol, if this process drives runs.
    pub(super) protocol: Option<Protocol>,
    /// The token that started each session of the protocol.
    pub(super) owners: Owners,
    /// The open streams and calls.
    pub(super) passes: Passes,
    /// The time limits for clients.
    pub(super) limits: Limits,
    /// The rate limit for requests.
    pub(super) requests: Rate,
    /// The rate limit for wrong tokens.
    pub(super) failures: Rate,
}

/// Listens at an address. If the port is taken and the user did not choose it, tries the next ports.
pub async fn listen(address: SocketAddr, is_asked_for: bool) -> Result<TcpListener> {
    let mut tried = address;
    loop {
        match TcpListener::bind(tried).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse && !is_asked_for => {
                let next =
                    tried.port().checked_add(1).filter(|port| *port <= address.port().saturating_add(PORTS_TRIED));
                tried.set_port(next.context("no port is free")?);
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("{address} cannot be listened on; is another server there?"));
            }
        }
    }
}

/// Serves until the state is closed.
pub async fn serve(site: Site, listener: TcpListener) -> Result<()> {
    let address = listener.local_addr()?;
    let stop = site.desk.stop().clone();
    let desk = site.desk.clone();
    let inner = Arc::new(Inner::of(site, address));
    let app = Router::new().fallback(guard::answer).with_state(Arc::clone(&inner));
    // `stop` also ends streams.
    tokio::join!(connections::serve(listener, app, stop), passes::watch(inner));
    desk.close().await;
    Ok(())
}

impl Inner {
    fn of(site: Site, address: SocketAddr) -> Self {
        let Site { desk, keys, hosts, store, drives } = site;
        Self {
            door: Door { address, hosts, origins: Vec::new(), own_pages: true },
            cookie: cookie_name(desk.data_dir()),
            hub: Broadcaster::new(desk.engine().clone(), desk.stop().clone()),
            protocol: drives.then(|| crate::mcp::http::service(desk.clone())),
            // A page makes many requests when it opens.
            owners: Owners::of(&desk),
            passes: Passes::new(keys.clone()),
            limits: Limits::usual(),
            requests: Rate::new(1000, 200.0),
            failures: Rate::new(10, 0.5),
            desk,
            keys,
            store,
            drives,
        }
    }
}

impl Inner {
    /// Ends a session of the protocol, and revokes its grants.
    pub(super) async fn end_session(&self, session: &str) {
        if let Some(protocol) = &self.protocol {
            end_session(protocol, session).await;
        }
        self.owners.forget(session);
    }
}

/// The name of the cookie. Cookies ignore ports, so each project has its own name.
pub(super) fn cookie_name(data_dir: &Path) -> String {
    let place = std::path::absolute(data_dir).unwrap_or_default();
    format!("longhaul-{}", &blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex()[..8])
}
