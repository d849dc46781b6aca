//! Changes workflows in the middle of runs, and checks what is kept.
//!
//! **Invariant:** a result is kept only if the step that made it means the same, and nothing that was kept is made again.

use std::collections::HashMap;

use longhaul_core::Json;
use longhaul_core::decide::{Planner, replace};
use longhaul_core::event::{Envelope, Event};
use longhaul_core::index::Index;
use longhaul_core::plan::{Form, Plan, Step, StepIx};
use longhaul_core::replan::{Choices, Comparison, Replacement, Seen, compare};
use longhaul_core::state::State;
use serde_json::json;

use super::{Chance, Sim};
use crate::whole::advance;

/// The plans that a run had, and what its results were made with.
pub(super) struct Edits {
    text: Json,
    plans: Vec<(String, Plan, Index)>,
    /// What a step was when it made its result, by address.
    made: HashMap<String, Json>,
}

impl Edits {
    pub(super) fn new(text: &str, plan: &Plan) -> Self {
        let text = serde_json::from_str(text).unwrap_or_default();
        Self { text, plans: vec![("sim".to_owned(), plan.clone(), Index::of(plan))], made: HashMap::new() }
    }

    pub(super) fn first(&self) -> (&Plan, &Index) {
        (&self.plans[0].1, &self.plans[0].2)
    }

    pub(super) fn named(&self, name: &str) -> Option<(&Plan, &Index)> {
        self.plans.iter().find(|(known, ..)| known == name).map(|(_, plan, index)| (plan, index))
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(&self.text).unwrap_or_default()
    }
}

impl Sim {
    /// A person changes the workflow, if the run and the checker allow it.
    pub(super) fn edit(&mut self) -> Result<(), String> {
        let Some(edits) = self.edits.as_ref() else { return Ok(()) };
        let mut text = edits.text.clone();
        changed(&mut text, &mut self.chance);
        let Ok(plan) = crate::plan(&serde_json::to_string(&text).unwrap_or_default()) else { return Ok(()) };
        let index = Index::of(&plan);
        let name = format!("sim {}", self.history.len());
        let seen = self.seen()?;
        let mut choices = Choices::default();
        let Some((comparison, _)) = self.compared(&plan, &index, &name, &seen, &choices)? else { return Ok(()) };
        for step in comparison.asks {
            if self.chance.one_in(2) { choices.keep.push(step) } else { choices.redo.push(step) }
        }
        let Some((_, replaced)) = self.compared(&plan, &index, &name, &seen, &choices)? else { return Ok(()) };
        if let Some(edits) = &mut self.edits {
            edits.text = text;
            edits.plans.push((name, plan.clone(), index.clone()));
        }
        let planner = Planner { plan: &plan, index: &index };
        self.now += 1_000;
        let mut taken = replace(planner, &mut self.state, replaced, self.now).map_err(|error| error.0)?;
        let more = advance(planner, &mut self.state, Vec::new(), self.now).map_err(|error| error.0)?;
        taken.events.extend(more.events);
        self.remember(&taken.events, planner)?;
        self.history.extend(taken.events.iter().cloned());
        self.witness.watch(planner, &self.state, &taken.events)?;
        more.starts.iter().try_for_each(|start| self.witness.begins(start))?;
        self.open = if self.state.is_finished() { Vec::new() } else { more.starts };
        (self.plan, self.index) = (plan, index);
        Ok(())
    }

    fn compared(
        &self,
        plan: &Plan,
        index: &Index,
        name: &str,
        seen: &Seen,
        choices: &Choices,
    ) -> Result<Option<(Comparison, longhaul_core::event::PlanReplaced)>, String> {
        let order = Replacement {
            old: Planner { plan: &self.plan, index: &self.index },
            new: Planner { plan, index },
            plan: name.to_owned(),
            source: None,
            inputs: Default::default(),
            consent: None,
            choices: choices.clone(),
            by: None,
        };
        match compare(order, &self.state, seen) {
            Ok(compared) => Ok(Some(compared)),
            Err(_) if self.state.running() > 0 || self.state.cancelling => Ok(None),
            Err(rejection) => Err(format!("a changed workflow was refused: {rejection}")),
        }
    }

    /// What every step was given, from the history.
    fn seen(&self) -> Result<Seen, String> {
        let (mut state, mut seen) = (State::default(), Seen::default());
        let Some(edits) = &self.edits else { return Ok(seen) };
        let mut plan = edits.first();
        for envelope in &self.history {
            if let Event::PlanReplaced(replaced) = &envelope.event {
                plan = edits.named(&replaced.plan).unwrap_or(plan);
            }
            seen.look(Planner { plan: plan.0, index: plan.1 }, &state, &envelope.event);
            state.apply(plan.0, plan.1, envelope).map_err(|error| error.0)?;
        }
        Ok(seen)
    }

    /// Notes what results are made with, and checks that what is kept was made with the same.
    pub(super) fn remember(&mut self, events: &[Envelope], planner: Planner<'_>) -> Result<(), String> {
        let (Some(edits), state) = (&mut self.edits, &self.state) else { return Ok(()) };
        let before = edits.made.clone();
        for envelope in events {
            let (path, was) = match &envelope.event {
                Event::AttemptStarted { path, .. }
                | Event::WaitStarted { path, .. }
                | Event::QuestionAsked { path, .. } => (path, None),
                Event::ResultKept { path, was, .. } => (path, Some(was.as_ref().unwrap_or(path))),
                _ => continue,
            };
            let Some(step) = state.find(path) else { continue };
            let now = meaning(planner.plan, step.step);
            if let Some(was) = was
                && before.get(&was.to_string()).is_some_and(|then| *then != now)
            {
                return Err(format!("`{path}` keeps a result of `{was}`, which was another step:\n{now}"));
            }
            edits.made.insert(path.to_string(), now);
        }
        Ok(())
    }
}

/// What a result is made with, told independently of the comparison.
fn meaning(plan: &Plan, at: StepIx) -> Json {
    let Step { form, env, cwd, output, .. } = plan.step(at);
    let form = match form {
        Form::Work(work) => json!([work.kind, work.params]),
        Form::Approve(approve) => json!([approve.question, approve.choices]),
        Form::Ask { question, answer, .. } => json!([question, answer]),
        Form::ForEach { items, .. } => json!(items),
        Form::Wait(wait) => json!(form_of_wait(wait)),
        other => json!(other.word()),
    };
    json!([form, env, cwd, output.schema, output.parse])
}

/// How long a signal is waited for does not change what it brings.
fn form_of_wait(wait: &longhaul_core::plan::Wait) -> Json {
    match wait {
        longhaul_core::plan::Wait::Event { name, schema, .. } => json!([name, schema]),
        other => json!(other),
    }
}

/// Changes one thing somewhere in a workflow.
fn changed(text: &mut Json, chance: &mut Chance) {
    let count = bodies(text);
    let wanted = chance.index(count.max(1));
    let mut seen = 0;
    visit(text, &mut |steps| {
        if seen == wanted {
            change(steps, chance);
        }
        seen += 1;
    });
}

fn bodies(text: &mut Json) -> usize {
    let mut count = 0;
    visit(text, &mut |_| count += 1);
    count
}

/// Every list of steps.
fn visit(value: &mut Json, each: &mut impl FnMut(&mut Vec<Json>)) {
    match value {
        Json::Array(items) => {
            if items.first().is_some_and(|first| first.get("id").is_some()) {
                each(items);
            }
            items.iter_mut().for_each(|item| visit(item, each));
        }
        Json::Object(fields) => fields.values_mut().for_each(|value| visit(value, each)),
        _ => {}
    }
}

fn change(steps: &mut Vec<Json>, chance: &mut Chance) {
    let at = chance.index(steps.len());
    match chance.below(7) {
        0 => drop(steps.remove(at)),
        1 => {
            let other = chance.index(steps.len());
            steps.swap(at, other);
        }
        2 => {
            let id = format!("n{}", chance.below(1_000));
            steps.insert(at, json!({"id": id, "run": "true"}));
        }
        3 => {
            let was = steps[at]["id"].clone();
            steps[at]["id"] = json!(format!("r{}", chance.below(1_000)));
            if chance.one_in(2) {
                steps[at]["was"] = was;
            }
        }
        4 => steps[at]["timeout"] = json!(format!("{}m", 1 + chance.below(50))),
        // The same, in other words.
        5 => steps[at]["name"] = json!("A name for people"),
        _ => {
            for key in ["run", "prompt", "approve", "ask"] {
                if let Some(Json::String(text)) = steps[at].get_mut(key) {
                    text.push_str(" # changed");
                }
            }
        }
    }
}
