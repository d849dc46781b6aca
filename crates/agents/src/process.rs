//! Runs a command and leaves no process behind.
//!
//! A command gets its own session and two marks in its environment. Its output goes to disk as it comes, and a part of
//! it stays in memory. When the command ends, is cancelled or takes too long, Longhaul ends all its processes: its
//! session, its descendants, and every process with its mark.
//!
//! **Invariant:** when [`run`] returns, or its future is dropped, no process of the command is left running. Memory is
//! bounded by `keep_bytes`, whatever the command prints.

mod ancestry;
mod captured;
mod child;
mod ending;
mod group;
mod guard;
mod name;
mod outliving;
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

use crate::machine::{Short, Shortage, ShortageBackoff};
use crate::redact::Redaction;
pub use ancestry::{Ancestry, line};
pub use captured::Captured;
use child::Child;
pub use guard::{GUARD_COMMAND, Guard, guard_main};
pub use name::{host_name, is_alive, is_dead, own_name, told_host_name};
pub use outliving::Outliving;
use streams::{Pipes, Streams};
pub use sweep::{Stray, sweep};

/// The environment variable that names the engine.
pub const ENGINE_VARIABLE: &str = "LONGHAUL_ENGINE";
/// The environment variable that names the attempt.
pub const ATTEMPT_VARIABLE: &str = "LONGHAUL_ATTEMPT";

/// A command, and its limits.
#[derive(Debug, Clone)]
pub struct Command {
    /// A path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// The arguments, passed byte for byte; no shell sees them.
    pub args: Vec<OsString>,
    /// Variables beside the inherited ones; if a name occurs twice, the later one counts.
    pub env: Vec<(OsString, OsString)>,
    /// The variables that the command inherits from the engine.
    pub inherit_env: InheritEnv,
    /// The working directory; by default the engine's.
    pub cwd: Option<PathBuf>,
    /// The bytes on its standard input. The command need not read them.
    pub stdin: Vec<u8>,
    /// The file for its complete output. The file and its folder are made when the first byte comes.
    pub stdout_file: PathBuf,
    /// The file for its complete error output, made in the same way.
    pub stderr_file: PathBuf,
    /// The most bytes of each output on disk; [`Captured::dropped`] counts the rest.
    pub disk_bytes_max: u64,
    /// The most bytes of each output in memory, half from the start and half from the end.
    pub keep_bytes: usize,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Texts that are removed from its output before it is stored or shown.
    pub secrets: Redaction,
    /// The engine and the attempt that the command belongs to.
    pub mark: Mark,
}

/// The two output files.
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

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }
}

/// The variables that a command inherits from the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InheritEnv {
    /// Everything.
    All,
    /// The variables with these names, if they are set.
    Only(Vec<String>),
    /// Nothing.
    Nothing,
}

/// The owner of a process. It is written into the environment, so children inherit it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Unique per engine process.
    pub engine: String,
    /// `run/path@attempt`: unique per attempt.
    pub attempt: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It exited with a code.
    Exited(i32),
    /// A signal that was not ours ended it.
    Signalled(i32),
    /// We ended it because it took too long.
    TimedOut,
    /// We ended it because it was cancelled.
    Cancelled,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// How it ended.
    pub ended: ProcessEnd,
    /// Its output.
    pub stdout: Captured,
    /// Its error output.
    pub stderr: Captured,
    /// Its process id; 0 if it was cancelled before it started.
    pub pid: u32,
    /// Processes that even SIGKILL did not end in time, for example because they hang in a dead file system.
    pub survivors: Vec<u32>,
}

/// A piece of output, as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// From its output.
    Stdout(&'a [u8]),
    /// From its error output.
    Stderr(&'a [u8]),
    /// The machine has no room for the command or its output; the command waits until there is.
    Short(Shortage),
    /// The machine has room again.
    Room,
}

/// Why a command could not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program does not exist.
    #[error("no program `{program}` was found")]
    NotFound {
        /// The program, as the caller named it.
        program: String,
    },
    /// The file exists, but the system cannot run it.
    #[error("`{program}` is not a program that can be run: {source}")]
    NotExecutable {
        /// The program, as the caller named it.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The working directory is not a folder.
    #[error("cannot run in `{}`: it is not a folder", path.display())]
    BadCwd {
        /// The path, as the caller named it.
        path: PathBuf,
    },
    /// The arguments and the environment are larger than the system allows; pass them through stdin or a file.
    #[error("the arguments of `{program}` are too long")]
    TooLong {
        /// The program, as the caller named it.
        program: String,
    },
    /// An argument contains a zero byte, or a variable's name contains `=`: no process can receive that.
    #[error("an argument or variable of `{program}` contains a byte that cannot be passed on")]
    BadArgument {
        /// The program, as the caller named it.
        program: String,
    },
    /// An output file could not be written. The command was ended.
    #[error("cannot write `{}`: {source}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Anything else that the system refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// The failed operation.
        what: &'static str,
        /// The error of the system.
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

/// Runs a command to its end, and then ends all processes that it left.
///
/// Returns when the command has exited, not when its output is closed: a grandchild that holds the pipe is ended like
/// every other leftover. If the machine lacks a resource, the command waits for it, before it starts and while it
/// prints.
pub async fn run(
    command: Command,
    cancel: CancellationToken,
    mut on_output: impl FnMut(Chunk<'_>) + Send,
) -> Result<ProcessOutput, Error> {
    match start_patiently(&command, &cancel, &mut on_output).await? {
        // Boxed, because callers hold this future inside their own.
        Some(started) => Box::pin(started.finish(cancel, on_output)).await,
        None => Ok(ProcessOutput::unstarted()),
    }
}

/// Starts a command, and waits while the machine lacks a resource; nothing has run until then. `None` if it is
/// cancelled before.
pub(crate) async fn start_patiently(
    command: &Command,
    cancel: &CancellationToken,
    on_output: &mut (impl FnMut(Chunk<'_>) + Send),
) -> Result<Option<Started>, Error> {
    let (mut backoff, mut told) = (ShortageBackoff::default(), None);
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

/// Starts a command that [`Started::finish`] finishes, for callers that must know the running command.
pub fn start(command: &Command) -> Result<Started, Error> {
    let streams = Streams::prepare(command)?;
    let (child, pipes) = Child::spawn(command)?;
    Ok(Started { child, pipes, streams, timeout: command.timeout, grace: command.grace })
}

/// A started command. Dropping it ends it.
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

    /// Waits for the end of the command and then ends all processes that it left, as [`run`] does.
    pub async fn finish(
        self,
        cancel: CancellationToken,
        on_output: impl FnMut(Chunk<'_>) + Send,
    ) -> Result<ProcessOutput, Error> {
        let Self { mut child, pipes, mut streams, timeout, grace } = self;
        let bounds =
            Bounds { timeout, grace, cancel, broken: CancellationToken::new(), kept_waiting: Mutex::default() };
        let (finished, unwanted) = (CancellationToken::new(), CancellationToken::new());
        let watching = async {
            let seen = child.see_through(&bounds).await;
            if !matches!(seen, Ok((ProcessEnd::Exited(_) | ProcessEnd::Signalled(_), _))) {
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
        Ok(ProcessOutput { ended, stdout, stderr, pid: child.pid(), survivors })
    }
}

impl ProcessOutput {
    pub(crate) fn unstarted() -> Self {
        let (stdout, stderr) = (Captured::default(), Captured::default());
        Self { ended: ProcessEnd::Cancelled, stdout, stderr, pid: 0, survivors: Vec::new() }
    }
}

/// The reasons to end a command from outside.
struct Bounds {
    timeout: Option<Duration>,
    grace: Duration,
    cancel: CancellationToken,
    /// Cancelled if the output cannot be stored any more.
    broken: CancellationToken,
    /// How long the command waited for room for its output. This time does not count towards its timeout.
    kept_waiting: Mutex<Duration>,
}
