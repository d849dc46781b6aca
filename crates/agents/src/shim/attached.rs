//! A shim that an engine is attached to.
//!
//! **Invariant:** dropping it does not stop the agent. Only [`Attached::stop`] ends one.

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

/// A shim to which only this engine is attached.
#[derive(Debug)]
pub struct Attached {
    folder: Folder,
    shim: table::Process,
    /// A handle to exactly this process, readable when it has ended.
    handle: AsyncFd<OwnedFd>,
    _engine_lock: File,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The exit that the shim reports.
    Ended(Exit),
    /// The shim was killed. Its leftover processes were ended; only the output shows how far the agent had come.
    Gone,
}

impl Attached {
    /// The shim is running, so this waits if the machine lacks something.
    pub(super) async fn new(folder: Folder, shim: table::Process, engine_lock: File) -> Result<Self, Error> {
        let handle = patiently(|| watch::end_of(&shim)).await?;
        Ok(Self { folder, handle, shim, _engine_lock: engine_lock })
    }

    /// The process id of the shim.
    pub fn pid(&self) -> u32 {
        self.shim.pid
    }

    /// The lines that the agent prints, from a byte of its output on.
    pub fn lines(&self, from: u64) -> Result<Lines, Error> {
        Lines::of_running(&self.folder, &self.shim, from)
    }

    /// The end of the agent's error output so far.
    pub fn stderr_tail(&self) -> Result<String, Error> {
        self.folder.stderr_tail()
    }

    /// Waits for the end. Dropping it and calling it again loses nothing.
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

    /// Asks the shim to end everything and to record why; [`Self::wait`] returns when that is done.
    pub async fn stop(&self, why: Stopped) -> Result<(), Error> {
        match self.folder.ask_to_stop(why) {
            // A full disk, which cannot store the reason, must not keep the agent running.
            Err(error) if error.shortage().is_none() => return Err(error),
            _ => {}
        }
        // Before its first message a shim does not handle the signal.
        if self.heard(Some).await?.is_some() {
            self.signal(Signal::TERM);
        }
        Ok(())
    }

    /// Interrupts a silent agent, as Ctrl-C would, but not its other processes. It first records that Longhaul did
    /// this: an agent that obeys ends in its own way, and that must not count as its failure.
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

    /// The processor time of the agent and all its descendants, in ticks: it grows while they work. A process that
    /// ended unseen takes its share away, so only changes are meaningful.
    pub fn cpu_ticks(&self) -> u64 {
        let below = tree::with_descendants(&table::all(), |process| process.parent == self.shim.pid);
        below.iter().map(|process| table::cpu_ticks(process.pid)).sum()
    }

    /// A part of the shim's message about itself, as soon as it arrives; `None` if the shim ends before.
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
        // If it has ended, it needs no signal.
        let _ended = pidfd_send_signal(self.handle.get_ref(), signal);
    }
}

impl Agent {
    fn process(self) -> table::Process {
        table::Process { pid: self.pid, start: self.start, parent: 0, session: self.pid, is_zombie: false }
    }
}
