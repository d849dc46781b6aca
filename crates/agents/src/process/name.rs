//! Names of processes that start commands: whoever reads one can tell whether its process lives.
//!
//! **Invariant:** no two processes ever have the same name, and nobody is called dead who is not.

use std::fs;

use uuid::Uuid;

use super::table;

/// A new name for this process: host, process, start time, and a number that no other has.
pub fn own_name() -> String {
    let pid = std::process::id();
    let start = table::read(pid).map_or(0, |process| process.start);
    format!("{}:{pid}:{start}:{}", host(), Uuid::new_v4().simple())
}

/// Whether the process of a name is certainly gone. Of other machines, and of other process namespaces of this one, nothing is known:
/// their process ids mean somebody else here. Names of versions that did not say their namespace are of none that is known.
pub fn is_dead(name: &str) -> bool {
    let mut parts = name.split(':');
    let (Some(host_name), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    host_name == host() && table::read(pid).is_none_or(|process| process.is_zombie || process.start != start)
}

/// What the machine is called. Debug builds can be told another name, to test several machines on one.
pub fn host_name() -> String {
    let name = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    told_host_name().unwrap_or_else(name).trim().replace(':', "-")
}

/// What tests call the machine, when one plays several.
pub fn told_host_name() -> Option<String> {
    std::env::var("LONGHAUL_HOST").ok().filter(|_| cfg!(debug_assertions))
}

/// The machine since it was started, and the namespace in which this process has its id: a process of before, or of another
/// namespace, is of another machine.
fn host() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}.{}.{}", host_name(), boot.trim().get(..8).unwrap_or_default(), namespace())
}

/// The number of the namespace of process ids that this process is in.
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_are_not_dead_and_strangers_are_unknown() {
        let own = own_name();
        assert!(!is_dead(&own));
        assert_ne!(own, own_name());
        for unknown in ["shim", "", "elsewhere:1:1:x", "a:b", "a:b:c:d"] {
            assert!(!is_dead(unknown), "{unknown}");
        }
    }

    #[test]
    fn a_process_with_the_id_of_another_does_not_make_that_one_live() {
        let own = own_name();
        let mut parts: Vec<&str> = own.split(':').collect();
        let start = parts[2].to_owned() + "0";
        parts[2] = &start;
        assert!(is_dead(&parts.join(":")));
    }

    #[test]
    fn a_process_of_another_namespace_is_not_dead_here() {
        let own = own_name();
        assert!(!namespace().is_empty());
        let (machine, rest) = own.split_once(':').unwrap();
        // Its id is nobody's in this namespace.
        let rest = rest.split_once(':').unwrap().1;
        assert!(is_dead(&format!("{machine}:4194304:{rest}")));
        let machine = machine.rsplit_once('.').unwrap().0;
        assert!(!is_dead(&format!("{machine}.1:4194304:{rest}")));
        // As earlier versions were called.
        assert!(!is_dead(&format!("{machine}:4194304:{rest}")));
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let start = table::read(child.id()).unwrap().start;
        let name = format!("{}:{}:{start}:x", host(), child.id());
        while !table::read(child.id()).unwrap().is_zombie {
            std::thread::yield_now();
        }
        assert!(is_dead(&name));
        child.wait().unwrap();
    }
}
