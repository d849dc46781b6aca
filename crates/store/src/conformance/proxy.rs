//! A line between a client and a server on which everything can go wrong that goes wrong on lines.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// What happens on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyLink {
    /// Everything passes.
    Open,
    /// What is said is neither passed on nor refused, and nobody hears that nobody listens.
    Deaf,
    /// Nobody gets through, and who had got through is cut off.
    Cut,
}

/// The line, and how it is.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    line: Mutex<ProxyLink>,
    changed: Condvar,
    /// So many answers are still to be lost.
    to_lose: AtomicU64,
    lost: AtomicU64,
    open: Mutex<Vec<Pair>>,
    stranded: Mutex<Vec<Pair>>,
}

/// A connection, as both ends of the line have it.
struct Pair {
    client: TcpStream,
    server: UnixStream,
    /// What is said on it goes nowhere.
    is_stranded: Arc<AtomicBool>,
}

impl Pair {
    fn end(&self) {
        self.client.end();
        self.server.end();
    }
}

impl Proxy {
    /// A line to the socket of a server.
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

    /// The address of a store at the other end, which is at `address` without the line.
    pub fn through(&self, address: &str) -> String {
        let (start, rest) = address.split_once('@').unwrap();
        format!("{start}@127.0.0.1:{}{}", self.port, &rest[rest.find('/').unwrap()..])
    }

    /// From now on.
    pub fn set(&self, line: ProxyLink) {
        *self.shared.line.lock().unwrap() = line;
        self.shared.changed.notify_all();
        if line == ProxyLink::Cut {
            self.cut();
        }
    }

    /// Ends every connection there is; new ones can be made if the line is open.
    pub fn cut(&self) {
        self.shared.open.lock().unwrap().drain(..).for_each(|pair| pair.end());
    }

    /// Strands every connection there is, as when the way between two machines is lost: what is said on it goes nowhere, and if one
    /// end closes it, the other does not hear of that. New ones can be made. Those that were stranded before end.
    pub fn strand(&self) {
        let pairs: Vec<Pair> = self.shared.open.lock().unwrap().drain(..).collect();
        pairs.iter().for_each(|pair| pair.is_stranded.store(true, Ordering::SeqCst));
        let before = std::mem::replace(&mut *self.shared.stranded.lock().unwrap(), pairs);
        before.iter().for_each(Pair::end);
    }

    /// The next so many answers of the server are lost, and with each its connection.
    pub fn lose(&self, answers: u64) {
        self.shared.to_lose.store(answers, Ordering::SeqCst);
    }

    /// How many have been.
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

    /// Until one side is gone; then the other one goes as well, unless nobody tells it.
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

/// The server has carried a statement out: `CommandComplete` is in it. What answers a question about a statement has none.
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

/// What can be ended from outside.
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
