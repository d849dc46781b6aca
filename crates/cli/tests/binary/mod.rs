//! Runs the real command as a child process, without the user's settings.

pub(crate) mod project;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The output of a command, and its exit code.
pub(crate) struct Told {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The exit code; 128 plus the signal if one ended it.
    pub(crate) code: i32,
}

/// Runs the command in a folder.
pub(crate) fn longhaul(folder: &Path, args: &[&str]) -> Told {
    told(command(folder, args).output().unwrap())
}

/// The command in a folder, not started yet. Its stdin is not a terminal.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(args).current_dir(folder).env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command.env_remove("XDG_STATE_HOME");
    // No test notifies the person at this machine.
    command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("XDG_RUNTIME_DIR");
    // Tests use no agent of this machine.
    command.env("HOME", folder.join("no-such-home")).env("LONGHAUL_AGENT", "scripted").stdin(Stdio::null());
    command
}

/// The folder of a command's runs: the store, and the files beside it. The command must belong to a project.
pub(crate) fn state(mut command: Command) -> PathBuf {
    let path = told(command.args(["store", "path", "--json"]).output().unwrap());
    let path: serde_json::Value = serde_json::from_str(&path.stdout).unwrap_or_else(|_| panic!("{}", path.stderr));
    PathBuf::from(path["files"].as_str().unwrap())
}

/// The result of a command.
pub(crate) fn told(output: Output) -> Told {
    use std::os::unix::process::ExitStatusExt;
    let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal));
    Told {
        // The output of commands is passed on byte for byte.
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: code.unwrap(),
    }
}
