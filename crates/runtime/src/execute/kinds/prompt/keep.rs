//! Before an agent begins: its files are put back if its step was interrupted, and recorded if they may have to be.
//!
//! **Invariant:** an agent whose step says `on_interrupt: restore` is not begun before git has its files, under a name
//! that follows from its attempt. So whoever comes after a crash finds them, whether the journal knows of them or not.

use longhaul_core::event::Event;
use longhaul_core::plan::ErrorClass;

use crate::execute::kinds::{Attempt, Done};
use crate::execute::workspace::tree::{Tree, Trouble};

/// Puts back and records what the turn says; in its place, why the turn cannot begin.
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

/// Without a record there was nothing to interrupt.
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

/// What git calls the files of an attempt. Items stand in brackets, which it does not allow.
fn name(attempt: &Attempt, number: u32, when: &str) -> String {
    let path = attempt.start.path.to_string().replace('[', ".").replace(']', "");
    format!("refs/longhaul/{}/{path}@{number}/{when}", attempt.run)
}

fn tell(attempt: &Attempt, event: impl FnOnce(longhaul_core::path::StepPath, u32) -> Event) {
    attempt.news.tell(event(attempt.start.path.clone(), attempt.start.attempt));
}

/// What cannot be recorded is not begun: an interruption would find nothing to put back.
fn unkept(trouble: &Trouble) -> Done {
    let remedy = match trouble {
        Trouble::Stopped => return Done::unspent(ErrorClass::Failed, "stopped"),
        Trouble::NoWorkTree(_) => "; `git init` makes it one, or write `on_interrupt: continue`",
        Trouble::Git(_) => "",
    };
    Done::unusable(ErrorClass::Invalid, format!("`on_interrupt: restore` cannot be held to: {trouble}{remedy}"))
}

/// As if it was interrupted again: whatever comes next must put the files back first.
fn stuck(trouble: &Trouble) -> Done {
    let class = if *trouble == Trouble::Stopped { ErrorClass::Failed } else { ErrorClass::Lost };
    Done::unspent(class, format!("the files cannot be put back: {trouble}"))
}
