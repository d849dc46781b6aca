//! `shell`: runs a command in the workspace.
//!
//! **Invariant:** when the tool has answered, no process of the command is running. The key of the model is not in its
//! environment.

use std::time::Duration;

use serde::Deserialize;

use super::{Said, Tool, Toolbox};
use crate::process::{
    self, ATTEMPT_VARIABLE, Command, ENGINE_VARIABLE, Files, InheritEnv, Mark, ProcessEnd, ProcessOutput,
};
use crate::redact::Redaction;

const TIMEOUT_S: u64 = 120;
const TIMEOUT_S_MAX: u64 = 1_800;
const KEEP_BYTES: usize = 16 << 10;
const DISK_BYTES_MAX: u64 = 64 << 20;

pub(super) const TOOL: Tool = Tool {
    name: "shell",
    aliases: &["bash", "sh", "run", "exec"],
    about: "Run a command with `sh` in the workspace and see what it prints. Nothing it starts outlives it.",
    parameters: &[
        ("command", "string", "The command."),
        ("timeout_s?", "integer", "How many seconds it may take; 120 if it is left out, 1800 at most."),
    ],
    is_harmless: false,
};

#[derive(Deserialize)]
pub(super) struct Input {
    command: String,
    timeout_s: Option<u64>,
}

pub(super) async fn run(tools: &Toolbox<'_>, input: &Input) -> Said {
    let timeout_s = input.timeout_s.unwrap_or(TIMEOUT_S).clamp(1, TIMEOUT_S_MAX);
    let command = command(tools, &input.command, Duration::from_secs(timeout_s));
    match process::run(command, tools.cancel.clone(), |_| tools.lines.alive()).await {
        Ok(output) if output.ended == ProcessEnd::Cancelled => Said::Stopped,
        Ok(output) => said(&output, timeout_s),
        Err(error) => Said::Failed(error.to_string()),
    }
}

fn command(tools: &Toolbox<'_>, text: &str, timeout: Duration) -> Command {
    let files = Files { stdout: tools.scratch.join("shell.out"), stderr: tools.scratch.join("shell.err") };
    let key = tools.key.as_ref();
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let inherited = names.filter(|name| key.is_none_or(|(hidden, _)| hidden != name)).collect();
    Command {
        cwd: Some(tools.workspace.cwd().to_owned()),
        inherit_env: InheritEnv::Only(inherited),
        keep_bytes: KEEP_BYTES,
        disk_bytes_max: DISK_BYTES_MAX,
        timeout: Some(timeout),
        secrets: Redaction::new(key.map(|(_, value)| value.clone())),
        ..Command::new("/bin/sh", files, mark()).arg("-c").arg(text)
    }
}

/// The mark keeps the engine's name, so that a cleanup finds the command. The attempt is a new one: otherwise ending
/// the command would end this process too.
fn mark() -> Mark {
    let here = format!("agent-{}", std::process::id());
    let engine = std::env::var(ENGINE_VARIABLE).unwrap_or_else(|_| here.clone());
    let attempt = std::env::var(ATTEMPT_VARIABLE).unwrap_or(here);
    Mark { engine, attempt: format!("{attempt}/shell") }
}

fn said(output: &ProcessOutput, timeout_s: u64) -> Said {
    let mut text = output.stdout.text_lossy();
    let complaint = output.stderr.text_lossy();
    if !complaint.is_empty() {
        text.push_str(if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
        text.push_str(&complaint);
    }
    let how = match output.ended {
        ProcessEnd::Exited(0) if text.is_empty() => return Said::Done("(it printed nothing)".to_owned()),
        ProcessEnd::Exited(0) => return Said::Done(text),
        ProcessEnd::Exited(code) => format!("it ended with code {code}"),
        ProcessEnd::Signalled(signal) => format!("signal {signal} ended it"),
        ProcessEnd::TimedOut => format!("it was ended after {timeout_s} s"),
        ProcessEnd::Cancelled => return Said::Stopped,
    };
    Said::Failed(format!("{text}\n({how})"))
}
