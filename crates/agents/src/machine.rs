//! Waits for resources that a machine lacks for a while.
//!
//! **Invariant:** a shortage is not a failure. Work that met one has not been done; Longhaul tries it again without a
//! limit, with longer and longer pauses.

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

/// Enough tries for about a minute and a half.
const TRIES_HERE: usize = 10;
/// A database cannot grow with less free space.
const ROOM_BYTES_MIN: u64 = 64 << 10;

/// The resource that a machine lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Files that can be open at once.
    Files,
    /// Processes and threads.
    Processes,
    /// Free space on a disk.
    Space,
    /// Memory.
    Memory,
}

impl Shortage {
    /// The resource that an error of the system says is missing, if there is one.
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

/// An error that may mean a shortage.
pub trait Short {
    /// The missing resource.
    fn shortage(&self) -> Option<Shortage>;
}

impl Short for io::Error {
    fn shortage(&self) -> Option<Shortage> {
        Shortage::of(self)
    }
}

/// Pauses between tries: each is twice as long as the last, up to a minute.
#[derive(Debug, Clone)]
pub struct ShortageBackoff {
    next: Duration,
}

impl Default for ShortageBackoff {
    fn default() -> Self {
        Self { next: PAUSES.0 }
    }
}

impl ShortageBackoff {
    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(PAUSES.1);
        pause
    }
}

/// Repeats work while the machine lacks something. The work must have no effect if it fails.
pub async fn patiently<T, E: Short>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut backoff = ShortageBackoff::default();
    loop {
        match work() {
            Err(error) if error.shortage().is_some() => tokio::time::sleep(backoff.pause()).await,
            done => return done,
        }
    }
}

/// The same on a thread that may block, with a limit on tries, because the caller cannot report the shortage meanwhile.
pub(crate) fn patiently_here<T, E: Short>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut backoff = ShortageBackoff::default();
    for _ in 0..TRIES_HERE {
        match work() {
            Err(error) if error.shortage().is_some() => std::thread::sleep(backoff.pause()),
            done => return done,
        }
    }
    work()
}

/// Whether the disk of a folder, or of its nearest existing parent, is full for this user.
pub fn is_full(folder: &Path) -> bool {
    let Some(Ok(disk)) = folder.ancestors().map(statvfs).find(Result::is_ok) else { return false };
    // Space that is reserved for root does not count for other users.
    let blocks = if geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
    let has_no_files = disk.f_files > 0 && disk.f_ffree == 0;
    has_no_files || blocks.saturating_mul(disk.f_frsize) < ROOM_BYTES_MIN
}

/// The limit on open files with which this process started.
static GIVEN: OnceLock<Rlimit> = OnceLock::new();
/// A file that is kept open as a reserve, for when no other file can be opened.
static SPARE: Mutex<Option<File>> = Mutex::new(None);

/// Prepares a process for shortages: it raises the limit on open files to the allowed maximum, and keeps one file in
/// reserve. Call it first, so that the reserve has a low number, which a lower limit does not take away.
pub fn prepare() {
    set_spare();
    let given = getrlimit(Resource::Nofile);
    let _known = GIVEN.set(given);
    // The original limit is enough, too.
    let _raised = setrlimit(Resource::Nofile, Rlimit { current: given.maximum, maximum: given.maximum });
}

fn set_spare() {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    *spare = spare.take().or_else(|| File::open("/dev/null").ok());
}

/// Restores the original limit on open files in a process that was just forked. Programs that use `select` break with
/// more than 1024 files. It only makes system calls.
pub(crate) fn give_back_file_limit() {
    if let Some(given) = GIVEN.get() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let _set = setrlimit(Resource::Nofile, Rlimit { current: given.current, maximum });
    }
}

/// Reads something that needs one open file, and uses the reserve if necessary.
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
        let mut backoff = ShortageBackoff::default();
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
