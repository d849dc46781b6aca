//! What agents do to those who run them.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Runs a command as a tool would, and gives back what it said.
pub(crate) fn shell(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Bytes that are no text, on a line of their own.
pub(crate) fn broken() {
    let mut stdout = std::io::stdout();
    // Whoever closed the other end does not want to hear it.
    let _ = stdout.write_all(b"\xff\xfe{\"type\":\"text\",\"text\":\"\xc3\x28\"}\n").and_then(|()| stdout.flush());
}

/// A child in a session of its own whose parents have ended; it says who it is in `orphan.pid`.
pub(crate) fn orphan() {
    let script = "(setsid sh -c 'echo $$ > orphan.new; mv orphan.new orphan.pid; exec sleep 3600' >/dev/null 2>&1 &)
        until [ -f orphan.pid ]; do sleep 0.01; done";
    // It is there, or the test finds no file.
    let _ = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).status();
}

/// The variables it sees, one a line.
pub(crate) fn environment(file: &str) {
    let all: String =
        std::env::vars_os().map(|(name, value)| format!("{}={}\n", name.display(), value.display())).collect();
    // The test misses the file if it is not there.
    let _ = std::fs::write(file, all);
}

/// Never ends, but does what it is told by signals.
pub(crate) fn hang() {
    loop {
        std::thread::park();
    }
}

/// Never ends, and does not do what it is told by signals.
pub(crate) fn stubborn() {
    // Comes back only if there is no shell.
    let _ = Command::new("sh").args(["-c", "trap '' TERM INT HUP; while :; do sleep 1; done"]).exec();
}

/// Dies in the middle.
pub(crate) fn crash() {
    let _ = Command::new("sh").args(["-c", "kill -9 $$"]).exec();
}
