//! Approves or denies the question of a run, and cancels runs.
//!
//! **Invariant:** the token is compared before a run gets a message. It is made with the secret of the question, so the
//! visible data of a run is not enough to compute it.

use longhaul_app::RunCommand;
use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::Auth;
use longhaul_core::view::{self, Asked};
use longhaul_lang::hash::sha256;
use longhaul_runtime::{Loaded, Message, key_of};
use schemars::JsonSchema;
use serde::Deserialize;
use subtle::ConstantTimeEq;

use super::executions::shown;
use super::{Action, rows};
use crate::app_state::AppState;
use crate::mcp::tool::{Call, Nature, Problem};

/// The prefix of tokens.
const PREFIX: &str = "wrf_rt_";
/// How many digits a token has.
const DIGITS: usize = 24;

pub(super) const ACTIONS: &[Action] = &[
    Action::new::<Approve>(
        "approve_execution",
        "Passes on what a HUMAN decided about a run that waits for an approval. The resume token is the one that `get_execution` gives. \
         A run cannot approve itself.",
        Nature::Ends,
        |call| Box::pin(approve(call)),
    ),
    Action::new::<Cancel>("cancel_execution", "Ends a run. One that is over stays as it is.", Nature::Ends, |call| {
        Box::pin(cancel(call))
    }),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approve {
    /// The id of the run.
    execution_id: String,
    /// Whether it continues.
    approve: bool,
    /// The token of what is asked.
    resume_token: String,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cancel {
    /// The id of the run.
    execution_id: String,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

async fn approve(mut call: Call) -> Result<Json, Problem> {
    let args: Approve = call.arguments()?;
    let (run, loaded) = call.state.load(&args.execution_id).await?;
    let questions = view::questions(&loaded.plan.0, &loaded.state);
    let Some(first) = questions.first() else {
        let status = rows::status(view::run(&loaded.plan.0, &loaded.state, 0).status, false);
        return Err(Problem::new(format!("{run} is {status}: it waits for no approval, and nothing was changed")));
    };
    let mut meant = None;
    for asked in &questions {
        let own = token(&call.state, &run, &loaded, asked).await?;
        if bool::from(own.as_bytes().ct_eq(args.resume_token.trim().as_bytes())) {
            meant = Some(asked);
        }
    }
    let Some(asked) = meant else {
        return Err(Problem::new(format!(
            "resume_token_mismatch:{}: the token fits nothing that {run} asks; `get_execution` gives it, and nothing was changed",
            first.path
        )));
    };
    let answer = match args.approve {
        true => Answer::Approve,
        false => Answer::Deny { reason: args.reason.clone() },
    };
    call.state.send(&run, told(&call, &run, asked, answer, args.reason).await?, &call.caller).await?;
    shown(&call, &run).await
}

/// The answer, with the secret of the question as proof.
async fn told(
    call: &Call,
    run: &RunId,
    asked: &Asked,
    answer: Answer,
    reason: Option<String>,
) -> Result<Message, Problem> {
    let secret = call.state.engine().secret(run, &asked.path).await?;
    let mut message = call.caller.says(asked, answer, reason);
    if let (Message::Answer { key, caller: Some(caller), .. }, Some(secret)) = (&mut message, secret) {
        *key = Some(key_of(&secret));
        caller.auth = Auth::Secret;
    }
    Ok(message)
}

async fn cancel(mut call: Call) -> Result<Json, Problem> {
    let args: Cancel = call.arguments()?;
    let (run, loaded) = call.state.load(&args.execution_id).await?;
    if !loaded.state.is_finished() {
        call.state.command(&run, RunCommand::Cancel { reason: args.reason }, &call.caller).await?;
    }
    shown(&call, &run).await
}

/// The token of a question.
pub(super) async fn token(desk: &AppState, run: &RunId, loaded: &Loaded, asked: &Asked) -> Result<String, Problem> {
    let nonce = desk.engine().secret(run, &asked.path).await?.unwrap_or_default();
    let attempt = loaded.state.find(&asked.path).map_or(1, |step| step.attempts.max(1));
    let (around, step) = parts(asked);
    Ok(written(run.as_str(), &step, attempt, &around, &nonce))
}

/// The path around a step, and the name of the step.
fn parts(asked: &Asked) -> (String, String) {
    let path = asked.path.to_string();
    path.rsplit_once('/')
        .map_or_else(|| (String::new(), path.clone()), |(around, step)| (around.to_owned(), step.to_owned()))
}

/// Makes a token as Valet does, from the values that identify a step and a secret.
fn written(run: &str, step: &str, attempt: u32, around: &str, nonce: &str) -> String {
    let nonce = if nonce.is_empty() { String::new() } else { format!(":{nonce}") };
    let hash = sha256(format!("{run}:{step}:{attempt}:{around}{nonce}").as_bytes());
    let digits: String = hash.trim_start_matches("sha256:").chars().take(DIGITS).collect();
    format!("{PREFIX}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_made_as_the_original_makes_them() {
        assert_eq!(written("exec-1", "a1", 1, "", ""), "wrf_rt_2c2402fe79004469fde65437");
        assert_eq!(written("exec-1", "g1", 1, "", "N"), "wrf_rt_5efa5ab6794ceda8d6fdcec1");
    }
}
