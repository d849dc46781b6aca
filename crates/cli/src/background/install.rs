//! Lets the background engine start with the machine: a user unit of systemd, or an agent of launchd.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The name of the unit.
pub(crate) const UNIT: &str = "longhaul.service";
/// The name of the agent of launchd.
const LABEL: &str = "dev.longhaul.up";

/// A file to write, and the commands that make it count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) file: PathBuf,
    pub(crate) text: String,
    pub(crate) commands: Vec<Vec<String>>,
}

/// Whether the unit is installed.
pub(crate) fn unit_is_there() -> bool {
    !cfg!(target_os = "macos") && is_systemd() && unit_file().is_ok_and(|file| file.is_file())
}

fn is_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// What `up --install` does here.
pub(crate) fn plan() -> Result<Plan> {
    let program = std::env::current_exe()?;
    if cfg!(target_os = "macos") {
        return Ok(launchd(&agent_file()?, &program));
    }
    if !is_systemd() {
        bail!(
            "this machine is not run by systemd; let its service manager run `{} up --foreground --all` as your user",
            program.display()
        );
    }
    Ok(systemd(&unit_file()?, &program))
}

fn systemd(file: &Path, program: &Path) -> Plan {
    let text = format!(
        "[Unit]\nDescription=Longhaul: continues the runs of this user\n\n\
         [Service]\nExecStart={} up --foreground --all\nRestart=on-failure\nRestartSec=10\n\
         # Only the engine gets the signal. Agents continue, and the next engine attaches to them.\nKillMode=process\n\n\
         [Install]\nWantedBy=default.target\n",
        quoted(program)
    );
    let systemctl = |args: &[&str]| words(&[&["systemctl", "--user"], args].concat());
    // Without linger, systemd ends the unit when the user logs out, and starts it only when the user logs in.
    let linger = words(&["loginctl", "enable-linger"]);
    let commands = vec![systemctl(&["daemon-reload"]), systemctl(&["enable", UNIT]), linger];
    Plan { file: file.to_owned(), text, commands }
}

fn launchd(file: &Path, program: &Path) -> Plan {
    let program = program.display().to_string().replace('&', "&amp;").replace('<', "&lt;");
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>{LABEL}</string>\n  \
         <key>ProgramArguments</key><array><string>{program}</string><string>up</string><string>--foreground</string><string>--all</string></array>\n  \
         <key>RunAtLoad</key><true/>\n  <key>AbandonProcessGroup</key><true/>\n</dict>\n</plist>\n"
    );
    let commands = vec![words(&["launchctl", "load", "-w", &file.display().to_string()])];
    Plan { file: file.to_owned(), text, commands }
}

/// A path in a line of a unit: in quotes, and without meaning for systemd.
fn quoted(program: &Path) -> String {
    let path =
        program.display().to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    format!("\"{path}\"")
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn unit_file() -> Result<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(home()?.join(".config")));
    Ok(config.context("there is no home folder; set HOME")?.join("systemd/user").join(UNIT))
}

fn agent_file() -> Result<PathBuf> {
    Ok(home().context("there is no home folder; set HOME")?.join(format!("Library/LaunchAgents/{LABEL}.plist")))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Writes the file and runs the commands. Returns what was done, and what failed.
pub(crate) fn install(plan: &Plan) -> Result<Vec<String>> {
    let folder = plan.file.parent().context("the file has no folder")?;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    std::fs::write(&plan.file, &plan.text).with_context(|| plan.file.display().to_string())?;
    let mut done = vec![format!("wrote {}", plan.file.display())];
    done.extend(plan.commands.iter().map(|command| ran(command)));
    Ok(done)
}

/// Takes the file away again. Linger stays: other services may need it.
pub(crate) fn uninstall() -> Result<Vec<String>> {
    let (file, command) = match cfg!(target_os = "macos") {
        true => {
            let file = agent_file()?;
            let command = words(&["launchctl", "unload", "-w", &file.display().to_string()]);
            (file, command)
        }
        false => (unit_file()?, words(&["systemctl", "--user", "disable", UNIT])),
    };
    if !file.exists() {
        return Ok(vec![format!("nothing is installed: {} does not exist", file.display())]);
    }
    let mut done = vec![ran(&command)];
    std::fs::remove_file(&file).with_context(|| file.display().to_string())?;
    done.push(format!("removed {}", file.display()));
    Ok(done)
}

/// Runs a command, and says how that went.
fn ran(command: &[String]) -> String {
    let line = command.join(" ");
    let Some((program, args)) = command.split_first() else { return line };
    match Command::new(program).args(args).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => format!("ran {line}"),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            format!("FAILED {line}: {}", why.lines().next().unwrap_or("no reason was given"))
        }
        Err(error) => format!("FAILED {line}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_engine_and_leaves_agents_alone() {
        let plan = systemd(Path::new("/u/longhaul.service"), Path::new("/opt/my $tools%/longhaul"));
        assert!(
            plan.text.contains("ExecStart=\"/opt/my $$tools%%/longhaul\" up --foreground --all\n"),
            "{}",
            plan.text
        );
        assert!(plan.text.contains("KillMode=process\n") && plan.text.contains("WantedBy=default.target\n"));
        let commands: Vec<String> = plan.commands.iter().map(|command| command.join(" ")).collect();
        let expected =
            ["systemctl --user daemon-reload", "systemctl --user enable longhaul.service", "loginctl enable-linger"];
        assert_eq!(commands, expected);
    }

    #[test]
    fn an_agent_of_launchd_starts_the_engine() {
        let plan = launchd(Path::new("/a/x.plist"), Path::new("/opt/a&b/longhaul"));
        assert!(plan.text.contains("<string>/opt/a&amp;b/longhaul</string><string>up</string>"), "{}", plan.text);
        assert_eq!(plan.commands, [["launchctl", "load", "-w", "/a/x.plist"]]);
    }

    #[test]
    fn a_command_that_fails_is_named() {
        assert_eq!(ran(&words(&["true"])), "ran true");
        assert!(ran(&words(&["no-such-command-7"])).starts_with("FAILED no-such-command-7: "));
    }
}
