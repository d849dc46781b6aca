//! `run`: a command, or a script with the interpreter for its file ending.

use std::ffi::OsString;
use std::path::Path;

use longhaul_agents::process::{self, Captured, Chunk, Command, Files, ProcessEnd};
use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;

use super::{Attempt, Done, as_text};

/// The longest argument or variable on Linux: 32 pages, with a zero byte at the end.
const STRING_BYTES_MAX: usize = 128 << 10;

/// How many lines of stdout give the reason of a failure.
const REASON_LINES: usize = 2;

pub(super) async fn make(attempt: &Attempt) -> Done {
    if let Some(told) = attempt.shared.options.script.command(&attempt.start.path, attempt.start.attempt) {
        return ended(ProcessEnd::Exited(told.exit_code), told.stdout.clone(), told.stderr.clone());
    }
    let mut command = match command(attempt, &attempt.place()) {
        Ok(command) => command,
        Err(message) => return Done::unusable(ErrorClass::Invalid, message),
    };
    command.cwd = Some(attempt.cwd());
    command.timeout = attempt.timeout(None);
    command.stdin = attempt.param("stdin").map(|value| as_text(value).into_bytes()).unwrap_or_default();
    command.env.extend(variables(attempt));
    if let Some(message) = too_long(&command) {
        return Done::failed(ErrorClass::Invalid, message);
    }
    command.secrets = attempt.secrets.known().clone();
    let said = |chunk: Chunk<'_>| match chunk {
        Chunk::Stdout(bytes) | Chunk::Stderr(bytes) => attempt.say(&String::from_utf8_lossy(bytes)),
        Chunk::Short(_) | Chunk::Room => attempt.hear(chunk),
    };
    attempt.guarded().await;
    let file = command.stdout_file.clone();
    match process::run(command, attempt.cancel.clone(), said).await {
        Ok(output) => judged(attempt, &output, &file),
        Err(error) => Done::failed(ErrorClass::Failed, error.to_string()),
    }
}

fn command(attempt: &Attempt, folder: &Path) -> Result<Command, String> {
    let files = Files { stdout: folder.join("stdout"), stderr: folder.join("stderr") };
    let mark = attempt.mark();
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

/// The values of templates, then the step's own variables.
fn variables(attempt: &Attempt) -> Vec<(OsString, OsString)> {
    let bindings = attempt.param("bindings").and_then(Json::as_object);
    let values = bindings.into_iter().flatten().chain(&attempt.start.env);
    values.map(|(name, value)| (OsString::from(name), OsString::from(as_text(value)))).collect()
}

/// The message for a value that is too long for an argument or a variable.
fn too_long(command: &Command) -> Option<String> {
    let longest = command.env.iter().map(|(name, value)| name.len() + value.len() + 1);
    let longest =
        longest.chain(command.args.iter().map(|arg| arg.len())).max().filter(|bytes| *bytes >= STRING_BYTES_MAX)?;
    Some(format!(
        "a value of the command has {longest} bytes, and the system passes at most {STRING_BYTES_MAX} in one; give it to the command \
         with `stdin`, or write it to a file first"
    ))
}

fn judged(attempt: &Attempt, output: &process::ProcessOutput, file: &Path) -> Done {
    let most = attempt.shared.options.values.bytes_max;
    match whole(&output.stdout, file, most) {
        Ok(stdout) => ended(output.ended, stdout, output.stderr.text_lossy()),
        Err(why) => {
            let mut done = ended(output.ended, output.stdout.text_lossy(), output.stderr.text_lossy());
            done.failure.get_or_insert(Failure::new(ErrorClass::Failed, why));
            done
        }
    }
}

/// The whole output: from memory, or from the file if it was longer.
fn whole(printed: &Captured, file: &Path, most: usize) -> Result<String, String> {
    if printed.total > most as u64 {
        return Err(super::too_large("the output is", most));
    }
    if !printed.is_cut() {
        return Ok(printed.text_lossy());
    }
    let bytes = std::fs::read(file).map_err(|error| format!("the output cannot be read back: {error}"))?;
    match bytes.len() as u64 == printed.total {
        true => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        false => Err(format!("the output had {} bytes, and its file has {}", printed.total, bytes.len())),
    }
}

fn ended(how: ProcessEnd, stdout: String, stderr: String) -> Done {
    let mut done = Done::with(stdout.strip_suffix('\n').unwrap_or(&stdout).to_owned());
    done.result.stdout = Some(stdout);
    done.failure = match how {
        ProcessEnd::Exited(0) => None,
        ProcessEnd::Exited(code) => {
            let reason = if is_silent(&stderr) {
                last_words(done.result.stdout.as_deref().unwrap_or_default())
            } else {
                stderr.clone()
            };
            Some(Failure::new(ErrorClass::Failed, with_reason(format!("exit code {code}"), &reason)))
        }
        ProcessEnd::Signalled(signal) => Some(Failure::new(ErrorClass::Failed, format!("ended by signal {signal}"))),
        ProcessEnd::TimedOut => Some(Failure::new(ErrorClass::Timeout, "it took too long and was ended")),
        ProcessEnd::Cancelled => Some(Failure::new(ErrorClass::Failed, "stopped")),
    };
    done.result.exit_code = match how {
        ProcessEnd::Exited(code) => Some(code),
        ProcessEnd::Signalled(signal) => Some(128 + signal),
        ProcessEnd::TimedOut | ProcessEnd::Cancelled => None,
    };
    done.result.stderr = Some(stderr);
    done
}

fn is_silent(stderr: &str) -> bool {
    stderr.trim().is_empty()
}

/// The last lines that say something, in one line: git and test programs print the reason to stdout.
fn last_words(stdout: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    let mut lines: Vec<&str> = stdout.lines().rev().map(str::trim).filter(says).take(REASON_LINES).collect();
    lines.reverse();
    lines.join(" | ")
}

/// Adds the last line of stderr, which usually has the reason.
pub(super) fn with_reason(what: String, stderr: &str) -> String {
    match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{what}: {}", line.chars().take(300).collect::<String>()),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stdout: &str, stderr: &str) -> String {
        ended(ProcessEnd::Exited(1), stdout.to_owned(), stderr.to_owned()).failure.unwrap().message
    }

    #[test]
    fn the_reason_of_a_failure_is_found_wherever_it_was_printed() {
        let git = "On branch main\nnothing to commit, working tree clean\n";
        assert_eq!(failed(git, ""), "exit code 1: On branch main | nothing to commit, working tree clean");
        let tests = "=====\nFAILED a.py::test - assert 1 == 2\n\n=== 1 failed in 0.02s ===\n-----\n";
        assert_eq!(failed(tests, " \n"), "exit code 1: FAILED a.py::test - assert 1 == 2 | === 1 failed in 0.02s ===");
        assert_eq!(failed("working…\n", "first\nno such file\n\n"), "exit code 1: no such file");
        assert_eq!(failed("", ""), "exit code 1");
    }
}
