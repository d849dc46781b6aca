//! Carries out commands to a run within the call, and returns the outcome.
//!
//! A command is recorded by compare-and-set on the run. If two commands exclude each other, one is applied, and the
//! other is rejected with the name of the first caller. The same commit holds all consequences that need no engine. The
//! engine that drives the run does the rest.
//!
//! **Invariant:** a command is applied at most once. A rejected one changes nothing.

mod first;
mod follow;
mod posted;
mod replan;

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::approval::own_affair;
use longhaul_core::decide::{Advance, Planner, absorb, advance, note};
use longhaul_core::event::{Answer, Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::origin::Origin;
use longhaul_core::path::StepPath;
use longhaul_core::rejection::Rejection;
use longhaul_core::state::State;

use crate::engine::{Engine, EngineEvent, Error, Shared};
use crate::run::admission;
use crate::run::approvals::{self, with_ancestors};
use crate::run::damaged;
use crate::run::message::Message;
use crate::run::on_failure;
use crate::run::record::{Extras, record};
use crate::run::run_loop::{self, Loaded, moved_on};
use crate::services::consent;

pub use follow::Follow;
pub(crate) use follow::is_engine_there;
pub use replan::{ReplanRequest, settled};

/// How often to decide a command again because others changed the run. After that, the command goes to the inbox for
/// the engine.
const TRIES: u32 = 20;

/// The most recent commands that `before_commands` looks at.
const COMMANDS_SHOWN: u64 = 20;

/// A command that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The run it changed.
    pub run: RunId,
    /// The outcome in one word: `approved`, `denied`, `cancelled`.
    pub what: &'static str,
    /// The step that the command is about.
    pub step: Option<StepPath>,
    /// The caller who gave the command.
    pub by: Option<String>,
    /// The time: milliseconds since 1970, UTC.
    pub at: i64,
    /// The event that records it; 0 while nothing is recorded.
    pub seq: u64,
    /// How the run continues.
    pub then: Follow,
}

/// The result of a command's commit.
struct Committed {
    event: Envelope,
    state: State,
    /// Whether nothing is left to decide.
    is_settled: bool,
}

impl Engine {
    /// Carries out a command for a caller, and returns its outcome. If it is not known whether an engine runs the run,
    /// waits up to `patience` for a sign of one.
    pub async fn command(
        &self,
        run: &RunId,
        message: Message,
        who: &Origin,
        patience: Duration,
    ) -> Result<Applied, Error> {
        // Callers hold it within futures of their own.
        Box::pin(self.carried_out(run, message, who, patience)).await
    }

    async fn carried_out(
        &self,
        run: &RunId,
        message: Message,
        who: &Origin,
        patience: Duration,
    ) -> Result<Applied, Error> {
        self.may_decide(run, &message, who).await?;
        let message = message.identified(&self.shared).await?;
        message.keepable()?;
        let committed = match Box::pin(apply(&self.shared, run, &message)).await {
            Err(error) => return Err(first::explained(self, run, &message, error).await),
            Ok(Some(committed)) => committed,
            Ok(None) => return posted::through_the_inbox(self, run, message).await,
        };
        let then = follow::of(self, run, &committed, patience).await?;
        Ok(applied(run, &committed.event, then))
    }

    /// The last event before the newest commands that have had no consequences yet. An interface that continues the run
    /// shows these commands first.
    pub async fn before_commands(&self, run: &RunId) -> Result<u64, Error> {
        let seq = self.row(run).await?.map_or(0, |row| row.last_seq);
        let last = self.events(run, seq.saturating_sub(COMMANDS_SHOWN), usize::MAX >> 1).await?;
        let is_command = |envelope: &&Envelope| {
            told(&envelope.event).is_some() && !matches!(envelope.event, Event::RunFinished { .. })
        };
        let first = last.iter().rev().take_while(is_command).last();
        Ok(first.map_or(seq, |first| first.seq - 1))
    }

    /// Rejects a caller that one of the run's own steps started, because it may not decide about the run.
    pub(crate) async fn may_decide(&self, run: &RunId, message: &Message, who: &Origin) -> Result<(), Error> {
        let decides = matches!(
            message,
            Message::Cancel { .. }
                | Message::Pause { .. }
                | Message::Unpause { .. }
                | Message::Retry { .. }
                | Message::Stop { .. }
                | Message::Resume { .. }
                | Message::Tell { .. }
                | Message::Budget { .. }
        );
        if decides {
            let who = with_ancestors(&self.shared, who.clone()).await?;
            own_affair(run.as_str(), &who).map_or(Ok(()), Err)?;
        }
        Ok(())
    }
}

fn applied(run: &RunId, recorded: &Envelope, then: Follow) -> Applied {
    let (what, step, by) = told(&recorded.event).unwrap_or(("applied", None, None));
    let (step, by) = (step.cloned(), by.map(str::to_owned));
    Applied { run: run.clone(), what, step, by, at: recorded.at, seq: recorded.seq, then }
}

/// The outcome, the step and the caller of a command's event; `None` for other events.
fn told(event: &Event) -> Option<(&'static str, Option<&StepPath>, Option<&str>)> {
    Some(match event {
        Event::Answered { path, answer, by, .. } => (word(answer), Some(path), by.as_deref()),
        Event::Approved { path, by, .. } => ("approved", Some(path), by.as_deref()),
        Event::Signalled { by, .. } => ("signalled", None, by.as_deref()),
        Event::CancelRequested { by, .. } => ("cancelled", None, by.as_deref()),
        Event::Paused { by } => ("paused", None, by.as_deref()),
        Event::Unpaused { by } => ("unpaused", None, by.as_deref()),
        Event::RunStopped { by } => ("stopped", None, by.as_deref()),
        Event::RunResumed { by } => ("resumed", None, by.as_deref()),
        Event::Reopened { by, .. } => ("restarted", None, by.as_deref()),
        Event::HintGiven { path, by, .. } => ("told", Some(path), by.as_deref()),
        Event::BudgetChanged { by, .. } => ("changed", None, by.as_deref()),
        Event::PlanReplaced(replaced) => ("restarted", None, replaced.by.as_deref()),
        Event::ConsentRevoked { by } => ("revoked", None, by.as_deref()),
        Event::HostLeft { by, .. } => ("abandoned", None, by.as_deref()),
        Event::RunFinished { .. } => ("cancelled", None, None),
        _ => return None,
    })
}

fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approve => "approved",
        Answer::Deny { .. } => "denied",
        Answer::Edit { .. } => "edited",
        Answer::Value { .. } => "answered",
        Answer::Skip => "skipped",
        Answer::TimedOut => "timed out",
    }
}

/// Records a command by compare-and-set; `None` if only an engine can record it.
async fn apply(shared: &Arc<Shared>, run: &RunId, message: &Message) -> Result<Option<Committed>, Error> {
    for _ in 0..TRIES {
        let loaded = match (run_loop::load(shared, run).await, message) {
            (Err(error), Message::Cancel { reason, .. }) if error.is_damage() => {
                let why = reason.clone().unwrap_or_else(|| format!("it could not be read: {error}"));
                let (event, state) = (damaged::give_up(shared, run, why).await?, State::default());
                return Ok(Some(Committed { event, state, is_settled: true }));
            }
            (loaded, _) => loaded?,
        };
        if let Some(rejection) = message.rejection(&loaded) {
            return Err(rejection.into());
        }
        if needs_mail(shared, &loaded).await? {
            return Ok(None);
        }
        match Box::pin(commit(shared, run, loaded, message.clone().into_event())).await {
            Err(error) if moved_on(&error) => {}
            committed => return committed.map(Some),
        }
    }
    Ok(None)
}

/// Whether an engine needs a message to notice the change. If steps wait for a worker, an engine looks at the run only
/// when a worker takes one, or when the run has mail.
async fn needs_mail(shared: &Shared, loaded: &Loaded) -> Result<bool, Error> {
    let waits = loaded.state.queued().next().is_some();
    Ok(waits && !loaded.state.is_finished() && follow::is_engine_there(shared).await?)
}

async fn commit(shared: &Arc<Shared>, run: &RunId, loaded: Loaded, event: Event) -> Result<Committed, Error> {
    let (plan, index) = (&loaded.plan.0, &loaded.plan.1);
    let planner = Planner { plan, index };
    let at = shared.clock.now_ms();
    let (mut state, mut advance, is_settled) = decided(planner, &loaded.state, event, at)?;
    if let Some(Event::Refused { why, .. }) = advance.events.first().map(|first| &first.event) {
        return Err(Rejection::conflict(why.clone()).into());
    }
    let blobs = approvals::seal_questions(&mut state, &mut advance);
    let is_queued = |path: &StepPath| loaded.state.find(path).is_some_and(|step| step.phase.is_queued());
    let extras = Extras {
        blobs,
        timers_before: loaded.state.timers(plan),
        on_failure_before: loaded.state.on_failure.open_attempt(),
        given_up: advance.stops.iter().filter(|(path, _)| is_settled || is_queued(path)).cloned().collect(),
        ..Extras::default()
    };
    record(shared, run, planner, &state, &advance.events, extras).await?;
    let first = advance.events.first().cloned();
    let event = first.ok_or_else(|| Error::Damaged("a command left no event".to_owned()))?;
    said(shared, run, &loaded, &state, advance).await;
    Ok(Committed { event, state, is_settled })
}

/// The command and all its consequences, if they need no engine; otherwise the command alone.
fn decided(planner: Planner<'_>, before: &State, event: Event, at: i64) -> Result<(State, Advance, bool), Error> {
    let damaged = |error: longhaul_core::state::Error| Error::Damaged(error.0);
    let waits_in_line = planner.plan.main().concurrency.is_some() && before.is_untouched();
    let mut state = before.clone();
    let decide = if waits_in_line { absorb } else { advance };
    let whole = decide(planner, &mut state, vec![event.clone()], at).map_err(damaged)?;
    if is_free_of_work(before, &state, &whole) {
        return Ok((state, whole, true));
    }
    let mut state = before.clone();
    let alone = note(planner, &mut state, event, at).map_err(damaged)?;
    Ok((state, alone, false))
}

/// Whether the decision starts, stops and notifies nothing.
fn is_free_of_work(before: &State, after: &State, advance: &Advance) -> bool {
    let is_open = |path: &StepPath| before.find(path).is_some_and(|step| step.phase.is_attempt());
    advance.starts.is_empty()
        && !advance.is_cut
        && !advance.stops.iter().any(|(path, _)| is_open(path))
        && !on_failure::is_begun(&advance.events)
        && after.placement.carried.is_none()
}

/// Tells all listeners of this process about the change.
async fn said(shared: &Arc<Shared>, run: &RunId, before: &Loaded, after: &State, advance: Advance) {
    if before.state.status() != after.status() {
        shared.artifacts.write_run(run, after);
    }
    let asked = consent::asked(&advance.events);
    let _ = shared.pulse.send(EngineEvent::Events(run.clone(), Arc::new(advance.events)));
    consent::offer(shared, run, &asked).await;
    if after.is_finished() {
        let over = Loaded { state: after.clone(), ..before.clone() };
        // If this fails, the others find out later by polling.
        let _ = admission::leave(shared, &over).await;
    }
    shared.notifier.tell(run);
}
