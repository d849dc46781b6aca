//! The shim itself: runs the agent, waits for its end or brings it about, and says how it went.
//!
//! **Invariant:** what it says last is written after everything of the agent has ended. What it cannot say is
//! found out by the next engine, because its lock is free and its agent's processes carry the name of a dead one.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, SystemTime};

use rustix::process::Signal as SystemSignal;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::folder::{Agent, Begun, Folder, Over, STDERR_TAIL_BYTES};
use super::{Error, Spec, alone};
use crate::contract::{Exit, Stopped};
use crate::machine::patiently;
use crate::process::{self, Captured, Command, Ended, Files, InheritEnv, Mark, Output, table};
use crate::redact::Redaction;

/// No secret worth its name is shorter.
const SECRET_BYTES_MIN: usize = 8;

/// What the shim does: runs the agent of the folder to its end. Everything in its environment is the agent's.
pub fn shim_main(folder: &Path) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Error::io("begin"))?;
    let done = runtime.block_on(live(&Folder::new(folder.to_owned())));
    // Nobody waits for the thread that waits for the engine.
    runtime.shutdown_background();
    done
}

async fn live(folder: &Folder) -> Result<(), Error> {
    let signals = Signals::hold().map_err(Error::io("hold signals"))?;
    let Some(spec) = patiently(|| folder.spec()).await? else {
        return Err(Error::io("find what to run")(io::ErrorKind::NotFound.into()));
    };
    let mut shim = Host { folder, begun: Begun::now(), signals };
    patiently(|| folder.begin(&shim.begun)).await?;
    let exit = shim.see_through(&spec).await;
    let pid = shim.begun.agent.map_or(0, |agent| agent.pid);
    let over = Over { pid, at_ms: now_ms(), exit };
    patiently(|| folder.end(&over)).await
}

struct Host<'a> {
    folder: &'a Folder,
    begun: Begun,
    signals: Signals,
}

impl Host<'_> {
    async fn see_through(&mut self, spec: &Spec) -> Exit {
        self.run(spec).await.unwrap_or_else(|refused| refused)
    }

    /// Runs the agent to its end; what kept it from running is an end as well.
    async fn run(&mut self, spec: &Spec) -> Result<Exit, Exit> {
        let name = self.begun.name.clone();
        let command = patiently(|| command(spec, self.folder, &name)).await.map_err(|error| failed(&error))?;
        let started = tokio::select! {
            started = patiently(|| process::start(&command)) => started.map_err(|error| refused(&error))?,
            why = self.outside(spec.grace_alone) => return Err(unstarted(why)),
        };
        let pid = started.pid();
        self.begun.agent = table::read(pid).map(|process| Agent { pid, start: process.start });
        let (folder, begun, cancel) = (self.folder, self.begun.clone(), CancellationToken::new());
        let mut finishing = pin!(started.finish(cancel.clone(), |_| {}));
        let mut seen = pin!(async {
            tokio::select! {
                output = &mut finishing => ended(output, self.interrupted()),
                why = self.outside(spec.grace_alone) => {
                    cancel.cancel();
                    ended(finishing.await, why)
                }
            }
        });
        tokio::select! {
            exit = &mut seen => return exit,
            introduced = patiently(|| folder.begin(&begun)) => if let Err(error) = introduced {
                cancel.cancel();
                drop(seen.await);
                return Err(failed(&error));
            },
        }
        seen.await
    }

    /// Whether it was asked to stop because it was silent.
    fn interrupted(&self) -> Option<Stopped> {
        self.folder.stop().ok().flatten().filter(is_hung)
    }

    /// Why it shall end, as soon as somebody or nobody wants that; `None` if somebody did not say.
    async fn outside(&mut self, grace_alone: Option<Duration>) -> Option<Stopped> {
        let engine_lock = self.folder.engine_lock();
        tokio::select! {
            () = self.signals.end() => self.folder.stop().ok().flatten(),
            () = alone::for_too_long(&engine_lock, grace_alone) => Some(Stopped::Abandoned),
        }
    }
}

fn command(spec: &Spec, folder: &Folder, name: &str) -> Result<Command, Error> {
    // What is that short stands in every other word: taking it out would break what the agent says.
    let values = spec.secret_env.iter().filter_map(|name| std::env::var(name).ok());
    let secrets = Redaction::new(values.filter(|value| value.len() >= SECRET_BYTES_MIN));
    let files = Files { stdout: folder.stdout(), stderr: folder.stderr() };
    let mark = Mark { engine: name.to_owned(), attempt: spec.attempt.clone() };
    Ok(Command {
        args: spec.args.iter().map(Into::into).collect(),
        inherit_env: InheritEnv::All,
        cwd: Some(spec.cwd.clone()),
        stdin: folder.stdin()?,
        disk_bytes_max: spec.disk_bytes_max,
        // Half of it is the end, of which everything is told.
        keep_bytes: 2 * STDERR_TAIL_BYTES as usize,
        timeout: spec.timeout,
        grace: spec.grace,
        secrets,
        ..Command::new(&spec.program, files, mark)
    })
}

fn ended(output: Result<Output, process::Error>, why: Option<Stopped>) -> Result<Exit, Exit> {
    let output = output.map_err(|error| refused(&error))?;
    let exit = Exit { code: None, signal: None, ended: None, stderr: tail(&output.stderr) };
    Ok(match (output.ended, why) {
        // One that was interrupted and obeyed.
        (Ended::Exited(code), why) => Exit { code: Some(code), ended: why.filter(is_hung), ..exit },
        (Ended::Signalled(signal), why) => Exit { signal: Some(signal), ended: why.filter(is_hung), ..exit },
        (Ended::TimedOut, _) => Exit { ended: Some(Stopped::Timeout), ..exit },
        (Ended::Cancelled, Some(why)) => Exit { ended: Some(why), ..exit },
        // Somebody else wanted the shim to end: the machine goes down, or a person sent a signal.
        (Ended::Cancelled, None) => Exit { signal: Some(SystemSignal::TERM.as_raw()), ..exit },
    })
}

fn is_hung(why: &Stopped) -> bool {
    *why == Stopped::Hung
}

fn tail(stderr: &Captured) -> String {
    if stderr.is_cut() { String::from_utf8_lossy(&stderr.tail).into_owned() } else { stderr.text_lossy() }
}

/// As a shell says it.
fn refused(error: &process::Error) -> Exit {
    let code = match error {
        process::Error::NotFound { .. } => 127,
        process::Error::NotExecutable { .. } => 126,
        _ => 125,
    };
    Exit { code: Some(code), signal: None, ended: None, stderr: error.to_string() }
}

/// It was to end before it began.
fn unstarted(why: Option<Stopped>) -> Exit {
    let signal = why.is_none().then_some(SystemSignal::TERM.as_raw());
    Exit { code: None, signal, ended: why, stderr: String::new() }
}

fn failed(error: &Error) -> Exit {
    Exit { code: Some(125), signal: None, ended: None, stderr: error.to_string() }
}

impl Begun {
    fn now() -> Self {
        let pid = std::process::id();
        let start = table::read(pid).map_or(0, |process| process.start);
        Self { pid, start, name: process::own_name(), at_ms: now_ms(), agent: None }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Signals that would end the shim. Only one of them shall, and not at once.
struct Signals {
    end: Signal,
    _ignored: [Signal; 2],
}

impl Signals {
    fn hold() -> io::Result<Self> {
        let _ignored = [signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?];
        Ok(Self { end: signal(SignalKind::terminate())?, _ignored })
    }

    async fn end(&mut self) {
        self.end.recv().await;
    }
}
