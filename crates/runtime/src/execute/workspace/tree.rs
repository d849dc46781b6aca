//! Records the files of a work tree in git, and restores them.
//!
//! A record is a commit outside all branches. It has the files as they are, with new ones and without ignored ones. Its
//! first parent is the commit of HEAD and its second has the staged files, so `git stash apply` understands it. Its
//! message names the branch of HEAD.
//!
//! **Invariant:** before a restore, the current files are recorded. Ignored files, the engine's own folder and
//! everything outside the folder of the work stay untouched.

mod git;
mod sync;

use std::io;
use std::path::{Path, PathBuf};

use longhaul_agents::private;
use longhaul_agents::process::Mark;
use tokio_util::sync::CancellationToken;

pub(crate) use git::Trouble;
use git::{Git, Said};

/// The files below a folder of a work tree.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    git: Git,
    /// The folder below the top of the work tree; empty for the top.
    prefix: String,
    /// The paths to record: the folder, without the engine's own.
    scope: Vec<String>,
}

/// The state of HEAD and the index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stand {
    branch: Option<String>,
    head: Option<String>,
    staged: Option<String>,
}

/// A record: a commit, and the index file that matches the work tree.
struct Recorded {
    commit: String,
    index: PathBuf,
}

impl Tree {
    /// The files of a folder. `own` is the folder of the engine's state; `scratch` is for temporary files.
    pub(crate) async fn of(
        (cwd, own): (&Path, &Path),
        scratch: PathBuf,
        mark: Mark,
        cancel: CancellationToken,
    ) -> Result<Self, Trouble> {
        private::create_dir_all(&scratch).map_err(|error| Trouble::Git(error.to_string()))?;
        let mut git = Git { cwd: cwd.to_owned(), scratch, mark, cancel };
        let (top, prefix) = match git.ask(None, &["rev-parse", "--show-toplevel", "--show-prefix"], Vec::new()).await {
            Ok(said) => places(said).ok_or_else(|| Trouble::NoWorkTree(cwd.to_owned()))?,
            Err(trouble) => return Err(trouble),
        };
        git.cwd = PathBuf::from(&top);
        let mut scope = vec![format!(":(top,literal){prefix}")];
        let own = std::fs::canonicalize(own).ok();
        if let Some(own) = own.as_deref().and_then(|own| own.strip_prefix(&top).ok()?.to_str())
            && !is_ignored(&git, own).await?
        {
            scope.push(format!(":(top,exclude,literal){own}"));
        }
        Ok(Self { git, prefix, scope })
    }

    /// Whether there is a record with this name.
    pub(crate) async fn has(&self, name: &str) -> Result<bool, Trouble> {
        Ok(self.commit_of(name).await?.is_some())
    }

    /// Records the files under a name.
    pub(crate) async fn keep(&self, name: &str) -> Result<(), Trouble> {
        self.record(name, None).await.map(|_| ())
    }

    /// Restores the files from the record `name`, after recording the current ones as `left`.
    pub(crate) async fn restore(&self, name: &str, left: &str) -> Result<(), Trouble> {
        let Some(kept) = self.commit_of(name).await? else { return Ok(()) };
        let now = self.record(left, Some(&kept)).await?;
        self.spare_ignored(&kept, &now).await?;
        self.git.line(Some(&now.index), &["read-tree", "--reset", "-u", &kept]).await?;
        // Work in a subfolder shares HEAD and the index with other work.
        if self.prefix.is_empty() {
            self.stand_back(&kept).await?;
        }
        Ok(())
    }

    /// Records the files. `like` names a record whose files count even if they are ignored now.
    async fn record(&self, name: &str, like: Option<&str>) -> Result<Recorded, Trouble> {
        let (stand, index) = self.added(like).await?;
        let tree = self.git.line(Some(&index), &["write-tree"]).await?;
        let message = format!("{name}\n\n{}", stand.words());
        self.record_as(name, &message, (tree, stand, index), None).await
    }

    /// The state of HEAD and the index, and an index with the current files.
    async fn added(&self, like: Option<&str>) -> Result<(Stand, PathBuf), Trouble> {
        let index = self.copy_index().await?;
        let stand = self.stand(&index).await?;
        if let Some(like) = like {
            self.git.line(Some(&index), &["read-tree", "--reset", like]).await?;
        }
        let scope = self.scope.iter().map(String::as_str);
        let add: Vec<&str> = ["add", "--all", "--"].into_iter().chain(scope).collect();
        self.git.line(Some(&index), &add).await?;
        Ok((stand, index))
    }

    /// Commits files under a name, with one more parent if there is one.
    async fn record_as(
        &self,
        name: &str,
        message: &str,
        (tree, stand, index): (String, Stand, PathBuf),
        also: Option<String>,
    ) -> Result<Recorded, Trouble> {
        let staged = match &stand.staged {
            Some(staged) => Some(self.commit(staged, stand.head.as_slice(), "index").await?),
            None => None,
        };
        let parents: Vec<String> = stand.head.iter().cloned().chain(staged).chain(also).collect();
        let commit = self.commit(&tree, &parents, message).await?;
        self.git.line(None, &["update-ref", name, &commit]).await?;
        Ok(Recorded { commit, index })
    }

    /// A copy of the index, so that git need not read unchanged files again.
    async fn copy_index(&self) -> Result<PathBuf, Trouble> {
        let index = self.git.line(None, &["rev-parse", "--git-path", "index"]).await?;
        let (index, copy) = (self.git.cwd.join(index), self.git.scratch.join("index"));
        let copied = match copy_file(&index, &copy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::remove_file(&copy).or(Ok(())),
            copied => copied,
        };
        copied.map_err(|error| Trouble::Git(format!("{}: {error}", index.display())))?;
        Ok(copy)
    }

    async fn commit(&self, tree: &str, parents: &[String], message: &str) -> Result<String, Trouble> {
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let args: Vec<&str> = ["commit-tree", tree, "-m", message].into_iter().chain(parents).collect();
        self.git.line(None, &args).await
    }

    async fn commit_of(&self, name: &str) -> Result<Option<String>, Trouble> {
        let commit = format!("{name}^{{commit}}");
        Ok(self.git.ask(None, &["rev-parse", "--quiet", "--verify", &commit], Vec::new()).await?.line())
    }

    async fn stand(&self, index: &PathBuf) -> Result<Stand, Trouble> {
        let branch = self.git.ask(None, &["symbolic-ref", "--quiet", "HEAD"], Vec::new()).await?.line();
        let head = self.commit_of("HEAD").await?;
        // An index with conflicts has no tree.
        let staged = self.git.ask(Some(index), &["write-tree"], Vec::new()).await?.line();
        Ok(Stand { branch, head, staged })
    }

    /// Keeps files that were ignored at the time of the record: they are not new. The ignore rules of the record count.
    async fn spare_ignored(&self, kept: &str, now: &Recorded) -> Result<(), Trouble> {
        let index = Some(&now.index);
        let differs = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", kept, &now.commit];
        let rules = only_rules(&self.git.must(None, &differs, Vec::new()).await?);
        let added = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A", kept, &now.commit];
        let added = self.git.must(None, &added, Vec::new()).await?;
        if rules.is_empty() || added.is_empty() {
            return Ok(());
        }
        let back = ["rm", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", "--ignore-unmatch"];
        let literal: Vec<&str> = ["--literal-pathspecs"].into_iter().chain(back).collect();
        self.git.must(index, &literal, rules.clone()).await?;
        let known = self.git.must(None, &["ls-tree", "-r", "-z", "--name-only", kept], Vec::new()).await?;
        let known = both(&rules, &known);
        if !known.is_empty() {
            let back = ["checkout", "--quiet", kept, "--pathspec-from-file=-", "--pathspec-file-nul"];
            let literal: Vec<&str> = ["--literal-pathspecs"].into_iter().chain(back).collect();
            self.git.must(index, &literal, known).await?;
        }
        let ignored = self.git.ask(index, &["check-ignore", "-z", "--stdin", "--no-index"], added).await?;
        self.git.must(index, &["update-index", "-z", "--force-remove", "--stdin"], ignored.stdout).await.map(|_| ())
    }

    /// Restores HEAD and the index. The newer commits are parents of the record that was just made.
    async fn stand_back(&self, kept: &str) -> Result<(), Trouble> {
        let message = self.git.line(None, &["show", "--no-patch", "--format=%B", kept]).await?;
        let (then, now) = (Stand::from_words(&message), self.stand(&self.copy_index().await?).await?);
        const WHY: &str = "longhaul: put back";
        match (&then.branch, &then.head) {
            _ if (&then.branch, &then.head) == (&now.branch, &now.head) => {}
            (Some(branch), Some(head)) => {
                self.git.line(None, &["symbolic-ref", "-m", WHY, "HEAD", branch]).await?;
                self.git.line(None, &["update-ref", "-m", WHY, branch, head]).await?;
            }
            (Some(branch), None) => {
                self.git.line(None, &["symbolic-ref", "-m", WHY, "HEAD", branch]).await?;
                self.git.line(None, &["update-ref", "-d", branch]).await?;
            }
            (None, Some(head)) => {
                self.git.line(None, &["update-ref", "--no-deref", "-m", WHY, "HEAD", head]).await?;
            }
            (None, None) => {}
        }
        if let Some(staged) = then.staged.as_ref().filter(|staged| now.staged.as_ref() != Some(staged)) {
            self.git.line(None, &["read-tree", "--reset", staged]).await?;
        }
        // Git reports an error if a file differs from the index, which is fine.
        self.git.ask(None, &["update-index", "-q", "--refresh"], Vec::new()).await.map(|_| ())
    }
}

impl Stand {
    fn words(&self) -> String {
        let line = |what: &str, value: &Option<String>| format!("{what}: {}\n", value.as_deref().unwrap_or("none"));
        line("branch", &self.branch) + &line("head", &self.head) + &line("staged", &self.staged)
    }

    fn from_words(words: &str) -> Self {
        let value = |what: &str| {
            let found = words.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(": "));
            found.filter(|value| *value != "none").map(str::to_owned)
        };
        Self { branch: value("branch"), head: value("head"), staged: value("staged") }
    }
}

/// Copies a file with its time: git treats files as changed if they are as new as its index.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let modified = std::fs::metadata(from)?.modified()?;
    std::fs::copy(from, to)?;
    std::fs::File::options().write(true).open(to)?.set_modified(modified)
}

/// The top of the work tree and the folder below it.
fn places(said: Said) -> Option<(String, String)> {
    let text = said.line()?;
    let mut lines = text.lines();
    Some((lines.next()?.to_owned(), lines.next().unwrap_or_default().to_owned()))
}

async fn is_ignored(git: &Git, path: &str) -> Result<bool, Trouble> {
    Ok(git.ask(None, &["check-ignore", "--quiet", "--", path], Vec::new()).await?.code == 0)
}

/// The paths of files with ignore rules.
fn only_rules(paths: &[u8]) -> Vec<u8> {
    let is_rule = |path: &&[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(b".gitignore".as_slice());
    joined(paths.split(|byte| *byte == 0).filter(is_rule))
}

/// Paths that are in both lists.
fn both(some: &[u8], others: &[u8]) -> Vec<u8> {
    let others: std::collections::HashSet<&[u8]> = others.split(|byte| *byte == 0).collect();
    joined(some.split(|byte| *byte == 0).filter(|path| !path.is_empty() && others.contains(path)))
}

fn joined<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    paths.flat_map(|path| path.iter().copied().chain([0])).collect()
}
