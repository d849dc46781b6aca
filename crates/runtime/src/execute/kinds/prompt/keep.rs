//! Before an agent starts: restores the files if its step was interrupted, and records them if a later restore may need
//! them.
//!
//! **Invariant:** if a step says `on_interrupt: restore`, its agent starts only after git has its files. Their name
//! follows from the attempt, so the next engine finds them after a crash, even if the journal does not know them.

use longhaul_core::event::Event;
use longhaul_core::plan::ErrorClass;

use crate::execute::kinds::{Attempt, Done};
use crate::execute::workspace::tree::{Tree, Trouble};

/// Restores and records the files as the turn says, or returns why the turn cannot start.
pub(super) async fn files(attempt: &Attempt) -> Result<(), Box<Done>> {
    let turn = &attempt.start.turn;
    if !turn.keep || (attempt.adopted && attempt.is_kept) {
        return Ok(());
    }
    let tree = tree(attempt).await.map_err(|trouble| Box::new(unkept(&trouble)))?;
    let name = name(attempt, attempt.start.attempt, "before");
    if !attempt.adopted {
        if let Some(before) = turn.restore {
            put_back(attempt, &tree, before).await.map_err(|trouble| Box::new(stuck(&trouble)))?;
        }
        tree.keep(&name).await.map_err(|trouble| Box::new(unkept(&trouble)))?;
    } else if !tree.has(&name).await.unwrap_or_default() {
        return Ok(());
    }
    tell(attempt, |path, attempt| Event::FilesKept { path, attempt, name });
    Ok(())
}

async fn tree(attempt: &Attempt) -> Result<Tree, Trouble> {
    let folder = attempt.patiently(|| attempt.folder()).await.ok_or(Trouble::Stopped)?;
    let scratch = folder.map_err(|error| Trouble::Git(error.to_string()))?.join("git");
    attempt.guarded().await;
    let own = attempt.shared.artifacts.home();
    Tree::of((&attempt.cwd(), own), scratch, attempt.mark(), attempt.cancel.clone()).await
}

/// Restores the files. Without a record, the agent had not started.
async fn put_back(attempt: &Attempt, tree: &Tree, before: u32) -> Result<(), Trouble> {
    let kept = name(attempt, before, "before");
    if !tree.has(&kept).await? {
        return Ok(());
    }
    let left = name(attempt, attempt.start.attempt.saturating_sub(1), "left");
    tree.restore(&kept, &left).await?;
    tell(attempt, |path, attempt| Event::FilesRestored { path, attempt, name: kept, left });
    Ok(())
}

/// The name of an attempt's files in git. Git does not allow brackets, in which items stand.
fn name(attempt: &Attempt, number: u32, when: &str) -> String {
    let path = attempt.start.path.to_string().replace('[', ".").replace(']', "");
    format!("refs/longhaul/{}/{path}@{number}/{when}", attempt.run)
}

fn tell(attempt: &Attempt, event: impl FnOnce(longhaul_core::path::StepPath, u32) -> Event) {
    attempt.news.tell(event(attempt.start.path.clone(), attempt.start.attempt));
}

/// The failure if the files cannot be recorded. The agent does not start, because a restore would find nothing.
fn unkept(trouble: &Trouble) -> Done {
    let remedy = match trouble {
        Trouble::Stopped => return Done::unspent(ErrorClass::Failed, "stopped"),
        Trouble::NoWorkTree(_) => "; `git init` makes it one, or write `on_interrupt: continue`",
        Trouble::Git(_) => "",
    };
    Done::unusable(ErrorClass::Invalid, format!("`on_interrupt: restore` is not possible: {trouble}{remedy}"))
}

/// The failure if the files cannot be restored. It counts as another interruption, so the next attempt restores them
/// first.
fn stuck(trouble: &Trouble) -> Done {
    let class = if *trouble == Trouble::Stopped { ErrorClass::Failed } else { ErrorClass::Lost };
    Done::unspent(class, format!("the files cannot be restored: {trouble}"))
}
