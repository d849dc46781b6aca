//! Carries bytes between a command and the world: its stdin to it, its output to disk, memory and whoever
//! listens.
//!
//! **Invariant:** what the command wrote before it ended is kept, and nobody waits for a pipe to be closed. Where nothing
//! is written no file is made. While the machine has no room for the output nothing more is read, so the command waits, too.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio_util::sync::CancellationToken;

use super::captured::Captured;
use super::sink::Sink;
use super::{Chunk, Command, Error};
use crate::machine::{Backoff, Short};

const CHUNK_BYTES: usize = 64 << 10;
/// Of a command that says little at a time, this is how long it is waited for more; the pipe holds it meanwhile.
const TOGETHER: Duration = Duration::from_millis(60);
/// What is little: far less than a pipe holds.
const LITTLE_BYTES: usize = 2 << 10;
/// More than a pipe can hold: what is still in it when every writer is gone fits in.
const DRAIN_BYTES_MAX: usize = 16 << 20;

/// Our ends of the command's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: Option<Sender>,
    pub(super) stdout: Receiver,
    pub(super) stderr: Receiver,
}

/// When to stop carrying, and how to say that it cannot continue.
#[derive(Clone, Copy)]
pub(super) struct Stop<'a> {
    /// Everything that could write has ended.
    pub(super) finished: &'a CancellationToken,
    /// The output cannot be kept.
    pub(super) broken: &'a CancellationToken,
    /// The command was ended by us: nobody waits for room for what it said.
    pub(super) unwanted: &'a CancellationToken,
    /// How long the command was kept waiting.
    pub(super) kept_waiting: &'a Mutex<Duration>,
}

impl Stop<'_> {
    /// Waits a while before the next try; false if there need be none.
    async fn wait(&self, pause: Duration) -> bool {
        *self.kept_waiting.lock().unwrap_or_else(PoisonError::into_inner) += pause;
        tokio::select! {
            () = tokio::time::sleep(pause) => true,
            () = self.unwanted.cancelled() => false,
        }
    }
}

/// Where the bytes of a command go to and come from.
#[derive(Debug)]
pub(super) struct Streams {
    stdin: Vec<u8>,
    stdout: Sink,
    stderr: Sink,
}

impl Streams {
    pub(super) fn prepare(command: &Command) -> Result<Self, Error> {
        let stdout = Sink::prepare(command.stdout_file.clone(), command)?;
        let stderr = Sink::prepare(command.stderr_file.clone(), command)?;
        Ok(Self { stdin: command.stdin.clone(), stdout, stderr })
    }

    /// Carries until it is told that the command has finished.
    pub(super) async fn carry(
        &mut self,
        pipes: Pipes,
        mut on_output: impl FnMut(Chunk<'_>) + Send,
        stop: Stop<'_>,
    ) -> Result<(), Error> {
        let feeding = feed(pipes.stdin, &self.stdin, stop.finished);
        let mut lanes = Lanes {
            stdout: Lane::new(pipes.stdout, &mut self.stdout),
            stderr: Lane::new(pipes.stderr, &mut self.stderr),
        };
        let collecting = async {
            let collected = lanes.collect(&mut on_output, stop).await;
            if collected.is_err() {
                stop.broken.cancel();
            }
            collected
        };
        let ((), collected) = tokio::join!(feeding, collecting);
        collected
    }

    pub(super) fn into_captured(self) -> (Captured, Captured) {
        (self.stdout.into_captured(), self.stderr.into_captured())
    }
}

/// Writes until everything is written, the command does not read any more, or has ended.
async fn feed(pipe: Option<Sender>, bytes: &[u8], finished: &CancellationToken) {
    let Some(mut pipe) = pipe else { return };
    tokio::select! {
        // A command need not read what it is given.
        _ = pipe.write_all(bytes) => {}
        () = finished.cancelled() => {}
    }
}

struct Lanes<'a> {
    stdout: Lane<'a>,
    stderr: Lane<'a>,
}

impl Lanes<'_> {
    async fn collect(&mut self, on_output: &mut impl FnMut(Chunk<'_>), stop: Stop<'_>) -> Result<(), Error> {
        loop {
            let got = tokio::select! {
                got = self.stdout.next() => self.stdout.take(got, |bytes| on_output(Chunk::Stdout(bytes))),
                got = self.stderr.next() => self.stderr.take(got, |bytes| on_output(Chunk::Stderr(bytes))),
                () = stop.finished.cancelled() => break,
            };
            self.flush(on_output, stop).await?;
            if got < LITTLE_BYTES {
                tokio::select! {
                    () = tokio::time::sleep(TOGETHER) => {}
                    () = stop.finished.cancelled() => break,
                }
            }
        }
        self.stdout.drain(|bytes| on_output(Chunk::Stdout(bytes)));
        self.stderr.drain(|bytes| on_output(Chunk::Stderr(bytes)));
        self.flush(on_output, stop).await
    }

    /// Has the disk take what was read; waits while the machine is short of something.
    async fn flush(&mut self, on_output: &mut impl FnMut(Chunk<'_>), stop: Stop<'_>) -> Result<(), Error> {
        let (mut backoff, mut told) = (Backoff::default(), None);
        loop {
            let flushed = self.stdout.sink.flush().and_then(|()| self.stderr.sink.flush());
            let shortage = match flushed.as_ref().err().map(Short::shortage) {
                None => break,
                Some(None) => return flushed,
                Some(Some(shortage)) => shortage,
            };
            if stop.unwanted.is_cancelled() {
                return Ok(());
            }
            if told.replace(shortage) != Some(shortage) {
                on_output(Chunk::Short(shortage));
            }
            if !stop.wait(backoff.pause()).await {
                return Ok(());
            }
        }
        if told.is_some() {
            on_output(Chunk::Room);
        }
        Ok(())
    }
}

/// One output on its way.
struct Lane<'a> {
    /// `None` once it is closed.
    pipe: Option<Receiver>,
    sink: &'a mut Sink,
    buffer: Vec<u8>,
}

impl<'a> Lane<'a> {
    fn new(pipe: Receiver, sink: &'a mut Sink) -> Self {
        Self { pipe: Some(pipe), sink, buffer: vec![0; CHUNK_BYTES] }
    }

    /// Reads the next bytes and says how many; never, once the pipe is closed. Nothing is lost when this is dropped.
    async fn next(&mut self) -> usize {
        while let Some(pipe) = &self.pipe {
            let got = match pipe.readable().await {
                Ok(()) => pipe.try_read(&mut self.buffer),
                Err(error) => Err(error),
            };
            match got {
                Ok(0) => self.pipe = None,
                Ok(got) => return got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.pipe = None,
            }
        }
        std::future::pending().await
    }

    /// Takes what was read in, and says how much it was.
    fn take(&mut self, got: usize, on_output: impl FnOnce(&[u8])) -> usize {
        let clean = self.sink.push(&self.buffer[..got]);
        on_output(&clean);
        got
    }

    /// Takes what was held back because it could have been the beginning of a secret.
    fn take_rest(&mut self, on_output: impl FnOnce(&[u8])) {
        let rest = self.sink.push_rest();
        if !rest.is_empty() {
            on_output(&rest);
        }
    }

    /// Takes what is still in the pipe, asks past the runtime (which may not have noticed yet), and waits for
    /// nothing: somebody outside may hold the other end for ever.
    fn drain(&mut self, mut on_output: impl FnMut(&[u8])) {
        let mut left = DRAIN_BYTES_MAX;
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut self.buffer[..]) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) | Ok(0) => self.pipe = None,
                Ok(got) => {
                    self.take(got, &mut on_output);
                    // What is not taken now is flushed again at the end.
                    drop(self.sink.flush());
                    left = left.saturating_sub(got);
                    if left == 0 {
                        self.pipe = None;
                    }
                }
            }
        }
        self.take_rest(on_output);
    }
}
