//! `answer`: records a person's answer at a gate.

use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_runtime::Applied;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{hosted, status};
use crate::mcp::arguments::schema;
use crate::mcp::ask::{ElicitationReply, ask};
use crate::mcp::decision;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

pub(crate) const TOOL: Tool = Tool {
    name: "answer",
    title: "Pass on a human's decision",
    about: "Passes on what a HUMAN said at a gate, a review or a question, word for word: `decision` approve, deny, edit (with `value`), skip or \
            one of the choices; or `value`, the answer to a question. Only call it after the human has seen what is asked and has answered; \
            never decide yourself. Where the client can ask the human directly, they are asked, and what they say counts.",
    nature: Nature::Ends,
    schema: schema::<Args>,
    call: |call| Box::pin(answer(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The id of the run.
    run: String,
    /// The step that asks. You can leave it out if only one step asks.
    #[serde(default)]
    step: Option<String>,
    /// approve, deny, edit, skip, or one of the choices.
    #[serde(default)]
    decision: Option<String>,
    /// The replacement (edit), or the answer to a question.
    #[serde(default)]
    value: Option<Json>,
    /// A comment of the human, such as a reason.
    #[serde(default)]
    comment: Option<String>,
}

async fn answer(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    let (run, loaded) = call.state.load(&args.run).await?;
    let questions = view::questions(&loaded.plan.0, &loaded.state);
    let asked = match hosted::asked(&questions, args.step.as_deref()) {
        Ok(asked) => asked,
        Err(problem) => return Err(too_late(&call, &run, &args, !questions.is_empty(), problem).await),
    };
    let relayed = decision::answer(asked, args.decision.as_deref(), args.value, args.comment.clone())?;
    let (answer, comment) = match ask(&call, &run, asked).await {
        ElicitationReply::Answer(own, comment) => (own, comment),
        ElicitationReply::Later(questions) => return Ok(Reply::Asks(questions)),
        ElicitationReply::Nothing if crate::mcp::ask::can_ask(&call.context) => {
            return Err(Problem::new("the human was asked and has not decided; the gate still waits"));
        }
        ElicitationReply::Nothing => (relayed, args.comment),
    };
    let message = call.caller.says(asked, answer, comment);
    let applied = call.state.send(&run, message, &call.caller).await?;
    onwards(&call, &applied).await
}

/// Why there is nothing to answer: another caller was first, or no step asks.
async fn too_late(call: &Call, run: &RunId, args: &Args, asks: bool, problem: Problem) -> Problem {
    let step: Option<StepPath> = args.step.as_deref().and_then(|step| step.parse().ok());
    if asks && step.is_none() {
        return problem;
    }
    let rejection = call.state.engine().asks_nothing(run, step.as_ref()).await;
    if rejection.first.is_some() { rejection.into() } else { problem }
}

/// The outcome of a command, and the state of the run after it.
pub(super) async fn onwards(call: &Call, applied: &Applied) -> Result<Reply, Problem> {
    let run = &applied.run;
    let is_hosted = call.state.engine().load(run).await?.state.is_hosted();
    let reply = if is_hosted { hosted::next(call, run).await? } else { status::reply(call, run).await? };
    Ok(match reply {
        Reply::Done(text, Value::Object(mut data)) => {
            data.insert("outcome".to_owned(), json!({"outcome": applied.what, "by": applied.by, "at": applied.at}));
            Reply::Done(format!("{}: {}.\n\n{text}", applied.run, applied.what), Value::Object(data))
        }
        other => other,
    })
}
