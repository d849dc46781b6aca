//! Runs a whole turn with a driver and its stand-in.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use jiff::tz::TimeZone;
use longhaul_agents::contract::{
    Agent, AgentSetup, Ending, Errand, Exit, InstalledAgent, Permission, Stopped, TranscriptEntry, Turn, TurnSession,
};
use longhaul_agents::process::{self, Chunk, Command, Files, InheritEnv, Mark, ProcessEnd};
use longhaul_agents::{drivers, notice, shim};
use longhaul_core::plan::ErrorClass;
use tokio_util::sync::CancellationToken;

/// 2026-11-15 12:00 UTC.
const NOW_MS: i64 = 1_794_744_000_000;
/// A session id of our choice, for agents that accept one.
pub(crate) const SESSION: &str = "11111111-2222-4333-8444-555555555501";

pub(crate) struct Bench {
    pub(crate) driver: &'static dyn Agent,
    folder: tempfile::TempDir,
}

/// The result of a turn.
pub(crate) struct Done {
    pub(crate) entries: Vec<TranscriptEntry>,
    pub(crate) ending: Ending,
    pub(crate) exit: Exit,
    pub(crate) class: Option<ErrorClass>,
    pub(crate) survivors: Vec<u32>,
}

/// The reasons to end a turn from outside.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    /// Cancel as soon as the stream shows a session or, if it shows none so early, anything.
    pub(crate) cancel: bool,
}

impl Bench {
    pub(crate) fn new(agent: &str) -> Self {
        let bench = Self { driver: drivers::by_name(agent).unwrap(), folder: tempfile::tempdir().unwrap() };
        for folder in ["bin", "home", "space", "scratch", "engine"] {
            std::fs::create_dir(bench.path(folder)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_longhaul-fake-agent"), bench.path("bin").join(agent)).unwrap();
        bench
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn setup(&self, scenario: &str) -> AgentSetup {
        let mut setup =
            AgentSetup { home: self.path("engine"), model: Some("fake".to_owned()), ..AgentSetup::default() };
        setup.env.insert("FAKE_AGENT".to_owned(), scenario.to_owned());
        setup.env.insert("PATH".to_owned(), format!("{}:/usr/bin:/bin", self.path("bin").display()));
        setup.env.insert("HOME".to_owned(), self.path("home").display().to_string());
        setup
    }

    pub(crate) fn turn(&self, prompt: &str) -> Turn {
        Turn {
            errand: Errand::Work,
            prompt: prompt.to_owned(),
            system: None,
            model: None,
            effort: None,
            session: TurnSession::New(SESSION.to_owned()),
            schema: None,
            permission: Permission::Edit,
            tools: None,
            mcp: Vec::new(),
            mcp_only: false,
            dirs: Vec::new(),
            budget_usd: None,
            cwd: self.path("space"),
            scratch: self.path("scratch"),
            trusted: false,
            sandboxed: false,
        }
    }

    /// Does a plain turn that plays a scenario.
    pub(crate) async fn play(&self, scenario: &str) -> Done {
        self.run(&self.setup(scenario), &self.turn("do it"), Limits::default()).await
    }

    pub(crate) async fn run(&self, setup: &AgentSetup, turn: &Turn, limits: Limits) -> Done {
        let found: InstalledAgent = self.driver.find(setup).unwrap();
        let invocation = self.driver.invoke(&found, setup, turn).unwrap();
        let command = self.command(&invocation, limits.timeout);
        let mut heard = Heard { reader: self.driver.reader(turn), rest: Vec::new(), entries: Vec::new() };
        let cancel = CancellationToken::new();
        let output = process::run(command, cancel.clone(), |chunk| {
            if let Chunk::Stdout(bytes) = chunk {
                heard.hear(bytes);
            }
            if limits.cancel && !heard.entries.is_empty() {
                cancel.cancel();
            }
        });
        let output = output.await.unwrap();
        let exit = exit_of(output.ended, String::from_utf8_lossy(&output.stderr.head).into_owned());
        let (entries, ending) = heard.finish(&exit);
        let class = notice::judge(self.driver.name(), &ending, &exit, NOW_MS, &TimeZone::UTC).map(|fault| fault.class);
        Done { entries, ending, exit, class, survivors: output.survivors }
    }

    fn command(&self, invocation: &longhaul_agents::contract::Invocation, timeout: Option<Duration>) -> Command {
        let files = Files { stdout: self.path("stdout"), stderr: self.path("stderr") };
        let mark = Mark {
            engine: format!("conformance-{}", std::process::id()),
            attempt: self.path("").display().to_string(),
        };
        let ours: Vec<(OsString, OsString)> = vec![
            ("ANTHROPIC_API_KEY".into(), "sk-key".into()),
            ("MY_SECRET".into(), "canary".into()),
            ("TERM".into(), "dumb".into()),
        ];
        Command {
            args: invocation.args.iter().map(OsString::from).collect(),
            env: shim::environment(invocation, ours),
            inherit_env: InheritEnv::Nothing,
            cwd: Some(self.path("space")),
            stdin: invocation.stdin.clone(),
            timeout,
            grace: Duration::from_millis(300),
            ..Command::new(&invocation.program, files, mark)
        }
    }
}

/// Collects output and splits it into lines.
struct Heard {
    reader: Box<dyn longhaul_agents::contract::Reader>,
    rest: Vec<u8>,
    entries: Vec<TranscriptEntry>,
}

impl Heard {
    fn hear(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                self.entries.extend(self.reader.line(&String::from_utf8_lossy(&line)));
            }
        }
    }

    fn finish(self, exit: &Exit) -> (Vec<TranscriptEntry>, Ending) {
        (self.entries, self.reader.finish(exit))
    }
}

fn exit_of(ended: ProcessEnd, stderr: String) -> Exit {
    let plain = Exit { code: None, signal: None, ended: None, stderr };
    match ended {
        ProcessEnd::Exited(code) => Exit { code: Some(code), ..plain },
        ProcessEnd::Signalled(signal) => Exit { signal: Some(signal), ..plain },
        ProcessEnd::TimedOut => Exit { ended: Some(Stopped::Timeout), ..plain },
        ProcessEnd::Cancelled => Exit { ended: Some(Stopped::Cancelled), ..plain },
    }
}
