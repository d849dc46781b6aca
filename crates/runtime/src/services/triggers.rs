//! Keeping the times of triggers: once for each, however many processes look.
//!
//! **Invariant:** the id of a run follows from the trigger and the minute, so the store makes it once. What came of it is recorded
//! after the run, and made up for if somebody died between the two.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_core::origin::{Face, Origin};
use longhaul_core::plan::Plan;
use longhaul_core::shelf::schedule::{Due, MINUTE_MS, bucket, key};
use longhaul_core::shelf::trigger::{Kind, Target};
use longhaul_core::shelf::{Armed, Delivery, Outcome};
use longhaul_core::state::State;
use longhaul_core::{Json, explain::moment};
use longhaul_store::Query;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Error, StartRequest};

/// Runs of one user that may be running before a trigger waits.
const OWN_MAX: usize = 5;
/// Runs of everybody.
const ALL_MAX: usize = 50;
/// How many of the newest open runs are looked at.
const LOOKED_AT_MAX: usize = 500;

/// What a trigger starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// A workflow, by name.
    Workflow(&'a str),
    /// One prompt, which is the task of the run.
    Prompt,
}

/// A plan that can be started, with the folder of its scripts.
#[derive(Debug, Clone)]
pub struct Startable {
    /// The plan.
    pub plan: Plan,
    /// Where its scripts are.
    pub dir: PathBuf,
}

/// Finds what a trigger starts: nothing, if it is gone; why not, if it cannot be started.
pub type Find = dyn Fn(Wanted<'_>) -> Result<Option<Startable>, String> + Send + Sync;

impl Engine {
    /// Keeps the times of triggers until `stop`, once a minute, and is `told` what was started. What cannot be done now is late
    /// at the next look; why is told too.
    pub async fn keep_times(
        &self,
        find: &Find,
        stop: CancellationToken,
        told: &(dyn Fn(Result<&RunId, &Error>) + Sync),
    ) {
        while !stop.is_cancelled() {
            match self.tick(find).await {
                Ok(started) => started.iter().for_each(|run| told(Ok(run))),
                Err(error) => told(Err(&error)),
            }
            let rest = MINUTE_MS - self.now_ms().rem_euclid(MINUTE_MS);
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(Duration::from_millis(u64::try_from(rest).unwrap_or(0))) => {}
            }
        }
    }

    /// Starts what is due now, and what was missed. Answers the runs that it started.
    pub async fn tick(&self, find: &Find) -> Result<Vec<RunId>, Error> {
        let shelf = self.shelf().await?;
        let (mut started, mut held) = (Vec::new(), HashSet::new());
        for due in shelf.due(self.now_ms()) {
            let Some((_, armed)) = shelf.trigger(&due.trigger).filter(|_| !held.contains(&due.trigger)) else {
                continue;
            };
            let delivery = self.keep(&due, armed, find).await?;
            if delivery.outcome == Outcome::Matched {
                started.extend(delivery.run.as_deref().and_then(RunId::new));
            }
            // Later times do not go before earlier ones.
            if delivery.outcome == Outcome::ConcurrencyCap {
                held.insert(due.trigger.clone());
            }
            self.change_shelf(|shelf, _| Ok(((), shelf.delivered_at(&due, delivery.clone()).into_iter().collect())))
                .await?;
        }
        Ok(started)
    }

    async fn keep(&self, due: &Due, armed: &Armed, find: &Find) -> Result<Delivery, Error> {
        let told = |outcome: Outcome, run: Option<&RunId>, reason: Option<String>| Delivery {
            trigger: due.trigger.clone(),
            key: key(&due.trigger, due.minute),
            moment: Some(due.minute),
            outcome,
            run: run.map(ToString::to_string),
            reason,
        };
        let startable = match find(wanted(armed)) {
            Ok(Some(startable)) => startable,
            Ok(None) => return Ok(told(Outcome::WorkflowDeleted, None, None)),
            Err(why) => return Ok(told(Outcome::Error, None, Some(why))),
        };
        if let Some(crowd) = self.crowd(armed.by.as_deref(), is_at_work).await? {
            let reason = format!("{} in the way: {}", crowd.limit, crowd.runs.join(", "));
            return Ok(told(Outcome::ConcurrencyCap, None, Some(reason)));
        }
        let run = run_of(due)?;
        match self.start(&startable.plan, request(due, armed, &run, startable.dir)).await {
            Ok(run) => Ok(told(Outcome::Matched, Some(&run), None)),
            Err(Error::Store(longhaul_store::Error::Exists)) => Ok(told(Outcome::Duplicate, Some(&run), None)),
            Err(Error::Store(error)) => Err(error.into()),
            Err(other) => Ok(told(Outcome::Error, None, Some(other.to_string()))),
        }
    }

    /// Which limit on runs that are not over is reached.
    pub async fn crowded(&self, user: Option<&str>) -> Result<Option<String>, Error> {
        Ok(self.crowd(user, |_| true).await?.map(|crowd| crowd.limit))
    }

    /// The limit that is reached by those of the open runs that count.
    async fn crowd(&self, user: Option<&str>, counts: fn(&State) -> bool) -> Result<Option<Crowd>, Error> {
        let statuses = longhaul_core::status::OPEN.map(str::to_owned).to_vec();
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

/// A limit that is reached, and by which runs.
struct Crowd {
    limit: String,
    runs: Vec<String>,
}

/// Whether a run has something to do, or will have by itself: one that is paused or waits for people alone has not.
fn is_at_work(state: &State) -> bool {
    let only_people = state.waiting().next().is_some() && state.waiting().all(|step| step.asks().is_some());
    let is_idle = only_people && state.status_word() == "waiting";
    !state.paused && !is_idle
}

fn wanted(armed: &Armed) -> Wanted<'_> {
    armed.trigger.workflow.as_deref().map_or(Wanted::Prompt, Wanted::Workflow)
}

/// The run of a minute: `t3-202611151005`.
fn run_of(due: &Due) -> Result<RunId, Error> {
    let digits: String = bucket(due.minute).chars().filter(char::is_ascii_digit).collect();
    let id = format!("{}-{digits}", due.trigger);
    RunId::new(&*id).ok_or_else(|| Error::Damaged(format!("`{id}` cannot be the id of a run")))
}

fn request(due: &Due, armed: &Armed, run: &RunId, workflow_dir: PathBuf) -> StartRequest {
    let trigger = &armed.trigger;
    let task = match &trigger.kind {
        Kind::Schedule(schedule) if schedule.target == Target::Orchestrator => {
            let day: String = moment(due.minute).chars().take(10).collect();
            format!("[Today is {day}]\n\n{}", schedule.prompt.as_deref().unwrap_or_default())
        }
        _ => String::new(),
    };
    StartRequest {
        task,
        inputs: trigger.variables(&Json::Null, &indexmap::IndexMap::new()),
        run: Some(run.clone()),
        trigger: json!({
            "type": "schedule", "trigger": due.trigger, "name": trigger.name, "bucket": bucket(due.minute),
            "key": key(&due.trigger, due.minute),
        }),
        owner: Some(Origin { face: Face::Trigger, user: armed.by.clone(), ..Origin::default() }),
        workflow_dir,
        ..StartRequest::default()
    }
}
