//! An engine in a process of its own, which can be killed.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::folder::Folder;
use crate::ui;

/// When the reviewer that is done first is done, the others are in the middle of their work.
const FIRST_DONE: &str = "security-review";

/// Has another process drive a run until the first reviewer is done, and then kills it, as an empty battery would. Its number.
pub(crate) fn drive_and_kill(folder: &Folder, run: &str, shows: bool) -> Result<u32> {
    let mut engine = engine(folder, run)?.spawn().context("the engine cannot be started")?;
    let pid = engine.id();
    let printed = engine.stdout.take().context("the engine prints nothing")?;
    for line in BufReader::new(printed).lines() {
        let line = line?;
        if shows {
            ui::print_line(&line)?;
        }
        if line.contains('✓') && line.ends_with(FIRST_DONE) {
            break;
        }
    }
    // SIGKILL: nothing in that process has a chance to tidy up.
    engine.kill()?;
    let ended = engine.wait()?;
    match ended.signal() {
        Some(_) => Ok(pid),
        None => bail!("the engine was over before it could be killed: {ended}"),
    }
}

/// `longhaul resume`, with nothing of the user's around it.
fn engine(folder: &Folder, run: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
    command.args(["resume", run, "--agent", "scripted", "--script"]).arg(folder.replies());
    command.current_dir(folder.repository()).env("HOME", folder.home()).env_remove("XDG_STATE_HOME");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LONGHAUL_")) {
        command.env_remove(name);
    }
    command.env("LONGHAUL_STORE", folder.store());
    if ui::has_colour() {
        command.env("CLICOLOR_FORCE", "1");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(command)
}
