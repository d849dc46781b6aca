//! Adds to questions and answers what only the engine knows: a random secret, and the identity of the caller.
//!
//! **Invariant:** the commit that records a question also stores its secret, as a blob. The question has only the hash
//! of it. No view of a run shows blobs.

use indexmap::IndexMap;
use longhaul_core::decide::{Advance, seal};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Caller, Origin, SOME_RUN};
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_store::{Blob, Hash};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::run_loop::load;

/// The hash of a question's secret. An answer carries the hash, not the secret.
pub fn key_of(secret: &str) -> String {
    Hash::of(secret.trim().as_bytes()).to_string()
}

/// Gives each new question a secret. Returns the blobs to store with them.
pub(crate) fn seal_questions(state: &mut State, advance: &mut Advance) -> Vec<Blob> {
    let mut secrets = Vec::new();
    seal(state, advance, || fresh(&mut secrets));
    secrets
}

/// Makes a random secret of 244 bits, adds it to `secrets`, and returns its hash.
pub(crate) fn fresh(secrets: &mut Vec<Blob>) -> String {
    let secret = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let blob = Blob::new(secret.into_bytes());
    let hash = blob.hash.to_string();
    secrets.push(blob);
    hash
}

impl Engine {
    /// The secret of a step's question. Callers give it only to people who may answer.
    pub async fn secret(&self, run: &RunId, path: &StepPath) -> Result<Option<String>, Error> {
        let loaded = self.load(run).await?;
        let mut open = loaded.state.questions().filter(|(step, _)| step.path == *path);
        let Some(key) = open.next().and_then(|(_, question)| question.key.clone()) else { return Ok(None) };
        let hash = key.parse().map_err(|_| Error::Damaged(format!("`{key}` is not the hash of a secret")))?;
        let bytes = self.shared.store.blob(hash).await?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}

/// Adds to a caller the roles from the settings and the runs that it comes from.
pub(crate) async fn identified(shared: &Shared, mut caller: Caller) -> Result<Caller, Error> {
    let roles = roles_of(&shared.options.roles, caller.person());
    let new: Vec<String> = roles.into_iter().filter(|role| !caller.roles.contains(role)).collect();
    caller.roles.extend(new);
    caller.who = with_ancestors(shared, caller.who).await?;
    Ok(caller)
}

fn roles_of(roles: &IndexMap<String, Vec<String>>, user: Option<&str>) -> Vec<String> {
    let has = |members: &[String]| user.is_some_and(|user| members.iter().any(|member| member == user));
    roles.iter().filter(|(_, members)| has(members)).map(|(role, _)| role.clone()).collect()
}

/// Adds to an origin the runs that it comes from, and their ancestors.
pub(crate) async fn with_ancestors(shared: &Shared, mut who: Origin) -> Result<Origin, Error> {
    let mut at = 0;
    while let Some(run) = who.inside.get(at).cloned() {
        at += 1;
        for above in ancestors(shared, &run).await? {
            if !who.inside.contains(&above) {
                who.inside.push(above);
            }
        }
    }
    Ok(who)
}

async fn ancestors(shared: &Shared, run: &str) -> Result<Vec<String>, Error> {
    let Some(run) = RunId::new(run).filter(|_| run != SOME_RUN) else { return Ok(Vec::new()) };
    match load(shared, &run).await {
        Ok(loaded) => {
            let owner = loaded.state.started.and_then(|started| started.owner);
            Ok(owner.map(|owner| owner.inside).unwrap_or_default())
        }
        // The run is in another store, or was removed.
        Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
