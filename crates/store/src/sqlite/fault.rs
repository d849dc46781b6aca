//! What SQLite reports, as what a caller can do about it.

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
            // What a caller may get wrong is caught before; a constraint that breaks is a wrong file.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
                Error::Corrupt(error.to_string())
            }
            Some(_) => Error::Io(error.to_string()),
            // A column that does not hold what was written to it.
            None => Error::Corrupt(error.to_string()),
        }
    }
}

/// What the machine is short of, so that nothing was written and the same can be tried again.
fn shortage(error: &rusqlite::Error) -> Option<Error> {
    let found = error.sqlite_error()?;
    match (found.code, found.extended_code) {
        // The second is what the log is shared through, which grows with it.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Some(Error::Full),
        (ErrorCode::OutOfMemory, _) | (_, ffi::SQLITE_IOERR_NOMEM) => Some(Error::Starved(error.to_string())),
        _ => None,
    }
}

/// Whether the machine failed, so that nothing of the transaction may count.
pub(super) fn of_the_machine(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::Full | Error::Starved(_) | Error::Busy | Error::ReadOnly)
}
