//! The files of a run on their way from one machine to another: sent after each attempt that used them, made again where the run
//! continues.
//!
//! **Invariant:** a commit that the result of an attempt names was sent before. That it could not be sent fails no attempt, and is
//! told. The name under which files are sent holds the event that gave the last machine up: who is late writes beside others.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_agents::private;
use longhaul_agents::process::Mark;
use longhaul_core::event::{Carried, Event};
use longhaul_core::id::RunId;
use longhaul_core::plan::{ErrorClass, Step};
use longhaul_core::state::State;
use tokio_util::sync::CancellationToken;

use crate::engine::Shared;
use crate::execute::kinds::{Attempt, Done};
use crate::execute::workspace::tree::{Tree, Trouble};

/// Below this are the records of all runs.
const ROOT: &str = "refs/longhaul/carry";
/// Below this is what was sent of them.
const SENT: &str = "refs/longhaul/sent";
/// How often is looked whether somebody else is done with the files of a run.
const LOOK: Duration = Duration::from_millis(50);
/// How long the end of a run waits until a remote has forgotten its files.
const FORGETTING_MAX: Duration = Duration::from_secs(30);

/// What an attempt has to do with files of other machines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Baggage {
    /// Under which number of an event its files are sent; `None` if they are not.
    sends: Option<u64>,
    /// What its files are made from.
    comes_from: Option<(Carried, u64)>,
}

impl Baggage {
    pub(crate) fn of(shared: &Shared, state: &State, step: &Step) -> Self {
        let member = &shared.options.member;
        if member.host.is_none() || !step.uses_files() {
            return Self::default();
        }
        Self {
            sends: member.carry.as_ref().map(|_| state.left_at),
            comes_from: state.rebuild.clone().map(|carried| (carried, state.left_at)),
        }
    }
}

/// Where an attempt works, once its files are there; in its place, why it cannot begin.
pub(crate) async fn arrive(attempt: &Attempt) -> Result<Option<PathBuf>, Box<Done>> {
    let Some((carried, left_at)) = &attempt.baggage.comes_from else { return Ok(None) };
    match rebuilt(attempt, carried, *left_at).await {
        Ok(folder) => Ok(Some(folder)),
        Err(Trouble::Stopped) => Err(Box::new(Done::unspent(ErrorClass::Failed, "stopped"))),
        Err(trouble) => Err(Box::new(Done::unspent(
            ErrorClass::Transient,
            format!("the files of the run cannot be made again from commit {}: {trouble}", carried.commit),
        ))),
    }
}

async fn rebuilt(attempt: &Attempt, carried: &Carried, left_at: u64) -> Result<PathBuf, Trouble> {
    let remote = attempt.shared.options.member.carry.as_deref();
    let remote = remote.ok_or_else(|| Trouble::Git("`fleet.carry` is not set on this machine".to_owned()))?;
    if !is_sound(carried) {
        return Err(Trouble::Git(format!("`{}` is no record of files", carried.name)));
    }
    let _lock = lock(attempt).await?;
    let tree = tree(attempt, &attempt.shared.options.workspace, "rebuild").await?;
    let folder = attempt.shared.artifacts.carried(&attempt.run, left_at);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let (inside, is_new) = tree.rebuild(remote, carried, &folder).await?;
    if is_new {
        attempt.news.tell(Event::FilesRebuilt {
            path: attempt.start.path.clone(),
            attempt: attempt.start.attempt,
            host: attempt.shared.options.member.host.clone().unwrap_or_default(),
            commit: carried.commit.clone(),
        });
    }
    Ok(inside)
}

/// Sends the files that an attempt left; its result then names them.
pub(crate) async fn send(attempt: &Attempt, done: &mut Done) {
    let (Some(left_at), Some(remote)) = (attempt.baggage.sends, &attempt.shared.options.member.carry) else { return };
    if done.result.cached || attempt.cancel.is_cancelled() {
        return;
    }
    let name = format!("{ROOT}/{}/{left_at}", attempt.run);
    let sent = format!("{SENT}/{}/{left_at}", attempt.run);
    match sent_as(attempt, remote, &name, &sent).await {
        Ok(carried) => done.result.carried = Some(carried),
        Err((_, Trouble::Stopped)) => {}
        Err((number, trouble)) => attempt.news.tell(Event::CarryFailed {
            path: attempt.start.path.clone(),
            attempt: attempt.start.attempt,
            number,
            why: attempt.secrets.redact(trouble.to_string()),
        }),
    }
}

async fn sent_as(attempt: &Attempt, remote: &str, name: &str, sent: &str) -> Result<Carried, (u64, Trouble)> {
    let unnumbered = |trouble| (0, trouble);
    let _lock = lock(attempt).await.map_err(unnumbered)?;
    let tree = tree(attempt, &attempt.workspace, "carry").await.map_err(unnumbered)?;
    let next = tree.next_number(name).await;
    let (commit, number) = tree.carry(name).await.map_err(|trouble| (next, trouble))?;
    tree.send(remote, name, sent).await.map_err(|trouble| (number, trouble))?;
    Ok(Carried { commit, name: name.to_owned(), number })
}

/// Takes away what was sent of a run: that it was, and what the remote has; with `all`, also the records that are here. What can
/// not be taken away now is left to `prune`.
pub(crate) async fn forget(shared: &Shared, run: &RunId, all: bool) -> Result<(), Trouble> {
    let Some(remote) = &shared.options.member.carry else { return Ok(()) };
    let mark = Mark { engine: shared.worker.as_str().to_owned(), attempt: format!("{run}/carry") };
    let scratch = shared.artifacts.run(run).join("git");
    let own = shared.artifacts.home();
    let gone = async {
        let tree = Tree::of((&shared.options.workspace, own), scratch, mark, CancellationToken::new()).await?;
        let (records, sent) = (format!("{ROOT}/{run}/"), format!("{SENT}/{run}/"));
        tree.drop_refs(&sent).await?;
        if all {
            tree.drop_refs(&records).await?;
        }
        tree.take_back(remote, &records).await?;
        tree.tidy().await
    };
    let late = |_| Trouble::Git("no answer in time".to_owned());
    tokio::time::timeout(FORGETTING_MAX, gone).await.map_err(late)?
}

/// Whether a record can be one of ours: it becomes an argument of git.
fn is_sound(carried: &Carried) -> bool {
    let is_hex = matches!(carried.commit.len(), 40 | 64) && carried.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let below = carried.name.strip_prefix(ROOT).and_then(|below| below.strip_prefix('/')?.split_once('/'));
    is_hex && below.is_some_and(|(run, number)| RunId::new(run).is_some() && number.parse::<u64>().is_ok())
}

/// Who records or makes the files of a run does so alone on its machine.
async fn lock(attempt: &Attempt) -> Result<File, Trouble> {
    let told = |error: std::io::Error| Trouble::Git(error.to_string());
    let folder = attempt.shared.artifacts.run(&attempt.run);
    private::create_dir_all(&folder).map_err(told)?;
    let file = private::append(&folder.join("carry.lock")).map_err(told)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(told(error)),
            Err(TryLockError::WouldBlock) if attempt.cancel.is_cancelled() => return Err(Trouble::Stopped),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK).await,
        }
    }
}

async fn tree(attempt: &Attempt, folder: &Path, scratch: &str) -> Result<Tree, Trouble> {
    let scratch = attempt.folder().map_err(|error| Trouble::Git(error.to_string()))?.join(scratch);
    attempt.guarded().await;
    Tree::of((folder, attempt.shared.artifacts.home()), scratch, attempt.mark(), attempt.cancel.clone()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_records_of_ours_become_arguments() {
        let carried =
            |commit: &str, name: &str| Carried { commit: commit.to_owned(), name: name.to_owned(), number: 1 };
        let commit = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_sound(&carried(commit, "refs/longhaul/carry/the-run/0")));
        for (commit, name) in [
            ("--output=x", "refs/longhaul/carry/the-run/0"),
            (&commit[1..], "refs/longhaul/carry/the-run/0"),
            (commit, "refs/heads/main"),
            (commit, "refs/longhaul/carry/the-run/0:refs/heads/main"),
            (commit, "refs/longhaul/carry/../../heads/0"),
        ] {
            assert!(!is_sound(&carried(commit, name)), "{commit} {name}");
        }
    }
}
