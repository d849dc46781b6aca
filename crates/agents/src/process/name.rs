//! Names processes that start commands. A name tells whether its process is still alive.
//!
//! **Invariant:** no two processes ever have the same name, and a living process is never called dead.

use std::fs;

use uuid::Uuid;

use super::table;

/// A new name for this process: host, process id, start time, and a unique number.
pub fn own_name() -> String {
    let pid = std::process::id();
    let start = table::read(pid).map_or(0, |process| process.start);
    format!("{}:{pid}:{start}:{}", host(), Uuid::new_v4().simple())
}

/// Whether the process of a name is certainly gone. For other machines and for other process namespaces the answer is
/// no: their process ids mean other processes here. Names of earlier versions have no namespace, so the answer is no
/// for them too.
pub fn is_dead(name: &str) -> bool {
    let mut parts = name.split(':');
    let (Some(host_name), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(pid), Ok(start)) = (pid.parse::<u32>(), start.parse::<u64>()) else { return false };
    host_name == host() && table::read(pid).is_none_or(|process| process.is_zombie || process.start != start)
}

/// Whether the process of a name is certainly there: on this machine, since its last start.
pub fn is_alive(name: &str) -> bool {
    name.split(':').next() == Some(host().as_str()) && name.split(':').count() > 2 && !is_dead(name)
}

/// The name of the machine. Debug builds accept another name, to test several machines on one.
pub fn host_name() -> String {
    let name = || fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    told_host_name().unwrap_or_else(name).trim().replace(':', "-")
}

/// The name that a test gives to the machine.
pub fn told_host_name() -> Option<String> {
    std::env::var("LONGHAUL_HOST").ok().filter(|_| cfg!(debug_assertions))
}

/// The machine since its last start, and the process namespace. Another start, or another namespace, counts as another
/// machine.
fn host() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}.{}.{}", host_name(), boot.trim().get(..8).unwrap_or_default(), namespace())
}

/// The number of this process's namespace of process ids.
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
        // No process in this namespace has this id.
        let rest = rest.split_once(':').unwrap().1;
        assert!(is_dead(&format!("{machine}:4194304:{rest}")));
        let machine = machine.rsplit_once('.').unwrap().0;
        assert!(!is_dead(&format!("{machine}.1:4194304:{rest}")));
        // The format of earlier versions.
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
