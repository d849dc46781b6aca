//! What a machine can be short of for a while, and how it is waited for.
//!
//! **Invariant:** a shortage is nobody's failure: what met one has not been done, and is tried again without an end, at longer and
//! longer intervals.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::fs::statvfs;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

/// The first pause, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// A minute and a half.
const TRIES_HERE: usize = 10;
/// With less no database grows.
const ROOM_BYTES_MIN: u64 = 64 << 10;

/// What a machine is short of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Files that can be open at once.
    Files,
    /// Processes and threads.
    Processes,
    /// Room on a disk.
    Space,
    /// Memory.
    Memory,
}

impl Shortage {
    /// What the system means, if it is short of something.
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::MFILE | Errno::NFILE => Some(Self::Files),
            Errno::AGAIN => Some(Self::Processes),
            Errno::NOSPC | Errno::DQUOT => Some(Self::Space),
            Errno::NOMEM => Some(Self::Memory),
            _ => None,
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "too many files are open; close some, or raise `ulimit -n`",
            Self::Processes => "no more processes can be started; end some, or raise `ulimit -u`",
            Self::Space => "no space is left on the disk; make room",
            Self::Memory => "no memory is left; end something",
        })
    }
}

/// An error that may be a shortage of the machine.
pub trait Short {
    /// What was short.
    fn shortage(&self) -> Option<Shortage>;
}

impl Short for io::Error {
    fn shortage(&self) -> Option<Shortage> {
        Shortage::of(self)
    }
}

/// Pauses between tries: each is twice as long as the one before, up to a minute.
#[derive(Debug, Clone)]
pub struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: PAUSES.0 }
    }
}

impl Backoff {
    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(PAUSES.1);
        pause
    }
}

/// Does something that has no effect if it fails, again and again while the machine is short of something.
pub async fn patiently<T, E: Short>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut backoff = Backoff::default();
    loop {
        match work() {
            Err(error) if error.shortage().is_some() => tokio::time::sleep(backoff.pause()).await,
            done => return done,
        }
    }
}

/// The same on a thread that may block, and not for ever: whoever called it cannot be told meanwhile.
pub(crate) fn patiently_here<T, E: Short>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut backoff = Backoff::default();
    for _ in 0..TRIES_HERE {
        match work() {
            Err(error) if error.shortage().is_some() => std::thread::sleep(backoff.pause()),
            done => return done,
        }
    }
    work()
}

/// Whether the disk of a folder, or of the nearest one above it that is there, takes nothing more of us.
pub fn is_full(folder: &Path) -> bool {
    let Some(Ok(disk)) = folder.ancestors().map(statvfs).find(Result::is_ok) else { return false };
    // What is kept for root is no room for anybody else.
    let blocks = if geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
    let has_no_files = disk.f_files > 0 && disk.f_ffree == 0;
    has_no_files || blocks.saturating_mul(disk.f_frsize) < ROOM_BYTES_MIN
}

/// The limit on open files that this process was given.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();
/// A file that is open for nothing, so that there is one when there is none.
static SPARE: Mutex<Option<File>> = Mutex::new(None);

/// Prepares a process for hard times: it may open as many files as the system allows it to, and keeps one in reserve. To be called
/// first, so that the one in reserve is among those that no lower limit takes away.
pub fn prepare() {
    set_spare();
    let given = getrlimit(Resource::Nofile);
    let _known = GIVEN.set(given);
    // What it was given is enough, too.
    let _raised = setrlimit(Resource::Nofile, Rlimit { current: given.maximum, maximum: given.maximum });
}

fn set_spare() {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    *spare = spare.take().or_else(|| File::open("/dev/null").ok());
}

/// Gives a process that was just forked the limit on open files back that its parent was given: programs that use `select` break
/// above 1024. Makes system calls and nothing else.
pub(crate) fn give_back_file_limit() {
    if let Some(given) = GIVEN.get() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let _set = setrlimit(Resource::Nofile, Rlimit { current: given.current, maximum });
    }
}

/// Reads something that takes one open file, if need be the one in reserve.
pub(crate) fn with_spare<T>(mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match read() {
        Err(error) if error.shortage() == Some(Shortage::Files) => {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            drop(spare.take());
            let got = read();
            *spare = File::open("/dev/null").ok();
            got
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_is_short_of_is_told_from_failures() {
        let of = |errno: Errno| Shortage::of(&errno.into());
        assert_eq!(of(Errno::MFILE), Some(Shortage::Files));
        assert_eq!(of(Errno::NFILE), Some(Shortage::Files));
        assert_eq!(of(Errno::AGAIN), Some(Shortage::Processes));
        assert_eq!(of(Errno::NOSPC), Some(Shortage::Space));
        assert_eq!(of(Errno::DQUOT), Some(Shortage::Space));
        assert_eq!(of(Errno::NOMEM), Some(Shortage::Memory));
        assert_eq!(of(Errno::NOENT), None);
        assert_eq!(Shortage::of(&io::Error::other("x")), None);
    }

    #[test]
    fn pauses_grow_to_a_minute() {
        let mut backoff = Backoff::default();
        let pauses: Vec<u128> = (0..12).map(|_| backoff.pause().as_millis()).collect();
        assert_eq!(pauses[..4], [100, 200, 400, 800]);
        assert_eq!(pauses[10..], [60_000, 60_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_short_is_tried_until_it_is_there() {
        let mut left = 20;
        let tried = patiently(|| {
            left -= 1;
            if left > 0 { Err(io::Error::from(Errno::NOSPC)) } else { Ok(7) }
        });
        assert_eq!(tried.await.unwrap(), 7);
        let refused: io::Result<()> = patiently(|| Err(Errno::ACCESS.into())).await;
        assert!(refused.is_err());
    }
}
