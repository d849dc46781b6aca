//! A step whose turn it is: whether it runs, and how it begins.

use indexmap::IndexMap;
use serde_json::Map;

use super::consent::Held;
use super::inbound::signal_misfit;
use super::{Decision, Planner};
use crate::Json;
use crate::eval::{self, EvalMode, EvalProblem, PathKey, Slot};
use crate::event::{self, End, Ended, Event, Failure, Skip};
use crate::path::StepPath;
use crate::plan::{Arg, ErrorClass, Expr, Form, Items, RunIf, Step, StepIx, Timeout, Wait, Work, WorkKind};
use crate::state::{State, StateScope, StepInst, StepNo};

/// Leaf work with everything rendered: nothing is left to decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Which step.
    pub path: StepPath,
    /// From 1.
    pub attempt: u32,
    /// Which step of the plan.
    pub step: StepIx,
    /// The kind of work.
    pub kind: WorkKind,
    /// Its parameters.
    pub params: Map<String, Json>,
    /// Variables for the child's environment.
    pub env: Map<String, Json>,
    /// The folder to run in.
    pub cwd: Option<String>,
    /// How long it may take.
    pub timeout: Timeout,
    /// The values of `cache.inputs`, if an earlier result may be used.
    pub cache_inputs: Option<Vec<Json>>,
    /// Where the machine fills in what only it knows.
    pub outside: Outside,
    /// Of an agent: how it is called.
    pub turn: AgentTurn,
}

/// Places for values of the machine, in each part of the work. They stand beside the values, so no value can be taken for one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outside {
    /// In the parameters.
    pub params: Vec<Slot>,
    /// In the variables.
    pub env: Vec<Slot>,
    /// In what tells whether an earlier result may be used.
    pub cache_inputs: Vec<Slot>,
}

/// How an agent is called.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentTurn {
    /// Who takes over, as the workflow names it; the step's own agent without one.
    pub agent: Option<String>,
    /// The conversation that continues.
    pub session: Option<event::Session>,
    /// Whether the conversation is only to be shortened.
    pub compact: bool,
    /// Whether the files are to be recorded before it begins.
    pub keep: bool,
    /// The attempt before which the files were as they have to be put back.
    pub restore: Option<u32>,
    /// The money that the run has left for it, where there is a limit.
    pub usd_left: Option<f64>,
    /// What people told the agent and this turn carries: numbers of the step's hints, from 1.
    pub hints: Vec<u32>,
    /// Whether it is told what was wrong with an earlier answer, and what the schema is.
    pub repairs: bool,
}

pub(super) fn start(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let path = inst.path.clone();
    if let Some(why) = left_out(planner, state, at) {
        return Decision::of([Event::StepSkipped { path, why }]);
    }
    let step = planner.plan.step(inst.step);
    // A retry has asked already.
    if let Some(when) = step.when.as_ref().filter(|_| inst.is_untried()) {
        match eval::holds(&when.0, mode(planner, state, at), &StateScope::at(planner.plan, planner.index, state, at)) {
            Ok(true) => {}
            Ok(false) => return super::judge::left_out(planner, state, at, Skip::When),
            Err(problem) => return broken(planner, state, at, "`when` cannot be evaluated", &problem),
        }
    }
    if let Some(kept) = super::kept::keep(planner, state, at) {
        return kept;
    }
    match super::consent::held(planner, state, at) {
        Held::Until(decision) => decision,
        Held::Free(by) => {
            let mut decision = begin(planner, state, at, step);
            decision.events.extend(by);
            decision
        }
    }
}

pub(super) fn begin(planner: Planner<'_>, state: &State, at: StepNo, step: &Step) -> Decision {
    let inst = state.step(at);
    let path = inst.path.clone();
    let scope = || StateScope::at(planner.plan, planner.index, state, at);
    let mode = mode(planner, state, at);
    match &step.form {
        Form::Work(_) => attempt(planner, state, at),
        Form::Decide => super::judge::succeeded(planner, state, at, End::plain(Ended::Succeeded)),
        Form::If { condition, otherwise, .. } => match eval::holds(&condition.0, mode, &scope()) {
            Ok(true) => open(path, 0, IndexMap::new()),
            Ok(false) if otherwise.is_some() => open(path, 1, IndexMap::new()),
            Ok(false) => super::judge::succeeded(planner, state, at, End::plain(Ended::Succeeded)),
            Err(problem) => broken(planner, state, at, "`if` cannot be evaluated", &problem),
        },
        Form::Switch { on, cases, default } => match eval::value(&on.0, mode, &scope()) {
            Ok(value) => match cases.iter().position(|case| case.value == value) {
                Some(case) => open(path, case, IndexMap::new()),
                None if default.is_some() => open(path, cases.len(), IndexMap::new()),
                None => fail(planner, state, at, format!("no case for {value}")),
            },
            Err(problem) => broken(planner, state, at, "`switch` cannot be evaluated", &problem),
        },
        Form::ForEach { items, .. } => match list(items, mode, &scope()) {
            Ok(Found::Items(items)) => Decision::of([Event::ItemsFound { path, items }]),
            Ok(Found::Glob(_)) => attempt(planner, state, at),
            Err(problem) => broken(planner, state, at, "`for_each` cannot be evaluated", &problem),
        },
        Form::Repeat { .. } => open(path, 0, IndexMap::from([("iteration".to_owned(), Json::from(0))])),
        Form::Parallel { .. } => open(path, 0, IndexMap::new()),
        Form::Workflow { unit, with } => {
            let given: Result<Map<String, Json>, EvalProblem> = with
                .iter()
                .map(|(name, arg)| Ok((name.as_str().to_owned(), eval::arg(arg, mode, &scope())?)))
                .collect();
            match given {
                Ok(given) => match super::inside::inputs_of(planner, *unit, given, &scope()) {
                    Ok(inputs) => open(path, 0, IndexMap::from([("inputs".to_owned(), Json::Object(inputs))])),
                    Err(why) => fail(planner, state, at, why),
                },
                Err(problem) => broken(planner, state, at, "`with` cannot be evaluated", &problem),
            }
        }
        Form::Approve(_) | Form::Ask { .. } => super::gate::ask(planner, state, at),
        Form::Wait(wait) => wait_for(planner, state, at, wait),
        Form::Set { names } => {
            let values: Result<IndexMap<String, Json>, EvalProblem> = names
                .iter()
                .map(|(name, arg)| Ok((name.as_str().to_owned(), eval::arg(arg, mode, &scope())?)))
                .collect();
            match values {
                Ok(names) => super::judge::succeeded(planner, state, at, End { names, ..End::plain(Ended::Succeeded) }),
                Err(problem) => broken(planner, state, at, "`set` cannot be evaluated", &problem),
            }
        }
        Form::End { outcome, message } => {
            let none = IndexMap::new();
            let message = message.as_ref().map(|text| eval::text(&text.0, mode, &scope(), &none)).transpose();
            match message {
                Ok(message) => super::finish::end(planner, state, at, *outcome, message),
                Err(problem) => broken(planner, state, at, "`message` cannot be rendered", &problem),
            }
        }
    }
}

/// How texts of a step are read.
pub(super) fn mode(planner: Planner<'_>, state: &State, at: StepNo) -> EvalMode {
    let unit = state.body(state.step(at).body).unit;
    EvalMode::of(&planner.plan.unit(unit).compat)
}

fn open(path: StepPath, index: usize, bound: IndexMap<String, Json>) -> Decision {
    Decision::of([Event::BodyOpened { path, index: u32::try_from(index).unwrap_or(u32::MAX), bound }])
}

/// Why a step is left out: a choice before it led elsewhere, or a gate before it was denied.
fn left_out(planner: Planner<'_>, state: &State, at: StepNo) -> Option<Skip> {
    let inst = state.step(at);
    let body = state.body(inst.body);
    let step = planner.plan.step(inst.step);
    let current = step.deps.iter().filter_map(|dep| body.slots[planner.index.position(*dep)].current);
    let deps: Vec<&StepInst> = current.map(|dep| state.step(dep)).collect();
    if deps.iter().any(|dep| chose_another(planner, dep, inst.step, step)) {
        return Some(Skip::Route);
    }
    let gate = |dep: &&&StepInst| dep.is_dead() && matches!(planner.plan.step(dep.step).form, Form::Approve(_));
    let dead = |dep: &&StepInst| dep.is_dead();
    let why = deps.iter().find(gate).or_else(|| deps.first().filter(|_| deps.iter().all(dead)))?.outcome.skipped;
    why.filter(|_| step.run_if != RunIf::Always)
}

fn chose_another(planner: Planner<'_>, dep: &StepInst, ix: StepIx, step: &Step) -> bool {
    let before = planner.plan.step(dep.step);
    let conditional = before.next.len() > 1 || before.next.iter().any(|route| route.when.is_some());
    let is_target = before.next.iter().any(|route| route.to == ix);
    conditional && is_target && dep.outcome.chosen.as_ref() != Some(&step.id)
}

/// The intent of an attempt, with the work rendered; a text that cannot be rendered ends it at once.
fn attempt(planner: Planner<'_>, state: &State, at: StepNo) -> Decision {
    let inst = state.step(at);
    let (path, attempt) = (inst.path.clone(), inst.attempts + 1);
    let reserve = super::budget::reserve(planner, state, at);
    let begun = |hosted, hints| {
        let path = path.clone();
        Event::AttemptStarted { path, attempt, reserve, hosted, host: None, queued: None, hints }
    };
    match rendered(planner, state, at, attempt) {
        // The prompt is rendered when a client claims it, so it need not be stored before.
        Ok(start) if super::hosted::is_handed_out(planner, state, at) => Decision::of([begun(true, start.turn.hints)]),
        Ok(mut start) => {
            start.turn.usd_left = super::budget::usd_left(planner, state, at);
            Decision { events: vec![begun(false, start.turn.hints.clone())], start: Some(start) }
        }
        Err(problem) => {
            let error = Failure::unusable(ErrorClass::Invalid, format!("the step cannot be rendered: {}", problem.0));
            let result = event::Result::default();
            Decision::of([begun(false, Vec::new()), Event::AttemptFailed { path, attempt, error, result }])
        }
    }
}

/// The work of an open attempt, for the engine that starts it after a restart.
pub fn start_of(planner: Planner<'_>, state: &State, path: &StepPath) -> Option<Start> {
    let at = state.number(path)?;
    let mut start = rendered(planner, state, at, state.step(at).attempts).ok()?;
    // What is set aside for it is its own.
    let own = state.step(at).phase.reserve().map_or(0.0, |reserve| reserve.usd);
    start.turn.usd_left = super::budget::usd_left(planner, state, at).map(|left| left + own);
    Some(start)
}

pub(super) fn rendered(planner: Planner<'_>, state: &State, at: StepNo, attempt: u32) -> Result<Start, EvalProblem> {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let mode = mode(planner, state, at);
    let scope = || StateScope::at(planner.plan, planner.index, state, at);
    let none = IndexMap::new();
    let mut outside = Outside::default();
    let (kind, mut params) = match &step.form {
        Form::Work(work) => (work.kind.clone(), params(planner, state, at, work, &mut outside.params)?),
        Form::ForEach { items, .. } => match list(items, mode, &scope())? {
            Found::Glob(pattern) => (WorkKind::Glob, Map::from_iter([("pattern".to_owned(), Json::String(pattern))])),
            Found::Items(_) => return Err(EvalProblem("nothing to look up".to_owned())),
        },
        _ => return Err(EvalProblem("not leaf work".to_owned())),
    };
    let mut env = Map::new();
    for (name, arg) in &step.env {
        let given = eval::given(arg, mode, &ForWork(&scope()), &none)?;
        env.insert(name.clone(), given.into_part(&PathKey::Name(name.clone()), &mut outside.env));
    }
    let cwd = step.cwd.as_ref().map(|text| eval::text(&text.0, mode, &scope(), &none)).transpose()?;
    let cache = step.cache.as_ref().filter(|_| matches!(step.form, Form::Work(_)));
    let cache_inputs =
        cache.map(|cache| cached(&cache.inputs, mode, &ForWork(&scope()), &mut outside.cache_inputs)).transpose()?;
    let (path, timeout) = (inst.path.clone(), step.timeout);
    let turn = super::turn::turn(state, inst, step, &mut params);
    let unit = planner.plan.unit(state.body(inst.body).unit);
    if let Some(context) = unit.context.as_ref().filter(|_| step.is_agent() && turn.session.is_none()) {
        let context = eval::text(&context.0, mode, &scope(), &unit.templates)?;
        super::turn::introduce(&context, &mut params);
    }
    Ok(Start { path, attempt, step: inst.step, kind, params, env, cwd, timeout, cache_inputs, outside, turn })
}

/// What a step is given, as a hash: everything that it reads, rendered. `None` if it cannot be rendered, or if a step of its kind keeps
/// no result.
pub(crate) fn given_to(planner: Planner<'_>, state: &State, at: StepNo) -> Option<String> {
    let inst = state.step(at);
    let step = planner.plan.step(inst.step);
    let mode = mode(planner, state, at);
    let scope = || StateScope::at(planner.plan, planner.index, state, at);
    let none = IndexMap::new();
    let unit = planner.plan.unit(state.body(inst.body).unit);
    let mut slots = Vec::new();
    let text = |text: &crate::plan::Text| eval::text(&text.0, mode, &scope(), &none).ok().map(Json::String);
    let given = match &step.form {
        Form::Work(work) => Json::Object(params(planner, state, at, work, &mut slots).ok()?),
        Form::ForEach { items: Items::Glob(pattern), .. } => text(pattern)?,
        Form::Approve(approve) => serde_json::json!([text(&approve.question)?, approve.choices]),
        Form::Ask { question, answer, .. } => serde_json::json!([text(question)?, answer]),
        Form::Wait(Wait::For(arg) | Wait::Until(arg)) => eval::arg(arg, mode, &scope()).ok()?,
        Form::Wait(Wait::Event { name, .. }) => text(name)?,
        _ => return None,
    };
    let mut env = Map::new();
    for (name, arg) in &step.env {
        let given = eval::given(arg, mode, &ForWork(&scope()), &none).ok()?;
        env.insert(name.clone(), given.into_part(&PathKey::Name(name.clone()), &mut slots));
    }
    let cwd = step.cwd.as_ref().map(text);
    let context = unit.context.as_ref().filter(|_| step.is_agent());
    let context = context.map(|context| eval::text(&context.0, mode, &scope(), &unit.templates).ok());
    let all = serde_json::json!([given, env, cwd, context, format!("{slots:?}")]);
    Some(crate::replan::hash_of(&all))
}

/// What a step that was reached is given: see [`crate::replan::Seen`].
pub fn given_at(planner: Planner<'_>, state: &State, path: &StepPath) -> Option<String> {
    given_to(planner, state, state.number(path)?)
}

fn cached(
    inputs: &[Expr],
    mode: EvalMode,
    names: &ForWork<'_>,
    slots: &mut Vec<Slot>,
) -> Result<Vec<Json>, EvalProblem> {
    let none = IndexMap::new();
    let value = |(index, expr): (usize, &Expr)| {
        let given = eval::given(&Arg::Expr(expr.clone()), mode, names, &none)?;
        Ok(given.into_part(&PathKey::Index(index), slots))
    };
    inputs.iter().enumerate().map(value).collect()
}

/// Parameters, each rendered. Names that only a prompt sees are rendered first.
fn params(
    planner: Planner<'_>,
    state: &State,
    at: StepNo,
    work: &Work,
    slots: &mut Vec<Slot>,
) -> Result<Map<String, Json>, EvalProblem> {
    let mode = mode(planner, state, at);
    let unit = planner.plan.unit(state.body(state.step(at).body).unit);
    let scope = || StateScope::at(planner.plan, planner.index, state, at);
    let own = match work.params.get("with") {
        Some(with) => eval::arg(with, mode, &scope())?,
        None => Json::Null,
    };
    let empty = Map::new();
    let own = own.as_object().unwrap_or(&empty);
    let mut params = Map::new();
    for (name, arg) in &work.params {
        let scope = scope().with(own);
        // What an agent or a person reads never holds a value of the machine.
        let given = match work.kind == WorkKind::Prompt && name == "text" {
            true => eval::given(arg, mode, &scope, &unit.templates)?,
            false => eval::given(arg, mode, &ForWork(&scope), &unit.templates)?,
        };
        params.insert(name.clone(), given.into_part(&PathKey::Name(name.clone()), slots));
    }
    Ok(params)
}

/// The names that work can read: also `env.X` and `secrets.X`, which the runtime fills in where the work is done, so that
/// neither values nor secrets reach the journal.
struct ForWork<'a>(&'a StateScope<'a>);

impl eval::Names for ForWork<'_> {
    fn root(&self, name: &str) -> Option<Json> {
        self.0.root(name)
    }

    fn step(&self, id: &str) -> Option<Json> {
        self.0.step(id)
    }

    fn step_ids(&self) -> Vec<String> {
        self.0.step_ids()
    }

    fn reads_outside(&self) -> bool {
        true
    }
}

enum Found {
    Items(Vec<Json>),
    Glob(String),
}

fn list(items: &Items, mode: EvalMode, scope: &StateScope<'_>) -> Result<Found, EvalProblem> {
    let value = match items {
        Items::Expr(expr) => eval::value(&expr.0, mode, scope)?,
        Items::List(arg) => eval::arg(arg, mode, scope)?,
        Items::Glob(text) => return eval::text(&text.0, mode, scope, &IndexMap::new()).map(Found::Glob),
    };
    match value {
        Json::Array(items) => Ok(Found::Items(items)),
        other => Err(EvalProblem(format!("{other} is not a list"))),
    }
}

fn wait_for(planner: Planner<'_>, state: &State, at: StepNo, wait: &Wait) -> Decision {
    let path = state.step(at).path.clone();
    let mode = mode(planner, state, at);
    let scope = StateScope::at(planner.plan, planner.index, state, at);
    let started = match wait {
        Wait::For(arg) => {
            eval::arg(arg, mode, &scope).and_then(|value| span(&value)).map(|ms| (Some(state.now + ms), None))
        }
        Wait::Until(arg) => eval::arg(arg, mode, &scope).and_then(|value| moment(&value)).map(|due| (Some(due), None)),
        Wait::Event { name, timeout_ms, .. } => eval::text(&name.0, mode, &scope, &IndexMap::new())
            .map(|name| (timeout_ms.map(|ms| state.now + i64::try_from(ms).unwrap_or(i64::MAX)), Some(name))),
    };
    match started {
        Ok((due, signal)) => {
            let refused = signal.iter().flat_map(|name| early_misfits(planner, state, at, name));
            Decision::of(refused.chain([Event::WaitStarted { path, due, signal: signal.clone() }]))
        }
        Err(problem) => broken(planner, state, at, "`wait` cannot be evaluated", &problem),
    }
}

/// Signals that came early and are not what the step waits for, up to the first that is.
fn early_misfits(planner: Planner<'_>, state: &State, at: StepNo, name: &str) -> Vec<Event> {
    let step = planner.plan.step(state.step(at).step);
    let early = state.signals.iter().filter(|(known, _)| known == name);
    let refused = early.map_while(|(name, data)| Some((name, signal_misfit(step, data)?)));
    refused.map(|(name, why)| Event::SignalRefused { name: name.clone(), why }).collect()
}

fn span(value: &Json) -> Result<i64, EvalProblem> {
    let ms = value.as_str().and_then(crate::duration::parse_ms).and_then(|ms| i64::try_from(ms).ok());
    ms.ok_or_else(|| EvalProblem(format!("{value} is not a time span")))
}

/// Milliseconds since 1970 of an RFC 3339 text; a number is taken as it is.
fn moment(value: &Json) -> Result<i64, EvalProblem> {
    let parsed =
        value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok()).map(|moment| moment.as_millisecond());
    parsed.or_else(|| value.as_i64()).ok_or_else(|| EvalProblem(format!("{value} is not a moment")))
}

/// A text of a step that cannot be evaluated: nobody knows what the step means, so a person is asked.
pub(super) fn broken(planner: Planner<'_>, state: &State, at: StepNo, what: &str, problem: &EvalProblem) -> Decision {
    let error = Failure::unusable(ErrorClass::Invalid, format!("{what}: {}", problem.0));
    super::judge::failed(planner, state, at, error)
}

fn fail(planner: Planner<'_>, state: &State, at: StepNo, message: String) -> Decision {
    super::judge::failed(planner, state, at, Failure::new(ErrorClass::Invalid, message))
}
