//! What PostgreSQL reports, as what a caller can do about it.

use tokio_postgres::error::SqlState;

use crate::Error;

/// What became of a statement that was not answered with rows.
#[derive(Debug)]
pub(super) enum Fault {
    /// It was refused, and asking again changes nothing.
    Final(Error),
    /// Others were in the way; nothing of it was done.
    Crossed,
    /// The connection is gone; whether it was done is not known.
    Lost(String),
    /// No connection was had; nothing was done.
    Unreached(String),
}

impl Fault {
    /// Of a statement that was sent.
    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else { return Self::of_the_line(error) };
        let (code, message) = (said.code(), said.message());
        match code.code() {
            "LH001" | "23505" => Self::Final(Error::Exists),
            "LH002" => Self::Final(Error::Fenced { key: message.to_owned() }),
            "LH003" => Self::Final(Error::Conflict { actual: message.parse().unwrap_or(0) }),
            "LH004" => Self::Final(Error::UnknownRun),
            "LH005" => Self::Final(Error::Invalid("a snapshot is of a seq that the run has reached")),
            "LH006" => Self::Final(Error::Denied(message.to_owned())),
            _ if is_crossed(code) => Self::Crossed,
            // The server goes down, or has become one that only reads: another connection may find its successor.
            class
                if class.starts_with("57P")
                    || class.starts_with("08")
                    || *code == SqlState::READ_ONLY_SQL_TRANSACTION =>
            {
                Self::Lost(message.to_owned())
            }
            _ => Self::Final(known(code, message)),
        }
    }

    fn of_the_line(error: &tokio_postgres::Error) -> Self {
        let of_the_socket = std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>());
        if error.is_closed() || of_the_socket {
            return Self::Lost(words(error));
        }
        // A value that does not fit its column: asking again would end the same way.
        Self::Final(Error::Io(words(error)))
    }

    /// Of a connection that was not made.
    pub(super) fn unmade(error: &tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) if said.code().code().starts_with("28") => Self::Final(Error::Denied(said.message().to_owned())),
            Some(said) if never(said.code()) => Self::Final(Error::Unreachable(said.message().to_owned())),
            None if is_somebody_else(error) => Self::Final(Error::Unreachable(words(error))),
            None => {
                refusal(error).map_or_else(|| Self::Unreached(words(error)), |why| Self::Final(Error::Unreachable(why)))
            }
            Some(_) => Self::Unreached(words(error)),
        }
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::of(&error)
    }
}

/// Two transactions wanted each other's rows, or a blob came and went at once.
fn is_crossed(code: &SqlState) -> bool {
    [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::FOREIGN_KEY_VIOLATION,
        SqlState::LOCK_NOT_AVAILABLE,
    ]
    .contains(code)
}

/// Waiting does not help against a wrong name.
fn never(code: &SqlState) -> bool {
    ["3D", "3F", "42"].iter().any(|class| code.code().starts_with(class))
}

/// The certificate is not that of the server that is meant; it will not be in a moment.
fn is_somebody_else(error: &tokio_postgres::Error) -> bool {
    let line = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let tls = line.and_then(std::io::Error::get_ref).and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}

/// Why the address and the server do not go together, by nobody's line: the one must be changed, so waiting does not help.
fn refusal(error: &tokio_postgres::Error) -> Option<String> {
    let source = std::error::Error::source(error).filter(|source| !source.is::<std::io::Error>())?;
    let remedy = match source.to_string().as_str() {
        "password missing" => {
            "; the server asks for one, and the address has none: postgres://user:password@host/database"
        }
        "server does not support TLS" => "; `sslmode=disable` or `prefer` speaks to it in the open",
        _ => "",
    };
    Some(format!("{}{remedy}", words(error)))
}

fn known(code: &SqlState, message: &str) -> Error {
    if *code == SqlState::DISK_FULL {
        Error::Full
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        Error::Denied(message.to_owned())
    } else if *code == SqlState::QUERY_CANCELED {
        Error::Busy
    } else if [SqlState::CHARACTER_NOT_IN_REPERTOIRE, SqlState::UNTRANSLATABLE_CHARACTER].contains(code) {
        Error::Invalid("a name in the call has a character that the store cannot keep")
    } else if code.code().starts_with("XX00") {
        Error::Corrupt(message.to_owned())
    } else {
        Error::Io(format!("{message} ({})", code.code()))
    }
}

/// An error with what is behind it.
pub(super) fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        behind = error.source();
    }
    text
}
