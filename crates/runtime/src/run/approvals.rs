//! What a question needs from the world: a random secret, and who it is that answers.
//!
//! **Invariant:** a secret is stored in the same commit as the question, as a blob whose hash the question has; nothing that
//! shows a run shows blobs.

use indexmap::IndexMap;
use longhaul_core::approval::own_affair;
use longhaul_core::decide::{Advance, seal};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Caller, Origin, SOME_RUN};
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_store::{Blob, Hash, Posted};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::load;

/// The hash of a question's secret: what an answer carries instead of it.
pub fn key_of(secret: &str) -> String {
    Hash::of(secret.trim().as_bytes()).to_string()
}

/// Seals the questions that are about to be recorded; answers what must be stored with them.
pub(crate) fn seal_questions(state: &mut State, advance: &mut Advance) -> Vec<Blob> {
    let mut secrets = Vec::new();
    seal(state, advance, || fresh(&mut secrets));
    secrets
}

/// A secret of 244 bits by chance, kept among the others; answers its hash.
pub(crate) fn fresh(secrets: &mut Vec<Blob>) -> String {
    let secret = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let blob = Blob::new(secret.into_bytes());
    let hash = blob.hash.to_string();
    secrets.push(blob);
    hash
}

impl Engine {
    /// Tells a run something in the name of somebody. What one of its own steps started may not decide what becomes of it.
    pub async fn tell_as(&self, run: &RunId, message: Message, who: &Origin) -> Result<Posted, Error> {
        let decides = matches!(
            message,
            Message::Cancel { .. } | Message::Pause { .. } | Message::Unpause { .. } | Message::Retry { .. }
        );
        if decides {
            let who = with_ancestors(&self.shared, who.clone()).await?;
            own_affair(run.as_str(), &who).map_or(Ok(()), |why| Err(Error::Refused(why)))?;
        }
        self.tell(run, message, None).await
    }

    /// The secret of the question that a step asks: for those who hand it to whoever may answer, and for nobody else.
    pub async fn secret(&self, run: &RunId, path: &StepPath) -> Result<Option<String>, Error> {
        let loaded = self.load(run).await?;
        let mut open = loaded.state.questions().filter(|(step, _)| step.path == *path);
        let Some(key) = open.next().and_then(|(_, question)| question.key.clone()) else { return Ok(None) };
        let hash = key.parse().map_err(|_| Error::Damaged(format!("`{key}` is not the hash of a secret")))?;
        let bytes = self.shared.store.blob(hash).await?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }
}

/// Somebody with everything that the settings and the runs they come from say about them.
pub(crate) async fn identified(shared: &Shared, mut caller: Caller) -> Result<Caller, Error> {
    let roles = roles_of(&shared.options.roles, caller.who.user.as_deref());
    caller.roles.extend(roles);
    caller.who = with_ancestors(shared, caller.who).await?;
    Ok(caller)
}

fn roles_of(roles: &IndexMap<String, Vec<String>>, user: Option<&str>) -> Vec<String> {
    let has = |members: &[String]| user.is_some_and(|user| members.iter().any(|member| member == user));
    roles.iter().filter(|(_, members)| has(members)).map(|(role, _)| role.clone()).collect()
}

/// An origin that knows the runs it comes from, and those from which they come.
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
        // A run of another store, or one that was removed.
        Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
