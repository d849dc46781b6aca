//! `status`: shows the state of a run.

use longhaul_core::duration::format_ms;
use longhaul_core::id::RunId;
use longhaul_core::view::{self, Asked};
use longhaul_runtime::Loaded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::mcp::answers::Driven;
use crate::mcp::arguments::schema;
use crate::mcp::ask::{ElicitationReply, ask};
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};
use crate::mcp::{decision, handout};

pub(crate) const TOOL: Tool = Tool {
    name: "status",
    title: "State of a run",
    about: "The state of a run: status, steps, what it waits for, and the questions to a human. Claims and changes nothing.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(status(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
}

async fn status(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let (run, loaded) = call.state.load(&args.run).await?;
    if loaded.state.is_hosted() {
        let handed = call.state.engine().peek(&run).await?;
        return Ok(Reply::Done(handout::text(&handed), handout::data(&handed)));
    }
    Ok(done(&call, &run, &loaded))
}

/// The state of an engine-driven run. If it only waits for a person, and the client can ask, it asks first.
pub(crate) async fn reply(call: &Call, run: &RunId) -> Result<Reply, Problem> {
    let loaded = call.state.engine().load(run).await?;
    let questions = view::questions(&loaded.plan.0, &loaded.state);
    let Some(asked) = questions.first() else { return Ok(done(call, run, &loaded)) };
    match ask(call, run, asked).await {
        ElicitationReply::Nothing => Ok(done(call, run, &loaded)),
        ElicitationReply::Later(questions) => Ok(Reply::Asks(questions)),
        ElicitationReply::Answer(answer, comment) => {
            let message = call.caller.says(asked, answer, comment);
            call.state.send(run, message, &call.caller).await?;
            Ok(done(call, run, &call.state.engine().load(run).await?))
        }
    }
}

fn done(call: &Call, run: &RunId, loaded: &Loaded) -> Reply {
    let (plan, now) = (&loaded.plan.0, call.state.engine().now_ms());
    let glance = view::run(plan, &loaded.state, now);
    let steps = view::steps(plan, &loaded.state, now);
    let questions = view::questions(plan, &loaded.state);
    let mut lines = vec![headline(run, &glance)];
    steps.iter().for_each(|step| add_step(&mut lines, step, 1));
    lines.extend(glance.why.iter().map(|why| why.text.clone()));
    lines.extend(questions.iter().map(|asked| question(run, asked)));
    Reply::Done(lines.join("\n"), json!(Driven::of(run, glance, &steps, questions)))
}

fn headline(run: &RunId, glance: &view::Run) -> String {
    let time = format_ms(u64::try_from(glance.duration_ms / 1000 * 1000).unwrap_or(0));
    let message = glance.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
    format!(
        "Run {run} of `{}`: {}{message}, {} steps done, {time}",
        glance.workflow, glance.status, glance.progress.succeeded
    )
}

fn add_step(lines: &mut Vec<String>, step: &view::StepView, depth: usize) {
    let error = step.error.as_ref().map_or_else(String::new, |error| format!(": {}", error.message));
    lines.push(format!("{}{} {}{error}", "  ".repeat(depth), step.status, step.path));
    step.steps.iter().for_each(|inner| add_step(lines, inner, depth + 1));
}

fn question(run: &RunId, asked: &Asked) -> String {
    format!(
        "STOP: a human decides. `{}` asks: {}{}. Show it to them, end your turn, and pass on exactly what they say with the tool `answer` \
         (run {run}; {}). Never decide yourself.",
        asked.path,
        asked.text,
        asked.progress().map_or_else(String::new, |progress| format!(" ({progress})")),
        decision::takes(asked)
    )
}
