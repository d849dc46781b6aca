//! Parses the address of a store, a file or a database, and opens the store.
//!
//! **Invariant:** the printed address never contains the password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::{Address, Error, Postgres, PostgresOptions, Sqlite, SqliteOptions, Store};

/// The address of a store.
#[derive(Debug, Clone)]
pub enum StoreAddress {
    /// `runs.db`, or `sqlite://runs.db`.
    File(PathBuf),
    /// `postgres://…`.
    Database(Box<Address>),
}

impl StoreAddress {
    /// Opens the store and creates missing tables. Must be called inside a Tokio runtime. A file opens at once. For a
    /// database the call waits at most `patience`.
    pub async fn open(&self, patience: Duration) -> Result<Arc<dyn Store>, Error> {
        Ok(match self {
            Self::File(file) => Arc::new(Sqlite::open(file, SqliteOptions::default())?),
            Self::Database(address) => {
                let options = PostgresOptions { opening: patience, ..PostgresOptions::default() };
                as_seen(Postgres::open(address, options).await?).await?
            }
        })
    }

    /// Opens the store, and waits without a limit for a database that does not answer. After every `round` it calls
    /// `told` with the reason.
    pub async fn open_patiently(&self, round: Duration, told: &(dyn Fn(&str) + Sync)) -> Result<Arc<dyn Store>, Error> {
        match self {
            Self::File(_) => self.open(round).await,
            Self::Database(address) => {
                let options = PostgresOptions { opening: round, ..PostgresOptions::default() };
                as_seen(Postgres::open_patiently(address, options, told).await?).await
            }
        }
    }

    /// Whether the store exists. Creates nothing. Must be called inside a Tokio runtime. A database that refuses, or
    /// does not answer within `patience`, is an error.
    pub async fn is_there(&self, patience: Duration) -> Result<bool, Error> {
        match self {
            // An empty file is not a store yet.
            Self::File(file) => Ok(file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)),
            Self::Database(address) => Postgres::is_there(address, patience).await,
        }
    }

    /// The path, if the store is a file.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(file) => Some(file),
            Self::Database(_) => None,
        }
    }
}

/// The store with the rights of the login that opened it.
async fn as_seen(store: Postgres) -> Result<Arc<dyn Store>, Error> {
    Ok(match store.login().await? {
        Some(login) => Arc::new(store.scoped(login).await?),
        None => Arc::new(store),
    })
}

impl FromStr for StoreAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if Address::is_meant(text) {
            return Ok(Self::Database(Box::new(text.parse()?)));
        }
        match text.strip_prefix("sqlite://") {
            Some(file) => Ok(Self::File(PathBuf::from(file))),
            None if is_like_an_address(text) => Err(Error::Invalid(NO_PLACE)),
            None => Ok(Self::File(PathBuf::from(text))),
        }
    }
}

/// This message leaves the text out, because it may contain a password.
const NO_PLACE: &str = "this is not the address of a store: use postgres://user:password@host/database, or a file";

/// Whether a text looks like an address, not like a file name: it contains `://`, starts like an address, or has a
/// password before a host.
fn is_like_an_address(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let rest = small.strip_prefix("postgresql").or_else(|| small.strip_prefix("postgres"));
    let begins = rest.is_some_and(|rest| rest.starts_with(':') || rest.starts_with("//"));
    let has_password = text.split_once(':').is_some_and(|(user, rest)| !user.contains('/') && rest.contains('@'));
    begins || has_password || text.contains("://")
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Database(address) => write!(f, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_like_an_address_and_is_none_is_refused_without_its_password() {
        for text in [
            "postgres//team:hunter2@db/runs",
            "postgres:/team:hunter2@db/runs",
            "postgres:team:hunter2@db",
            "Postgres://team:hunter2@db/runs",
            "mysql://team:hunter2@db/runs",
            "http://team:hunter2@db",
            "team:hunter2@db/runs",
        ] {
            let said = text.parse::<StoreAddress>().unwrap_err().to_string();
            assert!(said.contains("not the address of a store") && !said.contains("hunter2"), "{text}: {said}");
        }
        for text in ["runs.db", "postgres/runs.db", "/srv/a:b@c/runs.db", "sqlite:///srv/x.db", "./team:x", "@home"] {
            assert!(text.parse::<StoreAddress>().unwrap().file().is_some(), "{text}");
        }
    }
}
