//! The folder of a demo: a small repository with a branch that wants a review, and what the agents will say.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What is on `main`.
const BEFORE: [(&str, &str); 5] = [
    ("README.md", include_str!("files/before/README.md")),
    ("shop/__init__.py", ""),
    ("shop/db.py", include_str!("files/before/shop/db.py")),
    ("shop/orders.py", include_str!("files/before/shop/orders.py")),
    ("tests/test_orders.py", include_str!("files/before/tests/test_orders.py")),
];
/// What the branch changes.
const AFTER: [(&str, &str); 2] = [
    ("shop/orders.py", include_str!("files/after/shop/orders.py")),
    ("shop/export.py", include_str!("files/after/shop/export.py")),
];
/// What the agents say.
const REPLIES: &str = include_str!("replies.yaml");
/// The branch.
pub(crate) const BRANCH: &str = "export-orders";

/// What the file of the store is called.
pub(crate) const STORE: &str = "runs.db";

/// The folder of one demo.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// A new one among the temporary files.
    pub(crate) fn new() -> Result<Self> {
        let root = unused(&std::env::temp_dir())?;
        let folder = Self { root };
        std::fs::create_dir(folder.home())?;
        std::fs::write(folder.replies(), REPLIES)?;
        folder.repository_with_a_branch()?;
        Ok(folder)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("shop")
    }

    pub(crate) fn replies(&self) -> PathBuf {
        self.root.join("replies.yaml")
    }

    /// What keeps the run: here, so that nothing is left when the folder is removed.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.join(STORE)
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.root.join("review.md")
    }

    /// A home in which nothing is set.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn repository_with_a_branch(&self) -> Result<()> {
        std::fs::create_dir(self.repository())?;
        self.git(&["init", "-q"])?;
        self.git(&["checkout", "-q", "-b", "main"])?;
        self.commit(&BEFORE, "Read orders and add up their lines")?;
        self.git(&["checkout", "-q", "-b", BRANCH])?;
        self.commit(&AFTER, "Export the orders of a customer as CSV")
    }

    fn commit(&self, files: &[(&str, &str)], message: &str) -> Result<()> {
        for (name, text) in files {
            let file = self.repository().join(name);
            file.parent().map(std::fs::create_dir_all).transpose()?;
            std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        }
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", message])
    }

    /// Git without anybody's settings: no signatures, no hooks, no templates.
    fn git(&self, args: &[&str]) -> Result<()> {
        let identity = ["-c", "user.name=Longhaul", "-c", "user.email=demo@localhost"];
        let mut command = Command::new("git");
        command.args(identity).args(args).current_dir(self.repository());
        command.env("HOME", self.home()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let output = command.output().context("git cannot be started: the demo needs it, as most workflows do")?;
        if !output.status.success() {
            bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

/// Makes the first folder of our name that is free; whoever makes it owns it.
fn unused(beside: &Path) -> Result<PathBuf> {
    for number in 1..10_000 {
        let folder = beside.join(format!("longhaul-demo-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("{} cannot be made", folder.display())),
        }
    }
    bail!("{} is full of demos: remove some of its folders `longhaul-demo-*`", beside.display())
}
