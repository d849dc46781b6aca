//! The view of a hosted run for its client: its work, and the state of the run.

use indexmap::IndexMap;
use longhaul_agents::answer;
use longhaul_core::Json;
use longhaul_core::decide::{Planner, Start, start_of};
use longhaul_core::duration::format_ms;
use longhaul_core::event::Envelope;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Outcome, Show, Step};
use longhaul_core::rejection::Rejection;
use longhaul_core::state::{State, StepInst};
use longhaul_core::view::{self, Asked, AutoRan, Held};
use serde::Serialize;

use crate::engine::Error;
use crate::run::run_loop::Loaded;

/// The state of a hosted run, and the work of its client.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandedStep {
    /// The id of the run.
    pub run: RunId,
    /// The name of the workflow in lists.
    pub workflow: String,
    /// The text of the task.
    pub task: String,
    /// The status in one word.
    pub status: HostStatus,
    /// The steps that this client has to do.
    pub ready: Vec<HostedWork>,
    /// The steps that this client or another one holds.
    pub running: Vec<Held>,
    /// The steps that no client holds. The next client that asks gets them.
    pub free: Vec<StepPath>,
    /// The steps that the engine did itself since this client's last submission.
    pub auto_ran: Vec<AutoRan>,
    /// The open questions to people.
    pub questions: Vec<Asked>,
    /// Results that belong to the work, by address.
    pub results: IndexMap<String, Json>,
    /// How many steps at the top of the workflow are done.
    pub completed: usize,
    /// How many steps there are at the top of the workflow.
    pub total: usize,
    /// Names that are set at the top of the workflow.
    pub outputs: Vec<String>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The next thing to do, in words.
    pub message: String,
}

/// The status of a hosted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostStatus {
    /// There is work for a client that asks.
    Ready,
    /// Clients hold all open steps; the run waits for their results.
    AwaitingOutputs,
    /// The run waits for a person.
    AwaitingApproval,
    /// The engine is running steps, or the run waits for a time or a signal.
    Waiting,
    /// The run succeeded.
    Succeeded,
    /// The run failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

/// A step for a client to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostedWork {
    /// The address of the step.
    pub path: StepPath,
    /// The number of the attempt. A submission that names it belongs to this attempt only.
    pub attempt: u32,
    /// The id of the step.
    pub step: String,
    /// The title for people.
    pub title: String,
    /// The persona that does the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The description of the persona, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// The model that the workflow asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The results of earlier steps, by name.
    pub inputs: IndexMap<String, Json>,
    /// The name of the step's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// How much of the result clients see later.
    pub show: Show,
    /// The ids of the steps that it depends on.
    pub depends_on: Vec<String>,
    /// Whether a person reviews the result before the run uses it.
    pub review: bool,
    /// Whether the client does the step itself (`main`) or gives it to a subagent (`subagent`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// When the claim ends if the client sends no sign of life.
    pub until: i64,
}

/// The client that the view is for.
pub(super) struct Onlooker<'a> {
    pub(super) client: Option<&'a str>,
    /// The events since the client's last submission.
    pub(super) events: &'a [Envelope],
    /// The step whose result the client has just submitted.
    pub(super) done: Option<StepPath>,
}

/// The view of a run at a moment.
pub(super) fn picture(run: &RunId, loaded: &Loaded, onlooker: &Onlooker<'_>, now: i64) -> Result<HandedStep, Error> {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let ready = work_of(loaded, onlooker.client)?;
    let auto_ran = view::auto_ran(plan, state, onlooker.events);
    let work: Vec<StepPath> = ready.iter().map(|work| work.path.clone()).collect();
    let news: Vec<StepPath> = onlooker.done.iter().chain(auto_ran.iter().map(|ran| &ran.path)).cloned().collect();
    let (completed, total) = view::counted(plan, state);
    let started = state.started.as_ref();
    let finished = state.finished.as_ref();
    let failed = finished.filter(|finished| finished.outcome != Outcome::Success);
    let mut handed = HandedStep {
        run: run.clone(),
        workflow: plan.main().name.clone(),
        task: started.map(|started| started.task.clone()).unwrap_or_default(),
        status: HostStatus::Waiting,
        ready,
        running: view::held(state, now),
        free: view::free(state),
        auto_ran,
        questions: view::questions(plan, state),
        results: view::results(planner(loaded), state, &work, &news),
        completed,
        total,
        outputs: view::outputs(plan, state),
        error: failed.and_then(|finished| finished.message.clone()),
        message: String::new(),
    };
    handed.status = status(&handed, state);
    handed.message = message(&handed, loaded, now);
    Ok(handed)
}

fn planner(loaded: &Loaded) -> Planner<'_> {
    Planner { plan: &loaded.plan.0, index: &loaded.plan.1 }
}

fn status(handed: &HandedStep, state: &State) -> HostStatus {
    match state.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Success) => HostStatus::Succeeded,
        Some(Outcome::Failure) => HostStatus::Failed,
        Some(Outcome::Cancelled) => HostStatus::Cancelled,
        None if !handed.ready.is_empty() => HostStatus::Ready,
        None if !handed.questions.is_empty() => HostStatus::AwaitingApproval,
        None if !handed.free.is_empty() && !state.paused && !state.is_stopped() => HostStatus::Ready,
        None if !handed.running.is_empty() => HostStatus::AwaitingOutputs,
        None => HostStatus::Waiting,
    }
}

fn message(handed: &HandedStep, loaded: &Loaded, now: i64) -> String {
    match handed.status {
        HostStatus::Ready if handed.ready.is_empty() => {
            format!("{} to be taken; ask for the next steps", many(handed.free.len()))
        }
        HostStatus::Ready => {
            format!("{} to do; submit each result under its step and attempt", many(handed.ready.len()))
        }
        HostStatus::AwaitingOutputs => {
            let who = |held: &Held| {
                let silent = format_ms(u64::try_from(now - held.last_seen).unwrap_or_default());
                format!("`{}` is handed out to {}, silent for {silent}", held.path, held.by)
            };
            handed.running.iter().map(who).collect::<Vec<_>>().join("; ")
        }
        HostStatus::AwaitingApproval => {
            let asked: Vec<String> = handed.questions.iter().map(|asked| format!("`{}`", asked.path)).collect();
            format!("a person is asked: {}; only their answer lets the run continue", asked.join(", "))
        }
        HostStatus::Waiting => waits(loaded),
        HostStatus::Succeeded => "the run has succeeded".to_owned(),
        HostStatus::Failed => {
            format!("the run has failed: {}", handed.error.as_deref().unwrap_or("no reason is recorded"))
        }
        HostStatus::Cancelled => "the run was cancelled".to_owned(),
    }
}

fn many(count: usize) -> String {
    if count == 1 { "1 step is".to_owned() } else { format!("{count} steps are") }
}

/// What the engine is doing, or what the run waits for.
fn waits(loaded: &Loaded) -> String {
    let at_work: Vec<String> = loaded.state.open_attempts().map(|step| format!("`{}`", step.path)).collect();
    if !at_work.is_empty() {
        return format!("the engine is running {}; ask again", at_work.join(", "));
    }
    let why: Vec<String> =
        longhaul_core::explain::explain(&loaded.plan.0, &loaded.state).into_iter().map(|why| why.text).collect();
    if why.is_empty() { "the run has not started; ask again".to_owned() } else { why.join("; ") }
}

/// The steps that a client holds.
fn work_of(loaded: &Loaded, client: Option<&str>) -> Result<Vec<HostedWork>, Error> {
    let state = &loaded.state;
    let own = |step: &&StepInst| step.lease().is_some_and(|lease| Some(lease.by.as_str()) == client);
    state.hosted().filter(|_| !state.is_finished()).filter(own).map(|inst| work(loaded, inst)).collect()
}

fn work(loaded: &Loaded, inst: &StepInst) -> Result<HostedWork, Error> {
    let refused =
        |why: &str| Error::Rejected(Rejection::invalid(format!("`{}` cannot be handed out: {why}", inst.path)));
    // A client sees no values of this machine, so placeholders stay as they are.
    let start = start_of(planner(loaded), &loaded.state, &inst.path).ok_or_else(|| refused("it cannot be rendered"))?;
    let plan = &loaded.plan.0;
    let step = plan.step(inst.step);
    let agent = |key: &str| start.params.get("agent").and_then(|agent| agent.get(key));
    let text = |key: &str| agent(key).and_then(Json::as_str).map(str::to_owned);
    Ok(HostedWork {
        path: inst.path.clone(),
        attempt: inst.attempts,
        step: step.id.to_string(),
        title: step.name.clone().unwrap_or_else(|| step.id.to_string()),
        persona: text("persona"),
        system: text("system"),
        prompt: prompt(&start, step),
        model: text("model").or_else(|| agent("model")?.get("default")?.as_str().map(str::to_owned)),
        inputs: inputs(loaded, inst, step),
        output: step.output.alias.as_ref().map(|alias| alias.as_str().to_owned()),
        schema: step.output.schema.clone(),
        show: step.output.show,
        depends_on: step.deps.iter().map(|dep| plan.step(*dep).id.to_string()).collect(),
        review: step.review.is_some(),
        policy: text("policy"),
        until: inst.lease().map_or(0, |lease| lease.until),
    })
}

/// The prompt as an agent reads it, with the required form of the answer.
fn prompt(start: &Start, step: &Step) -> String {
    let text = start.params.get("text").and_then(Json::as_str).unwrap_or_default();
    match &step.output.schema {
        Some(schema) => format!("{text}\n\n{}", answer::instructions(schema)),
        None => text.to_owned(),
    }
}

/// The named results of earlier steps.
fn inputs(loaded: &Loaded, inst: &StepInst, step: &Step) -> IndexMap<String, Json> {
    let plan = &loaded.plan.0;
    let results = view::results(planner(loaded), &loaded.state, std::slice::from_ref(&inst.path), &[]);
    let named = step.deps.iter().filter_map(|dep| {
        let before = plan.step(*dep);
        let value = results.iter().rev().find(|(path, _)| is_of(path, before.id.as_str()))?.1;
        Some((before.output.alias.as_ref()?.as_str().to_owned(), value.clone()))
    });
    named.collect()
}

/// Whether an address belongs to a step, on any visit.
fn is_of(path: &str, id: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split('#').next() == Some(id)
}
