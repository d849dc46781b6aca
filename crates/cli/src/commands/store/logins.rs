//! `longhaul store login`, `logins` and `logout`: manages database logins that allow only a worker's job.
//!
//! **Invariant:** an address with its password is printed once, to stdout, and is stored nowhere.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_app::open_store;
use longhaul_core::explain::moment;
use longhaul_runtime::Clock;
use longhaul_store::{Address, DatabaseLogin, NewLogin, Postgres, PostgresOptions, StoreAddress};
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::ui;

/// Makes a login, and prints its address.
pub(super) async fn make(engine: &EngineArgs, name: &str, labels: &[String], is_json: bool) -> Result<ExitCode> {
    let (address, store, clock) = open(engine).await?;
    let labels: Vec<String> =
        labels.iter().map(|label| label.trim().to_owned()).filter(|label| !label.is_empty()).collect();
    let login =
        NewLogin { name: name.to_owned(), labels: (!labels.is_empty()).then_some(labels), at_ms: clock.now_ms() };
    let made = store.admit(&address, &login).await.map_err(|error| match error {
        longhaul_store::Error::Exists => {
            anyhow::anyhow!(
                "`{name}` is there already; choose another name, or remove it: longhaul store logout {name}"
            )
        }
        longhaul_store::Error::RoleTaken(_) => {
            anyhow::anyhow!(
                "the database has a role of this name that is no login of this store; choose another name, or have it removed: longhaul store logout \
                 {name} says how"
            )
        }
        other => other.into(),
    })?;
    let left = made.left_to_do.as_deref();
    if is_json {
        ui::print_json(&json!({"login": name, "role": made.role, "address": made.address, "left_to_do": left}))?;
    } else {
        ui::print_line(&made.address)?;
    }
    Ok(match left {
        None => {
            ui::say(format!(
                "this is shown once; on the other machine: LONGHAUL_STORE='…' longhaul worker; to take it back: longhaul store logout {name}"
            ));
            ExitCode::SUCCESS
        }
        Some(left) => to_do("this user may not make roles; the address works after an administrator has run:", left),
    })
}

/// Lists the logins.
pub(super) async fn list(engine: &EngineArgs, is_json: bool) -> Result<ExitCode> {
    open_store::require(&engine_args::store_place(engine)?)?;
    let (_, store, _) = open(engine).await?;
    let logins = store.logins().await?;
    if is_json {
        let told = |login: &DatabaseLogin| {
            json!({"login": login.name, "role": login.role, "labels": login.labels, "since": moment(login.since_ms),
                "busy": login.busy})
        };
        ui::print_json(&json!({ "logins": logins.iter().map(told).collect::<Vec<_>>() }))?;
    } else if logins.is_empty() {
        ui::say("there is no login; make one with: longhaul store login NAME");
    } else {
        for login in &logins {
            ui::print_line(line(login))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(login: &DatabaseLogin) -> String {
    let labels = login.labels.as_ref().map_or("takes everything".to_owned(), |labels| labels.join(", "));
    format!("{}  {} busy  since {}  {}", ui::bold(&login.name), login.busy, moment(login.since_ms), ui::dim(labels))
}

/// Revokes a login.
pub(super) async fn end(engine: &EngineArgs, name: &str, is_json: bool) -> Result<ExitCode> {
    open_store::require(&engine_args::store_place(engine)?)?;
    let (address, store, _) = open(engine).await?;
    let Some(gone) = store.expel(name).await? else { return left_behind(&address, &store, name, is_json).await };
    let left = gone.left_to_do.as_deref();
    if is_json {
        ui::print_json(&json!({"login": name, "role": gone.role, "left_to_do": left}))?;
    } else {
        ui::say(format!("the login `{name}` is revoked; its running steps are lost when their leases end"));
    }
    Ok(match left {
        None => ExitCode::SUCCESS,
        Some(left) => to_do("this user may not remove roles; its role is gone once an administrator has run:", left),
    })
}

/// The message about a login that does not exist, but whose database role may.
async fn left_behind(address: &Address, store: &Postgres, name: &str, is_json: bool) -> Result<ExitCode> {
    let Some(behind) = store.left_behind(address, name).await? else {
        bail!("there is no login `{name}`; longhaul store logins lists them");
    };
    let (role, left) = (behind.role, behind.left_to_do.unwrap_or_default());
    if is_json {
        ui::print_json(&json!({"login": name, "role": role, "left_to_do": left}))?;
    }
    let what = format!(
        "there is no login `{name}`, and the database still has a role `{role}`; if it is left of one, it is gone once an administrator has run:"
    );
    Ok(to_do(&what, &left))
}

fn to_do(what: &str, statements: &str) -> ExitCode {
    ui::say(format!("{what}\n{statements}"));
    ExitCode::FAILURE
}

/// The database, opened as its owner.
async fn open(engine: &EngineArgs) -> Result<(Address, Postgres, std::sync::Arc<dyn Clock>)> {
    let place = engine_args::store_place(engine)?;
    let StoreAddress::Database(address) = &place else {
        bail!("{place} is a file, which belongs to one user; logins are for a database: --store postgres://…");
    };
    // This refuses a worker's login, and gives the clock of the database.
    let (_, clock) = open_store::store(&place)?;
    Ok((address.as_ref().clone(), Postgres::open(address, PostgresOptions::default()).await?, clock))
}
