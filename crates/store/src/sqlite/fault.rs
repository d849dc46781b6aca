//! Translates SQLite's errors into those of the store.

use rusqlite::{ErrorCode, ffi};

use crate::Error;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        if let Some(shortage) = shortage(&error) {
            return shortage;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Error::Busy
            }
            Some(ErrorCode::ReadOnly) => Error::ReadOnly,
            // Errors of callers are caught earlier, so a broken constraint means a damaged file.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
                Error::Corrupt(error.to_string())
            }
            Some(_) => Error::Io(error.to_string()),
            // A column does not contain the type that was written to it.
            None => Error::Corrupt(error.to_string()),
        }
    }
}

/// The shortage behind an error. Nothing was written, so the call can be tried again.
fn shortage(error: &rusqlite::Error) -> Option<Error> {
    let found = error.sqlite_error()?;
    match (found.code, found.extended_code) {
        // The second code is about the file of shared memory, which grows with the log.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Some(Error::Full),
        (ErrorCode::OutOfMemory, _) | (_, ffi::SQLITE_IOERR_NOMEM) => Some(Error::Starved(error.to_string())),
        _ => None,
    }
}

/// Whether the machine failed. Then nothing of the transaction counts.
pub(super) fn of_the_machine(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::Full | Error::Starved(_) | Error::Busy | Error::ReadOnly)
}
