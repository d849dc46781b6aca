//! What SQLite reports, as what a caller can do about it.

use rusqlite::ErrorCode;

use crate::Error;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::Full,
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

/// Whether the machine failed, so that nothing of the transaction may count.
pub(super) fn of_the_machine(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::Full | Error::Busy | Error::ReadOnly)
}
