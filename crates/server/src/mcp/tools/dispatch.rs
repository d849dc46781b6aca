//! `dispatch`: carries out one line of text as a command.

use longhaul_core::event::Driver;
use longhaul_core::id::RunId;
use longhaul_lang::world::{NameKind, World};
use longhaul_runtime::Startable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{hosted, workflow_list};
use crate::app_state::Order;
use crate::mcp::answers::{Skills, Usage};
use crate::mcp::arguments::schema;
use crate::mcp::dispatch::{Command, USAGE, read};
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// The workflow of a task alone.
const TASK: &str =
    "name: task\ndescription: One task by itself\ndo:\n  - {id: task, prompt: \"{{ task }}\", output: result}\n";
/// The workflow of a task with a skill. The text of the skill is an input, so nothing in it is a template.
const SKILL: &str = "name: skill\ndescription: One task with a skill\ninputs: {skill: string}\ndo:\n  - {id: skill, prompt: \"{{ inputs.skill }}\\n\\n{{ task }}\", output: result}\n";

pub(crate) const TOOL: Tool = Tool {
    name: "dispatch",
    title: "Carry out a command line",
    about: "Carries out one line as a user types it, passed on unchanged: `wf tdd Add X`, `tdd Add X`, `wf`, `skill NAME WORDS`, `/NAME WORDS`, \
            `run TASK`, `help`. Workflows are started hosted: you do their steps.",
    nature: Nature::Adds,
    schema: schema::<Args>,
    call: |call| Box::pin(dispatch(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The line, as it was typed.
    command: String,
}

/// The result of a line.
pub(crate) enum Came {
    /// A hosted run was started.
    To(RunId),
    /// A reply without a run.
    Said(Reply),
}

async fn dispatch(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    match carried_out(&call, &args.command).await? {
        Came::To(run) => hosted::next(&call, &run).await,
        Came::Said(reply) => Ok(reply),
    }
}

/// Carries out a line.
pub(crate) async fn carried_out(call: &Call, line: &str) -> Result<Came, Problem> {
    let names: Vec<String> = call.state.disk().library.all().into_iter().map(|entry| entry.name).collect();
    let command = read(line, &names).map_err(|why| Problem::new(format!("{why}\n\n{USAGE}")))?;
    Ok(match command {
        Command::Help => Came::Said(Reply::Done(USAGE.to_owned(), json!(Usage { usage: USAGE, workflows: names }))),
        Command::Workflows => Came::Said(workflow_list::reply(&call.state)),
        Command::Workflow(workflow, task) => {
            let order = Order { task, ..Order::default() };
            Came::To(call.state.start(&workflow, order, Driver::Client, &call.caller).await?)
        }
        Command::Task(task) => Came::To(alone(call, "task", TASK, Order { task, ..Order::default() }).await?),
        Command::Skills => Came::Said(skills(call)),
        Command::Skill(name, words) => Came::To(skill(call, &name, words).await?),
    })
}

fn skills(call: &Call) -> Reply {
    let disk = call.state.disk();
    let names = disk.names(NameKind::Skill);
    let text = if names.is_empty() { "there are no skills".to_owned() } else { names.join("\n") };
    Reply::Done(text, json!(Skills { skills: names.to_vec() }))
}

async fn skill(call: &Call, name: &str, task: String) -> Result<RunId, Problem> {
    let described = {
        let disk = call.state.disk();
        disk.described(NameKind::Skill, name)
            .ok_or_else(|| Problem::unknown("skill", name, disk.names(NameKind::Skill)))
    };
    let described = described.map_err(|problem| Problem::new(format!("{}\n\n{USAGE}", problem.text)))?;
    let inputs = [("skill".to_owned(), described.text.into())].into_iter().collect();
    alone(call, "skill", SKILL, Order { task, inputs, run: None }).await
}

/// Starts a run with a single step.
async fn alone(call: &Call, name: &str, text: &str, order: Order) -> Result<RunId, Problem> {
    let plan = call.state.plan_of(name, text)?;
    let startable = Startable { plan, dir: call.state.disk().project.root, source: None };
    call.state.start_plan(&startable, order, Driver::Client, &call.caller).await
}
