//! Takes in the reports of workers with a login.
//!
//! **Invariant:** the store says which worker reports, and on which attempt. It lets a worker report only on tasks that
//! it holds, and names the worker in the message. The worker itself writes one event, and the engine checks it against
//! the state of the run.

use longhaul_core::event::Event;
use longhaul_core::id::RunId;
use longhaul_core::report::accept;
use longhaul_store::{InboxMessage, Task, WorkerId};
use serde::Deserialize;

use crate::engine::{Error, Shared};
use crate::fleet::membership::{Attempt, attempt_of};
use crate::run::run_loop::Loaded;

/// The prefix of the sources of reports; the login follows.
const SOURCE: &str = "login:";

/// A report, as the store puts it into an inbox.
#[derive(Debug, Clone, Deserialize)]
struct Report {
    login: String,
    worker: WorkerId,
    key: String,
    event: String,
}

/// An attempt of a worker that may not record it, and the worker.
pub(crate) type Reported = (Attempt, WorkerId);

/// The event of a report, and the attempt and worker that it is about. `None` if the message is not a report.
pub(crate) async fn accepted(
    shared: &Shared,
    run: &RunId,
    loaded: &Loaded,
    message: &InboxMessage,
) -> Result<Option<(Event, Option<Reported>)>, Error> {
    let Some(report) = parsed(message) else { return Ok(None) };
    let refused = |what: String, why: String| Ok(Some((Event::Refused { what, why }, None)));
    let report = match report {
        Ok(report) => report,
        Err(why) => return refused(message.source.clone(), why),
    };
    let what = format!("report of `{}`", report.login);
    // Another worker may have the task by now.
    let tasks = shared.store.tasks(run).await?;
    let holds = |task: &Task| task.key == report.key && task.worker.as_ref() == Some(&report.worker);
    if !tasks.iter().any(holds) {
        return refused(what, format!("`{}` is no longer held by it", report.key));
    }
    let event = serde_json::from_str(&report.event).map_err(|error| error.to_string());
    match event.and_then(|event| accept(&loaded.plan.0, &loaded.state, &report.key, event)) {
        Ok(event) => Ok(Some((event, attempt_of(&report.key).map(|attempt| (attempt, report.worker))))),
        Err(why) => refused(what, why),
    }
}

fn parsed(message: &InboxMessage) -> Option<Result<Report, String>> {
    message.source.starts_with(SOURCE).then(|| serde_json::from_str(&message.body).map_err(|error| error.to_string()))
}

/// Whether a worker that is gone has reported the end of an attempt, and no engine has recorded it yet.
pub(crate) async fn has_ended(shared: &Shared, run: &RunId, task: &Task) -> Result<bool, Error> {
    let Some(worker) = task.worker.as_ref().filter(|worker| worker.login().is_some()) else { return Ok(false) };
    let inbox = shared.store.inbox(run).await?;
    let ends = |message: &InboxMessage| {
        let Some(Ok(report)) = parsed(message) else { return false };
        report.worker == *worker && report.key == task.key && is_end(&report.event)
    };
    Ok(inbox.iter().any(ends))
}

fn is_end(event: &str) -> bool {
    use Event::{AttemptFailed, AttemptStopped, AttemptSucceeded};
    let event = serde_json::from_str(event);
    matches!(event, Ok(AttemptSucceeded { .. } | AttemptFailed { .. } | AttemptStopped { .. }))
}
