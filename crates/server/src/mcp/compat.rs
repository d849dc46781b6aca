//! Tool sets of other systems: their names, arguments and answers on top of the same engine, for setups that move to
//! Longhaul.
//!
//! ```text
//! agent007_* | wb_* | workflows_* ─▶ their arguments ─▶ app state, engine ─▶ their answers
//! ```
//!
//! **Invariant:** a set only translates. The engine decides, records and rejects, and a wrong call does no harm.

mod agent007;
mod journal;
mod valet;
mod work_buddy;

use std::str::FromStr;

use longhaul_core::path::StepPath;
use longhaul_lang::diagnostic::closest;
use serde_json::Value;

use crate::app_state::AppState;
use crate::mcp::tool::{Call, Problem, Reply, Tool};

pub(crate) use valet::{Action, call as act};

/// A tool set of another system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// `agent007_*`.
    Agent007,
    /// `workflows_*`: Valet's actions on workflows.
    Valet,
    /// `wb_*`.
    WorkBuddy,
}

/// The names of the sets.
const SETS: [&str; 3] = ["agent007", "valet", "work-buddy"];

impl FromStr for ToolSet {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "agent007" => Ok(Self::Agent007),
            "valet" => Ok(Self::Valet),
            "work-buddy" => Ok(Self::WorkBuddy),
            _ => {
                let best = closest(word, &SETS).map(|best| format!("did you mean `{best}`?"));
                let help = best.unwrap_or_else(|| format!("there are: {}", SETS.join(", ")));
                Err(format!("there is no tool set `{word}`; {help}"))
            }
        }
    }
}

/// The tools of the sets that this server offers.
pub(crate) fn tools(desk: &AppState) -> Vec<rmcp::model::Tool> {
    let mut tools: Vec<_> = fixed(desk).into_iter().map(Tool::described).collect();
    if desk.compat().contains(&ToolSet::Agent007) {
        tools.extend(agent007::per_workflow::tools(desk));
    }
    if desk.compat().contains(&ToolSet::Valet) {
        tools.extend(valet::tools());
    }
    tools
}

/// The action of Valet with this name, if the server offers that set.
pub(crate) fn action(desk: &AppState, name: &str) -> Option<&'static Action> {
    desk.compat().contains(&ToolSet::Valet).then(|| valet::named(name)).flatten()
}

/// Carries out a call if it belongs to one of the sets.
pub(crate) async fn call(name: &str, call: Call) -> Result<Result<Reply, Problem>, Call> {
    if let Some(tool) = fixed(&call.state).into_iter().find(|tool| tool.name == name) {
        return Ok((tool.call)(call).await);
    }
    if !call.state.compat().contains(&ToolSet::Agent007) {
        return Err(call);
    }
    match agent007::per_workflow::named(&call.state, name) {
        Some(workflow) => Ok(agent007::per_workflow::call(call, workflow).await),
        None => Err(call),
    }
}

fn fixed(desk: &AppState) -> Vec<&'static Tool> {
    let sets = [(ToolSet::Agent007, agent007::table()), (ToolSet::WorkBuddy, work_buddy::table())];
    // A set that is configured twice appears once.
    let there = sets.into_iter().filter(|(set, _)| desk.compat().contains(set));
    there.flat_map(|(_, table)| table).collect()
}

/// A reply with data, and the same data as text, because clients of these sets read the text.
fn told(data: Value) -> Reply {
    Reply::Done(format!("{data:#}"), data)
}

/// The name of a step there: its id, without the visit. Inside another step it is the address.
fn step_name(path: &StepPath) -> String {
    match path.segments() {
        [only] => only.id.to_string(),
        _ => path.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_set_is_told_with_the_nearest_one() {
        assert_eq!("work-buddy".parse(), Ok(ToolSet::WorkBuddy));
        let said = |word: &str| word.parse::<ToolSet>().unwrap_err();
        assert_eq!(said("agent07"), "there is no tool set `agent07`; did you mean `agent007`?");
        assert_eq!(said("zzz"), "there is no tool set `zzz`; there are: agent007, valet, work-buddy");
    }

    #[test]
    fn a_step_is_called_by_its_id_on_every_visit() {
        let name = |path: &str| step_name(&path.parse().unwrap());
        assert_eq!((name("impl#2").as_str(), name("child/impl").as_str()), ("impl", "child/impl"));
    }
}
