//! A small process beside the engine that outlives it for a moment and clears up after it.
//!
//! It holds one end of a pipe and waits. A word on the pipe means that the engine ends as it should; the end of the
//! pipe without one means that the engine is dead, whatever it died of.
//!
//! While commands are running it looks at what comes out of them: an orphan that has shed its session and its environment is known to
//! be theirs only as long as the engine lives, which is where orphans come to.
//!
//! **Invariant:** the other end of the pipe is held by the engine alone. What outlives engines on purpose, the shims, is left alone.

use std::collections::HashSet;
use std::io::{self, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getppid;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::group::Group;
use super::registry::{Slot, Spared};
use super::table::Process;
use super::{Error, ending, syscalls, table, tree};
use crate::shim::SHIM_MARK;

/// What the binary is called with to be a guard; the engine's name follows.
pub const GUARD_COMMAND: &str = "__guard";
/// What an engine says: that it ends, that it begins a command.
const WORD: &[u8] = b"d";
const BUSY: &[u8] = b"+";
/// How often commands are looked at while some are running, and after how many looks at nothing no more is looked.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS: u32 = 20;
/// How often an engine says that it begins a command, in hundredths of a second: more often than nothing is looked at.
const TELL_TICKS: u64 = 100;
/// Processes that are remembered before those are forgotten that have ended.
const KNOWN_MANY: usize = 4096;
/// Ten seconds each: what hangs in the system for longer than ten minutes is not waited for.
const TRIES: usize = 60;

/// The guard of this engine process, for as long as it is held. One is enough.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    pipe: PipeWriter,
    _spared: Spared,
}

impl Guard {
    /// Starts `program __guard ENGINE`, which must call [`guard_main`].
    pub fn start(program: &Path, engine: &str) -> Result<Self, Error> {
        let (pipe_end, pipe) = io::pipe().map_err(Error::io("make a pipe"))?;
        let told = pipe.try_clone().map_err(Error::io("make a pipe"))?;
        let mut command = Command::new(program);
        command.args([GUARD_COMMAND, engine]).stdin(pipe_end).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the engine (a closed terminal, Ctrl-C) must not end its guard.
        syscalls::own_session(&mut command);
        let slot = Slot::open();
        let child = command.spawn().map_err(Error::io("start the guard"))?;
        let spared = Spared::new(child.id());
        *PIPE.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        drop(slot);
        Ok(Self { child, pipe, _spared: spared })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(PIPE.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Written or not, it ends: without the word it looks once for what is left.
        drop(self.pipe.write_all(WORD));
        drop(self.child.wait());
    }
}

/// The end of the pipe that the guard of this process listens to, where it has one.
static PIPE: Mutex<Option<PipeWriter>> = Mutex::new(None);

/// Tells the guard that a command begins, unless it was told lately.
pub(super) fn tell_busy(now: u64) {
    static TOLD: AtomicU64 = AtomicU64::new(0);
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = &mut *pipe
        && now >= TOLD.load(Ordering::Relaxed) + TELL_TICKS
    {
        TOLD.store(now, Ordering::Relaxed);
        // A guard that is gone needs no telling.
        let _told = pipe.write_all(BUSY);
    }
}

/// What the guard does: waits for the engine's end, and unless that was announced kills all that carries its name, and all that
/// was seen to come out of its commands.
pub fn guard_main(engine: &str) -> io::Result<()> {
    let _held = hold_signals()?;
    let mut watch = Watch::of_parent();
    if watch.until_the_end()? {
        watch.leave();
        return Ok(());
    }
    let is_left = |process: &Process| table::marks(process.pid).engine.as_deref() == Some(engine);
    watch.freeze(true);
    // A child that the engine was just starting is not overlooked: it held our pipe open until it had its mark.
    for _ in 0..TRIES {
        if ending::kill_blocking(|| watch.left(is_left)).is_empty() {
            break;
        }
    }
    watch.freeze(false);
    watch.leave();
    Ok(())
}

/// What a guard knows about the commands of its engine.
struct Watch {
    engine: Option<Process>,
    group: Option<Group>,
    /// All that came out of commands, as far as it was seen.
    known: HashSet<(u32, u64)>,
}

impl Watch {
    fn of_parent() -> Self {
        let parent = getppid().and_then(|pid| u32::try_from(pid.as_raw_pid()).ok());
        let engine = parent.and_then(table::read).filter(|engine| engine.pid > 1);
        let group = engine.as_ref().and_then(Group::make);
        // Guards that were killed with their engines have left theirs.
        group.iter().flat_map(Group::left_by_the_dead).for_each(|left| clear(&left));
        Self { engine, group, known: HashSet::new() }
    }

    /// Waits for the engine's end; whether it was announced.
    fn until_the_end(&mut self) -> io::Result<bool> {
        // What was begun before the guard was there was said by starting it.
        let (stdin, mut looks) = (io::stdin(), LOOKS);
        loop {
            let timeout = Timespec::try_from(LOOK).ok().filter(|_| looks > 0);
            let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut polled, timeout.as_ref()) {
                Ok(0) if self.look() => looks = LOOKS,
                Ok(0) => looks -= 1,
                Ok(_) => match hear(&stdin)? {
                    Heard::End(is_announced) => return Ok(is_announced),
                    Heard::Busy => looks = LOOKS,
                },
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Remembers what came out of commands since the last look, and puts it into a group, where there are groups. Whether there is
    /// anything.
    fn look(&mut self) -> bool {
        let Some(engine) = self.engine else { return false };
        let mut is_busy = false;
        let of_commands = |process: &Process| process.session != engine.session && process.pid != std::process::id();
        for root in table::children_of(engine.pid).into_iter().filter(of_commands) {
            if !is_shim(&root) {
                self.note(&root, root);
                is_busy = true;
            }
        }
        if let Some(group) = &self.group {
            group.tidy();
        }
        if self.known.len() > KNOWN_MANY {
            self.known.retain(|(pid, start)| table::read(*pid).is_some_and(|process| process.start == *start));
        }
        is_busy
    }

    fn note(&mut self, root: &Process, process: Process) {
        let is_new = self.known.insert((process.pid, process.start));
        let grouped = self.group.as_ref().map(|group| !is_new || group.take(root, &process).is_ok());
        // Who was taken in before it had children needs no looking after. Who was just taken in may have some.
        if grouped != Some(true) || is_new {
            table::children_of(process.pid).into_iter().for_each(|child| self.note(root, child));
        }
    }

    fn freeze(&self, is_frozen: bool) {
        if let Some(group) = &self.group {
            group.freeze(is_frozen);
        }
    }

    /// What is left of the engine's commands.
    fn left(&self, is_marked: impl Fn(&Process) -> bool) -> Vec<Process> {
        let grouped: HashSet<u32> = self.group.iter().flat_map(Group::members).collect();
        let is_known = |process: &Process| self.known.contains(&(process.pid, process.start));
        all_left(|process| grouped.contains(&process.pid) || is_known(process) || is_marked(process))
    }

    fn leave(&self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }
}

/// Ends what is in a group that nobody looks after.
fn clear(group: &Group) {
    group.freeze(true);
    ending::kill_blocking(|| {
        let members: HashSet<u32> = group.members().into_iter().collect();
        all_left(|process| members.contains(&process.pid))
    });
    group.freeze(false);
    group.remove();
}

/// What is to be ended, with everything that descends from it; never a shim, which has an agent of its own to look after.
fn all_left(is_left: impl Fn(&Process) -> bool) -> Vec<Process> {
    let mut found = tree::with_descendants(&table::all(), |process| is_left(process) && !is_shim(process));
    found.retain(|process| !process.is_zombie && !is_shim(process));
    found
}

fn is_shim(process: &Process) -> bool {
    table::marks(process.pid).engine.as_deref() == Some(SHIM_MARK)
}

/// What an engine says.
enum Heard {
    Busy,
    /// Its end, and whether it said so.
    End(bool),
}

/// Several words may have come: the last one counts.
fn hear(stdin: &io::Stdin) -> io::Result<Heard> {
    let mut said = [0; 1024];
    let got = rustix::io::retry_on_intr(|| rustix::io::read(stdin, &mut said))?;
    Ok(match got {
        0 => Heard::End(false),
        _ if said[..got].ends_with(WORD) => Heard::End(true),
        _ => Heard::Busy,
    })
}

/// Signals that mean "end, please" are for the engine. The guard ends when the engine does.
fn hold_signals() -> io::Result<(tokio::runtime::Runtime, Vec<Signal>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let held = kinds.into_iter().map(signal).collect::<io::Result<Vec<_>>>()?;
    drop(entered);
    Ok((runtime, held))
}
