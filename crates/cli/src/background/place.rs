//! The files of the background engine: its lock, its socket and its logs.
//!
//! **Invariant:** all of them belong to this user, and no other user can write to their folder. A socket of another
//! user is never used.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use longhaul_agents::private;
use longhaul_project::state;
use rustix::fs::{FlockOperation, flock};

/// The longest path that every system accepts for a socket.
const SOCKET_PATH_MAX: usize = 100;
/// A log that is longer moves aside before it is opened again.
const LOG_BYTES_MAX: u64 = 8 << 20;

/// The folder of the background engine.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    /// The folder of this user. Creates it, and checks its owner and its mode.
    pub(crate) fn of_user() -> Result<Self> {
        Ok(Self { folder: state::background()? })
    }

    /// Where to connect. The folder of state may have a name that is too long for a socket; then the socket is in a
    /// private folder below the temporary one.
    pub(crate) fn socket(&self) -> Result<PathBuf> {
        let usual = self.folder.join("socket");
        if usual.as_os_str().as_bytes().len() <= SOCKET_PATH_MAX {
            return Ok(usual);
        }
        let (user, name) = (own_id(), blake3::hash(self.folder.as_os_str().as_bytes()).to_hex());
        let folder = PathBuf::from(format!("/tmp/longhaul-{user}-{}", &name.as_str()[..16]));
        private::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        verify(&folder)?;
        Ok(folder.join("socket"))
    }

    /// Takes the lock of the supervisor; `None` if another one has it. The system frees it when the process ends.
    pub(crate) fn lock(&self) -> Result<Option<File>> {
        let path = self.folder.join("lock");
        let file = private::append(&path).with_context(|| path.display().to_string())?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// The log of the supervisor.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The log of a project's worker.
    pub(crate) fn log_of(&self, project: &Path, store: Option<&str>) -> PathBuf {
        let text = format!("{}\n{}", project.display(), store.unwrap_or_default());
        let name = blake3::hash(text.as_bytes()).to_hex();
        self.folder.join(format!("{}.log", &name.as_str()[..16]))
    }
}

/// Opens a log to append. A long one moves aside first, so that two are kept.
pub(crate) fn opened_log(path: &Path) -> Result<File> {
    if path.metadata().is_ok_and(|about| about.len() > LOG_BYTES_MAX) {
        let _ = std::fs::rename(path, path.with_extension("log.1"));
    }
    private::append(path).with_context(|| path.display().to_string())
}

/// Refuses a socket that is not this user's.
pub(crate) fn verify_socket(path: &Path) -> Result<()> {
    let about = path.symlink_metadata().with_context(|| path.display().to_string())?;
    if !about.file_type().is_socket() || about.uid() != own_id() {
        bail!("{} is not a socket of yours; remove it, and try again", path.display());
    }
    Ok(())
}

/// Refuses a folder that another user owns or could write to.
fn verify(folder: &Path) -> Result<()> {
    let about = folder.symlink_metadata().with_context(|| folder.display().to_string())?;
    if !about.is_dir() || about.uid() != own_id() || about.mode() & 0o077 != 0 {
        bail!("{} is not a private folder of yours; remove it, and try again", folder.display());
    }
    Ok(())
}

/// The number of this user.
pub(crate) fn own_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(folder: &Path) -> Place {
        Place { folder: folder.to_owned() }
    }

    #[test]
    fn one_process_has_the_lock_and_another_gets_it_after_that() {
        let folder = tempfile::tempdir().unwrap();
        let first = place(folder.path()).lock().unwrap();
        assert!(first.is_some());
        assert!(place(folder.path()).lock().unwrap().is_none());
        drop(first);
        assert!(place(folder.path()).lock().unwrap().is_some());
    }

    #[test]
    fn a_socket_has_a_short_path_in_a_private_folder() {
        assert_eq!(place(Path::new("/state")).socket().unwrap(), Path::new("/state/socket"));
        let long = place(&Path::new("/").join("x".repeat(200))).socket().unwrap();
        assert!(long.as_os_str().len() < SOCKET_PATH_MAX, "{}", long.display());
        let folder = long.parent().unwrap();
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let refused = place(&Path::new("/").join("x".repeat(200))).socket().unwrap_err();
        assert!(refused.to_string().contains("is not a private folder of yours"), "{refused}");
        std::fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_file_in_the_place_of_the_socket_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("socket"), "").unwrap();
        assert!(verify_socket(&folder.path().join("socket")).is_err());
        assert!(verify_socket(&folder.path().join("none")).is_err());
        let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("real")).unwrap();
        verify_socket(&folder.path().join("real")).unwrap();
    }

    #[test]
    fn a_long_log_moves_aside() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.log");
        std::fs::write(&log, vec![b'x'; usize::try_from(LOG_BYTES_MAX).unwrap() + 1]).unwrap();
        drop(opened_log(&log).unwrap());
        assert_eq!(log.metadata().unwrap().len(), 0);
        assert!(folder.path().join("a.log.1").exists());
    }
}
