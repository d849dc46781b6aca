//! Where an output goes: without secrets, to a file and to memory.
//!
//! The file and its folder are made when the first byte comes: most commands say nothing on one of their outputs, and to make a
//! file takes longer than to write it. Writing is not handed to another thread: it goes to the memory of the system.
//!
//! **Invariant:** what was flushed has been handed to the system. What a disk without room did not take is kept to be flushed again.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::captured::{Captured, Keeper};
use super::{Command, Error};
use crate::private;
use crate::redact::Redactor;

/// The file and the memory that an output goes to.
#[derive(Debug)]
pub(super) struct Sink {
    path: PathBuf,
    /// `None` until something is to be written.
    file: Option<File>,
    room: u64,
    dropped: u64,
    /// What the file does not have yet.
    unwritten: Vec<u8>,
    redactor: Redactor,
    kept: Keeper,
}

impl Sink {
    /// Says now what would be in the way of writing later.
    pub(super) fn prepare(path: PathBuf, command: &Command) -> Result<Self, Error> {
        if let Err(source) = writable(&path) {
            return Err(Error::Disk { path, source });
        }
        let (kept, redactor) = (Keeper::new(command.keep_bytes), Redactor::new(command.secrets.clone()));
        let (room, unwritten) = (command.disk_bytes_max, Vec::new());
        Ok(Self { path, file: None, room, dropped: 0, unwritten, redactor, kept })
    }

    /// Takes bytes in; answers those that are not held back because they could begin a secret.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let clean = self.redactor.push(bytes);
        self.keep(&clean);
        clean
    }

    /// What was held back, at the end.
    pub(super) fn push_rest(&mut self) -> Vec<u8> {
        let rest = self.redactor.finish();
        self.keep(&rest);
        rest
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.kept.push(bytes);
        let fits = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        self.room -= fits as u64;
        self.dropped += (bytes.len() - fits) as u64;
        self.unwritten.extend_from_slice(&bytes[..fits]);
    }

    /// Has the file take what it does not have yet. What it does not take now can be flushed again.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let mut written = 0;
        let done = self.write(&mut written);
        self.unwritten.drain(..written);
        done.map_err(|source| Error::Disk { path: self.path.clone(), source })
    }

    fn write(&mut self, written: &mut usize) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(&self.path)?),
        };
        while *written < self.unwritten.len() {
            match file.write(&self.unwritten[*written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(more) => *written += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn into_captured(self) -> Captured {
        self.kept.finish(self.dropped)
    }
}

/// Output can contain secrets: it is for the engine's user only.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::create_dir_all(folder)?;
    }
    private::create(path)
}

/// Whether a file can be made there, as far as can be told without making it: the nearest folder that is there takes one.
fn writable(path: &Path) -> io::Result<()> {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let nearest = folders.into_iter().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    match nearest {
        Some((_, found)) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Some((folder, _)) => Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?),
        None => Ok(()),
    }
}
