//! Keeps an agent running when the engine does not: a small process between the two, the *shim*.
//!
//! The engine starts a shim with a folder of the attempt. The shim runs the agent as any command is run, its output goes
//! to files in that folder, and the last file says how it ended. An engine that was killed leaves the shim as it is;
//! the next one attaches to it and reads on from the byte where the last one stopped.
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
//! **Invariant:** an agent runs below a shim that holds its lock, or is a stray that the next sweep ends. Whoever is told that a
//! shim is gone can be sure that nothing will ever run in that folder again.

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

pub use attached::{Attached, Outcome};
pub use environment::environment;
pub use host::shim_main;
pub use lines::Lines;
pub use spec::Spec;
pub use split::Line;

use crate::contract::Exit;
use crate::machine::{Short, Shortage};
use folder::Folder;

/// What the binary is called with to be a shim; the folder of the attempt follows.
pub const SHIM_COMMAND: &str = "__shim";
/// What a shim has in place of an engine's name: neither guard nor sweep ends it with some engine.
pub(crate) const SHIM_MARK: &str = "shim";

/// The shim of one attempt, whether it runs or not.
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

    /// What was printed from a byte on, of an attempt that is over.
    pub fn lines(&self, from: u64) -> Lines {
        Lines::of_ended(&self.folder, from)
    }

    /// The end of what was complained about so far.
    pub fn stderr_tail(&self) -> Result<String, Error> {
        self.folder.stderr_tail()
    }
}

/// What an engine finds when it comes back for an attempt.
#[derive(Debug)]
pub enum Found {
    /// It still runs.
    Attached(Attached),
    /// It ended meanwhile.
    Ended(Exit),
    /// There is no shim, and nothing says how it ended: the attempt is lost. What it left was ended.
    Gone,
}

/// Why a shim could not be started, reached or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An attempt has a folder of its own, and is started once.
    #[error("`{}` has been used for an attempt; start again in an empty folder", folder.display())]
    Used {
        /// The folder.
        folder: PathBuf,
    },
    /// Only one engine at a time speaks with a shim.
    #[error("another engine ({by}) is attached to `{}`; wait until it lets go or ends", folder.display())]
    Held {
        /// The folder.
        folder: PathBuf,
        /// The name of that engine.
        by: String,
    },
    /// A file of the folder is not what a shim writes.
    #[error("`{}` cannot be understood ({source}); end the attempt and start again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file of the folder could not be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What the system says.
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
