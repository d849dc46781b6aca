//! The two locks of a folder: one says that a shim lives, the other that an engine is attached.
//!
//! A lock belongs to an open file. The system releases it when the last process with the open file has ended, in any
//! way.
//!
//! **Invariant:** only an engine holds the engine's lock for longer than a moment.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::Error;
use super::folder::{Folder, disk, private};
use crate::process;

/// A shim that checks for an engine holds the lock for an instant; after this many tries it is an engine.
const TRIES: usize = 25;
const TRY: Duration = Duration::from_millis(20);

/// Takes the engine's lock and writes our name into it. The lock is held until the returned file is dropped.
pub(super) async fn attach(folder: &Folder) -> Result<File, Error> {
    let path = folder.engine_lock();
    for _ in 0..TRIES {
        if let Some(mut file) = try_take(&path)? {
            sign(&mut file).map_err(disk(&path))?;
            return Ok(file);
        }
        tokio::time::sleep(TRY).await;
    }
    let by = std::fs::read_to_string(&path).unwrap_or_default();
    Err(Error::Held { folder: folder.path().to_owned(), by })
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(process::own_name().as_bytes())
}

/// The lock, if it is free.
pub(super) fn try_take(path: &Path) -> Result<Option<File>, Error> {
    let file = open(path).map_err(disk(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::Disk { path: path.to_owned(), source }),
    }
}

/// Waits until the lock is free, and returns the name of its last holder. Blocks.
pub(super) fn until_free(path: &Path) -> io::Result<String> {
    let mut file = open(path)?;
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            locked => break locked?,
        }
    }
    signature(&mut file)
}

/// The name of the last holder; `None` if the lock is taken.
pub(super) fn free_since(path: &Path) -> Result<Option<String>, Error> {
    let Some(mut file) = try_take(path)? else { return Ok(None) };
    signature(&mut file).map(Some).map_err(disk(path))
}

fn signature(file: &mut File) -> io::Result<String> {
    let mut name = String::new();
    file.read_to_string(&mut name)?;
    Ok(name)
}

fn open(path: &Path) -> io::Result<File> {
    private().read(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        (folder, Folder::new(path))
    }

    /// A shim checks for an engine at the moment in which one arrives.
    #[tokio::test(start_paused = true)]
    async fn a_lock_that_is_held_for_a_moment_is_no_other_engine() {
        let (_kept, folder) = folder();
        let held = try_take(&folder.engine_lock()).unwrap().unwrap();
        let letting_go = async {
            tokio::time::sleep(TRY * 3).await;
            drop(held);
        };
        let (attached, ()) = tokio::join!(attach(&folder), letting_go);
        attached.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn each_engine_leaves_another_name_in_the_lock() {
        let (_kept, folder) = folder();
        let mut names = Vec::new();
        for _ in 0..2 {
            let held = attach(&folder).await.unwrap();
            assert_eq!(free_since(&folder.engine_lock()).unwrap(), None);
            drop(held);
            names.push(until_free(&folder.engine_lock()).unwrap());
            assert_eq!(free_since(&folder.engine_lock()).unwrap().as_ref(), names.last());
        }
        assert!(names[0] != names[1] && names.iter().all(|name| !name.is_empty()), "{names:?}");
    }
}
