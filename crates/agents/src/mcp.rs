//! The MCP servers that an agent may use during a turn.
//!
//! An agent does not get the description of a server, which may hold secrets. It starts `longhaul __mcp FILE NAME`
//! instead. That process reads the description from a private file of the turn: it becomes the server's program, or
//! passes messages to the server's address. So no secret is in a command line, a setting or a variable of an agent.
//!
//! **Invariant:** a server does not get the keys of the agent.

mod bridge;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::contract::{AgentSetup, Turn, UnsupportedTurn};
use crate::tool::ToolTransport;
use crate::{drivers, private};

/// The argument that makes the binary a server of a turn; the file of the turn and the server's name follow.
pub const MCP_COMMAND: &str = "__mcp";

/// The file of the servers, in the folder of a turn.
const FILE: &str = "mcp.json";

/// A server that an agent may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Its name in the settings.
    pub name: String,
    /// How to reach it.
    pub transport: ToolTransport,
    /// The tools that the agent may use; `None` for all.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
}

/// The servers of a turn, as they are in its file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Servers {
    servers: IndexMap<String, ToolTransport>,
    /// The variables of the agent that servers do not get.
    hidden: Vec<String>,
}

/// How an agent starts one of its servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) command: String,
    pub(crate) args: [String; 3],
}

/// The path of the file of a turn.
pub(crate) fn file(turn: &Turn) -> PathBuf {
    turn.scratch.join(FILE)
}

/// Writes the file of a turn, if it has servers.
pub(crate) fn write(setup: &AgentSetup, turn: &Turn) -> Result<(), UnsupportedTurn> {
    if turn.mcp.is_empty() {
        return Ok(());
    }
    if let Some(server) = turn.mcp.iter().find(|server| !is_plain(&server.name)) {
        let message = "the name of an MCP server that an agent uses has only letters, digits, `-` and `_`";
        return Err(UnsupportedTurn(format!("{message}; rename `{}` in the settings", server.name)));
    }
    let servers = turn.mcp.iter().map(|server| (server.name.clone(), server.transport.clone())).collect();
    let hidden = setup.key_env.iter().cloned().chain(drivers::key_variables().map(str::to_owned)).collect();
    let failed =
        |error: &dyn std::fmt::Display| UnsupportedTurn(format!("cannot write the file of its servers: {error}"));
    let text = serde_json::to_vec(&Servers { servers, hidden }).map_err(|error| failed(&error))?;
    private::create_dir_all(&turn.scratch).map_err(|error| failed(&error))?;
    private::replace(&file(turn), &text).map_err(|error| failed(&error))
}

/// Removes the file of a turn that has ended.
pub fn forget(scratch: &Path) {
    // Most turns have none.
    let _ = std::fs::remove_file(scratch.join(FILE));
}

/// How the agent starts a server of its turn.
pub(crate) fn entry(setup: &AgentSetup, file: &str, server: &McpServer) -> Entry {
    let command = setup.launcher.to_string_lossy().into_owned();
    Entry { command, args: [MCP_COMMAND.to_owned(), file.to_owned(), server.name.clone()] }
}

fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

/// Acts as the server with that name.
#[expect(clippy::print_stderr, reason = "the agent shows it")]
pub fn mcp_main(file: &Path, name: &str) -> ExitCode {
    let done = read(file, name).and_then(|(server, hidden)| match server {
        ToolTransport::Program { command, args, env } => Err(become_program(&command, &args, &env, &hidden)),
        ToolTransport::Address { url, headers } => bridge::serve(&url, &headers),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("longhaul: the MCP server `{name}`: {why}");
            ExitCode::FAILURE
        }
    }
}

fn read(file: &Path, name: &str) -> Result<(ToolTransport, Vec<String>), String> {
    let text = std::fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let mut all: Servers = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let server = all.servers.shift_remove(name).ok_or_else(|| "there is no such server in this turn".to_owned())?;
    Ok((server, all.hidden))
}

/// Returns only if the program cannot be started.
fn become_program(command: &str, args: &[String], env: &IndexMap<String, String>, hidden: &[String]) -> String {
    let mut program = Command::new(command);
    program.args(args);
    for name in hidden {
        program.env_remove(name);
    }
    // Variables of the settings come last: a server may need a key of its own.
    program.envs(env);
    format!("`{command}` cannot be started: {}", program.exec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        assert!(is_plain("git-hub_2"));
        assert!(!is_plain("") && !is_plain("-x") && !is_plain("a.b") && !is_plain("a b") && !is_plain("a\"b"));
    }

    #[test]
    fn a_server_that_is_not_in_the_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        assert!(read(&file, "x").unwrap_err().contains("cannot be read"));
        std::fs::write(&file, r#"{"servers": {"a": {"command": "true"}}, "hidden": []}"#).unwrap();
        assert_eq!(read(&file, "x").unwrap_err(), "there is no such server in this turn");
        assert!(read(&file, "a").is_ok());
    }
}
