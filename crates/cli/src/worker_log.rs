//! Prints the steps that a worker takes: a line at the start of each, and a line at its end.
//!
//! **Invariant:** a worker reports only its own attempts, not events that it records for others.

use std::collections::HashSet;

use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_runtime::{Engine, EngineEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::ui;

/// The steps that a worker is running.
pub(crate) struct WorkerLog {
    host: Option<String>,
    open: HashSet<(RunId, StepPath, u32)>,
}

impl WorkerLog {
    pub(crate) fn of(engine: &Engine) -> Self {
        Self { host: engine.host().map(str::to_owned), open: HashSet::new() }
    }

    /// Prints lines until `over` is cancelled.
    pub(crate) async fn tell(mut self, mut pulse: Receiver<EngineEvent>, over: &CancellationToken) {
        loop {
            let news = tokio::select! {
                biased;
                news = pulse.recv() => news,
                () = over.cancelled() => return,
            };
            match news {
                Ok(EngineEvent::Events(run, events)) => {
                    events.iter().filter_map(|envelope| self.line(&run, &envelope.event)).for_each(ui::say);
                }
                // A slow log misses some lines; the store has all events.
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// The line about an event, if there is one.
    fn line(&mut self, run: &RunId, event: &Event) -> Option<String> {
        match event {
            Event::AttemptStarted { path, attempt, host, queued: None, hosted: false, .. } if *host == self.host => {
                self.take(run, path, *attempt)
            }
            Event::AttemptClaimed { path, attempt, host, .. } if *host == self.host => self.take(run, path, *attempt),
            Event::AttemptAdopted { path, attempt, .. } => self.take(run, path, *attempt),
            Event::AttemptSucceeded { path, attempt, .. } => self.end(run, path, *attempt, "done"),
            Event::AttemptFailed { path, attempt, error, .. } => {
                let first = error.message.lines().next().unwrap_or_default();
                self.end(run, path, *attempt, &format!("failed: {}", ui::clean(first)))
            }
            Event::AttemptStopped { path, attempt, .. } => self.end(run, path, *attempt, "stopped, and handed back"),
            _ => None,
        }
    }

    fn take(&mut self, run: &RunId, path: &StepPath, attempt: u32) -> Option<String> {
        let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
        self.open.insert((run.clone(), path.clone(), attempt)).then(|| format!("{run} {path}: taken{again}"))
    }

    fn end(&mut self, run: &RunId, path: &StepPath, attempt: u32, how: &str) -> Option<String> {
        self.open.remove(&(run.clone(), path.clone(), attempt)).then(|| format!("{run} {path}: {how}"))
    }
}
