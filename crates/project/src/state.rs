//! Finds the state folder of a project: runs, keys, cached results, files about runs.
//!
//! The folder is `$XDG_STATE_HOME/longhaul/<id>/` (`~/.local/state/longhaul`), one for each project. Agents clean the
//! folder of a project, and a checkout brings files; neither touches the state folder.
//!
//! The id comes from the folder of the project itself: its inode and its creation time. No checkout or archive can
//! choose them, and they stay when the folder is renamed. A copy is another folder with another id, and so is each
//! git worktree. After a restore from a backup the folder is new. A mark in `.git` (or in `.longhaul`, without git)
//! leads back to the state, but only if the state was recorded for this path.
//!
//! **Invariant:** Longhaul reads a state folder only if this user owns it and no other user could write to it.
//! Nothing in a checkout leads to the state of another folder.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};

use crate::project::Project;
use crate::{disk, trusted};

/// The permission bits that let other users write.
const WRITTEN_BY_OTHERS: u32 = 0o022;
const SEEN_BY_OTHERS: u32 = 0o077;

/// The record inside a state folder.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// The project to which the state belongs.
    path: PathBuf,
}

/// The path of a project's state folder. Writes nothing.
pub fn of(project: &Project) -> Result<PathBuf> {
    within(&home()?, project)
}

/// Creates the state folder of a project and records the project in it.
pub fn made(project: &Project) -> Result<PathBuf> {
    made_within(&home()?, project)
}

/// The project of a state folder.
pub fn project_of(folder: &Path) -> Option<PathBuf> {
    recorded(folder)
}

/// The folder of the user's background engine: its lock, socket and logs. Creates it.
pub fn background() -> Result<PathBuf> {
    let folder = home()?.join("background");
    verify(folder.parent().unwrap_or(&folder))?;
    verify(&folder)?;
    private(folder.parent().unwrap_or(&folder))?;
    private(&folder)?;
    Ok(folder)
}

/// The folders of all projects of this user that have state here.
pub fn projects() -> Result<Vec<PathBuf>> {
    Ok(all()?.into_iter().map(|(root, _)| root).collect())
}

/// All projects of this user that have state here, each with its state folder.
pub fn all() -> Result<Vec<(PathBuf, PathBuf)>> {
    let home = home()?;
    verify(&home)?;
    Ok(all_within(&home))
}

fn all_within(home: &Path) -> Vec<(PathBuf, PathBuf)> {
    let folders = std::fs::read_dir(home).into_iter().flatten().flatten();
    // A link is a second name of a folder beside it.
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    let owned = folders.filter(|folder| verify(folder).is_ok());
    let mut found: Vec<(PathBuf, PathBuf)> = owned
        .filter_map(|folder| Some((recorded(&folder)?, folder)))
        // A record may be older than the folder at its path: then the state belongs to another project.
        .filter(|(root, folder)| {
            let project = Project { root: root.clone(), user: None };
            root.is_dir() && within(home, &project).is_ok_and(|state| state == *folder)
        })
        .collect();
    found.sort();
    found
}

/// The folder of all state folders.
fn home() -> Result<PathBuf> {
    let base = etcetera::choose_base_strategy().ok().and_then(|base| base.state_dir());
    let base =
        base.context("there is no home folder to keep runs in; set HOME or XDG_STATE_HOME, or name a --store")?;
    Ok(base.join("longhaul"))
}

fn within(home: &Path, project: &Project) -> Result<PathBuf> {
    verify(home)?;
    let root = trusted::real(&project.root);
    let found = home.join(id(home, &root)?);
    if found.exists() {
        // A link is a second name of a folder beside it.
        let named = std::fs::read_link(&found).ok().and_then(|to| Some(home.join(to.file_name()?)));
        return owned(named.unwrap_or(found));
    }
    match marked(home, &root) {
        Some(earlier) => owned(earlier),
        None => Ok(found),
    }
}

fn owned(folder: PathBuf) -> Result<PathBuf> {
    verify(&folder)?;
    Ok(folder)
}

fn made_within(home: &Path, project: &Project) -> Result<PathBuf> {
    let folder = within(home, project)?;
    let root = trusted::real(&project.root);
    private(home)?;
    // If the home folder is a git repository, git must ignore the state.
    if !home.join(".gitignore").exists() {
        trusted::write(&home.join(".gitignore"), "*\n")?;
    }
    private(&folder)?;
    let named = home.join(id(home, &root)?);
    if named != folder && named.symlink_metadata().is_err() {
        // It was found by its mark. From now on this link finds it by its folder, too.
        let target = folder.file_name().map(PathBuf::from).unwrap_or_default();
        std::os::unix::fs::symlink(target, &named).with_context(|| named.display().to_string())?;
    }
    if recorded(&folder).as_deref() != Some(&*root) {
        let record = serde_json::to_string(&Record { path: root.clone() })?;
        trusted::write(&folder.join("project.json"), &record)?;
    }
    mark(&root, &folder);
    Ok(folder)
}

/// The name of a folder's state. A snapshot of a disk has the same inode and creation time as its original, but another
/// device. Then the path is part of the name.
fn id(home: &Path, root: &Path) -> Result<String> {
    let about = root.metadata().with_context(|| root.display().to_string())?;
    let own = key(&about, root);
    let holder = recorded(&home.join(&own)).filter(|holder| holder != root);
    let other = holder.and_then(|holder| Some((holder.metadata().ok()?, holder)));
    match other {
        Some((other, holder)) if key(&other, &holder) == own && other.dev() != about.dev() => {
            Ok(hex(&format!("{own} {}", root.display())))
        }
        _ => Ok(own),
    }
}

/// The key of a folder: inode and creation time, or its path if the disk has no creation time.
fn key(about: &Metadata, root: &Path) -> String {
    let made = about.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    match made {
        Some(made) => hex(&format!("folder {} {}", about.ino(), made.as_nanos())),
        None => hex(&format!("path {}", root.display())),
    }
}

fn hex(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(24).collect()
}

/// The path recorded in a state folder.
fn recorded(folder: &Path) -> Option<PathBuf> {
    serde_json::from_str::<Record>(&disk::text_if_any(&folder.join("project.json"))).ok().map(|record| record.path)
}

/// The file in a project that names its state, in case its folder is replaced. A clone does not have it.
fn mark_file(root: &Path) -> PathBuf {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|about| about.is_dir());
    let git = root.join(".git");
    if is_folder(&git) { git.join("longhaul-id") } else { root.join(".longhaul/id") }
}

/// The state that the mark of a project names, if it was recorded for this path.
fn marked(home: &Path, root: &Path) -> Option<PathBuf> {
    let mark = disk::text_if_any(&mark_file(root));
    let id = mark.trim();
    let is_id = id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let folder = home.join(id);
    (is_id && recorded(&folder).as_deref() == Some(root)).then_some(folder)
}

/// Writes the mark. A read-only project works without it.
fn mark(root: &Path, folder: &Path) {
    let (file, id) = (mark_file(root), folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let is_there = disk::text_if_any(&file).trim() == id;
    let own = root.join(".longhaul");
    let is_link = file.starts_with(&own) && own.symlink_metadata().is_ok_and(|about| !about.is_dir());
    if is_there || is_link || trusted::write(&file, &format!("{id}\n")).is_err() {
        return;
    }
    let ignore = own.join(".gitignore");
    if file.starts_with(&own) && ignore.symlink_metadata().is_err() {
        let _ = trusted::write(&ignore, ".gitignore\nid\n");
    }
}

/// Creates a folder for its user alone, whatever the umask is.
fn private(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("{} cannot be made", folder.display()))?;
    let mode = folder.metadata()?.permissions().mode();
    if mode & SEEN_BY_OTHERS != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))
            .with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// Refuses a folder that another user owns or could write to. A missing folder is fine.
fn verify(folder: &Path) -> Result<()> {
    let Ok(about) = folder.metadata() else { return Ok(()) };
    let me = rustix::process::geteuid().as_raw();
    if about.uid() != me {
        bail!(
            "{} belongs to user {}, not to you; set XDG_STATE_HOME to a folder of your own",
            folder.display(),
            about.uid()
        );
    }
    if about.mode() & WRITTEN_BY_OTHERS != 0 {
        bail!(
            "other users can write to {}, so its files may be theirs; if all of them are yours, run `chmod 700 {}`",
            folder.display(),
            folder.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            place.project("a");
            place
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        /// A project with that name, created if needed.
        fn project(&self, name: &str) -> Project {
            std::fs::create_dir_all(self.path(name).join(".git")).unwrap();
            Project { root: self.path(name), user: None }
        }

        fn made(&self, name: &str) -> PathBuf {
            made_within(&self.path("home"), &self.project(name)).unwrap()
        }

        fn of(&self, name: &str) -> PathBuf {
            within(&self.path("home"), &self.project(name)).unwrap()
        }
    }

    /// Whether this disk records creation times.
    fn knows_age(place: &Place) -> bool {
        place.path("").metadata().unwrap().created().is_ok()
    }

    #[test]
    fn looking_makes_nothing_and_making_is_for_the_user_alone() {
        let place = Place::new();
        let there = place.of("a");
        assert!(!place.path("home").exists());
        assert_eq!(place.made("a"), there);
        for folder in [place.path("home"), there.clone()] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
        }
        std::fs::set_permissions(&there, Permissions::from_mode(0o755)).unwrap();
        place.made("a");
        assert_eq!(there.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn all_projects_are_found_that_are_still_there() {
        let place = Place::new();
        for name in ["a", "b", "gone"] {
            place.made(name);
        }
        std::fs::remove_dir_all(place.path("gone")).unwrap();
        std::fs::create_dir_all(place.path("home/background")).unwrap();
        std::fs::create_dir_all(place.path("home/strange")).unwrap();
        trusted::write(&place.path("home/strange/project.json"), r#"{"path":"/"}"#).unwrap();
        let found: Vec<PathBuf> = all_within(&place.path("home")).into_iter().map(|(root, _)| root).collect();
        assert_eq!(found, [place.path("a"), place.path("b")]);
        assert!(all_within(&place.path("nowhere")).is_empty());
    }

    #[test]
    fn a_project_that_is_moved_keeps_its_state_and_a_copy_has_its_own() {
        let place = Place::new();
        let before = place.made("a");
        let copied = std::process::Command::new("cp").args(["-a"]).arg(place.path("a")).arg(place.path("c")).status();
        assert!(copied.unwrap().success());
        assert_ne!(place.made("c"), before, "its mark is that of the other");
        if knows_age(&place) {
            std::fs::rename(place.path("a"), place.path("b")).unwrap();
            assert_eq!(place.made("b"), before);
            assert_eq!(recorded(&before), Some(place.path("b")));
        }
    }

    #[test]
    fn a_folder_that_was_made_anew_is_another_project_unless_its_mark_came_back_with_it() {
        let place = Place::new();
        let before = place.made("a");
        std::fs::rename(place.path("a"), place.path("backup")).unwrap();
        if knows_age(&place) {
            assert_ne!(place.of("a"), before, "a new clone");
        }
        std::fs::copy(place.path("backup/.git/longhaul-id"), place.path("a/.git/longhaul-id")).unwrap();
        std::fs::remove_dir_all(place.path("backup")).unwrap();
        assert_eq!(place.made("a"), before, "restored");
        std::fs::remove_file(place.path("a/.git/longhaul-id")).unwrap();
        assert_eq!(place.made("a"), before, "it is known now");
    }

    #[test]
    fn a_checkout_can_not_lead_to_the_state_of_another_folder() {
        let place = Place::new();
        let before = place.made("a");
        let id = before.file_name().unwrap().to_str().unwrap().to_owned();
        place.project("evil");
        for mark in [id.as_str(), "../a", "/etc", "", "0123"] {
            std::fs::write(place.path("evil/.git/longhaul-id"), mark).unwrap();
            assert_ne!(place.of("evil"), before);
            assert!(place.of("evil").starts_with(place.path("home")));
        }
        // Not even after the other one is gone: it may be another project.
        std::fs::rename(place.path("a"), place.path("elsewhere")).unwrap();
        std::fs::write(place.path("evil/.git/longhaul-id"), &id).unwrap();
        assert_ne!(place.of("evil"), before);
    }

    #[test]
    fn state_that_others_could_have_written_is_not_read() {
        let place = Place::new();
        let folder = place.made("a");
        std::fs::set_permissions(&folder, Permissions::from_mode(0o770)).unwrap();
        let said = within(&place.path("home"), &place.project("a")).unwrap_err().to_string();
        assert!(said.contains("other users can write") && said.contains("chmod 700"), "{said}");
    }

    #[test]
    fn a_mark_is_not_written_through_a_link() {
        let place = Place::new();
        std::fs::create_dir(place.path("bare")).unwrap();
        std::fs::create_dir(place.path("target")).unwrap();
        std::os::unix::fs::symlink(place.path("target"), place.path("bare/.longhaul")).unwrap();
        let project = Project { root: place.path("bare"), user: None };
        made_within(&place.path("home"), &project).unwrap();
        assert_eq!(std::fs::read_dir(place.path("target")).unwrap().count(), 0);
    }
}
