//! Shared by the tools for hosted runs: turns the view of a run into a reply, and asks a person at a gate.

use longhaul_core::id::RunId;
use longhaul_core::view::Asked;
use longhaul_runtime::HandedStep;

use super::status;
use crate::mcp::ask::{ElicitationReply, ask};
use crate::mcp::handout;
use crate::mcp::tool::{Call, Problem, Reply};

/// How many gates to ask about in one call. After that the client calls again.
const GATES_MAX: usize = 10;

/// Turns the view of a run into a reply. If only a person can make it continue, and the client can ask, it asks first.
pub(crate) async fn reply(call: &Call, mut handed: HandedStep) -> Result<Reply, Problem> {
    for _ in 0..GATES_MAX {
        let Some(asked) = handed.questions.first().filter(|_| handed.ready.is_empty()) else { break };
        match ask(call, &handed.run, asked).await {
            ElicitationReply::Nothing => break,
            ElicitationReply::Later(questions) => return Ok(Reply::Asks(questions)),
            ElicitationReply::Answer(answer, comment) => {
                let message = call.caller.says(asked, answer, comment);
                call.state.send(&handed.run, message, &call.caller).await?;
                handed = call.state.engine().next(&handed.run, &call.caller.client).await?;
            }
        }
    }
    Ok(Reply::Done(handout::text(&handed), handout::data(&handed)))
}

/// Continues a call that ended with a question: answers with the current state of its run.
pub(crate) async fn taken_up(call: &Call, run: &str) -> Result<Reply, Problem> {
    let (run, loaded) = call.state.load(run).await?;
    if loaded.state.is_hosted() { next(call, &run).await } else { status::reply(call, &run).await }
}

/// The next steps of a run, as a reply.
pub(crate) async fn next(call: &Call, run: &RunId) -> Result<Reply, Problem> {
    let handed = call.state.engine().next(run, &call.caller.client).await?;
    reply(call, handed).await
}

/// The question of the named step, or the only one.
pub(crate) fn asked<'q>(questions: &'q [Asked], step: Option<&str>) -> Result<&'q Asked, Problem> {
    let open = || questions.iter().map(|asked| format!("`{}`", asked.path)).collect::<Vec<_>>().join(", ");
    match (step, questions) {
        (_, []) => Err(Problem::new("this run asks nothing at the moment; `status` shows its state")),
        (None, [one]) => Ok(one),
        (None, _) => Err(Problem::new(format!("several steps ask: {}; name one as `step`", open()))),
        (Some(step), _) => questions
            .iter()
            .find(|asked| asked.path.to_string() == step)
            .ok_or_else(|| Problem::new(format!("`{step}` asks nothing at the moment; these do: {}", open()))),
    }
}
