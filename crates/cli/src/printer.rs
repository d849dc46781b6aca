//! Shows a run in the foreground while it continues.
//!
//! **Invariant:** every event is shown once and in order, however slow the terminal is, and whichever process recorded
//! it. A slow terminal may miss output of agents; `longhaul logs` has it.

use std::time::Duration;

use anyhow::Result;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_runtime::{Engine, EngineEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::live::{self, Live};
use crate::names::Names;
use crate::{format_event, numbers, ui};

/// The printer announces lists that have more items than this.
const ITEMS_FEW: usize = 20;
/// How many events are read at once.
const PAGE: usize = 1000;
/// How often the printer reads events that other processes recorded.
const LOOK: Duration = Duration::from_millis(250);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// A tree that is drawn again in place.
    Tree,
    /// Events, and what agents say and do.
    Lively,
    /// Events only.
    Quiet,
    /// The events as JSON.
    Json,
}

/// Prints one run.
pub(crate) struct RunPrinter {
    engine: Engine,
    run: RunId,
    manner: OutputMode,
    live: Live,
    names: Names,
    knows_names: bool,
    /// The last event that was shown.
    seen: u64,
}

impl RunPrinter {
    /// Prints the events after `after`; all events if it is 0.
    pub(crate) fn new(engine: Engine, run: RunId, manner: OutputMode, after: u64) -> Self {
        Self { engine, run, manner, live: Live::default(), names: Names::default(), knows_names: false, seen: after }
    }

    /// Prints events until `over` is cancelled, and then the remaining ones.
    pub(crate) async fn watch(mut self, mut pulse: Receiver<EngineEvent>, over: CancellationToken) {
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
                // The events are read again below; only output of agents is lost.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
        self.catch_up(u64::MAX).await;
    }

    async fn see(&mut self, news: EngineEvent) {
        match news {
            EngineEvent::Events(run, events) if run == self.run => self.events(&events).await,
            EngineEvent::Entry(run, said) if run == self.run => {
                let lines = self.live.lines(&said.path, &said.entry);
                self.add(lines);
            }
            EngineEvent::Alive(run, path, words) if run == self.run => self.add([live::silence(&path, &words)]),
            EngineEvent::Notice(run, path, text) if run == self.run && self.manner != OutputMode::Json => {
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

    /// Prints events that other processes recorded. Agent output that arrived here earlier comes first.
    async fn look(&mut self, pulse: &mut Receiver<EngineEvent>) {
        let page = self.page().await;
        while let Ok(news) = pulse.try_recv() {
            self.see(news).await;
        }
        for envelope in &page {
            self.event(envelope).await;
        }
    }

    /// The next events. If the store cannot be read now, `longhaul events` can show them later.
    async fn page(&self) -> Vec<Envelope> {
        self.engine.events(&self.run, self.seen, PAGE).await.unwrap_or_default()
    }

    /// Prints events that other processes recorded, or that came while the terminal was behind.
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
        if self.manner == OutputMode::Json {
            return print(serde_json::to_string(envelope).ok());
        }
        if let Some(path) = ended(&envelope.event) {
            let lines: Vec<String> = self.live.rest(path).into_iter().chain(cost(&envelope.event, path)).collect();
            self.add(lines);
        }
        self.learn_names().await;
        print(self.names.line(&self.run, envelope));
        if let Event::ItemsFound { path, items } = &envelope.event
            && items.len() > ITEMS_FEW
        {
            print(self.forecast(path, items.len()).await.ok().flatten());
        }
    }

    /// Reads the plan once, for the names of its steps. A run that cannot be read is shown without them.
    async fn learn_names(&mut self) {
        if !std::mem::replace(&mut self.knows_names, true)
            && let Ok(loaded) = self.engine.load(&self.run).await
        {
            self.names = Names::of(&loaded);
        }
    }

    async fn forecast(&self, path: &StepPath, items: usize) -> Result<Option<String>> {
        let loaded = self.engine.load(&self.run).await?;
        let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
        let Some(step) = loaded.state.find(path) else { return Ok(None) };
        let (items, slots) = (u64::try_from(items)?, u64::try_from(self.engine.attempts_max())?);
        let to_come = view::forecast((plan, index), &loaded.state, step.step, items, slots);
        Ok(to_come.map(|to_come| format!("  {path}: {}", numbers::forecast(&to_come))))
    }

    /// Prints what agents say and do, if the output mode shows it.
    fn add(&self, lines: impl IntoIterator<Item = String>) {
        if self.manner == OutputMode::Lively {
            lines.into_iter().for_each(|line| print(Some(line)));
        }
    }
}

/// The step whose attempt an event ends.
fn ended(event: &Event) -> Option<&StepPath> {
    event.ended_attempt().map(|(path, _)| path)
}

fn cost(event: &Event, path: &StepPath) -> Option<String> {
    live::cost(path, &format_event::used(event)?)
}

/// Prints a line. A closed output does not stop the run.
fn print(line: Option<String>) {
    if let Some(line) = line {
        let _ = ui::print_line(line);
    }
}
