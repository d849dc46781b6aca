//! Writes an output, without secrets, to a file and to memory.
//!
//! The file and its folder are made when the first byte comes: most commands leave one of their outputs empty, and
//! making a file takes longer than writing it. Writing happens on the same thread, because it only goes to the memory
//! of the system.
//!
//! **Invariant:** flushed bytes have been handed to the system. Bytes that a full disk refused are kept for the next
//! flush.

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
    /// `None` until there is something to write.
    file: Option<File>,
    room: u64,
    dropped: u64,
    /// Bytes that are not in the file yet.
    unwritten: Vec<u8>,
    redactor: Redactor,
    kept: Keeper,
}

impl Sink {
    /// Checks now for problems that would prevent writing later.
    pub(super) fn prepare(path: PathBuf, command: &Command) -> Result<Self, Error> {
        if let Err(source) = writable(&path) {
            return Err(Error::Disk { path, source });
        }
        let (kept, redactor) = (Keeper::new(command.keep_bytes), Redactor::new(command.secrets.clone()));
        let (room, unwritten) = (command.disk_bytes_max, Vec::new());
        Ok(Self { path, file: None, room, dropped: 0, unwritten, redactor, kept })
    }

    /// Takes bytes; returns those that cannot be the start of a secret.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let clean = self.redactor.push(bytes);
        self.keep(&clean);
        clean
    }

    /// The bytes that were held back, at the end.
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

    /// Writes the waiting bytes to the file. Bytes that fail now can be flushed again.
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

/// Makes the file for the engine's user only, because output can contain secrets.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        private::create_dir_all(folder)?;
    }
    private::create(path)
}

/// Whether a file can be made there, without making it: the nearest existing folder must be writable.
fn writable(path: &Path) -> io::Result<()> {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let nearest = folders.into_iter().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?)));
    match nearest {
        Some((_, found)) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Some((folder, _)) => Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?),
        None => Ok(()),
    }
}
