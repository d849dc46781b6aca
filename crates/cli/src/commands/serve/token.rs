//! `longhaul serve token`, `tokens`, `revoke`: who may come in.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_core::explain::moment;
use longhaul_runtime::{Clock, System};
use longhaul_server::http::{Keys, Role};
use serde_json::json;

use super::place::Place;
use crate::office::EngineArgs;
use crate::{identity, ui};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make another token and show it once
    Token {
        /// What its holder may do: viewer (look), operator (start, cancel, answer), admin (everything)
        #[arg(long, default_value = "viewer")]
        role: Role,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the tokens by id; Longhaul does not store the tokens themselves
    Tokens {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    Revoke {
        /// The id, as `tokens` lists it
        id: String,
    },
}

pub(super) fn run(command: &Command, engine: &EngineArgs) -> Result<ExitCode> {
    let keys = Keys::of(&Place::of(engine)?.folder);
    let now = System.now_ms();
    match command {
        Command::Token { role, json } => made(&keys, *role, now, *json)?,
        Command::Tokens { json } => listed(&keys, now, *json)?,
        Command::Revoke { id } if keys.revoke(id) => ui::say(format!("{id} opens nothing any more")),
        Command::Revoke { id } => bail!("there is no token `{id}`; longhaul serve tokens lists them"),
    }
    Ok(ExitCode::SUCCESS)
}

fn made(keys: &Keys, role: Role, now: i64, json: bool) -> Result<()> {
    refuse_inside()?;
    let minted = keys.mint(role, now, None)?;
    if json {
        return ui::print_json(&json!({"id": minted.key.id, "role": role, "token": minted.token}));
    }
    ui::print_line(&minted.token)?;
    ui::say(format!(
        "a token for the role {role}, shown only this once; take it back with: longhaul serve revoke {}",
        minted.key.id
    ));
    Ok(())
}

/// What a step starts must not make itself a way to answer for people.
pub(super) fn refuse_inside() -> Result<()> {
    match identity::origin().inside.first() {
        Some(run) => bail!("this was started by a step of a run ({run}); let a person do it outside of the run"),
        None => Ok(()),
    }
}

fn listed(keys: &Keys, now: i64, json: bool) -> Result<()> {
    let keys = keys.all(now);
    if json {
        let row = |key: &longhaul_server::http::Key| json!({"id": key.id, "role": key.role, "made_at": key.made_at, "until": key.until});
        return ui::print_json(&keys.iter().map(row).collect::<Vec<_>>());
    }
    for key in keys {
        let until = key.until.map_or_else(String::new, |until| format!(", until {}", moment(until)));
        ui::print_line(format!("{}  {:<8}  made {}{until}", key.id, key.role.to_string(), moment(key.made_at)))?;
    }
    Ok(())
}
