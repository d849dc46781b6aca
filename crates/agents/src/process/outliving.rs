//! Starts a process that outlives this one on purpose: neither the engine nor its guard ends it.

use std::io;
use std::process::{Child, Command};

use super::registry::{Slot, Spared};
use super::{ENGINE_VARIABLE, syscalls, table};
use crate::shim::SHIM_MARK;

/// A process that outlives this one.
#[derive(Debug, Clone, Copy)]
pub struct Outliving(Option<table::Process>);

impl Outliving {
    /// Starts a command in a session of its own, with the mark that spares it.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.env(ENGINE_VARIABLE, SHIM_MARK);
        // A signal that ends this process (a closed terminal, Ctrl-C) must not end the other one.
        syscalls::own_session(command);
        let slot = Slot::open();
        let child = command.spawn()?;
        let spared = Spared::new(child.id());
        drop(slot);
        let process = table::read(child.id());
        see_off(child, spared);
        Ok(Self(process))
    }

    /// Whether the process has ended.
    pub fn is_gone(&self) -> bool {
        let is_there = |process: &table::Process| {
            table::read(process.pid).is_some_and(|now| now.start == process.start && !now.is_zombie)
        };
        !self.0.as_ref().is_some_and(is_there)
    }

    pub(crate) fn process(self) -> Option<table::Process> {
        self.0
    }
}

/// Waits for the process as its parent, so that it neither counts as a leftover of a command nor stays a zombie. It is a
/// thread, because it continues when the runtime and the attached engine are gone.
fn see_off(mut child: Child, spared: Spared) {
    let wait = move || {
        drop(child.wait());
        drop(spared);
    };
    drop(std::thread::Builder::new().name("longhaul-shim".to_owned()).stack_size(64 << 10).spawn(wait));
}
