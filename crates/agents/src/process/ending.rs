//! Ends a tree: asks, waits, kills, and looks again until nothing is left.
//!
//! **Invariant:** every loop here is bounded. What cannot be killed is reported, not waited for.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::syscalls;
use super::table::{self, Process};
use super::tree::Tree;

/// Looks at the table after SIGKILL, and how long a round waits for what it killed: ten seconds in all.
const KILL_ROUNDS: usize = 100;
const KILL_ROUND: Duration = Duration::from_millis(100);

/// Ends everything of a tree; returns what did not end.
pub(super) async fn end(tree: &mut Tree, grace: Duration) -> Vec<u32> {
    ask(tree, Instant::now() + grace).await;
    for _ in 0..KILL_ROUNDS {
        let found = tree.find();
        if found.is_empty() {
            return Vec::new();
        }
        found.iter().for_each(|process| table::signal(process, Signal::KILL));
        all_ended(&found, Instant::now() + KILL_ROUND).await;
    }
    tree.find().iter().map(|process| process.pid).collect()
}

/// SIGTERM to each process once, until none is left or the time is up.
async fn ask(tree: &mut Tree, deadline: Instant) {
    let mut asked = HashSet::new();
    while Instant::now() < deadline {
        let found = tree.find();
        if found.is_empty() {
            return;
        }
        for process in found.iter().filter(|process| asked.insert((process.pid, process.start))) {
            table::signal(process, Signal::TERM);
            // A stopped process does not see the request before it continues.
            table::signal(process, Signal::CONT);
        }
        all_ended(&found, deadline).await;
    }
}

async fn all_ended(processes: &[Process], deadline: Instant) {
    let handles: Vec<_> = processes.iter().map(watch).collect();
    let ends = async {
        for handle in handles {
            ended(handle).await;
        }
    };
    // Running out of time is for the caller to see, by looking again.
    drop(tokio::time::timeout_at(deadline, ends).await);
}

/// Something that becomes readable when the process ends.
pub(super) fn watch(process: &Process) -> std::io::Result<AsyncFd<OwnedFd>> {
    syscalls::readable(table::handle(process)?)
}

async fn ended(handle: std::io::Result<AsyncFd<OwnedFd>>) {
    match handle {
        Ok(handle) => drop(handle.readable().await),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
        // No handle to be had, for want of file descriptors or on an old kernel: the caller looks again soon.
        Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
    }
}

/// Kills whatever `find` finds, without a runtime; returns what did not end.
pub(super) fn kill_blocking(mut find: impl FnMut() -> Vec<Process>) -> Vec<Process> {
    let mut pause = Duration::from_millis(1);
    for _ in 0..KILL_ROUNDS {
        let found = find();
        if found.is_empty() {
            return found;
        }
        found.iter().for_each(|process| table::signal(process, Signal::KILL));
        std::thread::sleep(pause);
        pause = (pause * 2).min(KILL_ROUND);
    }
    find()
}
