//! The files of a work tree where other machines can fetch them, and made again from there.
//!
//! Each record under a name has the one before it as a parent, and a remote takes only what continues from what it has. So whoever
//! can fetch the newest can fetch all of them, and nobody who is late takes one away.
//!
//! **Invariant:** a checkout's own files, index, HEAD and branches are only read; files are made again in a work tree of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_agents::private;
use longhaul_core::event::Carried;

use super::git::{Git, Trouble};
use super::{Recorded, Stand, Tree};

/// How long a remote may take. Large files over a slow line fit; a line that is dead does not hold a step for ever.
const REMOTE_MAX: Duration = Duration::from_secs(300);
/// What git keeps beside the index of a work tree once its files are all there: the commit that they are from.
const MARK: &str = "longhaul-carried";

impl Tree {
    /// Records the files under a name, unless they are as they were: the commit and its number.
    pub(crate) async fn carry(&self, name: &str) -> Result<(String, u64), Trouble> {
        let before = self.carried(name).await?;
        let (stand, index) = self.added(None).await?;
        let tree = self.git.line(Some(&index), &["write-tree"]).await?;
        let words = stand.words();
        if let Some((commit, number)) = &before
            && self.is_same(commit, &tree, &words).await?
        {
            return Ok((commit.clone(), *number));
        }
        let number = before.as_ref().map_or(0, |(_, number)| *number) + 1;
        let also = before.map(|(commit, _)| commit);
        let message = format!("{name}\n\nnumber: {number}\n{words}");
        let Recorded { commit, .. } = self.record_as(name, &message, (tree, stand, index), also).await?;
        Ok((commit, number))
    }

    /// The number that the next record under a name would have.
    pub(crate) async fn next_number(&self, name: &str) -> u64 {
        let before = self.carried(name).await.ok().flatten();
        before.map_or(1, |(_, number)| number + 1)
    }

    async fn carried(&self, name: &str) -> Result<Option<(String, u64)>, Trouble> {
        let Some(commit) = self.commit_of(name).await? else { return Ok(None) };
        let message = self.message(&commit).await?;
        let number = message.lines().find_map(|line| line.strip_prefix("number: ")?.parse().ok());
        Ok(Some((commit, number.unwrap_or_default())))
    }

    async fn message(&self, commit: &str) -> Result<String, Trouble> {
        self.git.line(None, &["show", "--no-patch", "--format=%B", commit]).await
    }

    async fn is_same(&self, commit: &str, tree: &str, words: &str) -> Result<bool, Trouble> {
        let known = self.git.line(None, &["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).await?;
        Ok(known == tree && self.message(commit).await?.trim_end().ends_with(words.trim_end()))
    }

    /// Sends what is recorded under a name, unless that was done. `sent` is where it is remembered.
    pub(crate) async fn send(&self, remote: &str, name: &str, sent: &str) -> Result<(), Trouble> {
        let commit = self.commit_of(name).await?;
        if commit.is_none() || self.commit_of(sent).await? == commit {
            return Ok(());
        }
        let refs = format!("{name}:{name}");
        let push = ["push", "--quiet", "--no-follow-tags", "--recurse-submodules=no", "--", remote, &refs];
        in_time(self.git.line(None, &push)).await?;
        self.git.line(None, &["update-ref", sent, commit.as_deref().unwrap_or_default()]).await.map(drop)
    }

    /// Forgets what is recorded here below a name.
    pub(crate) async fn drop_refs(&self, below: &str) -> Result<(), Trouble> {
        let own = self.git.line(None, &["for-each-ref", "--format=%(refname)", "--", below]).await?;
        for name in own.lines() {
            self.git.line(None, &["update-ref", "-d", name]).await?;
        }
        Ok(())
    }

    /// Has a remote forget what was sent below a name.
    pub(crate) async fn take_back(&self, remote: &str, below: &str) -> Result<(), Trouble> {
        let pattern = format!("{below}*");
        let there = in_time(self.git.line(None, &["ls-remote", "--refs", "--", remote, &pattern])).await?;
        let names = there.lines().filter_map(|line| Some(format!(":{}", line.split_once('\t')?.1)));
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        in_time(self.git.line(None, &[&["push", "--quiet", "--", remote], &*names].concat())).await.map(drop)
    }

    /// Forgets work trees whose folders are gone.
    pub(crate) async fn tidy(&self) -> Result<(), Trouble> {
        self.git.line(None, &["worktree", "prune"]).await.map(drop)
    }

    /// Makes the files of a record in a folder of their own, unless they are there. Answers where the same folder is in it that
    /// this one is in its own work tree, and whether they were made just now.
    pub(crate) async fn rebuild(
        &self,
        remote: &str,
        carried: &Carried,
        folder: &Path,
    ) -> Result<(PathBuf, bool), Trouble> {
        let inner = Git { cwd: folder.to_owned(), ..self.git.clone() };
        let inside = folder.join(&self.prefix);
        if mark(&inner, folder).await.is_some_and(|known| known == carried.commit) {
            return Ok((inside, false));
        }
        self.fetch(remote, carried).await?;
        self.clear(folder).await?;
        let text = folder.to_str().ok_or_else(|| Trouble::Git(format!("{} is no text", folder.display())))?;
        self.git.line(None, &["worktree", "add", "--quiet", "--detach", "--force", text, &carried.commit]).await?;
        self.stand_as_it_was(&inner, &carried.commit).await?;
        let dir = inner.line(None, &["rev-parse", "--absolute-git-dir"]).await?;
        private::replace(&Path::new(&dir).join(MARK), carried.commit.as_bytes())
            .map_err(|error| Trouble::Git(error.to_string()))?;
        Ok((inside, true))
    }

    async fn fetch(&self, remote: &str, carried: &Carried) -> Result<(), Trouble> {
        let refs = format!("+{0}:{0}", carried.name);
        if !self.has(&carried.commit).await? {
            let fetch = ["fetch", "--quiet", "--no-tags", "--recurse-submodules=no", "--", remote, &refs];
            in_time(self.git.line(None, &fetch)).await?;
        }
        match self.has(&carried.commit).await? {
            true => Ok(()),
            false => Err(Trouble::Git(format!("{} has no commit {}", carried.name, carried.commit))),
        }
    }

    /// What is left of an attempt to make them that did not come to its end.
    async fn clear(&self, folder: &Path) -> Result<(), Trouble> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Trouble::Git(error.to_string())),
            _ => {}
        }
        self.tidy().await
    }

    /// HEAD where it stood and the index as it was staged. Branches belong to the checkout.
    async fn stand_as_it_was(&self, inner: &Git, commit: &str) -> Result<(), Trouble> {
        let stand = Stand::from_words(&self.message(commit).await?);
        if let Some(head) = &stand.head {
            inner.line(None, &["update-ref", "--no-deref", "HEAD", head]).await?;
        }
        if let (Some(staged), Some(_)) = (&stand.staged, &stand.head) {
            inner.line(None, &["read-tree", "--reset", staged]).await?;
        }
        // It says no if something is not as it is staged, which is fine.
        inner.ask(None, &["update-index", "-q", "--refresh"], Vec::new()).await.map(drop)
    }
}

/// The commit from which a folder was made, if it was made to the end.
async fn mark(inner: &Git, folder: &Path) -> Option<String> {
    if !folder.join(".git").exists() {
        return None;
    }
    let dir = inner.line(None, &["rev-parse", "--absolute-git-dir"]).await.ok()?;
    std::fs::read_to_string(Path::new(&dir).join(MARK)).ok()
}

async fn in_time<T>(call: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    let late = |_| Trouble::Git(format!("no answer in {} s", REMOTE_MAX.as_secs()));
    tokio::time::timeout(REMOTE_MAX, call).await.map_err(late)?
}
