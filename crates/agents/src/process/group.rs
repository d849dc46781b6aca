//! Groups of the system (version 2 of its control groups) around what commands start: nothing inside gets out of one by shedding its
//! parent, its session or its environment.
//!
//! The guard makes a group for its engine, beside the engine, and in it one for each command that is running for a moment. To move
//! a process can take the system many milliseconds; so short commands are spared it, and nobody waits for it.
//!
//! **Invariant:** where the system has no such groups, or lets us make none, everything continues without.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::table::{self, Process};

/// How the groups of engines begin.
const PREFIX: &str = "longhaul-";
const MEMBERS: &str = "cgroup.procs";
const FREEZE: &str = "cgroup.freeze";

/// The group of an engine's commands.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Makes one for an engine, if that can be done.
    pub(super) fn make(engine: &Process) -> Option<Self> {
        let group = Self(place_of(engine)?);
        fs::create_dir(&group.0).ok()?;
        Some(group)
    }

    /// Takes in a process, and with it all that it starts from now on.
    pub(super) fn take(&self, root: &Process, process: &Process) -> io::Result<()> {
        let inside = self.0.join(root.pid.to_string());
        match fs::create_dir(&inside) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => fs::write(inside.join(MEMBERS), process.pid.to_string()),
        }
    }

    /// Everything inside.
    pub(super) fn members(&self) -> Vec<u32> {
        members_below(&self.0)
    }

    /// Lets nothing inside continue, or continue again.
    pub(super) fn freeze(&self, is_frozen: bool) {
        // Without it the same is found a few times more.
        let _set = fs::write(self.0.join(FREEZE), if is_frozen { "1" } else { "0" });
    }

    /// Removes what is empty inside of it.
    pub(super) fn tidy(&self) {
        inside(&self.0).for_each(|folder| drop(remove(&folder)));
    }

    /// Removes it, as far as it is empty.
    pub(super) fn remove(&self) {
        let _left = remove(&self.0);
    }

    /// Groups beside this one whose engines are dead.
    pub(super) fn left_by_the_dead(&self) -> Vec<Self> {
        let beside = self.0.parent().into_iter().flat_map(inside);
        beside.filter(|folder| is_of_the_dead(folder)).map(Self).collect()
    }
}

/// The processes of a command of this engine, as far as its guard has put them into a group.
pub(super) fn members_of(leader: &Process) -> Vec<u32> {
    static OWN: LazyLock<Option<PathBuf>> = LazyLock::new(|| place_of(&table::read(std::process::id())?));
    OWN.as_ref().map_or_else(Vec::new, |own| members_below(&own.join(leader.pid.to_string())))
}

/// Where the group of an engine is, or would be.
fn place_of(engine: &Process) -> Option<PathBuf> {
    // Tests want to see what is done without.
    if cfg!(debug_assertions) && std::env::var_os("LONGHAUL_NO_GROUPS").is_some() {
        return None;
    }
    let own = fs::read_to_string(format!("/proc/{}/cgroup", engine.pid)).ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    Some(folder(&own, &mounts)?.join(format!("{PREFIX}{}-{}", engine.pid, engine.start)))
}

/// The folder of the group that a process is in, from what the system says about the process and about what is mounted.
fn folder(of_process: &str, mounts: &str) -> Option<PathBuf> {
    let path = of_process.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounted = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let inside = Path::new(path).strip_prefix(root).ok()?;
        after.starts_with("cgroup2 ").then(|| Path::new(at).join(inside))
    };
    mounts.lines().find_map(mounted)
}

fn is_of_the_dead(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX));
    let Some((pid, start)) = name.and_then(|name| name.split_once('-')) else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    table::read(pid).is_none_or(|process| process.start != start)
}

fn members_below(folder: &Path) -> Vec<u32> {
    let Ok(text) = fs::read(folder.join(MEMBERS)) else { return Vec::new() };
    let mut members = table::numbers(&text);
    members.extend(inside(folder).flat_map(|folder| members_below(&folder)));
    members
}

fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

fn remove(folder: &Path) -> io::Result<()> {
    inside(folder).try_for_each(|folder| remove(&folder))?;
    fs::remove_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_process_is_below_what_is_mounted() {
        let old = "30 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        let mounts = format!("{old}41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
        let of = |process: &str, mounts: &str| folder(process, mounts).map(|found| found.display().to_string());
        assert_eq!(of("1:cpu:/x\n0::/a/b\n", &mounts).as_deref(), Some("/sys/fs/cgroup/unified/a/b"));
        assert_eq!(of("0::/\n", &mounts).as_deref(), Some("/sys/fs/cgroup/unified/"));
        let inside = "41 31 0:38 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(of("0::/docker/x/y\n", inside).as_deref(), Some("/sys/fs/cgroup/y"));
        assert_eq!(of("0::/elsewhere\n", inside), None);
        assert_eq!(of("1:cpu:/x\n", &mounts), None);
        assert_eq!(of("0::/a\n", old), None);
    }

    #[test]
    fn an_engine_that_lives_keeps_its_group() {
        let own = table::read(std::process::id()).unwrap();
        let named = |start: u64| PathBuf::from(format!("/x/{PREFIX}{}-{start}", own.pid));
        assert!(!is_of_the_dead(&named(own.start)));
        assert!(is_of_the_dead(&named(own.start + 1)));
        assert!(!is_of_the_dead(Path::new("/x/longhaul-mine")) && !is_of_the_dead(Path::new("/x/other")));
    }
}
