//! Makes files and folders that only the engine's user can read, because they hold prompts and answers.
//!
//! In a folder that a group shares (the group may write, and new files belong to the group: `chmod 2770`), the group
//! can read them too. To choose a group, put the store into such a folder.
//!
//! **Invariant:** files are 0600 and folders 0700, or 0660 and 2770, whatever the umask. Nothing is written through a
//! link.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

/// The mode bits of a folder that a group shares: the group can write, and new files inherit the group.
const SHARED: u32 = 0o2020;

/// The number of files that this process has replaced; it makes temporary names unique.
static REPLACED: AtomicU64 = AtomicU64::new(0);

/// Makes a folder, with its missing parents.
pub fn create_dir_all(folder: &Path) -> io::Result<()> {
    match folder.symlink_metadata() {
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => return Err(io::Error::new(ErrorKind::NotADirectory, format!("{} is no folder", folder.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), create_dir_all)?;
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) if is_shared(folder) => std::fs::set_permissions(folder, Permissions::from_mode(0o2770)),
        // Another process made it first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes a file, or empties an existing one.
pub fn create(file: &Path) -> io::Result<File> {
    opened(file, OpenOptions::new().write(true).create(true).truncate(true))
}

/// Opens a file to append, and makes it if it does not exist.
pub fn append(file: &Path) -> io::Result<File> {
    opened(file, OpenOptions::new().append(true).create(true))
}

/// Makes a file that must not exist yet.
pub fn create_new(file: &Path) -> io::Result<File> {
    opened(file, OpenOptions::new().write(true).create_new(true))
}

/// Writes to a temporary file and renames it, so that a crash leaves the old text or the new one.
pub fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    let number = REPLACED.fetch_add(1, Ordering::Relaxed);
    beside.push(format!(".{}-{number}.tmp", std::process::id()));
    create(Path::new(&beside))?.write_all(bytes)?;
    std::fs::rename(&beside, file)
}

fn opened(file: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_links = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let open = options.mode(0o600).custom_flags(no_links).open(file)?;
    let wanted = if is_shared(file) { 0o660 } else { 0o600 };
    let about = open.metadata()?;
    if about.is_file() && about.mode() & 0o777 != wanted && about.uid() == rustix::process::geteuid().as_raw() {
        open.set_permissions(Permissions::from_mode(wanted))?;
    }
    Ok(open)
}

/// Whether a group shares the folder around a path.
fn is_shared(path: &Path) -> bool {
    let around = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    around.metadata().is_ok_and(|around| around.mode() & SHARED == SHARED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn what_is_made_is_for_its_user_or_for_the_group_that_was_chosen() {
        let place = tempfile::tempdir().unwrap();
        for (around, folder_mode, file_mode) in [(0o755, 0o700, 0o600), (0o777, 0o700, 0o600), (0o2770, 0o2770, 0o660)]
        {
            let root = place.path().join(format!("{around:o}"));
            std::fs::create_dir(&root).unwrap();
            std::fs::set_permissions(&root, Permissions::from_mode(around)).unwrap();
            let folder = root.join("a/b");
            create_dir_all(&folder).unwrap();
            create_dir_all(&folder).unwrap();
            create(&folder.join("made")).unwrap();
            append(&folder.join("added")).unwrap();
            replace(&folder.join("replaced"), b"x").unwrap();
            assert_eq!((mode(&root.join("a")), mode(&folder)), (folder_mode, folder_mode), "{around:o}");
            for file in ["made", "added", "replaced"] {
                assert_eq!(mode(&folder.join(file)), file_mode, "{around:o} {file}");
            }
        }
    }

    #[test]
    fn a_file_that_others_could_read_is_closed_when_it_is_written_again() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x");
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        create(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let (target, link) = (place.path().join("target"), place.path().join("link"));
        std::fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(create(&link).is_err() && append(&link).is_err() && create_new(&link).is_err());
        replace(&link, b"theirs").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine", "the link was replaced, not followed");
        let (folder, door) = (place.path().join("folder"), place.path().join("door"));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &door).unwrap();
        assert!(create_dir_all(&door.join("below")).is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}
