//! Decides whether a run may start: the `concurrency` of its workflow.
//!
//! The store orders runs by when it recorded them. A run starts if fewer than `max` earlier runs of its group are
//! unfinished. Later runs never count. So two processes that ask at the same time cannot both admit a run by mistake,
//! and no lock is needed.
//!
//! **Invariant:** the engine decides nothing about a run before it is admitted. A run that has started is not checked
//! again.

use longhaul_core::decide::group;
use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::plan::{Concurrency, Outcome, Plan, WhenFull};
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_store::{NewMessage, Query, RunRow};

use crate::engine::{Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::Loaded;

/// How often a waiting run checks whether another process has made room.
const LOOK_AGAIN_MS: i64 = 1000;
/// The most runs of a group that are counted.
const RUNS_MAX: usize = 10_000;

/// What a run may do now.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may run.
    Open,
    /// It records messages, and waits.
    Held,
    /// It ends at once, with this event.
    Refused(Box<Event>),
}

/// When a waiting run must check again even without a wake-up.
pub(crate) fn look_again(loaded: &Loaded, now_ms: i64) -> Option<i64> {
    loaded.state.is_queued(&loaded.plan.0).then(|| now_ms.saturating_add(LOOK_AGAIN_MS))
}

/// The group that lists show. The start already rejected a group that cannot be rendered.
pub(crate) fn group_of(plan: &Plan, state: &State) -> Option<String> {
    group(plan, state.started.as_ref()?).and_then(Result::ok)
}

/// Decides whether a run may run.
pub(crate) async fn ask(shared: &Shared, run: &RunId, loaded: &Loaded) -> Result<Admission, Error> {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let (Some(concurrency), Some(group)) = (&plan.main().concurrency, group_of(plan, state)) else {
        return Ok(Admission::Open);
    };
    if !state.is_untouched() {
        return Ok(Admission::Open);
    }
    if state.is_finished() {
        // A retry may come: the run records it first, then waits for admission like any other.
        return Ok(Admission::Held);
    }
    let earlier = unfinished(shared, group.clone(), Some(run.clone())).await?;
    if earlier.len() < concurrency.max as usize {
        return Ok(Admission::Open);
    }
    full(shared, run, concurrency, &group, &earlier).await
}

async fn full(
    shared: &Shared,
    run: &RunId,
    concurrency: &Concurrency,
    group: &str,
    earlier: &[RunRow],
) -> Result<Admission, Error> {
    match concurrency.when_full {
        WhenFull::Queue => Ok(Admission::Held),
        WhenFull::Skip => {
            let message = Some(format!("skipped: the group `{group}` is full"));
            let event = Event::RunFinished { outcome: Outcome::Cancelled, message, outputs: Default::default() };
            Ok(Admission::Refused(Box::new(event)))
        }
        WhenFull::CancelOldest => {
            if let Some(oldest) = earlier.last() {
                cancel(shared, &oldest.run, run).await?;
            }
            Ok(Admission::Held)
        }
    }
}

/// Asks the oldest run to cancel because of a newer one. It asks only once.
async fn cancel(shared: &Shared, oldest: &RunId, by: &RunId) -> Result<(), Error> {
    let reason = Some(format!("its group is full, and {by} is newer"));
    let message = Message::Cancel { reason, by: Some("concurrency".to_owned()) };
    let message = NewMessage {
        run: oldest.clone(),
        source: "concurrency".to_owned(),
        dedup: format!("{by} cancels {oldest}"),
        body: serde_json::to_string(&message).map_err(Error::encoding)?,
        at_ms: shared.clock.now_ms(),
    };
    shared.store.post(message).await?;
    shared.notifier.tell(oldest);
    Ok(())
}

/// Wakes the runs of this process that may wait for this one to end. Other processes poll.
pub(crate) async fn leave(shared: &Shared, loaded: &Loaded) -> Result<(), Error> {
    let Some(group) = group_of(&loaded.plan.0, &loaded.state) else { return Ok(()) };
    for row in unfinished(shared, group, None).await? {
        shared.notifier.tell(&row.run);
    }
    Ok(())
}

/// The unfinished runs of a group, newest first.
async fn unfinished(shared: &Shared, group: String, before: Option<RunId>) -> Result<Vec<RunRow>, Error> {
    let statuses = RunStatus::words_of(RunStatus::OPEN);
    let query = Query { statuses, group: Some(group), before, limit: RUNS_MAX, ..Query::default() };
    Ok(shared.store.runs(query).await?)
}
