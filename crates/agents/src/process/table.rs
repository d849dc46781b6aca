//! The system's table of processes, read from `/proc`.
//!
//! **Invariant:** a process is its id *and* its start time. A signal goes to exactly that one, never to
//! another that was given the same id later.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, waitpid};
use rustix::time::{ClockId, clock_gettime};

use super::{ATTEMPT_VARIABLE, ENGINE_VARIABLE};
use crate::machine::with_spare;

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    /// In ticks since the machine started.
    pub(crate) start: u64,
    /// It has ended, and its parent has not looked yet.
    pub(crate) is_zombie: bool,
}

/// What a process carries in its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) engine: Option<String>,
    pub(super) attempt: Option<String>,
}

/// Every process there is.
pub(crate) fn all() -> Vec<Process> {
    numbers_in("/proc").into_iter().filter_map(read).collect()
}

/// One process.
pub(crate) fn read(pid: u32) -> Option<Process> {
    parse_stat(pid, &file(&format!("/proc/{pid}/stat")).ok()?)
}

/// The children of this process, adopted ones included.
pub(super) fn own_children() -> Vec<Process> {
    children_of(std::process::id())
}

/// The children of a process, adopted ones included.
pub(super) fn children_of(parent: u32) -> Vec<Process> {
    match steady_list_of_children(parent) {
        Some(pids) => pids.into_iter().filter_map(read).filter(|process| process.parent == parent).collect(),
        None => all().into_iter().filter(|process| process.parent == parent).collect(),
    }
}

/// The kernel may leave one out while another disappears, so only a list that stays the same counts.
fn steady_list_of_children(parent: u32) -> Option<Vec<u32>> {
    let mut last = list_of_children(parent)?;
    for _ in 0..4 {
        let next = list_of_children(parent)?;
        if next == last {
            return Some(next);
        }
        last = next;
    }
    None
}

fn list_of_children(parent: u32) -> Option<Vec<u32>> {
    let mut pids = Vec::new();
    for thread in numbers_in(&format!("/proc/{parent}/task")) {
        match file(&format!("/proc/{parent}/task/{thread}/children")) {
            Ok(text) => pids.extend(numbers(&text)),
            // The thread has ended and left its children to another, or the kernel has no such file.
            Err(_) => return None,
        }
    }
    pids.sort_unstable();
    Some(pids)
}

fn numbers_in(folder: &str) -> Vec<u32> {
    let entries = with_spare(|| fs::read_dir(folder)).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The numbers in a text, with spaces or ends of lines between them.
pub(super) fn numbers(text: &[u8]) -> Vec<u32> {
    String::from_utf8_lossy(text).split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// A file of the table. Who cannot read it would take the living for dead.
fn file(path: &str) -> io::Result<Vec<u8>> {
    with_spare(|| fs::read(path))
}

/// The name in parentheses may itself contain parentheses and spaces: what counts comes after the last one.
fn fields(line: &[u8]) -> Option<Vec<&str>> {
    let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(&line[after_name..]).ok()?;
    Some(rest.split_ascii_whitespace().collect())
}

fn parse_stat(pid: u32, line: &[u8]) -> Option<Process> {
    let fields = fields(line)?;
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process {
        pid,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: u32::try_from(number(1)?).ok()?,
        session: u32::try_from(number(3)?).ok()?,
        start: number(19)?,
    })
}

/// The processor time of a process and of its children that it has waited for, in ticks.
pub(crate) fn cpu_ticks(pid: u32) -> u64 {
    let line = file(&format!("/proc/{pid}/stat")).unwrap_or_default();
    // User and system time, then the children's.
    let fields = fields(&line).unwrap_or_default();
    fields.iter().skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The marks of a process; none if it has ended or is not ours to read.
pub(super) fn marks(pid: u32) -> Marks {
    let environ = file(&format!("/proc/{pid}/environ")).unwrap_or_default();
    Marks { engine: variable(&environ, ENGINE_VARIABLE), attempt: variable(&environ, ATTEMPT_VARIABLE) }
}

fn variable(environ: &[u8], name: &str) -> Option<String> {
    let value = |entry: &[u8]| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    environ.split(|byte| *byte == 0).find_map(value)
}

/// The moment, as [`Process::start`] counts.
pub(super) fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    // The kernel's interface counts in hundredths on every architecture.
    let ticks = now.tv_sec * 100 + now.tv_nsec / 10_000_000;
    u64::try_from(ticks).unwrap_or_default()
}

/// A handle to exactly this process, if it still is there.
pub(crate) fn handle(process: &Process) -> Result<OwnedFd, Errno> {
    let pid = system_pid(process.pid).ok_or(Errno::SRCH)?;
    let fd = pidfd_open(pid, PidfdFlags::empty())?;
    // The handle now holds whatever has the id. Is it the one that was meant?
    if is_same(process) { Ok(fd) } else { Err(Errno::SRCH) }
}

/// Sends a signal to exactly this process. One that has ended by now is no error.
pub(crate) fn signal(process: &Process, signal: Signal) {
    // What can go wrong is that it ended, or that it is not ours to signal. The next look at the table tells.
    match handle(process) {
        Ok(fd) => drop(pidfd_send_signal(&fd, signal)),
        Err(Errno::SRCH) => {}
        Err(_) if is_same(process) => drop(system_pid(process.pid).map(|pid| kill_process(pid, signal))),
        Err(_) => {}
    }
}

fn is_same(process: &Process) -> bool {
    read(process.pid).is_some_and(|found| found.start == process.start)
}

/// Takes a dead child off the table.
pub(super) fn reap(process: &Process) {
    if let Some(pid) = system_pid(process.pid) {
        // Not a child any more: somebody was faster, which is as good.
        let _gone = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

pub(super) fn system_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let line = b"7 (a) Z (b c) S 3 5 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 99 1";
        let expected = Process { pid: 7, parent: 3, session: 4, start: 4242, is_zombie: false };
        assert_eq!(parse_stat(7, line), Some(expected));
    }

    #[test]
    fn a_line_that_breaks_off_is_no_process() {
        assert_eq!(parse_stat(7, b"7 (sh) S 3 5 4"), None);
        assert_eq!(parse_stat(7, b""), None);
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environ = b"XLONGHAUL_ENGINE=no\0LONGHAUL_ENGINEX=no\0LONGHAUL_ENGINE=a=b\0LONGHAUL_ATTEMPT=\0";
        assert_eq!(variable(environ, ENGINE_VARIABLE).as_deref(), Some("a=b"));
        assert_eq!(variable(environ, ATTEMPT_VARIABLE).as_deref(), Some(""));
        assert_eq!(variable(b"A=1\0", ENGINE_VARIABLE), None);
    }

    #[test]
    fn this_process_started_before_now_and_after_the_machine() {
        let own = read(std::process::id()).unwrap();
        assert!(own.start > 0 && own.start <= now(), "{own:?} {}", now());
    }

    #[test]
    fn a_process_with_the_id_of_another_is_left_alone() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let real = read(child.id()).unwrap();
        let other = Process { start: real.start + 1, ..real };
        signal(&other, Signal::KILL);
        assert_eq!(handle(&other).err(), Some(Errno::SRCH));
        signal(&real, Signal::TERM);
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()), "the first signal hit");
    }
}
