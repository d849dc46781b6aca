//! Files of attempts on other machines: results are in the store, but files stay on their machine.
//!
//! **Invariant:** a file on another machine is never reported as empty.

use std::collections::BTreeSet;

use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view;
use longhaul_runtime::Engine;

use super::problem::Problem;
use super::runs::history;

/// Rejects the request if an attempt ran on another machine, and none of its files are here.
pub(super) async fn is_here(engine: &Engine, run: &RunId, path: &StepPath, attempt: u32) -> Result<(), Problem> {
    if engine.host().is_none() || engine.attempt_dir(run, path, attempt).exists() {
        return Ok(());
    }
    let made = view::attempts(&history(engine, run, u64::MAX).await?, path);
    let made = made.into_iter().find(|made| made.attempt == attempt);
    match made.and_then(|made| made.host).filter(|host| engine.host() != Some(host)) {
        Some(host) => Err(Problem::elsewhere(run, path, &host)),
        None => Ok(()),
    }
}

/// The machines with files of a run that are not here.
pub(super) async fn machines(engine: &Engine, run: &RunId) -> Result<BTreeSet<String>, Problem> {
    if engine.host().is_none() {
        return Ok(BTreeSet::new());
    }
    let history = history(engine, run, u64::MAX).await?;
    let elsewhere = history.iter().filter_map(made_on).filter(|(path, attempt, host)| {
        engine.host() != Some(*host) && !engine.attempt_dir(run, path, *attempt).exists()
    });
    Ok(elsewhere.map(|(_, _, host)| host.to_owned()).collect())
}

/// The attempt that an event starts, and its machine.
fn made_on(envelope: &Envelope) -> Option<(&StepPath, u32, &str)> {
    match &envelope.event {
        Event::AttemptStarted { path, attempt, host: Some(host), .. }
        | Event::AttemptClaimed { path, attempt, host: Some(host), .. } => Some((path, *attempt, host)),
        _ => None,
    }
}
