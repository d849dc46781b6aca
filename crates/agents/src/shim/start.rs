//! Starts a shim.
//!
//! The shim's lock is taken before there is a shim, and handed to it as an open file: there is no moment at which
//! a shim lives, or is about to, and its lock is free.

use std::ffi::OsString;
use std::fs::File;
use std::process::{Child, Command, Stdio};

use super::{Attached, Error, SHIM_COMMAND, SHIM_MARK, Shim, Spec, locks};
use crate::machine::Short;
use crate::process::registry::{Slot, Spared};
use crate::process::{ENGINE_VARIABLE, syscalls, table};

impl Shim {
    /// Starts an agent under a shim, with exactly this environment. Must run inside a Tokio runtime.
    ///
    /// An agent that cannot be started has ended, with 127 (there is no such program), 126 (it cannot be
    /// run) or 125 (anything else), and the reason as what it complained about. Where the machine is short of something
    /// nothing has begun, and the same can be asked again.
    pub async fn start(&self, spec: &Spec, env: &[(OsString, OsString)], stdin: &[u8]) -> Result<Attached, Error> {
        self.folder.make()?;
        let engine_lock = locks::attach(&self.folder).await?;
        self.folder.claim(spec, stdin)?;
        let child = self.spawn_locked(env).inspect_err(|error| {
            if error.shortage().is_some() {
                // Nothing has run: the folder can be used when the machine has room again.
                self.folder.unclaim();
            }
        })?;
        Attached::new(self.folder.clone(), child, engine_lock).await
    }

    fn spawn_locked(&self, env: &[(OsString, OsString)]) -> Result<table::Process, Error> {
        match locks::try_take(&self.folder.shim_lock())? {
            Some(lock) => self.spawn(env, lock),
            None => Err(Error::Used { folder: self.folder.path().to_owned() }),
        }
    }

    fn spawn(&self, env: &[(OsString, OsString)], lock: File) -> Result<table::Process, Error> {
        let mut command = Command::new(&self.program);
        command.arg(SHIM_COMMAND).arg(self.folder.path()).current_dir("/");
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value))).env(ENGINE_VARIABLE, SHIM_MARK);
        command.stdin(lock).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the engine (a closed terminal, Ctrl-C) must not end the shim.
        syscalls::own_session(&mut command);
        let slot = Slot::open();
        let child = command.spawn().map_err(Error::io("start the shim"))?;
        let spared = Spared::new(child.id());
        drop(slot);
        let process = table::read(child.id());
        see_off(child, spared);
        process.ok_or_else(|| Error::io("read /proc")(std::io::ErrorKind::NotFound.into()))
    }
}

/// Waits for the shim as its parent must, so that it is neither taken for a leftover of some command nor left as a zombie. A
/// thread, because it continues when the runtime and whoever was attached are gone.
fn see_off(mut child: Child, spared: Spared) {
    let wait = move || {
        drop(child.wait());
        drop(spared);
    };
    drop(std::thread::Builder::new().name("longhaul-shim".to_owned()).stack_size(64 << 10).spawn(wait));
}
