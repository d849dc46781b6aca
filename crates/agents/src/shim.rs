//! Keeps an agent running when the engine stops: a small process between the two, the *shim*.
//!
//! The engine starts a shim with a folder of the attempt. The shim runs the agent like any command, writes its output
//! to files in that folder, and writes a last file that says how it ended. If the engine is killed, the shim continues.
//! The next engine attaches to it and reads from the byte where the last one stopped.
//!
//! | file | says |
//! |---|---|
//! | `spec.json`, `stdin` | what is run and what it reads; never its environment |
//! | `shim.lock` | locked as long as there is a shim |
//! | `engine.lock` | locked as long as an engine is attached; inside, the last one's name |
//! | `shim.json` | who the shim is, and the agent |
//! | `stdout`, `stderr` | what the agent printed, as it came |
//! | `stop` | why an engine wants it ended |
//! | `exit.json` | how it ended; the last file that is written |
//!
//! **Invariant:** an agent runs under a shim that holds its lock, or is a stray that the next sweep ends. If Longhaul
//! reports that a shim is gone, nothing will ever run in that folder again.

mod alone;
mod attach;
mod attached;
mod environment;
mod folder;
mod host;
mod lines;
mod locks;
mod spec;
mod split;
mod start;
mod watch;

use std::io;
use std::path::{Path, PathBuf};

pub use attached::{Attached, AttemptOutcome};
pub use environment::environment;
pub use host::shim_main;
pub use lines::Lines;
pub use spec::Spec;
pub use split::OutputLine;

use crate::contract::Exit;
use crate::machine::{Short, Shortage};
use folder::Folder;

/// The argument that makes the binary a shim; the folder of the attempt follows.
pub const SHIM_COMMAND: &str = "__shim";
/// The engine mark of shims: no guard and no sweep ends them together with an engine.
pub(crate) const SHIM_MARK: &str = "shim";

/// The shim of one attempt, running or not.
#[derive(Debug, Clone)]
pub struct Shim {
    program: PathBuf,
    folder: Folder,
}

impl Shim {
    /// A shim that is run as `program __shim FOLDER`, which must call [`shim_main`].
    pub fn new(program: impl Into<PathBuf>, folder: &Path) -> Result<Self, Error> {
        let folder = Folder::new(std::path::absolute(folder).map_err(Error::io("name the folder"))?);
        Ok(Self { program: program.into(), folder })
    }

    /// The lines from a byte on, of an attempt that is over.
    pub fn lines(&self, from: u64) -> Lines {
        Lines::of_ended(&self.folder, from)
    }

    /// The end of the error output so far.
    pub fn stderr_tail(&self) -> Result<String, Error> {
        self.folder.stderr_tail()
    }
}

/// The state of an attempt when an engine attaches again.
#[derive(Debug)]
pub enum ShimFound {
    /// It is still running.
    Attached(Attached),
    /// It has ended meanwhile.
    Ended(Exit),
    /// There is no shim, and no file says how it ended: the attempt is lost. Its leftover processes were ended.
    Gone,
}

/// Why a shim could not be started, reached or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is in use: an attempt has its own folder and starts once.
    #[error("`{}` has been used for an attempt; start again in an empty folder", folder.display())]
    Used {
        /// The folder.
        folder: PathBuf,
    },
    /// Another engine is attached. Only one engine at a time talks to a shim.
    #[error("another engine ({by}) is attached to `{}`; wait until it detaches or ends", folder.display())]
    Held {
        /// The folder.
        folder: PathBuf,
        /// The name of that engine.
        by: String,
    },
    /// A file of the folder has content that no shim writes.
    #[error("`{}` cannot be understood ({source}); end the attempt and start again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error in the file.
        source: serde_json::Error,
    },
    /// A file of the folder could not be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// The failed operation.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl Short for Error {
    fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Disk { source, .. } | Self::Io { source, .. } => Shortage::of(source),
            Self::Used { .. } | Self::Held { .. } | Self::Damaged { .. } => None,
        }
    }
}

impl Error {
    fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
