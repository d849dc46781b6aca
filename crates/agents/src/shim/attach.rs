//! Attaches to a shim that another engine started.

use std::time::Duration;

use rustix::process::Signal;

use super::folder::Begun;
use super::{Attached, Error, Shim, ShimFound, locks, watch};
use crate::contract::Stopped;
use crate::machine::patiently;
use crate::process::{self, table};

/// How long a shim may take from its start to its first message: ten seconds.
const TRIES: usize = 500;
const TRY: Duration = Duration::from_millis(20);

impl Shim {
    /// Attaches to the shim of this folder, or returns how it ended. Must run inside a Tokio runtime.
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

    /// Ends the agent although another engine is attached: an engine that has lost the attempt but does not know it
    /// yet, because it is stopped or asleep. Returns how the agent ended, when all its processes are gone. Must run
    /// inside a Tokio runtime.
    pub async fn end(&self, why: Stopped) -> Result<ShimFound, Error> {
        if let Some(shim) = self.living().await? {
            let ended = patiently(|| watch::end_of(&shim)).await?;
            self.folder.ask_to_stop(why)?;
            table::signal(&shim, Signal::TERM);
            drop(ended.readable().await.map_err(Error::io("wait for the shim"))?);
        }
        self.left().await
    }

    /// The state of an agent whose shim has ended.
    async fn left(&self) -> Result<ShimFound, Error> {
        if let Some(over) = patiently(|| self.folder.over()).await? {
            return Ok(ShimFound::Ended(over.exit));
        }
        clear_up().await;
        Ok(ShimFound::Gone)
    }

    /// The shim, if it is alive. It waits for one that was just started.
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
    /// The process of the shim, if it still exists.
    fn process(&self) -> Option<table::Process> {
        table::read(self.pid).filter(|process| process.start == self.start)
    }
}

/// Ends the leftovers of a shim that died before its agent.
pub(super) async fn clear_up() {
    // A sweep that panics has done what it could.
    drop(tokio::task::spawn_blocking(|| process::sweep(process::is_dead)).await);
}
