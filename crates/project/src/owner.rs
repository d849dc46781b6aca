//! Checks who owns a project.
//!
//! Longhaul finds a project by looking upwards, and its files say what to run. Another user could put such files into
//! a folder above, such as `/tmp`. So Longhaul does not use a project of another user.
//!
//! **Invariant:** Longhaul neither reads nor runs files of another user until the user has allowed that folder.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::{disk, trusted};

/// The files that make a folder a project, or say what to run in it.
const LOOKED_AT: &[&str] = &[
    "",
    ".longhaul",
    ".longhaul/config.toml",
    ".longhaul/workflows",
    ".agents",
    ".agents/workflows",
    ".git",
    ".mcp.json",
];

/// Refuses a project of which a part belongs to another user.
pub(crate) fn verify(project: &Project) -> Result<()> {
    match foreign(&project.root, &us()).filter(|_| !is_allowed(project)) {
        None => Ok(()),
        Some((path, owner)) => bail!(
            "{} belongs to user {owner}, not to you; its workflows and settings could run anything as you. Look at it, then run \
             `longhaul trust --folder {}`; or make a project of your own here with `mkdir .longhaul`",
            path.display(),
            project.root.display()
        ),
    }
}

/// The users whose files count as our own. Like git, root also accepts the files of the user who called `sudo`.
fn us() -> Vec<u32> {
    let me = rustix::process::geteuid().as_raw();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| me == 0).and_then(|user| user.parse().ok());
    std::iter::once(me).chain(caller).collect()
}

/// The first part of a project that belongs to another user, and that user.
fn foreign(root: &Path, us: &[u32]) -> Option<(PathBuf, u32)> {
    // A folder without a mark is not a project: Longhaul reads nothing in it.
    let found: Vec<&&str> = LOOKED_AT.iter().filter(|name| root.join(name).symlink_metadata().is_ok()).collect();
    let parts = found.into_iter().filter(|_| Project::is_marked(root)).map(|name| path_of(root, name));
    let owners = parts.filter_map(|path| Some((path.symlink_metadata().ok()?.uid(), path)));
    owners.map(|(owner, path)| (path, owner)).find(|(_, owner)| !us.contains(owner))
}

fn path_of(root: &Path, name: &str) -> PathBuf {
    if name.is_empty() { root.to_owned() } else { root.join(name) }
}

fn is_allowed(project: &Project) -> bool {
    file(project).is_ok_and(|file| listed(&file).contains(&trusted::real(&project.root)))
}

/// The list of allowed folders, one per line.
fn file(project: &Project) -> Result<PathBuf> {
    let user = project.user.as_ref().context("there is no home folder to remember it in")?;
    Ok(user.join("folders"))
}

fn listed(file: &Path) -> BTreeSet<PathBuf> {
    disk::text_if_any(file).lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

/// Allows a folder of another user, or removes it from the list.
pub fn allow(folder: &Path, is_allowed: bool) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let file = file(&Project::around(&folder))?;
    let mut folders = listed(&file);
    if is_allowed {
        folders.insert(folder);
    } else {
        folders.remove(&folder);
    }
    let text: String = folders.iter().map(|folder| format!("{}\n", folder.display())).collect();
    trusted::write(&file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_of_another_user_is_found_out_by_each_of_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let (root, me) = (folder.path(), folder.path().metadata().unwrap().uid());
        assert_eq!(foreign(root, &[me + 1]), None, "nothing is in it");
        std::fs::create_dir_all(root.join(".longhaul/workflows")).unwrap();
        assert_eq!(foreign(root, &[me]), None);
        assert_eq!(foreign(root, &[me + 1]), Some((root.to_owned(), me)));
        assert_eq!(foreign(root, &[me + 1, me]), None, "as root for the user who called sudo");
    }

    #[test]
    fn a_folder_that_was_allowed_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = Project { root: root.clone(), user: Some(root.join("home")) };
        assert!(!is_allowed(&project));
        trusted::write(&file(&project).unwrap(), &format!("/elsewhere\n{}\n", root.display())).unwrap();
        assert!(is_allowed(&project));
    }
}
