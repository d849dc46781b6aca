//! Sessions as files below the home folder; each holds how many turns it had.

use std::path::PathBuf;

use crate::call::{Agent, Call};

/// The sessions of one agent.
pub(crate) struct Sessions {
    folder: PathBuf,
}

impl Sessions {
    pub(crate) fn of(call: &Call) -> Self {
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        Self { folder: home.join(".fake-agent").join(call.agent.name()) }
    }

    /// Begins a turn, and says how many the session has with it.
    pub(crate) fn begin(&self, call: &Call) -> Result<u64, String> {
        let id = call.session();
        let file = self.folder.join(&id);
        let before: Option<u64> = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
        let turns = match (before, call.resume.is_some()) {
            (None, true) => return Err(missing(call.agent, &id)),
            (Some(_), false) if call.agent != Agent::Copilot => return Err(taken(call.agent, &id)),
            (before, _) => before.unwrap_or_default() + 1,
        };
        let written = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(&file, turns.to_string()));
        written.map(|()| turns).map_err(|error| format!("cannot keep the session: {error}"))
    }
}

fn missing(agent: Agent, id: &str) -> String {
    match agent {
        Agent::Claude => format!("No conversation found with session ID: {id}"),
        Agent::Codex => {
            format!("Error: thread/resume: thread/resume failed: no rollout found for thread id {id} (code -32600)")
        }
        Agent::Copilot => format!("Error: No session, task, or name matched '{id}'."),
        Agent::Gemini => format!("Error resuming session: Invalid session identifier \"{id}\"."),
        Agent::Opencode => "Error: Session not found".to_owned(),
    }
}

fn taken(agent: Agent, id: &str) -> String {
    match agent {
        Agent::Gemini => format!("Error starting session: Session ID \"{id}\" already exists."),
        _ => format!("Error: Session ID {id} is already in use."),
    }
}
