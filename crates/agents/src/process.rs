//! Runs a command so that nothing is ever left behind.
//!
//! A command gets a session of its own and two marks in its environment. Its output goes to disk as it
//! comes, and a part of it stays in memory. When it ends, is cancelled or takes too long, everything
//! that came out of it is ended: its session, its descendants, whatever carries its mark.
//!
//! **Invariant:** when [`run`] returns, or its future is dropped, no process of the command is left running
//! on its own account; memory is bounded by `keep_bytes`, whatever the command prints.

mod captured;
mod child;
mod ending;
mod group;
mod guard;
mod line;
mod name;
pub(crate) mod registry;
mod sink;
mod streams;
mod sweep;
pub(crate) mod syscalls;
pub(crate) mod table;
pub(crate) mod tree;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::machine::{Backoff, Short, Shortage};
use crate::redact::Redaction;
pub use captured::Captured;
use child::Child;
pub use guard::{GUARD_COMMAND, Guard, guard_main};
pub use line::{Line, line};
pub use name::{host_name, is_dead, own_name, told_host_name};
use streams::{Pipes, Streams};
pub use sweep::{Stray, sweep};

/// The variable of the environment that names the engine.
pub const ENGINE_VARIABLE: &str = "LONGHAUL_ENGINE";
/// The variable of the environment that names the attempt.
pub const ATTEMPT_VARIABLE: &str = "LONGHAUL_ATTEMPT";

/// What is run, and within which bounds.
#[derive(Debug, Clone)]
pub struct Command {
    /// A path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Handed over byte for byte; no shell sees them.
    pub args: Vec<OsString>,
    /// Variables beside the inherited ones; of two with the same name the later one counts.
    pub env: Vec<(OsString, OsString)>,
    /// What is taken over from the engine's own environment.
    pub inherit_env: InheritEnv,
    /// Where it runs; where the engine runs, without one.
    pub cwd: Option<PathBuf>,
    /// What it can read. It need not.
    pub stdin: Vec<u8>,
    /// Where its output is kept whole. Made with its folder when there is any.
    pub stdout_file: PathBuf,
    /// Where its error output is kept whole, likewise.
    pub stderr_file: PathBuf,
    /// How much of each is kept there; what comes after is counted in [`Captured::dropped`].
    pub disk_bytes_max: u64,
    /// How much of each is kept in memory, half from the start and half from the end.
    pub keep_bytes: usize,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// The time between asking a process to end and ending it.
    pub grace: Duration,
    /// Texts that are taken out of its output before anybody sees or keeps it.
    pub secrets: Redaction,
    /// Whose it is.
    pub mark: Mark,
}

/// The two files in which output is kept.
#[derive(Debug, Clone)]
pub struct Files {
    /// For [`Command::stdout_file`].
    pub stdout: PathBuf,
    /// For [`Command::stderr_file`].
    pub stderr: PathBuf,
}

impl Command {
    /// A command with the usual bounds: 1 GiB on disk, 256 KiB in memory, 5 s of grace, no timeout.
    pub fn new(program: impl Into<OsString>, files: Files, mark: Mark) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            inherit_env: InheritEnv::All,
            cwd: None,
            stdin: Vec::new(),
            stdout_file: files.stdout,
            stderr_file: files.stderr,
            disk_bytes_max: 1 << 30,
            keep_bytes: 256 << 10,
            timeout: None,
            grace: Duration::from_secs(5),
            secrets: Redaction::default(),
            mark,
        }
    }

    /// One more argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }
}

/// What a command takes over from the engine's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InheritEnv {
    /// Everything.
    All,
    /// The variables with these names, as far as they are set.
    Only(Vec<String>),
    /// Nothing.
    Nothing,
}

/// Whose a process is. Written into its environment, where its children inherit it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Unique per engine process.
    pub engine: String,
    /// `run/path@attempt`: unique per attempt.
    pub attempt: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with a code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// By us, because it took too long.
    TimedOut,
    /// By us, because it was asked for.
    Cancelled,
}

/// What is left of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub ended: Ended,
    /// What it printed.
    pub stdout: Captured,
    /// What it complained about.
    pub stderr: Captured,
    /// Its process id; 0 if it was cancelled before it started.
    pub pid: u32,
    /// Processes that even SIGKILL did not end in time, such as ones that hang in a dead file system.
    pub survivors: Vec<u32>,
}

/// A piece of output, as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// Of the output.
    Stdout(&'a [u8]),
    /// Of the error output.
    Stderr(&'a [u8]),
    /// The machine has no room for the command or its output; it waits until there is.
    Short(Shortage),
    /// The machine has room again.
    Room,
}

/// Why a command could not be run, or not be seen through.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("no program `{program}` was found")]
    NotFound {
        /// As it was asked for.
        program: String,
    },
    /// There is such a file, but the system does not run it.
    #[error("`{program}` is not a program that can be run: {source}")]
    NotExecutable {
        /// As it was asked for.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The folder to run in is not one.
    #[error("cannot run in `{}`: it is not a folder", path.display())]
    BadCwd {
        /// As it was asked for.
        path: PathBuf,
    },
    /// The arguments and the environment are larger than the system takes; pass them through stdin or a file.
    #[error("the arguments of `{program}` are too long")]
    TooLong {
        /// As it was asked for.
        program: String,
    },
    /// A zero byte or, in a variable's name, `=`: no process can be handed that.
    #[error("an argument or variable of `{program}` contains a byte that cannot be passed on")]
    BadArgument {
        /// As it was asked for.
        program: String,
    },
    /// An output file could not be written. The command was ended.
    #[error("cannot write `{}`: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl Error {
    fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

impl Short for Error {
    fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Disk { source, .. } | Self::Io { source, .. } => Shortage::of(source),
            Self::NotExecutable { .. }
            | Self::NotFound { .. }
            | Self::BadCwd { .. }
            | Self::TooLong { .. }
            | Self::BadArgument { .. } => None,
        }
    }
}

/// Runs a command to its end, and then ends whatever it left.
///
/// Returns when the command has exited, not when its output is closed: a grandchild that holds the pipe is
/// ended like every other leftover. What the machine is short of is waited for, before it starts and while it prints.
pub async fn run(
    command: Command,
    cancel: CancellationToken,
    mut on_output: impl FnMut(Chunk<'_>) + Send,
) -> Result<Output, Error> {
    match start_patiently(&command, &cancel, &mut on_output).await? {
        // Apart from what runs it: its callers hold it within futures of their own.
        Some(started) => Box::pin(started.finish(cancel, on_output)).await,
        None => Ok(Output::unstarted()),
    }
}

/// Starts a command, however long the machine is short of something: nothing has run before it has started. `None` if it is
/// cancelled before.
pub(crate) async fn start_patiently(
    command: &Command,
    cancel: &CancellationToken,
    on_output: &mut (impl FnMut(Chunk<'_>) + Send),
) -> Result<Option<Started>, Error> {
    let (mut backoff, mut told) = (Backoff::default(), None);
    while !cancel.is_cancelled() {
        let started = start(command);
        let Some(shortage) = started.as_ref().err().and_then(Short::shortage) else {
            if told.is_some() {
                on_output(Chunk::Room);
            }
            return started.map(Some);
        };
        if told.replace(shortage) != Some(shortage) {
            on_output(Chunk::Short(shortage));
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause()) => {}
            () = cancel.cancelled() => {}
        }
    }
    Ok(None)
}

/// Starts a command that is to be finished by [`Started::finish`], for those who must know it while it runs.
pub fn start(command: &Command) -> Result<Started, Error> {
    let streams = Streams::prepare(command)?;
    let (child, pipes) = Child::spawn(command)?;
    Ok(Started { child, pipes, streams, timeout: command.timeout, grace: command.grace })
}

/// A command that was started. Dropping it ends it.
#[derive(Debug)]
pub struct Started {
    child: Child,
    pipes: Pipes,
    streams: Streams,
    timeout: Option<Duration>,
    grace: Duration,
}

impl Started {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sees the command to its end, and then ends whatever it left; as [`run`] does.
    pub async fn finish(
        self,
        cancel: CancellationToken,
        on_output: impl FnMut(Chunk<'_>) + Send,
    ) -> Result<Output, Error> {
        let Self { mut child, pipes, mut streams, timeout, grace } = self;
        let bounds =
            Bounds { timeout, grace, cancel, broken: CancellationToken::new(), kept_waiting: Mutex::default() };
        let (finished, unwanted) = (CancellationToken::new(), CancellationToken::new());
        let watching = async {
            let seen = child.see_through(&bounds).await;
            if !matches!(seen, Ok((Ended::Exited(_) | Ended::Signalled(_), _))) {
                unwanted.cancel();
            }
            finished.cancel();
            seen
        };
        let (broken, kept_waiting) = (&bounds.broken, &bounds.kept_waiting);
        let stop = streams::Stop { finished: &finished, broken, unwanted: &unwanted, kept_waiting };
        let (seen, streamed) = tokio::join!(watching, streams.carry(pipes, on_output, stop));
        streamed?;
        let (ended, survivors) = seen?;
        let (stdout, stderr) = streams.into_captured();
        Ok(Output { ended, stdout, stderr, pid: child.pid(), survivors })
    }
}

impl Output {
    pub(crate) fn unstarted() -> Self {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        Self { ended: Ended::Cancelled, stdout, stderr, pid: 0, survivors: Vec::new() }
    }
}

/// What ends a command from the outside.
struct Bounds {
    timeout: Option<Duration>,
    grace: Duration,
    cancel: CancellationToken,
    /// Its output cannot be kept any more.
    broken: CancellationToken,
    /// How long it waited for room for its output: that time is not its own.
    kept_waiting: Mutex<Duration>,
}
