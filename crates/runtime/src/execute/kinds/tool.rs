//! `tool`: one call of one tool. The step alone decides; no agent is involved.

mod builtin;
mod compat;
mod server;

use longhaul_agents::process::{Chunk, Command, Files};
use longhaul_core::Json;
use longhaul_core::plan::ErrorClass;
use serde_json::Map;

use super::{Attempt, Done};
pub(super) use server::usable;

pub(super) async fn make(attempt: &Attempt) -> Done {
    let name = attempt.text("tool").unwrap_or_default();
    let Some((server, tool)) = name.split_once('.') else {
        return Done::unusable(ErrorClass::Failed, format!("`{name}` does not name a tool as `server.tool`"));
    };
    match server {
        "longhaul" => builtin::make(attempt, tool).await,
        "python" => compat::python::make(attempt, tool).await,
        server => server::make(attempt, server, tool).await,
    }
}

/// The arguments of the call.
fn arguments(attempt: &Attempt) -> Map<String, Json> {
    attempt.param("args").and_then(Json::as_object).cloned().unwrap_or_default()
}

/// A program that gets a request on stdin and answers on stdout. Its stderr is stored and shown.
fn asked(attempt: &Attempt, program: impl Into<std::ffi::OsString>, ask: &Json, hidden: Vec<String>) -> Command {
    let folder = attempt.place();
    let files = Files { stdout: folder.join("stdout"), stderr: folder.join("stderr") };
    let mark = attempt.mark();
    let mut command = Command::new(program, files, mark);
    command.cwd = Some(attempt.cwd());
    command.keep_bytes = 2 * attempt.shared.options.values.bytes_max;
    command.stdin = format!("{ask}\n").into_bytes();
    command.env.extend(attempt.start.env.iter().map(|(name, value)| (name.into(), super::as_text(value).into())));
    command.secrets = attempt.secrets.with(hidden);
    command
}

/// Shows its stderr to all watchers.
fn shown(attempt: &Attempt) -> impl FnMut(Chunk<'_>) + Send {
    |chunk| {
        if let Chunk::Stderr(bytes) = chunk {
            attempt.say(&String::from_utf8_lossy(bytes));
        }
        attempt.hear(chunk);
    }
}

/// The one line that a program answered, or why there is none.
fn line(attempt: &Attempt, output: &longhaul_agents::process::ProcessOutput) -> Result<String, String> {
    let most = attempt.shared.options.values.bytes_max;
    if output.stdout.is_cut() || output.stdout.total > most as u64 {
        return Err(super::too_large("the answer is", most));
    }
    Ok(output.stdout.text_lossy())
}
