//! `longhaul serve token`, `tokens`, `revoke`: manages the tokens of the server.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_core::duration::parse_ms;
use longhaul_core::explain::moment;
use longhaul_runtime::{Clock, System};
use longhaul_server::http::{Keys, Role, TokenRecord, TokenRequest, is_name};
use serde_json::json;

use super::place::Place;
use crate::engine_args::EngineArgs;
use crate::{identity, ui};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a token for a person, and show it once
    Token(New),
    /// List the tokens: whose they are, what they may do, and when they were last used
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

#[derive(Debug, clap::Args)]
pub(super) struct New {
    /// The person who will use it; their runs and answers are recorded as theirs, and they have the roles that `[roles]` gives them
    #[arg(long, value_name = "NAME", value_parser = name)]
    user: Option<String>,
    /// The role: viewer (look), operator (start, control and answer runs) or admin (everything)
    #[arg(long, default_value = "viewer")]
    role: Role,
    /// A name for lists, such as the place where it is used
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// How long it is valid, such as 90d [default: until you revoke it]
    #[arg(long, value_name = "TIME", value_parser = span)]
    expires: Option<i64>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn name(text: &str) -> Result<String, String> {
    if is_name(text) { Ok(text.to_owned()) } else { Err("a name has 1 to 80 characters and no spaces".to_owned()) }
}

fn span(text: &str) -> Result<i64, String> {
    let ms = parse_ms(text).and_then(|ms| i64::try_from(ms).ok()).filter(|ms| *ms > 0);
    ms.ok_or_else(|| "not a time span such as 90d or 12h".to_owned())
}

pub(super) fn run(command: &Command, engine: &EngineArgs) -> Result<ExitCode> {
    let keys = Keys::of(&Place::of(engine)?.folder);
    let now = System.now_ms();
    match command {
        Command::Token(new) => made(&keys, new, now)?,
        Command::Tokens { json } => listed(&keys, now, *json)?,
        Command::Revoke { id } if keys.revoke(id) => ui::say(format!("the token {id} is revoked")),
        Command::Revoke { id } => bail!("there is no token `{id}`; longhaul serve tokens lists them"),
    }
    Ok(ExitCode::SUCCESS)
}

fn made(keys: &Keys, new: &New, now: i64) -> Result<()> {
    refuse_inside()?;
    let until = new.expires.map(|span| now.saturating_add(span));
    let wanted = TokenRequest { role: new.role, user: new.user.clone(), name: new.name.clone(), until };
    let minted = keys.make(wanted, now)?;
    if new.json {
        let mut shown = row(keys, &minted.key);
        shown["token"] = json!(minted.token);
        return ui::print_json(&shown);
    }
    ui::print_line(&minted.token)?;
    let whose = new.user.as_ref().map_or_else(String::new, |user| format!(" of {user}"));
    ui::say(format!(
        "a token{whose} for the role {}, shown only this once; revoke it with: longhaul serve revoke {}",
        new.role, minted.key.id
    ));
    if new.user.is_none() {
        ui::say(format!("it names no person: {}; --user NAME names one", acts_as()));
    }
    Ok(())
}

/// The user that a token without a name acts as.
fn acts_as() -> String {
    let user = identity::origin().user.unwrap_or_default();
    format!("its holder acts as {user}, who runs the server, and cannot answer where a role is asked")
}

/// Refuses inside a step: a step must not make a token to answer for people.
pub(super) fn refuse_inside() -> Result<()> {
    match identity::origin().inside.first() {
        Some(run) => bail!("this was started by a step of a run ({run}); let a person do it outside of the run"),
        None => Ok(()),
    }
}

fn listed(keys: &Keys, now: i64, json: bool) -> Result<()> {
    let all = keys.all(now);
    if json {
        return ui::print_json(&all.iter().map(|key| row(keys, key)).collect::<Vec<_>>());
    }
    for key in &all {
        ui::print_line(line(keys, key))?;
    }
    if all.iter().any(|key| key.user.is_none()) {
        ui::say(format!("a token without a user: {}", acts_as()));
    }
    Ok(())
}

fn row(keys: &Keys, key: &TokenRecord) -> serde_json::Value {
    json!({
        "id": key.id, "name": key.name, "user": key.user, "role": key.role, "made_at": key.made_at, "until": key.until,
        "used_at": keys.used_at(&key.id),
    })
}

fn line(keys: &Keys, key: &TokenRecord) -> String {
    let (user, role) = (key.user.as_deref().unwrap_or("nobody"), key.role.to_string());
    let name = key.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let used = keys.used_at(&key.id).map_or_else(|| "never used".to_owned(), |at| format!("used {}", moment(at)));
    let until = key.until.map_or_else(String::new, |until| format!(", until {}", moment(until)));
    format!("{}  {role:<8}  {user}{name}, made {}{until}, {used}", key.id, moment(key.made_at))
}
