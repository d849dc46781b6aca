//! What the client of a hosted run gets to see: its work, and how the run stands.

use indexmap::IndexMap;
use longhaul_agents::answer;
use longhaul_core::Json;
use longhaul_core::decide::{Planner, Start, start_of};
use longhaul_core::duration::format_ms;
use longhaul_core::event::Envelope;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Outcome, Show, Step};
use longhaul_core::state::{State, StepInst};
use longhaul_core::view::{self, Asked, AutoRan, Held};
use serde::Serialize;

use crate::engine::Error;
use crate::run::run_loop::Loaded;

/// How a hosted run stands, and what its client has to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Handed {
    /// The run.
    pub run: RunId,
    /// What lists call its workflow.
    pub workflow: String,
    /// The text it was started with.
    pub task: String,
    /// In a word.
    pub status: HostStatus,
    /// What this client has to do.
    pub ready: Vec<Work>,
    /// What somebody has taken, this client or another.
    pub running: Vec<Held>,
    /// What nobody has taken: the next one who asks gets it.
    pub free: Vec<StepPath>,
    /// What the engine did by itself since this client last submitted something.
    pub auto_ran: Vec<AutoRan>,
    /// What people are asked.
    pub questions: Vec<Asked>,
    /// Results that go with the work, by address.
    pub results: IndexMap<String, Json>,
    /// Steps at the top of the workflow that are done.
    pub completed: usize,
    /// Steps at the top of the workflow.
    pub total: usize,
    /// Names that are set at the top of the workflow.
    pub outputs: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do now, in words.
    pub message: String,
}

/// How a hosted run stands, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostStatus {
    /// There is work for whoever asks.
    Ready,
    /// All that is left is taken; results are waited for.
    AwaitingOutputs,
    /// A person is asked.
    AwaitingApproval,
    /// The engine is running, or a time or a signal is waited for.
    Waiting,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It was stopped.
    Cancelled,
}

/// A step that a client does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// Its address.
    pub path: StepPath,
    /// Which attempt: a submission that names it cannot be taken for another one.
    pub attempt: u32,
    /// The id of the step.
    pub step: String,
    /// What people see instead of the id.
    pub title: String,
    /// Who is meant to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// Who that is, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// The model that the workflow would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Results of the steps before it, by name.
    pub inputs: IndexMap<String, Json>,
    /// The name under which its result is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What its result must look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// How much of its result hosts see later.
    pub show: Show,
    /// The steps before it, by id.
    pub depends_on: Vec<String>,
    /// Whether a person looks at its result before it is used.
    pub review: bool,
    /// Whether the client does it itself or has it done: `main`, `subagent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// When it is given up if nothing is heard.
    pub until: i64,
}

/// Whose picture it is, and what they know.
pub(super) struct Onlooker<'a> {
    pub(super) client: Option<&'a str>,
    /// What happened since they last submitted something.
    pub(super) events: &'a [Envelope],
    /// The step whose result they have just submitted.
    pub(super) done: Option<StepPath>,
}

/// The picture of a run as it is at a moment.
pub(super) fn picture(run: &RunId, loaded: &Loaded, onlooker: &Onlooker<'_>, now: i64) -> Result<Handed, Error> {
    let (plan, state) = (&loaded.plan.0, &loaded.state);
    let ready = work_of(loaded, onlooker.client)?;
    let auto_ran = view::auto_ran(plan, state, onlooker.events);
    let work: Vec<StepPath> = ready.iter().map(|work| work.path.clone()).collect();
    let news: Vec<StepPath> = onlooker.done.iter().chain(auto_ran.iter().map(|ran| &ran.path)).cloned().collect();
    let (completed, total) = view::counted(plan, state);
    let started = state.started.as_ref();
    let finished = state.finished.as_ref();
    let failed = finished.filter(|finished| finished.outcome != Outcome::Success);
    let mut handed = Handed {
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

fn status(handed: &Handed, state: &State) -> HostStatus {
    match state.finished.as_ref().map(|finished| finished.outcome) {
        Some(Outcome::Success) => HostStatus::Succeeded,
        Some(Outcome::Failure) => HostStatus::Failed,
        Some(Outcome::Cancelled) => HostStatus::Cancelled,
        None if !handed.ready.is_empty() => HostStatus::Ready,
        None if !handed.questions.is_empty() => HostStatus::AwaitingApproval,
        None if !handed.free.is_empty() && !state.paused => HostStatus::Ready,
        None if !handed.running.is_empty() => HostStatus::AwaitingOutputs,
        None => HostStatus::Waiting,
    }
}

fn message(handed: &Handed, loaded: &Loaded, now: i64) -> String {
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
            format!("the run has failed: {}", handed.error.as_deref().unwrap_or("nobody said why"))
        }
        HostStatus::Cancelled => "the run was cancelled".to_owned(),
    }
}

fn many(count: usize) -> String {
    if count == 1 { "1 step is".to_owned() } else { format!("{count} steps are") }
}

/// What the engine is at, or what is waited for.
fn waits(loaded: &Loaded) -> String {
    let at_work: Vec<String> = loaded.state.open_attempts().map(|step| format!("`{}`", step.path)).collect();
    if !at_work.is_empty() {
        return format!("the engine is running on {}; ask again", at_work.join(", "));
    }
    let why: Vec<String> =
        longhaul_core::explain::explain(&loaded.plan.0, &loaded.state).into_iter().map(|why| why.text).collect();
    if why.is_empty() { "the run has not begun; ask again".to_owned() } else { why.join("; ") }
}

/// What a client has taken.
fn work_of(loaded: &Loaded, client: Option<&str>) -> Result<Vec<Work>, Error> {
    let state = &loaded.state;
    let own = |step: &&StepInst| step.hand.as_ref().is_some_and(|hand| Some(hand.by.as_str()) == client);
    state.handed().filter(|_| !state.is_finished()).filter(own).map(|inst| work(loaded, inst)).collect()
}

fn work(loaded: &Loaded, inst: &StepInst) -> Result<Work, Error> {
    let refused = |why: &str| Error::Refused(format!("`{}` cannot be handed out: {why}", inst.path));
    // What a client reads holds no value of this machine, so nothing is filled in.
    let start = start_of(planner(loaded), &loaded.state, &inst.path).ok_or_else(|| refused("it cannot be rendered"))?;
    let plan = &loaded.plan.0;
    let step = plan.step(inst.step);
    let agent = |key: &str| start.params.get("agent").and_then(|agent| agent.get(key));
    let text = |key: &str| agent(key).and_then(Json::as_str).map(str::to_owned);
    Ok(Work {
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
        until: inst.hand.as_ref().map_or(0, |hand| hand.until),
    })
}

/// The prompt as an agent would read it, with what its answer must look like.
fn prompt(start: &Start, step: &Step) -> String {
    let text = start.params.get("text").and_then(Json::as_str).unwrap_or_default();
    match &step.output.schema {
        Some(schema) => format!("{text}\n\n{}", answer::instructions(schema)),
        None => text.to_owned(),
    }
}

/// Results of the steps before it that have a name.
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

/// Whether an address is that of a step, on whichever visit.
fn is_of(path: &str, id: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split('#').next() == Some(id)
}
