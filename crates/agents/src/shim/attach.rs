//! Comes back to a shim that another engine started.

use std::time::Duration;

use rustix::process::Signal;

use super::folder::Begun;
use super::{Attached, Error, Shim, ShimFound, locks, watch};
use crate::contract::Stopped;
use crate::machine::patiently;
use crate::process::{self, table};

/// How long a shim may take from its start to its first word: ten seconds.
const TRIES: usize = 500;
const TRY: Duration = Duration::from_millis(20);

impl Shim {
    /// Attaches to the shim of this folder, or says what became of it. Must run inside a Tokio runtime.
    pub async fn attach(&self) -> Result<ShimFound, Error> {
        if !self.folder.is_claimed() {
            return Ok(ShimFound::Gone);
        }
        let engine_lock = locks::attach(&self.folder).await?;
        match self.living().await? {
            Some(shim) => Attached::new(self.folder.clone(), shim, engine_lock).await.map(ShimFound::Attached),
            None => self.left().await,
        }
    }

    /// Ends the agent although another engine is attached: one that has lost the attempt and does not know it yet, because it
    /// is stopped or sleeps. Answers how the agent ended, once nothing of it is left. Must run inside a Tokio runtime.
    pub async fn end(&self, why: Stopped) -> Result<ShimFound, Error> {
        if let Some(shim) = self.living().await? {
            let ended = patiently(|| watch::end_of(&shim)).await?;
            self.folder.ask_to_stop(why)?;
            table::signal(&shim, Signal::TERM);
            drop(ended.readable().await.map_err(Error::io("wait for the shim"))?);
        }
        self.left().await
    }

    /// What became of an agent whose shim has ended.
    async fn left(&self) -> Result<ShimFound, Error> {
        if let Some(over) = patiently(|| self.folder.over()).await? {
            return Ok(ShimFound::Ended(over.exit));
        }
        clear_up().await;
        Ok(ShimFound::Gone)
    }

    /// The shim, if it lives. One that was just started is waited for.
    async fn living(&self) -> Result<Option<table::Process>, Error> {
        for _ in 0..TRIES {
            if locks::try_take(&self.folder.shim_lock())?.is_some() {
                return Ok(None);
            }
            if let Some(begun) = self.folder.begun()? {
                return Ok(begun.process());
            }
            tokio::time::sleep(TRY).await;
        }
        Err(Error::io("hear from the shim")(std::io::ErrorKind::TimedOut.into()))
    }
}

impl Begun {
    /// The shim, if it still is there.
    fn process(&self) -> Option<table::Process> {
        table::read(self.pid).filter(|process| process.start == self.start)
    }
}

/// Ends what a shim left that died before its agent did.
pub(super) async fn clear_up() {
    // A sweep that panics has swept as well as it could.
    drop(tokio::task::spawn_blocking(|| process::sweep(process::is_dead)).await);
}
