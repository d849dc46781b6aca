//! Whether a run may begin: `concurrency` of its workflow.
//!
//! Runs are in the order in which the store made them. A run begins if fewer than `max` earlier ones of its group are
//! unfinished. Later runs never count, so two processes that ask at once cannot both be let in by mistake, and no lock is
//! needed.
//!
//! **Invariant:** nothing is decided about a run that has not been let in; once something has been, it is not asked again.

use longhaul_core::decide::group;
use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::plan::{Concurrency, Outcome, Plan, WhenFull};
use longhaul_core::state::State;
use longhaul_core::status;
use longhaul_store::{NewMessage, Query, RunRow};

use crate::engine::{Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::Loaded;

/// How often a run that waits looks whether another process has made room.
const LOOK_AGAIN_MS: i64 = 1000;
/// Runs of a group that are looked at.
const RUNS_MAX: usize = 10_000;

/// What a run may do.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Whatever it has to.
    Open,
    /// Take in what it is told, and wait.
    Held,
    /// End at once, with this event.
    Refused(Box<Event>),
}

/// When a run that waits to be let in is to ask again, though nobody told it anything.
pub(crate) fn look_again(loaded: &Loaded, now_ms: i64) -> Option<i64> {
    loaded.state.is_queued(&loaded.plan.0).then(|| now_ms.saturating_add(LOOK_AGAIN_MS))
}

/// The group that lists show; one that cannot be rendered has been refused at the start.
pub(crate) fn group_of(plan: &Plan, state: &State) -> Option<String> {
    group(plan, state.started.as_ref()?).and_then(Result::ok)
}

/// Asks for a run.
pub(crate) async fn ask(shared: &Shared, run: &RunId, loaded: &Loaded) -> Result<Admission, Error> {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let (Some(concurrency), Some(group)) = (&plan.main().concurrency, group_of(plan, state)) else {
        return Ok(Admission::Open);
    };
    if !state.is_untouched() {
        return Ok(Admission::Open);
    }
    if state.is_finished() {
        // It may be told to start again: that is taken in first, and then it asks like any other.
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

/// Tells a run to stop because of a later one, once.
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
    shared.mailroom.tell(oldest);
    Ok(())
}

/// Wakes those of this process who may have waited for a run to end. Other processes look by themselves.
pub(crate) async fn leave(shared: &Shared, loaded: &Loaded) -> Result<(), Error> {
    let Some(group) = group_of(&loaded.plan.0, &loaded.state) else { return Ok(()) };
    for row in unfinished(shared, group, None).await? {
        shared.mailroom.tell(&row.run);
    }
    Ok(())
}

/// The unfinished runs of a group, newest first.
async fn unfinished(shared: &Shared, group: String, before: Option<RunId>) -> Result<Vec<RunRow>, Error> {
    let statuses = status::OPEN.map(str::to_owned).to_vec();
    let query = Query { statuses, group: Some(group), before, limit: RUNS_MAX, ..Query::default() };
    Ok(shared.store.runs(query).await?)
}
