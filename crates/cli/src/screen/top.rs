//! Shows all runs, and carries out what keys ask for, until the user leaves.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use longhaul_app::{App, outcome};
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::status::{Awaited, RunStatus};
use longhaul_core::view;
use longhaul_runtime::{Attendance, Engine, Message};
use longhaul_store::Query;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::painter::Painter;
use super::table::{Entry, Place, Wish, frame, press};
use super::terminal::{self, Terminal};
use super::watch::Watch;
use crate::{identity, rejected};

/// How often the runs are read.
const TICK: Duration = Duration::from_millis(500);
/// The most runs that are read: more than a user scrolls through.
const RUNS_MAX: usize = 200;

/// All runs on the screen.
pub(crate) struct Top {
    engine: Engine,
    place: Place,
    painter: Painter,
    entries: Vec<Entry>,
    /// The entry of each run, and the last event that it includes.
    known: HashMap<RunId, (u64, Entry)>,
}

impl Top {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            place: Place::default(),
            painter: Painter::default(),
            entries: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Shows the runs until the user leaves, or `stop` is cancelled.
    pub(crate) async fn show(mut self, stop: CancellationToken) -> Result<()> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (mut terminal, mut keys) = Terminal::take();
        loop {
            let wish = tokio::select! {
                () = stop.cancelled() => Some(Wish::Leave),
                key = keys.recv(), if !keys.is_closed() => key.and_then(|key| press(&mut self.place, key, &self.entries)),
                _ = ticks.tick() => {
                    self.look().await?;
                    None
                }
            };
            match wish {
                Some(Wish::Leave) => break,
                Some(Wish::Open(run)) => {
                    self.painter.clear(terminal::size().0);
                    drop((terminal, keys));
                    Watch::new(self.engine.clone(), run, "back").observe(true, stop.clone()).await?;
                    (terminal, keys) = Terminal::take();
                }
                Some(wish) => self.carry_out(wish).await,
                None => {}
            }
            self.draw();
        }
        self.painter.leave();
        drop(terminal);
        Ok(())
    }

    fn draw(&mut self) {
        let (columns, height) = terminal::size();
        let lines = frame(&self.entries, &self.place, columns, height);
        self.painter.draw(&lines, columns);
    }

    /// Reads the runs that changed.
    async fn look(&mut self) -> Result<()> {
        let rows = self.engine.list(Query { limit: RUNS_MAX, ..Query::default() }).await?;
        let (now, attendance) = (self.engine.now_ms(), self.engine.attendance().await?);
        let mut entries = Vec::new();
        for row in rows {
            let fresh =
                self.known.get(&row.run).filter(|(seq, _)| *seq == row.last_seq).map(|(_, entry)| entry.clone());
            let entry = match fresh {
                Some(entry) => entry,
                None => self.read(&row.run, now).await?,
            };
            self.known.insert(row.run.clone(), (row.last_seq, entry.clone()));
            entries.push(attended(aged(entry, now), &attendance));
        }
        // Runs that wait for a person come first, then running ones; each group newest first.
        entries.sort_by_key(rank);
        self.entries = entries;
        Ok(())
    }

    async fn read(&self, run: &RunId, now: i64) -> Result<Entry> {
        let loaded = self.engine.load(run).await?;
        let plan = &loaded.plan.0;
        let asking = view::questions(plan, &loaded.state).into_iter().map(|asked| asked.path).collect();
        let standing = view::standing(run.as_str(), plan, &loaded.state);
        Ok(Entry { id: run.clone(), run: view::run(plan, &loaded.state, now), standing, asking })
    }

    async fn carry_out(&mut self, wish: Wish) {
        let caller = identity::caller();
        let by = caller.who.name().map(str::to_owned);
        let (run, message) = match wish {
            Wish::Approve(run, path) => (run, Message::answer(path, Answer::Approve, caller)),
            Wish::Pause(run) => (run, Message::Pause { by }),
            Wish::Unpause(run) => (run, Message::Unpause { by }),
            Wish::Cancel(run) => (run, Message::Cancel { reason: None, by }),
            Wish::Open(_) | Wish::Leave => return,
        };
        self.place.news = Some(match App::new(self.engine.clone()).send(&run, message, &identity::caller()).await {
            Ok(applied) => format!("{run}: {}", outcome::sentence(&applied)),
            Err(error) => rejected::words(&error.rejection()),
        });
    }
}

fn attended(entry: Entry, attendance: &Attendance) -> Entry {
    let is_attended = entry.run.waiting_for.contains(&Awaited::Client) || attendance.has(&entry.id);
    let standing = entry.standing.attended(entry.id.as_str(), is_attended);
    Entry { standing, ..entry }
}

fn aged(mut entry: Entry, now: i64) -> Entry {
    if entry.run.ended_at.is_none() {
        entry.run.duration_ms = (now - entry.run.started_at).max(0);
    }
    entry
}

fn rank(entry: &Entry) -> u8 {
    match entry.run.status {
        _ if !entry.asking.is_empty() => 0,
        RunStatus::Running => 1,
        RunStatus::Waiting | RunStatus::Paused | RunStatus::Queued => 2,
        _ => 3,
    }
}
