//! Writes the files of the scripted agent.
//!
//! **Invariant:** nothing is written outside the workspace, whatever the path says and whatever links the workspace
//! contains.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use super::Reply;

/// Whether a path stays below the folder that it is relative to.
pub(super) fn is_inside(path: &str) -> bool {
    let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    is_plain && !path.is_empty() && !path.ends_with('/') && !path.contains('\0')
}

impl Reply {
    /// Writes the files of the reply. It refuses to follow a link on the way.
    pub fn write_into(&self, workspace: &Path) -> io::Result<()> {
        for (path, content) in &self.writes {
            write(workspace, path, content)
                .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
        }
        Ok(())
    }
}

fn write(workspace: &Path, path: &str, content: &str) -> io::Result<()> {
    if !is_inside(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut folder = openat(CWD, workspace, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    for part in parents.split('/').filter(|part| !part.is_empty()) {
        folder = enter(&folder, part)?;
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    File::from(openat(&folder, name, flags, Mode::from_raw_mode(0o644))?).write_all(content.as_bytes())
}

fn enter(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(path: &str) -> Reply {
        Reply { writes: [(path.to_owned(), "new".to_owned())].into(), ..Reply::default() }
    }

    #[test]
    fn files_are_written_with_the_folders_they_need() {
        let workspace = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            reply("a/b/c.txt").write_into(workspace.path()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(workspace.path().join("a/b/c.txt")).unwrap(), "new");
    }

    #[test]
    fn a_path_that_leads_out_is_refused() {
        let workspace = tempfile::tempdir().unwrap();
        for path in ["", "/etc/x", "../x", "a/../../x", "a/", ".", "a\0b", "./x"] {
            assert!(!is_inside(path), "{path:?}");
            assert!(reply(path).write_into(workspace.path()).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_link_that_leads_out_is_not_followed() {
        let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = outside.path().join("file");
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(outside.path(), workspace.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(&target, workspace.path().join("file")).unwrap();
        for path in ["folder/file", "folder/more/x", "file"] {
            assert!(reply(path).write_into(workspace.path()).is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
