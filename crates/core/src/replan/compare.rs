//! Compares two plans for a run, by trying the new one on a copy of its state.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use serde_json::json;

use super::matching::{Matching, changes, entry, matching};
use super::meaning::{differing, follows};
use super::report::{ComparedStep, Comparison, Fate, StepChange};
use super::{Seen, hash_of};
use crate::Json;
use crate::consent::Terms;
use crate::decide::{Planner, Redo, before, redo, replace};
use crate::event::{Event, PlanReplaced, RunSource};
use crate::index::Index;
use crate::plan::{BodyIx, Compat, Form, Items, Plan, StepIx};
use crate::rejection::Rejection;
use crate::state::{Phase, State, StepInst, StepNo};

/// Steps that a person has decided about: by address, or by ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// They keep their results, changed or not.
    pub keep: Vec<String>,
    /// They run again, changed or not.
    pub redo: Vec<String>,
}

/// A changed workflow for a run.
#[derive(Debug, Clone)]
pub struct Replacement<'a> {
    /// The plan that the run has.
    pub old: Planner<'a>,
    /// The plan that it is to have.
    pub new: Planner<'a>,
    /// The content hash of the new plan.
    pub plan: String,
    /// The text of the new plan.
    pub source: Option<RunSource>,
    /// The inputs of the new plan, defaults filled in.
    pub inputs: IndexMap<String, Json>,
    /// What the run may do without being asked, from now on.
    pub consent: Option<Terms>,
    /// What a person has decided.
    pub choices: Choices,
    /// The person.
    pub by: Option<String>,
}

/// Why a run cannot have another plan now.
pub fn rejection(state: &State) -> Option<Rejection> {
    if state.started.is_none() {
        return Some(Rejection::untimely("the run was not started"));
    }
    if state.is_finished() {
        return None;
    }
    if state.cancelling {
        return Some(Rejection::untimely("the run is being cancelled").say("wait until it is over, then try again"));
    }
    let taken = state.hosted().filter(|step| step.lease().is_some());
    let names: Vec<String> = state.open_attempts().chain(taken).map(|step| format!("`{}`", step.path)).collect();
    let why = || format!("work is under way: {}", names.join(", "));
    (!names.is_empty()).then(|| {
        Rejection::untimely(why()).say("stop the run, or pause it and wait until nothing is under way; then try again")
    })
}

/// What a changed workflow means for a run, and the event that gives it to the run.
pub fn compare(order: Replacement<'_>, state: &State, seen: &Seen) -> Result<(Comparison, PlanReplaced), Rejection> {
    if let Some(why) = rejection(state) {
        return Err(why);
    }
    known(&order, state)?;
    let mut found = matching(order.old.plan, order.new.plan);
    let unclear = unclear(&order, state, &mut found);
    let mut replaced = event(&order, state, seen, &found);
    let tried = tried(&order, state, &replaced).map_err(|error| Rejection::untimely(error.0))?;
    let mut comparison = Report { order: &order, state, found: &found, tried: &tried, unclear: &unclear }.made();
    comparison.hash =
        hash_of(&json!([replaced.plan, state.seq, replaced.inputs, order.choices.keep, order.choices.redo]));
    replaced.kept.clone_from(&comparison.kept);
    replaced.again.clone_from(&comparison.again);
    replaced.dropped.clone_from(&comparison.dropped);
    Ok((comparison, replaced))
}

/// A person can only decide about steps that there are.
fn known(order: &Replacement<'_>, state: &State) -> Result<(), Rejection> {
    let mut paths: HashSet<String> = walk(order.new.plan).into_iter().map(|(path, _)| path).collect();
    paths.extend(state.steps().iter().map(|step| step.path.to_string()));
    let named = order.choices.keep.iter().chain(&order.choices.redo);
    let unknown = named.into_iter().find(|name| !paths.contains(*name));
    unknown.map_or(Ok(()), |name| {
        Err(Rejection::not_found(format!("the new workflow has no step `{name}`"))
            .say("name a step as the comparison does"))
    })
}

fn event(order: &Replacement<'_>, state: &State, seen: &Seen, found: &Matching) -> PlanReplaced {
    let over = |step: &&StepInst| step.attempts > 0 || step.started_at.is_some();
    let useful = state.steps().iter().filter(over).filter_map(|step| {
        let path = step.path.to_string();
        let given = seen.0.get(&path)?.clone();
        Some((path, given))
    });
    PlanReplaced {
        plan: order.plan.clone(),
        semantics: order.new.plan.semantics,
        workflow: order.new.plan.main().name.clone(),
        source: order.source.clone().map(Box::new),
        inputs: order.inputs.clone(),
        consent: order.consent.clone(),
        bodies: found.bodies.clone(),
        moved: found.moved.clone(),
        seen: useful.collect(),
        keep: order.choices.keep.clone(),
        redo: order.choices.redo.clone(),
        limits: order.old.plan.main().limits != order.new.plan.main().limits,
        kept: Vec::new(),
        again: Vec::new(),
        dropped: Vec::new(),
        by: order.by.clone(),
    }
}

/// Steps of the new plan that may be steps of the old one: they mean the same, and only their place or id differs. If a person says
/// so, they are.
fn unclear(order: &Replacement<'_>, state: &State, found: &mut Matching) -> HashMap<StepIx, StepIx> {
    let (old, new) = (order.old.plan, order.new.plan);
    let matched: HashSet<StepIx> = found.bodies.iter().flat_map(|body| &body.steps).map(|entry| entry.new).collect();
    let finished: HashSet<StepIx> =
        state.steps().iter().filter(|step| is_worth_keeping(step)).map(|step| step.step).collect();
    let mut unclear = HashMap::new();
    for (path, at) in walk(new) {
        if matched.contains(&at) || unclear.contains_key(&at) || !is_kept_kind(&new.step(at).form) {
            continue;
        }
        let is_alike = |was: &StepIx| {
            finished.contains(was) && !found.taken.contains(was) && changes(old, new, (at, *was)).is_empty()
        };
        let Some(was) = (0u32..).map(StepIx).take(old.steps.len()).find(is_alike) else { continue };
        let is_named = |names: &[String]| names.contains(&path);
        if is_named(&order.choices.redo) {
            continue;
        }
        found.taken.insert(was);
        unclear.insert(at, was);
        if is_named(&order.choices.keep) {
            found.moved.push(entry(old, new, (at, was)));
        }
    }
    unclear
}

fn is_worth_keeping(step: &StepInst) -> bool {
    let did = step.attempts > 0 || step.last_answer().is_some() || step.started_at.is_some();
    step.phase == Phase::Done && step.outcome.ok && did
}

/// Whether steps of a form have results that can be kept; the others decide again without work.
fn is_kept_kind(form: &Form) -> bool {
    matches!(
        form,
        Form::Work(_)
            | Form::Approve(_)
            | Form::Ask { .. }
            | Form::Wait(_)
            | Form::ForEach { items: Items::Glob(_), .. }
    )
}

/// The steps of a plan with their paths of ids, as they are written. A sub-workflow that several steps use is listed once.
fn walk(plan: &Plan) -> Vec<(String, StepIx)> {
    let mut walk = Walk { plan, index: &Index::of(plan), known: HashSet::new(), found: Vec::new() };
    walk.body("", plan.main().body);
    walk.found
}

struct Walk<'a> {
    plan: &'a Plan,
    index: &'a Index,
    known: HashSet<BodyIx>,
    found: Vec<(String, StepIx)>,
}

impl Walk<'_> {
    fn body(&mut self, prefix: &str, body: BodyIx) {
        if !self.known.insert(body) {
            return;
        }
        for at in &self.plan.body(body).steps {
            let path = format!("{prefix}{}", self.plan.step(*at).id);
            self.found.push((path.clone(), *at));
            self.index.inner(*at).iter().for_each(|inner| self.body(&format!("{path}/"), *inner));
        }
    }
}

/// The run under the new plan, as far as it comes without work. Caps do not hold anything up, so that every result is reached.
fn tried(order: &Replacement<'_>, state: &State, replaced: &PlanReplaced) -> Result<Tried, crate::state::Error> {
    let mut plan = order.new.plan.clone();
    for step in &mut plan.steps {
        if let Form::ForEach { parallel, .. } = &mut step.form {
            *parallel = u32::MAX;
        }
    }
    let planner = Planner { plan: &plan, index: order.new.index };
    let mut after = state.clone();
    let mut advance = replace(planner, &mut after, replaced.clone(), state.now)?;
    while advance.is_cut {
        let more = crate::decide::continued(planner, &mut after, state.now)?;
        advance.events.extend(more.events);
        advance.is_cut = more.is_cut;
    }
    let kept = advance.events.iter().filter_map(|envelope| match &envelope.event {
        Event::ResultKept { path, was } => Some(was.as_ref().unwrap_or(path).to_string()),
        _ => None,
    });
    let kept = kept.collect();
    Ok(Tried { kept, why: reasons(planner, &after), after })
}

/// Why steps that were reached keep nothing, by their old addresses.
fn reasons(planner: Planner<'_>, after: &State) -> HashMap<String, Option<Redo>> {
    let mut why = HashMap::new();
    for (number, step) in (0u32..).zip(&after.steps) {
        if let Some(old) = before(after, step).filter(|_| !step.is_kept()) {
            why.insert(old.path.to_string(), redo(planner, after, StepNo(number)));
        }
    }
    why
}

struct Tried {
    /// Old addresses whose results are kept.
    kept: HashSet<String>,
    /// Why the others that were reached are not; `None` if they were left out.
    why: HashMap<String, Option<Redo>>,
    after: State,
}

impl Tried {
    /// Why the result of a step is not kept.
    fn reason(&self, old: &StepInst) -> Lost {
        match self.why.get(&old.path.to_string()) {
            Some(Some(redo)) => Lost::Again(*redo),
            Some(None) => Lost::Unused,
            None => self.unreached(old),
        }
    }

    /// A step that was not reached comes later, or is on a way that is not taken any more.
    fn unreached(&self, old: &StepInst) -> Lost {
        let Some(earlier) = self.after.earlier.as_deref() else { return Lost::Unused };
        let mut body = old.body;
        loop {
            if let Some(now) = self.after.bodies.iter().find(|now| now.from == Some(body)) {
                return if now.ended { Lost::Unused } else { Lost::Again(Redo::Follows) };
            }
            let Some(owner) = earlier.bodies[body.at()].owner else { return Lost::Unused };
            if let Some(now) = self.after.steps.iter().find(|now| now.origin.from == Some(owner)) {
                return match now.phase {
                    Phase::Done => Lost::Unused,
                    Phase::Inside if !now.origin.fresh && !now.origin.after => Lost::Unused,
                    Phase::Inside => Lost::Again(Redo::Follows),
                    _ => Lost::Again(Redo::Listed),
                };
            }
            body = earlier.steps[owner.at()].body;
        }
    }
}

/// What becomes of a result that is not kept.
enum Lost {
    Again(Redo),
    Unused,
}

struct Report<'a> {
    order: &'a Replacement<'a>,
    state: &'a State,
    found: &'a Matching,
    tried: &'a Tried,
    unclear: &'a HashMap<StepIx, StepIx>,
}

impl Report<'_> {
    fn made(&self) -> Comparison {
        let (old, new) = (self.order.old.plan, self.order.new.plan);
        let mut comparison = Comparison::default();
        let old_paths: HashMap<StepIx, String> = walk(old).into_iter().map(|(path, at)| (at, path)).collect();
        for (path, at) in walk(new) {
            comparison.rows.push(self.row(path, at, &old_paths));
        }
        for (path, at) in walk(old).into_iter().filter(|(_, at)| !self.found.taken.contains(at)) {
            comparison.rows.push(self.gone(path, at));
        }
        for row in &comparison.rows {
            let list = match row.fate {
                Fate::Kept => &mut comparison.kept,
                Fate::Again => &mut comparison.again,
                Fate::Dropped => &mut comparison.dropped,
                Fate::Asks => &mut comparison.asks,
                Fate::Runs | Fate::Decides | Fate::Nothing => continue,
            };
            if !list.contains(&row.step) {
                list.push(row.step.clone());
            }
        }
        comparison.inputs = self.inputs();
        comparison.notes = self.notes();
        comparison
    }

    fn row(&self, path: String, at: StepIx, old_paths: &HashMap<StepIx, String>) -> ComparedStep {
        let (old, new) = (self.order.old.plan, self.order.new.plan);
        let matched = self.found.bodies.iter().flat_map(|body| &body.steps).chain(&self.found.moved);
        let found = matched.into_iter().find(|entry| entry.new == at).map(|entry| entry.old);
        let maybe = self.unclear.get(&at).copied();
        let asks = found.is_none() && maybe.is_some();
        let works = is_kept_kind(&new.step(at).form);
        let Some(was) = found.or(maybe) else {
            let fate = if works { Fate::Runs } else { Fate::Decides };
            return ComparedStep::new(path, StepChange::New, fate);
        };
        let (change, parts) = self.change(at, was, asks);
        let Results { kept, again, unused, why } = self.results(at, was);
        let fate = match () {
            () if asks => Fate::Asks,
            () if !works => Fate::Decides,
            () if again > 0 => Fate::Again,
            () if kept > 0 => Fate::Kept,
            () if unused > 0 => Fate::Dropped,
            () => Fate::Runs,
        };
        let why = match fate {
            Fate::Again => why.map(str::to_owned),
            Fate::Dropped => Some("it is on a way that is not taken any more".to_owned()),
            _ => None,
        };
        let is_renamed = maybe.is_some() || old.step(was).id != new.step(at).id;
        let was = old_paths.get(&was).filter(|_| is_renamed).cloned();
        let change = if is_renamed && change == StepChange::Same { StepChange::Renamed } else { change };
        ComparedStep { parts, was, why, kept, again, unused, ..ComparedStep::new(path, change, fate) }
    }

    fn change(&self, at: StepIx, was: StepIx, asks: bool) -> (StepChange, Vec<String>) {
        let (old, new) = (self.order.old.plan, self.order.new.plan);
        let changed = changes(old, new, (at, was));
        let adjusted = differing(&follows(old, old.step(was)), &follows(new, new.step(at)));
        match () {
            () if asks => (StepChange::Unclear, Vec::new()),
            () if !changed.is_empty() => (StepChange::Changed, changed),
            () if !adjusted.is_empty() => (StepChange::Adjusted, adjusted),
            () => (StepChange::Same, Vec::new()),
        }
    }

    /// How many results of a step are kept, how many are not, and why not.
    fn results(&self, at: StepIx, was: StepIx) -> Results {
        let mut results = Results { kept: 0, again: 0, unused: 0, why: None };
        if !is_kept_kind(&self.order.new.plan.step(at).form) {
            return results;
        }
        for step in self.state.steps().iter().filter(|step| step.step == was && !step.origin.superseded) {
            if self.tried.kept.contains(&step.path.to_string()) {
                results.kept += 1;
            } else if is_worth_keeping(step) {
                match self.tried.reason(step) {
                    Lost::Unused => results.unused += 1,
                    Lost::Again(redo) => {
                        results.again += 1;
                        results.why.get_or_insert(reason(redo));
                    }
                }
            }
        }
        results
    }

    fn gone(&self, path: String, at: StepIx) -> ComparedStep {
        let form = &self.order.old.plan.step(at).form;
        let unused = self.state.steps().iter().filter(|step| step.step == at && is_worth_keeping(step)).count();
        if unused == 0 || !is_kept_kind(form) {
            return ComparedStep::new(path, StepChange::Gone, Fate::Nothing);
        }
        let why = Some("what it did is not undone".to_owned());
        ComparedStep { why, unused, ..ComparedStep::new(path, StepChange::Gone, Fate::Dropped) }
    }

    fn inputs(&self) -> Vec<String> {
        let had = self.state.started.as_ref().map(|started| started.inputs.clone()).unwrap_or_default();
        let now = &self.order.inputs;
        let names = now.keys().chain(had.keys().filter(|name| !now.contains_key(*name)));
        names.filter(|name| had.get(*name) != now.get(*name)).cloned().collect()
    }

    fn notes(&self) -> Vec<String> {
        let new = self.order.new.plan;
        let unknown = self.found.unknown.iter().map(|at| new.step(*at)).filter_map(|step| {
            let was = step.was.as_ref()?;
            Some(format!("`{}`: the workflow of the run has no step `{was}`, so `was` has no effect", step.id))
        });
        unknown.collect()
    }
}

/// What becomes of the results of a step.
struct Results {
    kept: usize,
    again: usize,
    unused: usize,
    why: Option<&'static str>,
}

/// Why a result is not kept, in words.
fn reason(redo: Redo) -> &'static str {
    match redo {
        Redo::Unfinished => "it has not finished",
        Redo::Asked => "you asked for it",
        Redo::Changed => "it is changed",
        Redo::Failure => "it had failed, and treats failures in another way",
        Redo::Follows => "it comes after a step that runs again",
        Redo::Given => "it reads other values",
        Redo::Listed => "its items are looked up again; equal items keep their results",
    }
}

/// The values that a run gives to the inputs of a new plan: what it was given, and for the others the defaults of the new plan. A value
/// that was the default of the old plan counts as not given.
pub fn inputs(
    old: &Plan,
    new: &Plan,
    had: &IndexMap<String, Json>,
    given: &IndexMap<String, Json>,
) -> IndexMap<String, Json> {
    let mut inputs = carried(old, new, had);
    inputs.extend(given.clone());
    for (name, input) in &new.main().inputs {
        inputs.entry(name.as_str().to_owned()).or_insert_with(|| input.default.clone().unwrap_or_default());
    }
    inputs
}

/// The inputs that a run was given and that the new plan takes.
pub fn carried(old: &Plan, new: &Plan, had: &IndexMap<String, Json>) -> IndexMap<String, Json> {
    let input = |plan: &Plan, name: &str| {
        let mut all = plan.main().inputs.iter();
        all.find(|(known, _)| known.as_str() == name).map(|(_, input)| input.clone())
    };
    let is_default =
        |name: &str, value: &Json| input(old, name).is_some_and(|input| input.default.unwrap_or_default() == *value);
    let is_taken = |name: &str| input(new, name).is_some() || new.main().compat.contains(&Compat::OpenInputs);
    let kept = had.iter().filter(|(name, value)| is_taken(name) && !is_default(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
