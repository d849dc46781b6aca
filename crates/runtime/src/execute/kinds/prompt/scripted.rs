//! A turn of the scripted agent: inside the engine, since there is no program that could be lost.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use longhaul_agents::contract::Entry;
use longhaul_agents::scripted::{Ask, Reply};
use longhaul_core::Json;
use longhaul_core::event::{Failure, Usage};
use longhaul_core::plan::ErrorClass;

use crate::execute::kinds::{Attempt, Done};

pub(super) async fn answer(attempt: &Attempt, prompt: &str) -> Done {
    let visit = attempt.start.path.segments().last().map_or(1, |segment| segment.visit);
    let ask = Ask {
        path: &attempt.start.path,
        attempt: attempt.start.attempt,
        prompt,
        schema: attempt.output.schema.as_ref(),
        call: visit + attempt.start.attempt - 1,
    };
    let reply = attempt.shared.options.script.reply(&ask);
    let pause = Duration::from_millis(reply.after_ms);
    let limit = attempt.timeout(None);
    let wait = if reply.instant { Duration::ZERO } else { pause.min(limit.unwrap_or(pause)) };
    tokio::select! {
        () = think(attempt, &reply.says, wait) => {}
        () = attempt.cancel.cancelled() => return Done::failed(ErrorClass::Failed, "stopped"),
    }
    if limit.is_some_and(|limit| limit < pause) {
        return Done::failed(ErrorClass::Timeout, "it took too long and was ended");
    }
    say(attempt, reply.says.len() as u64, &reply.text, !reply.says.is_empty());
    attempt.keep("stdout", &reply.text);
    answered(&attempt.cwd(), reply)
}

/// Says one thing after the other, with the same pause before each and after the last.
async fn think(attempt: &Attempt, says: &[String], pause: Duration) {
    let pieces = u32::try_from(says.len()).unwrap_or(u32::MAX).saturating_add(1);
    for (number, text) in says.iter().enumerate() {
        tokio::time::sleep(pause / pieces).await;
        say(attempt, number as u64, &format!("{text}\n"), true);
    }
    tokio::time::sleep(pause / pieces).await;
}

/// Shows a text to whoever watches. One that only answers leaves no transcript: `stdout` has it all.
fn say(attempt: &Attempt, number: u64, text: &str, is_kept: bool) {
    let entry = attempt.cleaned(Entry::Text { text: text.to_owned(), delta: false });
    if is_kept {
        // For people; the journal does not depend on it.
        let _ = write_down(attempt, number, &entry);
    }
    attempt.show(number, entry);
}

fn write_down(attempt: &Attempt, number: u64, entry: &Entry) -> io::Result<()> {
    let mut open = File::options();
    // What an earlier process said in the same attempt is said again.
    open.create(true).write(true).truncate(number == 0).append(number > 0);
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    open.open(attempt.folder()?.join("transcript.jsonl"))?.write_all(&line)
}

fn answered(workspace: &Path, reply: Reply) -> Done {
    if let Err(error) = write_all(workspace, &reply) {
        return Done::failed(ErrorClass::Failed, format!("a file cannot be written: {error}"));
    }
    let mut done = Done::with(Json::String(reply.text));
    done.result.usage = Some(Usage {
        input_tokens: reply.usage.input_tokens,
        output_tokens: reply.usage.output_tokens,
        usd: reply.usage.usd,
        ..Usage::default()
    });
    done.failure = reply.failure.map(|failure| Failure {
        retry_after_ms: failure.retry_after_ms,
        ..Failure::new(failure.class, failure.message)
    });
    done
}

fn write_all(workspace: &Path, reply: &Reply) -> std::io::Result<()> {
    for (name, content) in &reply.writes {
        let file = workspace.join(name);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, content)?;
    }
    Ok(())
}
