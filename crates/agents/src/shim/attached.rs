//! A shim that an engine is attached to.
//!
//! **Invariant:** dropping it lets the agent run on. Only [`Attached::stop`] ends one.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::unix::AsyncFd;

use super::folder::{Agent, Begun, Folder};
use super::watch::Watch;
use super::{Error, Lines, attach, watch};
use crate::contract::{Exit, Stopped};
use crate::machine::{Short, patiently};
use crate::process::{table, tree};

/// A shim that this engine, and no other, is attached to.
#[derive(Debug)]
pub struct Attached {
    folder: Folder,
    shim: table::Process,
    /// Exactly this process, readable when it has ended.
    handle: AsyncFd<OwnedFd>,
    _engine_lock: File,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// As the shim says.
    Ended(Exit),
    /// The shim was killed. What it left was ended; how far the agent had come is only known from its output.
    Gone,
}

impl Attached {
    /// The shim runs, so what the machine is short of is waited for.
    pub(super) async fn new(folder: Folder, shim: table::Process, engine_lock: File) -> Result<Self, Error> {
        let handle = patiently(|| watch::end_of(&shim)).await?;
        Ok(Self { folder, handle, shim, _engine_lock: engine_lock })
    }

    /// The process id of the shim.
    pub fn pid(&self) -> u32 {
        self.shim.pid
    }

    /// What the agent prints, line by line, from a byte of its output on.
    pub fn lines(&self, from: u64) -> Result<Lines, Error> {
        Lines::of_running(&self.folder, &self.shim, from)
    }

    /// The end of what the agent complained about so far.
    pub fn stderr_tail(&self) -> Result<String, Error> {
        self.folder.stderr_tail()
    }

    /// Waits for the end. Nothing is lost when this is dropped and called again.
    pub async fn wait(&self) -> Result<AttemptOutcome, Error> {
        self.handle.readable().await.map_err(Error::io("wait for the shim"))?.retain_ready();
        match patiently(|| self.folder.over()).await? {
            Some(over) => Ok(AttemptOutcome::Ended(over.exit)),
            None => {
                attach::clear_up().await;
                Ok(AttemptOutcome::Gone)
            }
        }
    }

    /// Asks the shim to end everything, and to record why; [`Self::wait`] tells when that is done.
    pub async fn stop(&self, why: Stopped) -> Result<(), Error> {
        match self.folder.ask_to_stop(why) {
            // A disk without room for the reason must not keep it running.
            Err(error) if error.shortage().is_none() => return Err(error),
            _ => {}
        }
        // Before its first word a shim does not know what the signal means.
        if self.heard(Some).await?.is_some() {
            self.signal(Signal::TERM);
        }
        Ok(())
    }

    /// Interrupts what a silent agent is doing, as Ctrl-C would, and nothing else of its processes. That it was us is recorded first:
    /// one that obeys ends in its own way, and that must not count against it.
    pub async fn interrupt(&self) -> Result<(), Error> {
        match self.folder.ask_to_stop(Stopped::Hung) {
            Err(error) if error.shortage().is_none() => return Err(error),
            _ => {}
        }
        if let Some(agent) = self.heard(|begun| begun.agent).await? {
            table::signal(&agent.process(), Signal::INT);
        }
        Ok(())
    }

    /// The processor time that the agent and everything below it have used, in ticks: it grows while they work. What
    /// has ended unseen takes its share away, so only a change says something.
    pub fn cpu_ticks(&self) -> u64 {
        let below = tree::with_descendants(&table::all(), |process| process.parent == self.shim.pid);
        below.iter().map(|process| table::cpu_ticks(process.pid)).sum()
    }

    /// What the shim says about itself, as soon as it does; `None` if it ends before.
    async fn heard<T>(&self, part: impl Fn(Begun) -> Option<T>) -> Result<Option<T>, Error> {
        let mut watch = patiently(|| Watch::of(&self.folder, &self.shim)).await?;
        loop {
            let is_ended = watch.is_ended();
            if let Some(part) = self.folder.begun()?.and_then(&part) {
                return Ok(Some(part));
            }
            if is_ended {
                return Ok(None);
            }
            watch.changed().await?;
        }
    }

    fn signal(&self, signal: Signal) {
        // One that has ended needs none.
        let _ended = pidfd_send_signal(self.handle.get_ref(), signal);
    }
}

impl Agent {
    fn process(self) -> table::Process {
        table::Process { pid: self.pid, start: self.start, parent: 0, session: self.pid, is_zombie: false }
    }
}
