//! The bad behaviour of agents.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Runs a command like a tool, and returns its output.
pub(crate) fn shell(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Prints bytes that are not text, on a line of their own.
pub(crate) fn broken() {
    let mut stdout = std::io::stdout();
    // A closed pipe is not an error here.
    let _ = stdout.write_all(b"\xff\xfe{\"type\":\"text\",\"text\":\"\xc3\x28\"}\n").and_then(|()| stdout.flush());
}

/// Starts a child in its own session whose parents have ended; it writes its process id to `orphan.pid`.
pub(crate) fn orphan() {
    let script = "(setsid sh -c 'echo $$ > orphan.new; mv orphan.new orphan.pid; exec sleep 3600' >/dev/null 2>&1 &)
        until [ -f orphan.pid ]; do sleep 0.01; done";
    // If it does not start, the test misses the file.
    let _ = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).status();
}

/// Writes the variables of its environment to a file, one per line.
pub(crate) fn environment(file: &str) {
    let all: String =
        std::env::vars_os().map(|(name, value)| format!("{}={}\n", name.display(), value.display())).collect();
    // If this fails, the test misses the file.
    let _ = std::fs::write(file, all);
}

/// Never ends, but obeys signals.
pub(crate) fn hang() {
    loop {
        std::thread::park();
    }
}

/// Never ends, and ignores signals.
pub(crate) fn stubborn() {
    // Returns only if there is no shell.
    let _ = Command::new("sh").args(["-c", "trap '' TERM INT HUP; while :; do sleep 1; done"]).exec();
}

/// Dies in the middle of a turn.
pub(crate) fn crash() {
    let _ = Command::new("sh").args(["-c", "kill -9 $$"]).exec();
}
