//! A proxy between a client and a server that simulates network faults.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// The state of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyLink {
    /// Everything passes.
    Open,
    /// The proxy drops all data silently. Neither side notices.
    Deaf,
    /// The proxy ends all connections and accepts no new ones.
    Cut,
}

/// The proxy and its state.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    line: Mutex<ProxyLink>,
    changed: Condvar,
    /// The number of answers that the proxy will still lose.
    to_lose: AtomicU64,
    lost: AtomicU64,
    open: Mutex<Vec<Pair>>,
    stranded: Mutex<Vec<Pair>>,
}

/// The two sockets of a connection.
struct Pair {
    client: TcpStream,
    server: UnixStream,
    /// Data on this connection goes nowhere.
    is_stranded: Arc<AtomicBool>,
}

impl Pair {
    fn end(&self) {
        self.client.end();
        self.server.end();
    }
}

impl Proxy {
    /// A proxy to the socket of a server.
    pub fn to(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            line: Mutex::new(ProxyLink::Open),
            changed: Condvar::new(),
            to_lose: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            open: Mutex::default(),
            stranded: Mutex::default(),
        });
        let ours = Arc::clone(&shared);
        std::thread::spawn(move || listener.incoming().flatten().for_each(|client| ours.connect(client, &socket)));
        Self { port, shared }
    }

    /// The address of the store at `address`, through the proxy.
    pub fn through(&self, address: &str) -> String {
        let (start, rest) = address.split_once('@').unwrap();
        format!("{start}@127.0.0.1:{}{}", self.port, &rest[rest.find('/').unwrap()..])
    }

    /// Sets the state from now on.
    pub fn set(&self, line: ProxyLink) {
        *self.shared.line.lock().unwrap() = line;
        self.shared.changed.notify_all();
        if line == ProxyLink::Cut {
            self.cut();
        }
    }

    /// Ends all open connections. Clients can make new ones if the proxy is open.
    pub fn cut(&self) {
        self.shared.open.lock().unwrap().drain(..).for_each(|pair| pair.end());
    }

    /// Strands all open connections, as when the route between two machines is lost: data goes nowhere, and if one
    /// end closes its socket, the other does not notice. Clients can make new connections. Connections stranded
    /// earlier end.
    pub fn strand(&self) {
        let pairs: Vec<Pair> = self.shared.open.lock().unwrap().drain(..).collect();
        pairs.iter().for_each(|pair| pair.is_stranded.store(true, Ordering::SeqCst));
        let before = std::mem::replace(&mut *self.shared.stranded.lock().unwrap(), pairs);
        before.iter().for_each(Pair::end);
    }

    /// Loses the next `answers` answers of the server, each with its connection.
    pub fn lose(&self, answers: u64) {
        self.shared.to_lose.store(answers, Ordering::SeqCst);
    }

    /// The number of answers lost so far.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream, socket: &PathBuf) {
        if *self.line.lock().unwrap() == ProxyLink::Cut {
            return;
        }
        let Ok(server) = UnixStream::connect(socket) else { return };
        let pair = || Some((client.try_clone().ok()?, server.try_clone().ok()?));
        let (Some(kept), Some(there), Some(back)) = (pair(), pair(), pair()) else { return };
        let is_stranded = Arc::new(AtomicBool::new(false));
        let flags = [Arc::clone(&is_stranded), Arc::clone(&is_stranded)];
        self.open.lock().unwrap().push(Pair { client: kept.0, server: kept.1, is_stranded });
        let (ours, theirs, [one, other]) = (Arc::clone(self), Arc::clone(self), flags);
        std::thread::spawn(move || ours.carry(there, (false, &one)));
        std::thread::spawn(move || theirs.carry((back.1, back.0), (true, &other)));
    }

    /// Copies bytes until one side closes. Then it closes the other side too, unless the connection is stranded.
    fn carry<A: Read + Ends, B: Write + Ends>(
        &self,
        (mut from, mut to): (A, B),
        (is_answer, is_stranded): (bool, &AtomicBool),
    ) {
        let mut bytes = [0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            self.wait_while_deaf();
            if is_stranded.load(Ordering::SeqCst) {
                continue;
            }
            let lost = is_answer && is_result(&bytes[..count]) && self.takes_one();
            if lost || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        from.end();
        if !is_stranded.load(Ordering::SeqCst) {
            to.end();
        }
    }

    fn wait_while_deaf(&self) {
        let mut line = self.line.lock().unwrap();
        while *line == ProxyLink::Deaf {
            line = self.changed.wait(line).unwrap();
        }
    }

    fn takes_one(&self) -> bool {
        let took = self.to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        self.lost.fetch_add(took.into(), Ordering::SeqCst);
        took
    }
}

/// Whether the server executed a statement: the bytes contain `CommandComplete`. The answer to a prepare or describe
/// has none.
fn is_result(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [kind, a, b, c, d, ..] = *rest {
        if kind == b'C' {
            return true;
        }
        let Some(next) = rest.get(1 + u32::from_be_bytes([a, b, c, d]) as usize..) else { return false };
        rest = next;
    }
    false
}

/// A socket that another thread can close.
trait Ends {
    fn end(&self);
}

impl Ends for TcpStream {
    fn end(&self) {
        drop(self.shutdown(Shutdown::Both));
    }
}

impl Ends for UnixStream {
    fn end(&self) {
        drop(self.shutdown(Shutdown::Both));
    }
}
