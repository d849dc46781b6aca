//! What people have trusted: a list of hashes of folders and what they say, in the user's own folder, never in a checkout.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use longhaul_runtime::told;

use crate::project::Project;
use crate::{disk, settings};

/// The list of a user.
fn file(project: &Project) -> Result<PathBuf> {
    let user = project.user.as_ref().context("there is no home folder to remember it in")?;
    Ok(user.join("trusted"))
}

/// Every hash that was trusted.
pub fn hashes(project: &Project) -> HashSet<String> {
    let text = file(project).map(|file| disk::text_if_any(&file)).unwrap_or_default();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Whether a project says anything that counts only once it is trusted: a file of settings that only bounds something does not.
pub fn is_needed(project: &Project) -> bool {
    let own = project.root.join(".longhaul/config.toml");
    let says_more = || match told(&project.root) {
        Ok(told) => told.is_some_and(|told| told.files.iter().any(|file| *file != own)),
        Err(_) => true,
    };
    settings::needs_trust(&disk::text_if_any(&own)) || says_more()
}

/// Whether what a project says now is what a person has trusted.
pub(crate) fn is_trusted(project: &Project, hashes: &HashSet<String>) -> bool {
    longhaul_runtime::is_trusted(&project.root, hashes)
}

/// Remembers a hash, with the folder it was seen in for people.
pub fn add(project: &Project, hash: &str, workspace: &Path) -> Result<()> {
    let line = format!("{hash} {}", workspace.display());
    rewrite(project, |lines| lines.push(line))
}

/// Forgets what was trusted of a folder.
pub fn forget(project: &Project, workspace: &Path) -> Result<()> {
    let suffix = format!(" {}", workspace.display());
    rewrite(project, |lines| lines.retain(|line| !line.ends_with(&suffix)))
}

fn rewrite(project: &Project, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
    let file = file(project)?;
    let mut lines: Vec<String> = disk::text_if_any(&file).lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.dedup();
    write(&file, &(lines.join("\n") + "\n"))
}

/// Writes a file whole or not at all, for its user alone. A link that is in the way is replaced, never followed.
pub(crate) fn write(file: &Path, text: &str) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let beside = file.with_extension(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
    written
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&beside, file))
        .with_context(|| format!("{} cannot be written", file.display()))
}

/// A folder by the one path that it has, whichever way led to it.
pub(crate) fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
