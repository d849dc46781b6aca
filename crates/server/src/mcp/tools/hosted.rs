//! What the calls of a hosted run have in common: how its picture becomes a reply, and how a gate is put to a person on the way.

use longhaul_core::id::RunId;
use longhaul_core::view::Asked;
use longhaul_runtime::Handed;

use super::status;
use crate::mcp::ask::{Said, ask};
use crate::mcp::handout;
use crate::mcp::tool::{Call, Problem, Reply};

/// Gates that are put to a person in one call; after that the client asks again.
const GATES_MAX: usize = 10;

/// The picture as a reply. If only a person can make it continue, and the client can ask them, they are asked first.
pub(crate) async fn reply(call: &Call, mut handed: Handed) -> Result<Reply, Problem> {
    for _ in 0..GATES_MAX {
        let Some(asked) = handed.questions.first().filter(|_| handed.ready.is_empty()) else { break };
        match ask(call, &handed.run, asked).await {
            Said::Nothing => break,
            Said::Later(questions) => return Ok(Reply::Asks(questions)),
            Said::Answer(answer, comment) => {
                let message = call.caller.says(asked, answer, comment);
                call.desk.engine().tell(&handed.run, message, None).await?;
                handed = call.desk.engine().next(&handed.run, &call.caller.client).await?;
            }
        }
    }
    Ok(Reply::Done(handout::text(&handed), handout::data(&handed)))
}

/// Continues with a call that was answered by a question: with its run, as it stands now, whatever the call was.
pub(crate) async fn taken_up(call: &Call, run: &str) -> Result<Reply, Problem> {
    let (run, loaded) = call.desk.load(run).await?;
    if loaded.state.is_hosted() { next(call, &run).await } else { status::reply(call, &run).await }
}

/// The next steps of a run, as a reply.
pub(crate) async fn next(call: &Call, run: &RunId) -> Result<Reply, Problem> {
    let handed = call.desk.engine().next(run, &call.caller.client).await?;
    reply(call, handed).await
}

/// The question that is meant: of the step named, or the only one.
pub(crate) fn asked<'q>(questions: &'q [Asked], step: Option<&str>) -> Result<&'q Asked, Problem> {
    let open = || questions.iter().map(|asked| format!("`{}`", asked.path)).collect::<Vec<_>>().join(", ");
    match (step, questions) {
        (_, []) => Err(Problem::new("this run asks nothing at the moment; `status` shows how it stands")),
        (None, [one]) => Ok(one),
        (None, _) => Err(Problem::new(format!("several steps ask: {}; name one as `step`", open()))),
        (Some(step), _) => questions
            .iter()
            .find(|asked| asked.path.to_string() == step)
            .ok_or_else(|| Problem::new(format!("`{step}` asks nothing at the moment; these do: {}", open()))),
    }
}
