//! Tests the drivers of agents that are programs of others, without the programs.
mod command_lines;
mod finding;
mod garbage;
mod lines;
mod payers;
mod recordings;
mod show;
mod snapshot;

use std::path::{Path, PathBuf};

use longhaul_agents::contract::{Errand, InstalledAgent, Permission, Turn, TurnSession};

/// The simplest turn.
fn turn(scratch: &Path) -> Turn {
    Turn {
        errand: Errand::Work,
        prompt: "say hello".to_owned(),
        system: None,
        model: None,
        effort: None,
        session: TurnSession::New("11111111-2222-4333-8444-555555555501".to_owned()),
        schema: None,
        permission: Permission::Edit,
        tools: None,
        mcp: Vec::new(),
        mcp_only: false,
        dirs: Vec::new(),
        budget_usd: None,
        cwd: PathBuf::from("/work/space"),
        scratch: scratch.to_owned(),
        trusted: false,
        sandboxed: false,
    }
}

/// A program that need not exist.
fn found(logged_in: bool) -> InstalledAgent {
    InstalledAgent { program: PathBuf::from("/opt/agent"), version: "9.9.9".to_owned(), logged_in }
}
