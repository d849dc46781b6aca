//! A file that several users of a machine share.
//!
//! SQLite makes the files beside a database with the rights of the database itself. Where the folder is for a group, the database is
//! made for the group too; otherwise whoever opens it second would keep the first one out.

use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const GROUP_WRITES: u32 = 0o020;

/// Makes the file, for the group, where it is not there and its folder is for a group; does nothing elsewhere.
pub(super) fn make(path: &Path, folder: &Path) -> std::io::Result<()> {
    let is_shared = folder.metadata().is_ok_and(|folder| folder.mode() & GROUP_WRITES != 0);
    if !is_shared || path.as_os_str().is_empty() {
        return Ok(());
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file.set_permissions(Permissions::from_mode(0o660)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // SQLite says what is wrong with the place.
        Err(_) => Ok(()),
    }
}

/// Whose file beside the database keeps this process out, and what to do about it.
pub(super) fn kept_out(path: &Path, is_barred: impl Fn(&Path) -> bool) -> Option<String> {
    let beside = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    let file = ["-wal", "-shm"].map(beside).into_iter().find(|file| file.exists() && is_barred(file))?;
    let owner = file.metadata().map_or(0, |file| file.uid());
    Some(format!(
        "{} belongs to user {owner}, who opened the store too, and can not be written by others. Let that user stop what uses the \
         store, which removes the file, or say `chmod g+rw {}*` as that user; to share a store, keep it in a folder of a common \
         group (chgrp GROUP, chmod g+rwxs) from its beginning, or in PostgreSQL",
        file.display(),
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beside_the_store_that_bars_us_is_named_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        assert_eq!(kept_out(&path, |_| true), None, "there is none");
        std::fs::write(folder.path().join("x.db-shm"), "").unwrap();
        assert_eq!(kept_out(&path, |_| false), None);
        let why = kept_out(&path, |_| true).unwrap();
        let owner = folder.path().metadata().unwrap().uid();
        assert!(why.contains(&format!("x.db-shm belongs to user {owner}")) && why.contains("chmod g+rw"), "{why}");
    }

    #[test]
    fn a_store_in_the_folder_of_a_group_is_for_the_group_with_all_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().mode() & 0o777;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o770)).unwrap();
        let _store = crate::Sqlite::open(folder.path().join("x.db"), Default::default()).unwrap();
        assert_eq!((mode("x.db"), mode("x.db-wal"), mode("x.db-shm")), (0o660, 0o660, 0o660));
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let _own = crate::Sqlite::open(folder.path().join("own.db"), Default::default()).unwrap();
        assert_eq!(mode("own.db") & GROUP_WRITES, 0, "a folder of one's own");
    }
}
