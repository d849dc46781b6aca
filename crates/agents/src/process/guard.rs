//! A small process beside the engine that outlives it for a moment and clears up after it.
//!
//! It holds one end of a pipe and waits. A word on the pipe means that the engine ends as it should; the end of the
//! pipe without one means that the engine is dead, whatever it died of.
//!
//! **Invariant:** the other end of the pipe is held by the engine alone.

use std::io::{self, PipeWriter, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::registry::{Slot, Spared};
use super::{Error, ending, syscalls, table, tree};

/// What the binary is called with to be a guard; the engine's name follows.
pub const GUARD_COMMAND: &str = "__guard";
const WORD: &[u8; 5] = b"done\n";
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
        let mut command = Command::new(program);
        command.args([GUARD_COMMAND, engine]).stdin(pipe_end).stdout(Stdio::null()).stderr(Stdio::null());
        // What ends the engine (a closed terminal, Ctrl-C) must not end its guard.
        syscalls::own_session(&mut command);
        let slot = Slot::open();
        let child = command.spawn().map_err(Error::io("start the guard"))?;
        let spared = Spared::new(child.id());
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
        // Written or not, it ends: without the word it looks once for what is left.
        drop(self.pipe.write_all(WORD));
        drop(self.child.wait());
    }
}

/// What the guard does: waits for the engine's end, and unless that was announced kills all that carries its name.
pub fn guard_main(engine: &str) -> io::Result<()> {
    let _held = hold_signals()?;
    if engine_says_done()? {
        return Ok(());
    }
    let is_left = |process: &table::Process| table::marks(process.pid).engine.as_deref() == Some(engine);
    let find = || {
        let mut found = tree::with_descendants(&table::all(), is_left);
        found.retain(|process| !process.is_zombie);
        found
    };
    // A child that the engine was just starting is not overlooked: it held our pipe open until it had its mark.
    for _ in 0..TRIES {
        if ending::kill_blocking(find).is_empty() {
            break;
        }
    }
    Ok(())
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

fn engine_says_done() -> io::Result<bool> {
    let mut said = [0; WORD.len()];
    match io::stdin().lock().read_exact(&mut said) {
        Ok(()) => Ok(said == *WORD),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
