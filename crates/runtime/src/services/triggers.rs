//! Fires triggers at their times: each time once, even if several processes do this.
//!
//! **Invariant:** the id of a run follows from the trigger and the minute, so the store creates it only once. The
//! outcome is recorded after the run. If a process dies between the two, the next one records it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::event::RunTrigger;
use longhaul_core::id::RunId;
use longhaul_core::origin::{Face, Origin};
use longhaul_core::plan::Plan;
use longhaul_core::registry::schedule::{Due, MINUTE_MS, bucket, key};
use longhaul_core::registry::trigger::{Target, TriggerDefinition};
use longhaul_core::registry::{Armed, Delivery, DeliveryOutcome};
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_core::{Json, explain::moment};
use longhaul_store::Query;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Error, SourceText, StartRequest};

/// The most running runs of one user. Above that, a trigger waits.
const OWN_MAX: usize = 5;
/// The most running runs of all users. Above that, a trigger waits.
const ALL_MAX: usize = 50;
/// How many of the newest open runs to check.
const LOOKED_AT_MAX: usize = 500;

/// The thing that a trigger starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// A workflow, by name.
    Workflow(&'a str),
    /// One prompt: the task of the run.
    Prompt,
}

/// A plan that can be started, with the folder of its scripts.
#[derive(Debug, Clone)]
pub struct Startable {
    /// The text that the plan was made from.
    pub source: Option<SourceText>,
    /// The plan.
    pub plan: Plan,
    /// The folder of its scripts.
    pub dir: PathBuf,
}

/// The outcome of one time of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// The name of the trigger.
    pub trigger: String,
    /// The run that it started, or why it started none.
    pub run: Result<RunId, String>,
}

/// Finds the plan that a trigger starts: `None` if it is gone, an error if it cannot start.
pub type Find = dyn Fn(Wanted<'_>) -> Result<Option<Startable>, String> + Send + Sync;

impl Engine {
    /// Fires triggers once a minute until `stop`, and calls `told` with each new run or error. The next minute makes up
    /// for what failed.
    pub async fn keep_times(
        &self,
        find: &Find,
        stop: CancellationToken,
        told: &(dyn Fn(Result<&Fired, &Error>) + Sync),
    ) {
        while !stop.is_cancelled() {
            match self.fire_due(find).await {
                Ok(fired) => fired.iter().for_each(|fired| told(Ok(fired))),
                Err(error) => told(Err(&error)),
            }
            let rest = MINUTE_MS - self.now_ms().rem_euclid(MINUTE_MS);
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(Duration::from_millis(u64::try_from(rest).unwrap_or(0))) => {}
            }
        }
    }

    /// Fires the triggers whose time has come, and those that were missed. Returns the runs that it started.
    pub async fn tick(&self, find: &Find) -> Result<Vec<RunId>, Error> {
        Ok(self.fire_due(find).await?.into_iter().filter_map(|fired| fired.run.ok()).collect())
    }

    /// The same, with the times at which a trigger could not start a run.
    async fn fire_due(&self, find: &Find) -> Result<Vec<Fired>, Error> {
        let shelf = self.registry().await?;
        let (mut all, mut held) = (Vec::new(), HashSet::new());
        for due in shelf.due(self.now_ms()) {
            let Some((_, armed)) = shelf.trigger(&due.trigger).filter(|_| !held.contains(&due.trigger)) else {
                continue;
            };
            let delivery = self.keep(&due, armed, find).await?;
            all.extend(fired(&armed.trigger.name, &delivery));
            // A later time of a trigger does not start before an earlier one.
            if delivery.outcome == DeliveryOutcome::ConcurrencyCap {
                held.insert(due.trigger.clone());
            }
            self.change_registry(|shelf, _| Ok(((), shelf.delivered_at(&due, delivery.clone()).into_iter().collect())))
                .await?;
        }
        Ok(all)
    }

    async fn keep(&self, due: &Due, armed: &Armed, find: &Find) -> Result<Delivery, Error> {
        let told = |outcome: DeliveryOutcome, run: Option<&RunId>, reason: Option<String>| Delivery {
            trigger: due.trigger.clone(),
            key: key(&due.trigger, due.minute),
            moment: Some(due.minute),
            outcome,
            run: run.map(ToString::to_string),
            reason,
        };
        let startable = match find(wanted(armed)) {
            Ok(Some(startable)) => startable,
            Ok(None) => return Ok(told(DeliveryOutcome::WorkflowDeleted, None, None)),
            Err(why) => return Ok(told(DeliveryOutcome::Error, None, Some(why))),
        };
        if let Some(crowd) = self.crowd(armed.by.as_deref(), is_at_work).await? {
            let reason = format!("{} in the way: {}", crowd.limit, crowd.runs.join(", "));
            return Ok(told(DeliveryOutcome::ConcurrencyCap, None, Some(reason)));
        }
        let run = run_of(due)?;
        let source = startable.source.clone();
        match self.start(&startable.plan, StartRequest { source, ..request(due, armed, &run, startable.dir) }).await {
            Ok(run) => Ok(told(DeliveryOutcome::Matched, Some(&run), None)),
            Err(Error::Store(longhaul_store::Error::Exists)) => Ok(told(DeliveryOutcome::Duplicate, Some(&run), None)),
            Err(Error::Store(error)) => Err(error.into()),
            Err(other) => Ok(told(DeliveryOutcome::Error, None, Some(other.to_string()))),
        }
    }

    /// The limit on unfinished runs that is reached, as a sentence.
    pub async fn crowded(&self, user: Option<&str>) -> Result<Option<String>, Error> {
        Ok(self.crowd(user, |_| true).await?.map(|crowd| crowd.limit))
    }

    /// The limit that is reached by the open runs that `counts` accepts.
    async fn crowd(&self, user: Option<&str>, counts: fn(&State) -> bool) -> Result<Option<Crowd>, Error> {
        let statuses = RunStatus::words_of(RunStatus::OPEN);
        let rows = self.list(Query { statuses, limit: LOOKED_AT_MAX, ..Query::default() }).await?;
        let (mut own, mut all) = (Vec::new(), Vec::new());
        for row in &rows {
            let started = match self.load(&row.run).await {
                Err(error) if error.is_damage() => None,
                loaded => Some(loaded?.state).filter(&counts).and_then(|state| state.started),
            };
            let Some(started) = started else { continue };
            if started.owner.and_then(|owner| owner.user).as_deref() == user {
                own.push(row.run.to_string());
            }
            all.push(row.run.to_string());
            if own.len() >= OWN_MAX {
                return Ok(Some(Crowd { limit: format!("per_user_limit_exceeded:{OWN_MAX}"), runs: own }));
            }
            if all.len() >= ALL_MAX {
                return Ok(Some(Crowd { limit: format!("global_limit_exceeded:{ALL_MAX}"), runs: all }));
            }
        }
        Ok(None)
    }
}

/// The outcome of a delivery that people want to know of.
fn fired(trigger: &str, delivery: &Delivery) -> Option<Fired> {
    let run = match delivery.outcome {
        DeliveryOutcome::Matched => Ok(RunId::new(delivery.run.as_deref()?)?),
        DeliveryOutcome::Error => Err(delivery.reason.clone().unwrap_or_else(|| "it cannot start".to_owned())),
        DeliveryOutcome::WorkflowDeleted => Err("its workflow is gone".to_owned()),
        _ => return None,
    };
    Some(Fired { trigger: trigger.to_owned(), run })
}

/// A limit that is reached, and the runs that reach it.
struct Crowd {
    limit: String,
    runs: Vec<String>,
}

/// Whether a run is working or will continue by itself. A run that is paused or stopped, or waits only for people is not.
fn is_at_work(state: &State) -> bool {
    let only_people = state.waiting().next().is_some() && state.waiting().all(|step| step.asks().is_some());
    let is_idle = only_people && state.status() == RunStatus::Waiting;
    !state.paused && !state.is_stopped() && !is_idle
}

fn wanted(armed: &Armed) -> Wanted<'_> {
    armed.trigger.workflow.as_deref().map_or(Wanted::Prompt, Wanted::Workflow)
}

/// The run id for a trigger and a minute: `t3-202611151005`.
fn run_of(due: &Due) -> Result<RunId, Error> {
    let digits: String = bucket(due.minute).chars().filter(char::is_ascii_digit).collect();
    let id = format!("{}-{digits}", due.trigger);
    RunId::new(&*id).ok_or_else(|| Error::Damaged(format!("`{id}` cannot be the id of a run")))
}

fn request(due: &Due, armed: &Armed, run: &RunId, workflow_dir: PathBuf) -> StartRequest {
    let trigger = &armed.trigger;
    let task = match &trigger.kind {
        TriggerDefinition::Schedule(schedule) if schedule.target == Target::Orchestrator => {
            let day: String = moment(due.minute).chars().take(10).collect();
            format!("[Today is {day}]\n\n{}", schedule.prompt.as_deref().unwrap_or_default())
        }
        _ => trigger.task.clone().unwrap_or_default(),
    };
    StartRequest {
        task,
        inputs: trigger.variables(&Json::Null, &indexmap::IndexMap::new()),
        run: Some(run.clone()),
        trigger: Some(RunTrigger {
            bucket: Some(bucket(due.minute)),
            key: Some(key(&due.trigger, due.minute)),
            ..RunTrigger::schedule(&due.trigger, &trigger.name)
        }),
        owner: Some(Origin { face: Face::Trigger, user: armed.by.clone(), ..Origin::default() }),
        workflow_dir,
        ..StartRequest::default()
    }
}
