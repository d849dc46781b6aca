//! The folder of an attempt, whose files are written so that no reader sees half of one.
//!
//! **Invariant:** a file about the attempt is complete or missing. All files are for the engine's user only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Error, Spec};
use crate::contract::{Exit, Stopped};

/// The most bytes of error output that are reported.
pub(super) const STDERR_TAIL_BYTES: u64 = 16 << 10;

/// The folder of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder(PathBuf);

/// The shim, and the agent once it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) pid: u32,
    /// The start time, in ticks since the machine started.
    pub(super) start: u64,
    /// The name that its agent's processes carry: host, boot, process, start, and a unique number.
    pub(super) name: String,
    /// The time in milliseconds since 1970.
    pub(super) at_ms: u64,
    pub(super) agent: Option<Agent>,
}

/// The first process of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Agent {
    pub(super) pid: u32,
    pub(super) start: u64,
}

/// How the agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Over {
    /// The process id of the agent; 0 if it never started.
    pub(super) pid: u32,
    /// The time in milliseconds since 1970.
    pub(super) at_ms: u64,
    pub(super) exit: Exit,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn stdout(&self) -> PathBuf {
        self.0.join("stdout")
    }

    pub(super) fn stderr(&self) -> PathBuf {
        self.0.join("stderr")
    }

    pub(super) fn engine_lock(&self) -> PathBuf {
        self.0.join("engine.lock")
    }

    pub(super) fn shim_lock(&self) -> PathBuf {
        self.0.join("shim.lock")
    }

    pub(super) fn make(&self) -> Result<(), Error> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(disk(&self.0))
    }

    /// Writes what to run; works only once.
    pub(super) fn claim(&self, spec: &Spec, stdin: &[u8]) -> Result<(), Error> {
        let path = self.0.join("spec.json");
        let mut file = private().create_new(true).open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Used { folder: self.0.clone() },
            _ => Error::Disk { path: path.clone(), source },
        })?;
        let text = serde_json::to_vec(spec).map_err(|source| Error::Damaged { path: path.clone(), source })?;
        let written = file.write_all(&text).map_err(disk(&path)).and_then(|()| self.keep_stdin(stdin));
        // A half-written claim is useless, and nothing has started.
        written.inspect_err(|_| self.unclaim())
    }

    fn keep_stdin(&self, stdin: &[u8]) -> Result<(), Error> {
        let path = self.0.join("stdin");
        let mut file = private().create(true).truncate(true).open(&path).map_err(disk(&path))?;
        file.write_all(stdin).map_err(disk(&path))
    }

    /// Removes the claim, as if nothing was to run.
    pub(super) fn unclaim(&self) {
        // The next claim finds leftovers.
        let _gone = fs::remove_file(self.0.join("spec.json"));
    }

    pub(super) fn is_claimed(&self) -> bool {
        self.0.join("spec.json").exists()
    }

    pub(super) fn spec(&self) -> Result<Option<Spec>, Error> {
        self.read("spec.json")
    }

    pub(super) fn stdin(&self) -> Result<Vec<u8>, Error> {
        let path = self.0.join("stdin");
        fs::read(&path).map_err(disk(&path))
    }

    pub(super) fn begun(&self) -> Result<Option<Begun>, Error> {
        self.read("shim.json")
    }

    pub(super) fn begin(&self, begun: &Begun) -> Result<(), Error> {
        self.write("shim.json", begun)
    }

    pub(super) fn stop(&self) -> Result<Option<Stopped>, Error> {
        self.read("stop")
    }

    pub(super) fn ask_to_stop(&self, why: Stopped) -> Result<(), Error> {
        self.write("stop", &why)
    }

    pub(super) fn over(&self) -> Result<Option<Over>, Error> {
        self.read("exit.json")
    }

    /// Writes how it ended, after all output is safely on disk.
    pub(super) fn end(&self, over: &Over) -> Result<(), Error> {
        for path in [self.stdout(), self.stderr()] {
            match File::open(&path) {
                Ok(file) => file.sync_all().map_err(disk(&path))?,
                // It never started.
                Err(_) => continue,
            }
        }
        self.write("exit.json", over)
    }

    pub(super) fn stderr_tail(&self) -> Result<String, Error> {
        let path = self.stderr();
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&path)?;
            let from = file.metadata()?.len().saturating_sub(STDERR_TAIL_BYTES);
            file.seek(SeekFrom::Start(from))?;
            let mut tail = Vec::new();
            file.take(STDERR_TAIL_BYTES).read_to_end(&mut tail)?;
            Ok(tail)
        };
        match read() {
            Ok(tail) => Ok(String::from_utf8_lossy(&tail).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(source) => Err(Error::Disk { path, source }),
        }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        let path = self.0.join(name);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|source| Error::Damaged { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Disk { path, source }),
        }
    }

    /// Writes a file that survives a power cut, or no file at all.
    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let (path, new) = (self.0.join(name), self.0.join(format!("{name}.new")));
        let text = serde_json::to_vec(value).map_err(|source| Error::Damaged { path: path.clone(), source })?;
        let write = || -> io::Result<()> {
            let mut file = private().create(true).truncate(true).open(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&self.0)?.sync_all()
        };
        write().map_err(disk(&path))
    }
}

pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Disk { path, source }
}
