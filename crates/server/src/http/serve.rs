//! Listens, and answers until it is told to stop.

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
use super::stream::Hub;
use crate::connections::{self, Limits};
use crate::desk::Desk;
use crate::door::Door;
use crate::mcp::http::{Protocol, end_session};
use crate::mcp::sessions::Owners;

/// Ports that are tried after the one that is taken.
const PORTS_TRIED: u16 = 50;

/// What is served, and to whom.
pub struct Site {
    /// The engine and its project.
    pub desk: Desk,
    /// Who may come in.
    pub keys: Keys,
    /// Names of this machine, beside those of its loopback.
    pub hosts: Vec<String>,
    /// What the store is called.
    pub store: String,
    /// Whether this process does the work of runs.
    pub drives: bool,
}

pub(super) struct Inner {
    pub(super) desk: Desk,
    pub(super) keys: Keys,
    pub(super) door: Door,
    pub(super) store: String,
    pub(super) drives: bool,
    /// What the cookie of this server is called: those of others on this machine are sent along.
    pub(super) cookie: String,
    pub(super) hub: Hub,
    /// The protocol of editors, where this process does the work.
    pub(super) protocol: Option<Protocol>,
    /// Which token began which session of the protocol.
    pub(super) owners: Owners,
    /// Who is in.
    pub(super) passes: Passes,
    /// How long clients may take.
    pub(super) limits: Limits,
    /// All requests of a client.
    pub(super) requests: Rate,
    /// Tokens that were wrong.
    pub(super) failures: Rate,
}

/// Listens at an address; at one of the next ports if it is taken and nobody asked for this very one.
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

/// Serves until the desk is closed.
pub async fn serve(site: Site, listener: TcpListener) -> Result<()> {
    let address = listener.local_addr()?;
    let stop = site.desk.stop().clone();
    let desk = site.desk.clone();
    let inner = Arc::new(Inner::of(site, address));
    let app = Router::new().fallback(guard::answer).with_state(Arc::clone(&inner));
    // Streams end with `stop`, too.
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
            hub: Hub::new(desk.engine().clone(), desk.stop().clone()),
            protocol: drives.then(|| crate::mcp::http::service(desk.clone())),
            // A page that opens asks for much at once.
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
    /// Ends a session of the protocol, with all that was granted for it.
    pub(super) async fn end_session(&self, session: &str) {
        if let Some(protocol) = &self.protocol {
            end_session(protocol, session).await;
        }
        self.owners.forget(session);
    }
}

/// Cookies know no ports: each project has a name of its own.
pub(super) fn cookie_name(data_dir: &Path) -> String {
    let place = std::path::absolute(data_dir).unwrap_or_default();
    format!("longhaul-{}", &blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex()[..8])
}
