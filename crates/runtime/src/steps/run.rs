//! `run`: a command, or a script by the interpreter that its ending names.

use std::ffi::OsString;
use std::path::Path;

use longhaul_agents::process::{self, Chunk, Command, Ended, Files, Mark};
use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;

use super::{Attempt, Done, as_text};

pub(super) async fn make(attempt: &Attempt) -> Done {
    if let Some(told) = attempt.shared.options.script.command(&attempt.start.path, attempt.start.attempt) {
        return ended(Ended::Exited(told.exit_code), told.stdout.clone(), told.stderr.clone());
    }
    let mut command = match command(attempt, &attempt.place()) {
        Ok(command) => command,
        Err(message) => return Done::failed(ErrorClass::Invalid, message),
    };
    command.cwd = Some(attempt.cwd());
    command.timeout = attempt.timeout(None);
    command.stdin = attempt.param("stdin").map(|value| as_text(value).into_bytes()).unwrap_or_default();
    command.env.extend(variables(attempt));
    command.secrets = attempt.secrets.known().clone();
    let said = |chunk: Chunk<'_>| match chunk {
        Chunk::Stdout(bytes) | Chunk::Stderr(bytes) => attempt.say(&String::from_utf8_lossy(bytes)),
        Chunk::Short(_) | Chunk::Room => attempt.hear(chunk),
    };
    attempt.guarded().await;
    match process::run(command, attempt.cancel.clone(), said).await {
        Ok(output) => judged(&output),
        Err(error) => Done::failed(ErrorClass::Failed, error.to_string()),
    }
}

fn command(attempt: &Attempt, folder: &Path) -> Result<Command, String> {
    let files = Files { stdout: folder.join("stdout"), stderr: folder.join("stderr") };
    let mark = Mark {
        engine: attempt.shared.worker.as_str().to_owned(),
        attempt: format!("{}/{}@{}", attempt.run, attempt.start.path, attempt.start.attempt),
    };
    if let Some(text) = attempt.text("command") {
        let shell = attempt.text("shell").unwrap_or("bash");
        return Ok(Command::new(shell, files, mark).arg("-c").arg(text));
    }
    let script = attempt.text("script").ok_or("there is neither a command nor a script")?;
    let path = attempt.workflow_dir.join(script);
    let path = std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut command = match path.extension().and_then(|ending| ending.to_str()) {
        Some("py") => Command::new("python3", files, mark).arg(&path),
        Some("sh" | "bash") => Command::new("bash", files, mark).arg(&path),
        _ => Command::new(&path, files, mark),
    };
    let args = attempt.param("args").and_then(Json::as_array).cloned().unwrap_or_default();
    command.args.extend(args.iter().map(|arg| OsString::from(as_text(arg))));
    Ok(command)
}

/// Values of templates, then the step's own variables.
fn variables(attempt: &Attempt) -> Vec<(OsString, OsString)> {
    let bindings = attempt.param("bindings").and_then(Json::as_object);
    let values = bindings.into_iter().flatten().chain(&attempt.start.env);
    values.map(|(name, value)| (OsString::from(name), OsString::from(as_text(value)))).collect()
}

fn judged(output: &process::Output) -> Done {
    ended(output.ended, output.stdout.text_lossy(), output.stderr.text_lossy())
}

fn ended(how: Ended, stdout: String, stderr: String) -> Done {
    let mut done = Done::with(stdout.strip_suffix('\n').unwrap_or(&stdout).to_owned());
    done.result.stdout = Some(stdout);
    done.failure = match how {
        Ended::Exited(0) => None,
        Ended::Exited(code) => {
            Some(Failure::new(ErrorClass::Failed, with_reason(format!("exit code {code}"), &stderr)))
        }
        Ended::Signalled(signal) => Some(Failure::new(ErrorClass::Failed, format!("ended by signal {signal}"))),
        Ended::TimedOut => Some(Failure::new(ErrorClass::Timeout, "it took too long and was ended")),
        Ended::Cancelled => Some(Failure::new(ErrorClass::Failed, "stopped")),
    };
    done.result.exit_code = match how {
        Ended::Exited(code) => Some(code),
        Ended::Signalled(signal) => Some(128 + signal),
        Ended::TimedOut | Ended::Cancelled => None,
    };
    done.result.stderr = Some(stderr);
    done
}

/// The last line of the complaint says most.
pub(super) fn with_reason(what: String, stderr: &str) -> String {
    match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{what}: {}", line.chars().take(300).collect::<String>()),
        None => what,
    }
}
