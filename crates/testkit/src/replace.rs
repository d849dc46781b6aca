//! Gives a run in virtual time another plan.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::decide::{Planner, replace};
use longhaul_core::index::Index;
use longhaul_core::plan::Plan;
use longhaul_core::replan::{ComparedStep, Comparison, Replacement, Seen, compare};
use longhaul_core::state::State;

use crate::script::OutsideScript;
use crate::whole::advance;
use crate::world::{HAPPENINGS_MAX, VirtualWorld};

impl VirtualWorld {
    /// Continues the run with another workflow and another script. Returns the comparison as text.
    pub fn replace(&mut self, workflow: &str, script: &str) -> Result<String, String> {
        let plan = crate::plan(workflow)?;
        let mut script = OutsideScript::parse(script)?;
        script.at.clear();
        let index = Index::of(&plan);
        let seen = self.seen()?;
        let order = Replacement {
            old: Planner { plan: &self.plan, index: &self.index },
            new: Planner { plan: &plan, index: &index },
            plan: format!("test {}", self.state.seq),
            source: None,
            inputs: inputs(&self.plan, &plan, &self.state, &script),
            consent: None,
            choices: script.choices.clone(),
            by: None,
        };
        let (comparison, replaced) = match compare(order, &self.state, &seen) {
            Ok(compared) => compared,
            Err(rejection) => return Ok(format!("refused: {rejection}\n")),
        };
        let text = shown(&comparison);
        if !comparison.asks.is_empty() {
            return Ok(text);
        }
        let planner = Planner { plan: &plan, index: &index };
        let mut taken = replace(planner, &mut self.state, replaced, self.now).map_err(|error| error.0)?;
        let more = advance(planner, &mut self.state, Vec::new(), self.now).map_err(|error| error.0)?;
        taken.events.extend(more.events);
        taken.starts.extend(more.starts);
        taken.stops.extend(more.stops);
        self.witness.watch(planner, &self.state, &taken.events)?;
        (self.plan, self.index, self.script) = (plan, index, script);
        (self.acts, self.thens) = (0, 0);
        self.coming.clear();
        self.took(taken);
        for _ in 0..HAPPENINGS_MAX {
            if !self.next()? {
                return Ok(text);
            }
        }
        Err("the run does not end".to_owned())
    }

    /// What every step was given, from the history. It has one plan only.
    fn seen(&self) -> Result<Seen, String> {
        let (mut state, mut seen) = (State::default(), Seen::default());
        let planner = Planner { plan: &self.plan, index: &self.index };
        for envelope in &self.history {
            seen.look(planner, &state, &envelope.event);
            state.apply(&self.plan, &self.index, envelope).map_err(|error| error.0)?;
        }
        Ok(seen)
    }
}

fn inputs(old: &Plan, new: &Plan, state: &State, script: &OutsideScript) -> IndexMap<String, Json> {
    let had = state.started.as_ref().map(|started| started.inputs.clone()).unwrap_or_default();
    let given: IndexMap<String, Json> = script.inputs.iter().cloned().collect();
    longhaul_core::replan::inputs(old, new, &had, &given)
}

/// The comparison, one line for each step.
fn shown(comparison: &Comparison) -> String {
    let mut lines: Vec<String> = comparison.rows.iter().map(ComparedStep::line).collect();
    if !comparison.inputs.is_empty() {
        lines.push(format!("inputs: {}", comparison.inputs.join(", ")));
    }
    lines.extend(comparison.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n") + "\n"
}
