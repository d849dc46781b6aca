//! Who may read and write the file of a store.
//!
//! SQLite makes the files beside a database with the rights of the database itself. So the database is made for its user alone, whatever
//! the umask; where the folder is for a group (`chmod 2770`), for the group too, because otherwise whoever opens it second would keep
//! the first one out.

use std::fs::{OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The group writes to the folder, and what is made in it is the group's.
const SHARED: u32 = 0o2020;

/// Makes the file, empty, where it is not there.
pub(super) fn make(path: &Path, folder: &Path) -> std::io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let is_shared = folder.metadata().is_ok_and(|folder| folder.mode() & SHARED == SHARED);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) if is_shared => file.set_permissions(Permissions::from_mode(0o660)),
        Ok(_) => Ok(()),
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
        "{} belongs to user {owner}, who opened the store too, and cannot be written by others. Let that user stop what uses the \
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
    fn a_store_is_for_its_user_or_the_group_of_its_folder_with_all_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().mode() & 0o777;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o2770)).unwrap();
        let _store = crate::Sqlite::open(folder.path().join("x.db"), Default::default()).unwrap();
        assert_eq!((mode("x.db"), mode("x.db-wal"), mode("x.db-shm")), (0o660, 0o660, 0o660));
        for around in [0o700, 0o755, 0o777] {
            std::fs::set_permissions(folder.path(), Permissions::from_mode(around)).unwrap();
            let own = format!("own-{around:o}.db");
            let _own = crate::Sqlite::open(folder.path().join(&own), Default::default()).unwrap();
            let modes = ["", "-wal", "-shm"].map(|ending| mode(&format!("{own}{ending}")));
            assert_eq!(modes, [0o600; 3], "a folder of one's own, {around:o}");
            crate::Sqlite::back_up(&folder.path().join(&own), &folder.path().join(format!("{own}.copy"))).unwrap();
            assert_eq!(mode(&format!("{own}.copy")), 0o600);
        }
    }
}
