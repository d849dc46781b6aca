//! Connections: how many there are, and how long a client may take with a request.
//!
//! ```text
//! accept ─▶ seat ─▶ head, in time ─▶ body, in time ─▶ answer, taken in time
//!             └─ none is free: whoever has waited longest for their client makes room
//! ```
//!
//! **Invariant:** a client that sends nothing, half a request, or does not take its answer holds a seat only until somebody else needs
//! it, and never for longer than the limits say. Accepting never waits for a client.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::ending::Ending;
use crate::patient::{Patient, Signs};

/// Bytes of a request without its body.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// How long to wait when the machine cannot take another connection.
const REST: Duration = Duration::from_millis(100);

/// How long clients may take, and how many there may be.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// For the head of a request, from the opening of the connection or the end of the answer before.
    pub(crate) head: Duration,
    /// For the body of a request.
    pub(crate) body: Duration,
    /// For taking what they are sent, since they took something last.
    pub(crate) answer: Duration,
    /// For the rest of what is under way when the server is told to leave.
    pub(crate) leaving: Duration,
    /// Connections at once.
    pub(crate) connections: usize,
}

impl Limits {
    /// What holds, unless a test of a debug build says otherwise.
    pub(crate) fn usual() -> Self {
        let told = |name: &str| std::env::var(name).ok().filter(|_| cfg!(debug_assertions))?.parse::<u64>().ok();
        let patience = told("LONGHAUL_HTTP_PATIENCE_MS").map(Duration::from_millis);
        let seconds = |usual| patience.unwrap_or(Duration::from_secs(usual));
        let connections = told("LONGHAUL_HTTP_CONNECTIONS").and_then(|most| most.try_into().ok());
        Self {
            head: seconds(30),
            body: seconds(60),
            answer: seconds(60),
            leaving: seconds(5),
            connections: connections.unwrap_or(768),
        }
    }
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
}

/// A whole body, if it is short enough and arrives in time.
pub(crate) async fn whole(body: Body, bytes_max: usize, limits: &Limits) -> Result<Bytes, Unread> {
    match tokio::time::timeout(limits.body, to_bytes(body, bytes_max)).await {
        Ok(read) => read.map_err(|_| Unread::TooLarge),
        Err(_) => Err(Unread::TooSlow),
    }
}

/// Answers until it is told to stop. Requests then have a moment to come to their end.
pub(crate) async fn serve(listener: TcpListener, app: Router, stop: CancellationToken) {
    let (limits, seats, tasks) = (Limits::usual(), Seats::default(), TaskTracker::new());
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => {
                let Some(seat) = seats.take(limits.connections) else { continue };
                tasks.spawn(connection(stream, client, app.clone(), limits.clone(), seat, stop.clone()));
            }
            // No descriptors, no memory: others may leave, and whoever only waits does.
            Err(_) => {
                seats.make_room();
                tokio::time::sleep(REST).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(limits.leaving, tasks.wait()).await.is_err() {
        seats.clear();
        tasks.wait().await;
    }
}

/// One connection, until it ends, its seat is taken away, or the server leaves.
async fn connection(
    stream: TcpStream,
    client: SocketAddr,
    app: Router,
    limits: Limits,
    seat: Seat,
    stop: CancellationToken,
) {
    // Streams are small pieces, and each is to arrive when it is said.
    let _ = stream.set_nodelay(true);
    let sitter = Arc::clone(&seat.sitter);
    let io = TokioIo::new(Patient::new(stream, limits.answer, Arc::clone(&sitter)));
    let service = service_fn(|request| answered(app.clone(), client, Arc::clone(&sitter), request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    http.max_buf_size(2 * HEAD_BYTES_MAX).max_header_size(HEAD_BYTES_MAX);
    let mut connection = std::pin::pin!(http.serve_connection(io, service));
    let mut is_leaving = false;
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            () = seat.sitter.taken.cancelled() => return,
            () = stop.cancelled(), if !is_leaving => {
                connection.as_mut().graceful_shutdown();
                is_leaving = true;
            }
        }
    }
}

/// Has a request answered. Its connection is busy until the answer is sent.
async fn answered(
    app: Router,
    client: SocketAddr,
    sitter: Arc<Sitter>,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let busy = Busy::new(sitter);
    request.extensions_mut().insert(ConnectInfo(client));
    let response = TowerToHyperService::new(app).call(request).await?;
    Ok(response.map(|body| Body::new(Ending::new(body, CancellationToken::new(), busy))))
}

/// Whoever has a seat, and since when they wait for their client: zero if they do not.
#[derive(Debug)]
struct Sitter {
    began: Instant,
    idle_since: AtomicU64,
    stuck_since: AtomicU64,
    taken: CancellationToken,
}

impl Sitter {
    /// Microseconds since some moment that is the same for all, and never zero.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }

    /// Since when it waits for its client, if it does.
    fn waits_since(&self) -> Option<u64> {
        let since = |of: &AtomicU64| Some(of.load(Ordering::Acquire)).filter(|since| *since > 0);
        match (since(&self.idle_since), since(&self.stuck_since)) {
            (Some(idle), Some(stuck)) => Some(idle.min(stuck)),
            (idle, stuck) => idle.or(stuck),
        }
    }
}

impl Signs for Arc<Sitter> {
    fn stuck(&self) {
        self.stuck_since.store(self.now(), Ordering::Release);
    }

    fn moves(&self) {
        self.stuck_since.store(0, Ordering::Release);
    }
}

/// A request is being answered.
struct Busy(Arc<Sitter>);

impl Busy {
    fn new(sitter: Arc<Sitter>) -> Self {
        sitter.idle_since.store(0, Ordering::Release);
        Self(sitter)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.idle_since.store(self.0.now(), Ordering::Release);
    }
}

/// The seats of a server.
#[derive(Debug, Clone, Default)]
struct Seats {
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug)]
struct Taken {
    began: Instant,
    next: u64,
    sitters: HashMap<u64, Arc<Sitter>>,
}

impl Default for Taken {
    fn default() -> Self {
        Self { began: Instant::now(), next: 0, sitters: HashMap::new() }
    }
}

/// A seat, given back when it is left.
struct Seat {
    number: u64,
    sitter: Arc<Sitter>,
    seats: Seats,
}

impl Seats {
    /// A seat; if all are taken, that of whoever has waited longest for their client. None if all are busy.
    fn take(&self, most: usize) -> Option<Seat> {
        let mut taken = self.taken();
        if taken.sitters.len() >= most && !taken.make_room() {
            return None;
        }
        let (idle_since, stuck_since) = (AtomicU64::new(0), AtomicU64::new(0));
        let sitter = Sitter { began: taken.began, idle_since, stuck_since, taken: CancellationToken::new() };
        sitter.idle_since.store(sitter.now(), Ordering::Release);
        let (number, sitter) = (taken.next, Arc::new(sitter));
        taken.next += 1;
        taken.sitters.insert(number, Arc::clone(&sitter));
        drop(taken);
        Some(Seat { number, sitter, seats: self.clone() })
    }

    /// Takes the seat of whoever has waited longest for their client.
    fn make_room(&self) {
        self.taken().make_room();
    }

    /// Takes all seats.
    fn clear(&self) {
        self.taken().sitters.values().for_each(|sitter| sitter.taken.cancel());
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn make_room(&mut self) -> bool {
        let waiting = self.sitters.iter().filter_map(|(number, sitter)| Some((sitter.waits_since()?, *number)));
        let Some((_, longest)) = waiting.min() else { return false };
        if let Some(sitter) = self.sitters.remove(&longest) {
            sitter.taken.cancel();
        }
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken().sitters.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_longest_for_a_client_makes_room() {
        let seats = Seats::default();
        let first = seats.take(2).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let second = seats.take(2).unwrap();
        let busy = Busy::new(Arc::clone(&first.sitter));
        let third = seats.take(2).unwrap();
        assert!(second.sitter.taken.is_cancelled() && !first.sitter.taken.is_cancelled());
        let other = Busy::new(Arc::clone(&third.sitter));
        assert!(seats.take(2).is_none(), "all are busy");
        first.sitter.stuck();
        let fourth = seats.take(2).unwrap();
        assert!(first.sitter.taken.is_cancelled(), "its client does not take the answer");
        drop((busy, other));
        tokio::time::advance(Duration::from_secs(1)).await;
        let fifth = seats.take(2).unwrap();
        assert!(third.sitter.taken.is_cancelled() ^ fourth.sitter.taken.is_cancelled());
        drop((first, second, third, fourth, fifth));
        assert!(seats.taken().sitters.is_empty());
    }
}
