//! Starts a command, watches it, ends it and waits for it.
//!
//! **Invariant:** the command itself is reaped last. Until all its processes are gone it stays in the system's table,
//! so that no other process can get its id and session. Dropping it early ends the rest in the background.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::PoisonError;
use std::time::Duration;

use rustix::process::{WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::registry::Slot;
use super::streams::Pipes;
use super::tree::Tree;
use super::{
    ATTEMPT_VARIABLE, Bounds, Command, ENGINE_VARIABLE, Error, InheritEnv, ProcessEnd, ending, syscalls, table,
};

/// The size of the output pipe: how much a command can print before it is read.
const PIPE_BYTES: usize = 1 << 20;

/// A started command.
#[derive(Debug)]
pub(super) struct Child {
    pid: u32,
    exit: Option<AsyncFd<OwnedFd>>,
    /// `None` once everything has ended.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    leader: std::process::Child,
    tree: Tree,
}

/// Why the wait for a command is over.
enum Cause {
    Exit,
    Timeout,
    Cancel,
}

impl Child {
    pub(super) fn spawn(command: &Command) -> Result<(Self, Pipes), Error> {
        check(command)?;
        // Orphans of commands become our children. This is set each time: it costs nothing and needs no state.
        set_child_subreaper(Some(getpid())).map_err(io::Error::from).map_err(Error::io("adopt orphans"))?;
        let mut prepared = prepare(command);
        let pipes = connect(&mut prepared, command).map_err(Error::io("make a pipe"))?;
        let mut slot = Slot::open();
        let leader = prepared.spawn().map_err(|error| refused(command, error))?;
        slot.fill(leader.id());
        Ok((Self::started(leader, slot, command)?, pipes))
    }

    fn started(mut leader: std::process::Child, slot: Slot, command: &Command) -> Result<Self, Error> {
        let pid = leader.id();
        let Some(process) = table::read(pid) else {
            // Without the process table, nothing can be guaranteed.
            drop(leader.kill().and_then(|()| leader.wait()));
            return Err(Error::io("read /proc")(io::ErrorKind::NotFound.into()));
        };
        let tree = Tree::new(process, command.mark.clone(), slot);
        Ok(Self { pid, exit: ending::watch(&process).ok(), running: Some(Running { leader, tree }) })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the end of the command, or ends it; then ends its leftovers.
    pub(super) async fn see_through(&mut self, bounds: &Bounds) -> Result<(ProcessEnd, Vec<u32>), Error> {
        let cause = tokio::select! {
            biased;
            exit = self.exit() => exit.map(|()| Cause::Exit)?,
            () = bounds.cancel.cancelled() => Cause::Cancel,
            () = bounds.broken.cancelled() => Cause::Cancel,
            () = elapsed(bounds) => Cause::Timeout,
        };
        let Some(running) = &mut self.running else { return Ok((ProcessEnd::Cancelled, Vec::new())) };
        let is_clean = matches!(cause, Cause::Exit) && !running.tree.has_leftovers();
        let survivors = if is_clean { Vec::new() } else { ending::end(&mut running.tree, bounds.grace).await };
        let status = running.leader.try_wait().map_err(Error::io("wait for the command"))?;
        if status.is_some() {
            self.running = None;
        }
        Ok((how(cause, status), survivors))
    }

    async fn exit(&self) -> Result<(), Error> {
        match &self.exit {
            Some(exit) => exit.readable().await.map(drop).map_err(Error::io("wait for the command")),
            None => exit_on_a_thread(self.pid).await,
        }
    }
}

/// Waits on a thread, for kernels without process handles. The command stays in the table.
async fn exit_on_a_thread(pid: u32) -> Result<(), Error> {
    let wait = move || match table::system_pid(pid) {
        Some(pid) => waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map(drop),
        None => Ok(()),
    };
    let waited = tokio::task::spawn_blocking(wait).await.map_err(io::Error::other);
    waited.and_then(|waited| Ok(waited?)).map_err(Error::io("wait for the command"))
}

async fn elapsed(bounds: &Bounds) {
    let Some(timeout) = bounds.timeout else { return std::future::pending().await };
    let (begun, mut counted) = (tokio::time::Instant::now(), Duration::ZERO);
    loop {
        // A time that the clock cannot represent never comes.
        let Some(until) = begun.checked_add(timeout + counted) else { return std::future::pending().await };
        tokio::time::sleep_until(until).await;
        let kept_waiting = *bounds.kept_waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if kept_waiting == counted {
            return;
        }
        counted = kept_waiting;
    }
}

fn how(cause: Cause, status: Option<ExitStatus>) -> ProcessEnd {
    match (cause, status) {
        (Cause::Timeout, _) => ProcessEnd::TimedOut,
        (Cause::Cancel, _) | (Cause::Exit, None) => ProcessEnd::Cancelled,
        (Cause::Exit, Some(status)) => match status.signal() {
            Some(signal) => ProcessEnd::Signalled(signal),
            None => ProcessEnd::Exited(status.code().unwrap_or_default()),
        },
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(Running { mut leader, mut tree }) = self.running.take() else { return };
        let finish = move || {
            ending::kill_blocking(|| tree.find());
            drop(leader.wait());
        };
        // A caller that drops a future does not expect to wait. If no thread can start, the guard cleans up after us.
        drop(std::thread::Builder::new().name("longhaul-ending".to_owned()).spawn(finish));
    }
}

fn check(command: &Command) -> Result<(), Error> {
    if let Some(path) = command.cwd.as_ref().filter(|path| !path.is_dir()) {
        return Err(Error::BadCwd { path: path.clone() });
    }
    let is_bad = |name: &[u8]| name.is_empty() || name.contains(&b'=');
    if command.env.iter().any(|(name, _)| is_bad(name.as_encoded_bytes())) {
        return Err(Error::BadArgument { program: name_of(command) });
    }
    Ok(())
}

fn prepare(command: &Command) -> std::process::Command {
    let mut prepared = std::process::Command::new(&command.program);
    prepared.args(&command.args);
    match &command.inherit_env {
        InheritEnv::All => {}
        InheritEnv::Nothing => drop(prepared.env_clear()),
        InheritEnv::Only(names) => {
            let kept = names.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
            prepared.env_clear().envs(kept);
        }
    }
    prepared.envs(command.env.iter().map(|(name, value)| (name, value)));
    prepared.env(ENGINE_VARIABLE, &command.mark.engine).env(ATTEMPT_VARIABLE, &command.mark.attempt);
    if let Some(cwd) = &command.cwd {
        prepared.current_dir(cwd);
    }
    syscalls::own_session(&mut prepared);
    prepared
}

fn connect(prepared: &mut std::process::Command, command: &Command) -> io::Result<Pipes> {
    let (stdout, stdout_end) = io::pipe()?;
    // Some programs exit before their output was read. If the system refuses a larger pipe, the default size stays.
    let _enlarged = rustix::pipe::fcntl_setpipe_size(&stdout_end, PIPE_BYTES);
    let (stderr, stderr_end) = io::pipe()?;
    prepared.stdout(stdout_end).stderr(stderr_end);
    let stdin = if command.stdin.is_empty() {
        prepared.stdin(Stdio::null());
        None
    } else {
        let (stdin_end, stdin) = io::pipe()?;
        prepared.stdin(stdin_end);
        Some(Sender::from_owned_fd(stdin.into())?)
    };
    let (stdout, stderr) = (Receiver::from_owned_fd(stdout.into())?, Receiver::from_owned_fd(stderr.into())?);
    Ok(Pipes { stdin, stdout, stderr })
}

fn refused(command: &Command, source: io::Error) -> Error {
    let program = name_of(command);
    // A script whose interpreter is missing also gives "not found", although the script exists.
    let is_there = program.contains('/') && std::path::Path::new(&command.program).exists();
    match source.kind() {
        io::ErrorKind::NotFound if !is_there => Error::NotFound { program },
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Error::NotExecutable { program, source },
        io::ErrorKind::ArgumentListTooLong => Error::TooLong { program },
        io::ErrorKind::InvalidInput => Error::BadArgument { program },
        _ => Error::Io { what: "start the command", source },
    }
}

fn name_of(command: &Command) -> String {
    command.program.to_string_lossy().into_owned()
}
