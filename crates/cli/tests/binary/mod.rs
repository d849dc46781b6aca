//! The real command, as a child process, with nothing of the user's around it.

use std::path::Path;
use std::process::Command;

/// What a command printed, and how it ended.
pub(crate) struct Told {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// Runs the command in a folder.
pub(crate) fn longhaul(folder: &Path, args: &[&str]) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(args).current_dir(folder).env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command.env("HOME", folder.join("no-such-home"));
    let output = command.output().unwrap();
    Told {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}
