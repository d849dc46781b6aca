//! Shows a run in the foreground while it continues.
//!
//! **Invariant:** every event is shown once and in its order, however far the terminal is behind and whoever recorded it. What
//! agents say may be missed by a terminal that is slow; `longhaul logs` has it.

use std::time::Duration;

use anyhow::Result;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_runtime::{Engine, Pulse};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::live::{self, Live};
use crate::{amounts, story, ui};

/// Lists of more items than this are announced.
const ITEMS_FEW: usize = 20;
/// How many events are read at once.
const PAGE: usize = 1000;
/// How often a look is taken at what others have recorded.
const LOOK: Duration = Duration::from_millis(250);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// A tree that is drawn again in place.
    Tree,
    /// What happens, and what agents say and do.
    Lively,
    /// What happens.
    Quiet,
    /// The events as they are.
    Json,
}

/// Shows one run.
pub(crate) struct Onlooker {
    engine: Engine,
    run: RunId,
    manner: Manner,
    live: Live,
    /// The last event that was shown.
    seen: u64,
}

impl Onlooker {
    /// Shows what happens after an event; all of it after 0.
    pub(crate) fn new(engine: Engine, run: RunId, manner: Manner, after: u64) -> Self {
        Self { engine, run, manner, live: Live::default(), seen: after }
    }

    /// Shows what happens until it is told that nothing more will, and then what is still there.
    pub(crate) async fn watch(mut self, mut pulse: Receiver<Pulse>, over: CancellationToken) {
        let (mut ticks, mut changes) = (interval(LOOK), self.engine.changes());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let news = tokio::select! {
                biased;
                news = pulse.recv() => news,
                () = over.cancelled() => break,
                _ = ticks.tick() => {
                    if changes.has_changed().unwrap_or(false) {
                        changes.borrow_and_update();
                        self.look(&mut pulse).await;
                    }
                    continue;
                }
            };
            match news {
                Ok(news) => self.see(news).await,
                // Events are read again below; the rest is missed.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
        self.catch_up(u64::MAX).await;
    }

    async fn see(&mut self, news: Pulse) {
        match news {
            Pulse::Events(run, events) if run == self.run => self.events(&events).await,
            Pulse::Entry(run, said) if run == self.run => {
                let lines = self.live.lines(&said.path, &said.entry);
                self.add(lines);
            }
            Pulse::Alive(run, path, words) if run == self.run => self.add([live::silence(&path, &words)]),
            Pulse::Notice(run, path, text) if run == self.run && self.manner != Manner::Json => {
                ui::say(format!("{path}: {}", longhaul_lang::diagnostic::plain(&text)));
            }
            _ => {}
        }
    }

    async fn events(&mut self, events: &[Envelope]) {
        let Some(first) = events.first() else { return };
        self.catch_up(first.seq).await;
        for envelope in events {
            self.event(envelope).await;
        }
    }

    /// Shows what others have recorded. What agents said here before that was recorded comes first.
    async fn look(&mut self, pulse: &mut Receiver<Pulse>) {
        let page = self.page().await;
        while let Ok(news) = pulse.try_recv() {
            self.see(news).await;
        }
        for envelope in &page {
            self.event(envelope).await;
        }
    }

    /// The next events. What cannot be read now can be read later, by `longhaul events`.
    async fn page(&self) -> Vec<Envelope> {
        self.engine.events(&self.run, self.seen, PAGE).await.unwrap_or_default()
    }

    /// Shows events that were recorded by others, or while the terminal was behind.
    async fn catch_up(&mut self, before: u64) {
        while self.seen + 1 < before {
            let page = self.page().await;
            if page.is_empty() {
                return;
            }
            for envelope in page.iter().filter(|envelope| envelope.seq < before) {
                self.event(envelope).await;
            }
        }
    }

    async fn event(&mut self, envelope: &Envelope) {
        if self.seen >= envelope.seq {
            return;
        }
        self.seen = envelope.seq;
        if self.manner == Manner::Json {
            return print(serde_json::to_string(envelope).ok());
        }
        if let Some(path) = ended(&envelope.event) {
            let lines: Vec<String> = self.live.rest(path).into_iter().chain(cost(&envelope.event, path)).collect();
            self.add(lines);
        }
        print(story::line(&self.run, envelope));
        if let Event::ItemsFound { path, items } = &envelope.event
            && items.len() > ITEMS_FEW
        {
            print(self.forecast(path, items.len()).await.ok().flatten());
        }
    }

    async fn forecast(&self, path: &StepPath, items: usize) -> Result<Option<String>> {
        let loaded = self.engine.load(&self.run).await?;
        let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
        let Some(step) = loaded.state.find(path) else { return Ok(None) };
        let (items, slots) = (u64::try_from(items)?, u64::try_from(self.engine.attempts_max())?);
        let to_come = view::forecast((plan, index), &loaded.state, step.step, items, slots);
        Ok(to_come.map(|to_come| format!("  {path}: {}", amounts::forecast(&to_come))))
    }

    /// What agents say and do, where somebody wants to see it.
    fn add(&self, lines: impl IntoIterator<Item = String>) {
        if self.manner == Manner::Lively {
            lines.into_iter().for_each(|line| print(Some(line)));
        }
    }
}

/// The step whose attempt an event ends.
fn ended(event: &Event) -> Option<&StepPath> {
    match event {
        Event::AttemptSucceeded { path, .. }
        | Event::AttemptFailed { path, .. }
        | Event::AttemptStopped { path, .. } => Some(path),
        _ => None,
    }
}

fn cost(event: &Event, path: &StepPath) -> Option<String> {
    live::cost(path, &story::used(event)?)
}

/// Nobody who reads is no reason to stop the run.
fn print(line: Option<String>) {
    if let Some(line) = line {
        let _ = ui::print_line(line);
    }
}
