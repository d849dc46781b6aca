//! Opening the file: settings of a connection, and the tables.
//!
//! **Invariant:** a file that this program does not know (another program's, a newer longhaul's, a damaged one,
//! one on a network) is refused before anything is written to it.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{Options, Synchronous, sharing};
use crate::Error;

const MIGRATIONS: [&str; 2] = [include_str!("001.sql"), include_str!("002.sql")];
const APPLICATION: i64 = 0x4c48_7374;
const PAGE_BYTES: u64 = 4096;
const STATEMENTS_CACHED: usize = 64;
/// What a reader remembers of the file.
const READER_KIB: i64 = 256;

/// The connection that writes, with all tables there.
pub(super) fn open_writer(path: &Path, options: &Options) -> Result<Connection, Error> {
    refuse_network(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    sharing::make(path, folder(path)).map_err(|error| explain(path, Error::Io(error.to_string())))?;
    let opened = || {
        let mut db = connect(path, flags, options)?;
        refuse_foreign(&db)?;
        write_ahead(&db, options)?;
        migrate(&mut db)?;
        Ok(db)
    };
    opened().map_err(|error| explain(path, error))
}

/// A connection that only reads. The writer has opened the file before.
pub(super) fn open_reader(path: &Path, options: &Options) -> Result<Connection, Error> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX, options)?;
    // There are several, each used now and then: the system remembers pages for all of them.
    db.pragma_update(None, "cache_size", -READER_KIB)?;
    // Has it open all its files now: a read that has begun could not be begun again.
    number(&db, "user_version")?;
    Ok(db)
}

fn connect(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(Duration::from_millis(options.busy_ms.into()))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    // What the file says about its own tables is input, not program.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    // Without it a statement with `LIMIT ?` is planned again each time it is used.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(db)
}

fn write_ahead(db: &Connection, options: &Options) -> Result<(), Error> {
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::Io(format!("this place cannot keep a write-ahead log (journal mode {mode})")));
    }
    match options.synchronous {
        // `fullfsync` matters on macOS, where a plain fsync stops at the cache of the disk.
        Synchronous::Full => db.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")?,
        Synchronous::Normal => db.execute_batch("PRAGMA synchronous = NORMAL")?,
    }
    db.pragma_update(None, "foreign_keys", true)?;
    if let Some(bytes) = options.bytes_max {
        let pages = i64::try_from((bytes / PAGE_BYTES).max(1)).unwrap_or(i64::MAX);
        db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}

fn number(db: &Connection, pragma: &str) -> Result<i64, Error> {
    Ok(db.pragma_query_value(None, pragma, |row| row.get(0))?)
}

fn refuse_foreign(db: &Connection) -> Result<(), Error> {
    let version = number(db, "user_version")?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let empty = version == 0 && tables == 0;
    if !empty && number(db, "application_id")? != APPLICATION {
        return Err(Error::Corrupt("the file is the database of another program".to_owned()));
    }
    refuse_newer(version)
}

fn refuse_newer(version: i64) -> Result<(), Error> {
    let known = MIGRATIONS.len() as u32;
    let found = u32::try_from(version).unwrap_or(u32::MAX);
    if found > known { Err(Error::TooNew { found, known }) } else { Ok(()) }
}

/// Two processes may open a new file at once, so the version is looked at again under the lock.
fn migrate(db: &mut Connection) -> Result<(), Error> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = number(&transaction, "user_version")?;
    refuse_newer(version)?;
    for (done, migration) in MIGRATIONS.iter().enumerate().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", done as i64 + 1)?;
    }
    Ok(transaction.commit()?)
}

/// SQLite says "cannot open" for many things; that the folder cannot be written is one that people can change.
fn explain(path: &Path, error: Error) -> Error {
    match error {
        Error::Io(_) | Error::ReadOnly if let Some(why) = sharing::kept_out(path, unwritable) => Error::Io(why),
        Error::Io(_) if unwritable(folder(path)) || (path.exists() && unwritable(path)) => Error::ReadOnly,
        Error::Io(text) => Error::Io(format!("{}: {text}", path.display())),
        other => other,
    }
}

pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritable(path: &Path) -> bool {
    use rustix::io::Errno;
    let access = rustix::fs::access(path, rustix::fs::Access::WRITE_OK);
    matches!(access, Err(Errno::ACCESS | Errno::ROFS | Errno::PERM))
}

/// The log is shared memory between processes, which network file systems do not have; they lose data silently.
#[cfg(target_os = "linux")]
fn refuse_network(path: &Path) -> Result<(), Error> {
    let Ok(stat) = rustix::fs::statfs(folder(path)) else { return Ok(()) };
    match network(stat.f_type as u32) {
        Some(name) => Err(Error::Io(format!("{} is on {name}; keep the store on a local disk", path.display()))),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// From `linux/magic.h`.
#[cfg(target_os = "linux")]
fn network(magic: u32) -> Option<&'static str> {
    match magic {
        0x6969 => Some("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x5346_414f => Some("AFS"),
        0x00c3_6400 => Some("Ceph"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_keeps_the_promise_that_was_chosen() {
        let folder = tempfile::tempdir().unwrap();
        for (synchronous, level) in [(Synchronous::Full, 2), (Synchronous::Normal, 1)] {
            let db =
                open_writer(&folder.path().join("store.db"), &Options { synchronous, ..Options::default() }).unwrap();
            assert_eq!(number(&db, "synchronous"), Ok(level));
            assert_eq!(number(&db, "foreign_keys"), Ok(1));
            assert_eq!(number(&db, "busy_timeout"), Ok(5_000));
        }
    }

    #[test]
    fn readers_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let (path, options) = (folder.path().join("store.db"), Options::default());
        let _writer = open_writer(&path, &options).unwrap();
        let refused = open_reader(&path, &options).unwrap().execute("DELETE FROM run", []);
        assert_eq!(refused.map_err(Error::from), Err(Error::ReadOnly));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        assert_eq!(network(0x6969), Some("NFS"));
        assert_eq!(network(0xff53_4d42), Some("SMB"));
        let (ext4, tmpfs, btrfs, overlay) = (0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630);
        assert!([ext4, tmpfs, btrfs, overlay].into_iter().all(|magic| network(magic).is_none()));
    }
}
