//! Calls git so that no hook or helper of the repository runs, and no process is left.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use longhaul_agents::machine::ShortageBackoff;
use longhaul_agents::process::{self, Command, Files, InheritEnv, Mark, ProcessEnd};
use tokio_util::sync::CancellationToken;

/// The variables that git needs to find its programs and settings, and to reach a remote. Variables that redirect git
/// are left out.
const ENVIRONMENT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSH_COMMAND",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// No hooks, no helpers; written data survives a power cut.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=all",
    "core.quotePath=false",
    "submodule.recurse=false",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
];

/// Larger than all answers that are read here.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Git's messages about a shortage of its machine.
const SHORTAGES: &[&str] = &[
    "No space left on device",
    "Disk quota exceeded",
    "Too many open files",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
];

/// Why git failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
    /// The files are not in a work tree.
    #[error("{} is not in a git work tree", .0.display())]
    NoWorkTree(PathBuf),
    /// The message of git.
    #[error("{0}")]
    Git(String),
}

/// The output of one call.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    complaint: String,
}

impl Said {
    /// Its output without the newline at the end, if it succeeded.
    pub(crate) fn line(self) -> Option<String> {
        (self.code == 0).then(|| String::from_utf8_lossy(&self.stdout).trim_end().to_owned())
    }
}

/// Calls git in a folder.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) cwd: PathBuf,
    /// The folder for the output of running calls.
    pub(crate) scratch: PathBuf,
    pub(crate) mark: Mark,
    pub(crate) cancel: CancellationToken,
}

impl Git {
    /// A call that must succeed; its output as a line.
    pub(crate) async fn line(&self, index: Option<&PathBuf>, args: &[&str]) -> Result<String, Trouble> {
        let said = self.must(index, args, Vec::new()).await?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// A call that must succeed.
    pub(crate) async fn must(
        &self,
        index: Option<&PathBuf>,
        args: &[&str],
        stdin: Vec<u8>,
    ) -> Result<Vec<u8>, Trouble> {
        let said = self.ask(index, args, stdin).await?;
        match said.code {
            0 => Ok(said.stdout),
            _ => Err(Trouble::Git(format!("git {}: {}", args.first().unwrap_or(&""), said.complaint))),
        }
    }

    /// A call that may fail.
    ///
    /// If git found no room, a second call makes the same change, so git is called again.
    pub(crate) async fn ask(&self, index: Option<&PathBuf>, args: &[&str], stdin: Vec<u8>) -> Result<Said, Trouble> {
        let mut backoff = ShortageBackoff::default();
        loop {
            let said = self.ask_once(index, args, stdin.clone()).await?;
            if said.code == 0 || !SHORTAGES.iter().any(|words| said.complaint.contains(words)) {
                return Ok(said);
            }
            tokio::select! {
                () = tokio::time::sleep(backoff.pause()) => {}
                () = self.cancel.cancelled() => return Err(Trouble::Stopped),
            }
        }
    }

    async fn ask_once(&self, index: Option<&PathBuf>, args: &[&str], stdin: Vec<u8>) -> Result<Said, Trouble> {
        let output = process::run(self.command(index, args, stdin), self.cancel.clone(), |_| {}).await;
        let output = output.map_err(|error| Trouble::Git(error.to_string()))?;
        let code = match output.ended {
            ProcessEnd::Exited(code) => code,
            ProcessEnd::Cancelled => return Err(Trouble::Stopped),
            ProcessEnd::Signalled(_) | ProcessEnd::TimedOut => return Err(Trouble::Git("git was ended".to_owned())),
        };
        if output.stdout.is_cut() {
            return Err(Trouble::Git("the output of git is too large".to_owned()));
        }
        let complaint = output.stderr.text_lossy().trim().to_owned();
        Ok(Said { code, stdout: [output.stdout.head, output.stdout.tail].concat(), complaint })
    }

    fn command(&self, index: Option<&PathBuf>, args: &[&str], stdin: Vec<u8>) -> Command {
        let files = Files { stdout: self.scratch.join("stdout"), stderr: self.scratch.join("stderr") };
        let settings = SETTINGS.iter().flat_map(|setting| [OsString::from("-c"), OsString::from(setting)]);
        let index = index.map(|index| ("GIT_INDEX_FILE".into(), index.clone().into_os_string()));
        Command {
            args: settings.chain(args.iter().map(OsString::from)).collect(),
            env: identity().into_iter().chain(index).collect(),
            inherit_env: InheritEnv::Only(ENVIRONMENT.iter().map(|name| (*name).to_owned()).collect()),
            cwd: Some(self.cwd.clone()),
            stdin,
            keep_bytes: ANSWER_BYTES_MAX,
            ..Command::new("git", files, self.mark.clone())
        }
    }
}

/// The author of records, independent of the user's settings.
fn identity() -> Vec<(OsString, OsString)> {
    let who = ["GIT_AUTHOR", "GIT_COMMITTER"];
    let names = who.iter().map(|who| (format!("{who}_NAME"), "Longhaul"));
    let mails = who.iter().map(|who| (format!("{who}_EMAIL"), "longhaul@localhost"));
    // No person is there to answer a prompt.
    let quiet = ("GIT_TERMINAL_PROMPT".to_owned(), "0");
    let fixed = [("LC_ALL".to_owned(), "C"), ("GIT_OPTIONAL_LOCKS".to_owned(), "0"), quiet];
    names.chain(mails).chain(fixed).map(|(name, value)| (name.into(), OsStr::new(value).to_owned())).collect()
}
