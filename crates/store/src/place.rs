//! Where a store is: a file, or the address of a database.
//!
//! **Invariant:** what is shown of a place holds no password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::{Address, Error, Options, Postgres, PostgresOptions, Sqlite, Store};

/// Where a store is.
#[derive(Debug, Clone)]
pub enum Place {
    /// `runs.db`, or `sqlite://runs.db`.
    File(PathBuf),
    /// `postgres://…`.
    Database(Box<Address>),
}

impl Place {
    /// Opens it; makes what is missing. Must be called inside a Tokio runtime. A file is opened at once; a database
    /// is waited for, but not longer than `patience`.
    pub async fn open(&self, patience: Duration) -> Result<Arc<dyn Store>, Error> {
        Ok(match self {
            Self::File(file) => Arc::new(Sqlite::open(file, Options::default())?),
            Self::Database(address) => {
                let options = PostgresOptions { opening: patience, ..PostgresOptions::default() };
                let store = Postgres::open(address, options).await?;
                match store.login().await? {
                    Some(login) => Arc::new(store.scoped(login)),
                    None => Arc::new(store),
                }
            }
        })
    }

    /// Whether there is a store; makes nothing. Must be called inside a Tokio runtime. A database that does not answer within
    /// `patience`, or refuses, is an error.
    pub async fn is_there(&self, patience: Duration) -> Result<bool, Error> {
        match self {
            // An empty file is one that somebody has made, and no store yet.
            Self::File(file) => Ok(file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)),
            Self::Database(address) => Postgres::is_there(address, patience).await,
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(file) => Some(file),
            Self::Database(_) => None,
        }
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if Address::is_meant(text) {
            return Ok(Self::Database(Box::new(text.parse()?)));
        }
        Ok(Self::File(PathBuf::from(text.strip_prefix("sqlite://").unwrap_or(text))))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Database(address) => write!(f, "{address}"),
        }
    }
}
