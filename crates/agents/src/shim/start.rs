//! Starts a shim.
//!
//! The engine takes the shim's lock before the shim starts, and passes it on as an open file. So there is no moment at
//! which a shim is alive, or about to start, and its lock is free.

use std::ffi::OsString;
use std::fs::File;
use std::process::{Command, Stdio};

use super::{Attached, Error, SHIM_COMMAND, Shim, Spec, locks};
use crate::machine::Short;
use crate::process::{Outliving, table};

impl Shim {
    /// Starts an agent under a shim, with exactly this environment. Must run inside a Tokio runtime.
    ///
    /// If an agent cannot start, that counts as its end, with the code 127 (no such program), 126 (not executable) or
    /// 125 (anything else), and the reason as its error output. If the machine lacks something, nothing has started,
    /// and the caller can try again.
    pub async fn start(&self, spec: &Spec, env: &[(OsString, OsString)], stdin: &[u8]) -> Result<Attached, Error> {
        self.folder.make()?;
        let engine_lock = locks::attach(&self.folder).await?;
        self.folder.claim(spec, stdin)?;
        let child = self.spawn_locked(env).inspect_err(|error| {
            if error.shortage().is_some() {
                // Nothing has run: the folder can be used again when the machine has room.
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
        command.env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(lock).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Outliving::start(&mut command).map_err(Error::io("start the shim"))?;
        started.process().ok_or_else(|| Error::io("read /proc")(std::io::ErrorKind::NotFound.into()))
    }
}
