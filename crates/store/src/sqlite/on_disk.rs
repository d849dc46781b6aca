//! Checks that the open file is still the file that its path names.
//!
//! A program can delete or replace the file of an open store. SQLite then continues to write into a file without a
//! name. Its data is lost when the last process closes it.
//!
//! **Invariant:** it only looks at the files and never opens them: closing a second handle would release the locks of
//! the first.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// The files of an open store, with their identity at the time of opening.
pub(super) struct OnDisk(Vec<(PathBuf, Id)>);

/// Device and inode.
type Id = (u64, u64);

impl OnDisk {
    /// The file of a store, and its log. The store must be open.
    pub(super) fn of(path: &Path) -> Self {
        // The process may change its folder, so the path is absolute. SQLite puts the log beside the target of a
        // link.
        let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let log = path.canonicalize().map(|file| beside(&file, "-wal"));
        let files = std::iter::once(named).chain(log);
        Self(files.filter_map(|file| Some((file.clone(), id(&file)?))).collect())
    }

    /// Fails if a file is gone or was replaced.
    pub(super) fn verify(&self) -> Result<(), Error> {
        match self.0.iter().find(|(file, opened)| id(file) != Some(*opened)) {
            None => Ok(()),
            Some((file, _)) => Err(Error::Io(format!(
                "{} was deleted or replaced while this program used it, so nothing can be stored there; writes that were not \
                 acknowledged are lost. Put the file back (longhaul store backup makes copies), or find out which step deletes it, \
                 then start again",
                file.display()
            ))),
        }
    }
}

fn id(file: &Path) -> Option<Id> {
    file.metadata().ok().map(|about| (about.dev(), about.ino()))
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    name.into()
}
