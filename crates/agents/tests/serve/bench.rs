//! A workspace, an endpoint, and an agent that is started as the engine starts it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_agents::contract::{
    AgentSetup, Ending, Errand, Exit, InstalledAgent, Permission, Reader, TranscriptEntry, Turn, TurnSession,
};
use longhaul_agents::serve::serve;
use longhaul_agents::{drivers, notice};
use rustix::process::{Pid, Signal, kill_process};

use crate::serve::endpoint::{Answer, Endpoint};
use crate::serve::wires::Wire;

const ROLE: &str = "LONGHAUL_TEST_ROLE";
/// The key in every test; no output may contain it.
pub(crate) const KEY: &str = "sk-very-secret-indeed";

/// Not a test of its own: it runs the binary as an agent.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // The test harness has started a line.
    println!();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let code = runtime.block_on(serve(&role, std::io::stdin().lock(), std::io::stdout()));
    // Everything is printed; the harness must not add anything.
    std::process::exit(code.into());
}

pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) endpoint: Endpoint,
    pub(crate) wire: Wire,
    pub(crate) agent: &'static str,
    pub(crate) setup: AgentSetup,
    pub(crate) turn: Turn,
}

impl Bench {
    pub(crate) fn new(wire: Wire) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = Endpoint::start();
        for name in ["work", "scratch", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let setup = AgentSetup {
            args: wire.args(),
            base_url: Some(format!("http://127.0.0.1:{}/v1", endpoint.port)),
            key_env: Some("TEST_KEY".to_owned()),
            model: Some("m-1".to_owned()),
            home: folder.path().join("home"),
            ..AgentSetup::default()
        };
        let turn = turn(folder.path());
        Self { folder, endpoint, wire, agent: wire.agent(), setup, turn }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path("work").join(name)).unwrap()
    }

    /// Does the turn with these answers.
    pub(crate) fn take(&self, answers: impl IntoIterator<Item = Answer>) -> Story {
        self.endpoint.then(answers);
        self.start().finish()
    }

    pub(crate) fn start(&self) -> Running {
        let agent = drivers::ALL.iter().find(|agent| agent.name() == self.agent).unwrap();
        let found = InstalledAgent { program: self.program(), version: String::new(), logged_in: true };
        let invocation = agent.invoke(&found, &self.setup, &self.turn).unwrap();
        assert!(!invocation.args.iter().any(|arg| arg.contains(KEY)));
        let mut command = Command::new(&invocation.program);
        command.args(&invocation.args).envs(invocation.env).env("TEST_KEY", KEY);
        // The owner's mark: what ends a command of the agent must not end the agent.
        command.env("LONGHAUL_ENGINE", "test").env("LONGHAUL_ATTEMPT", self.folder.path());
        command.current_dir(&self.turn.cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&invocation.stdin).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Running { agent: self.agent, child, lines, reader: agent.reader(&self.turn), entries: Vec::new() }
    }

    /// This binary in its role, under the name `longhaul`.
    fn program(&self) -> PathBuf {
        let program = self.path("longhaul");
        if !program.exists() {
            let binary = std::env::current_exe().unwrap();
            let call = format!("{ROLE}=\"$2\" exec '{}' --exact serve::bench::role --nocapture", binary.display());
            fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = __agent ] && {call}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        program
    }

    /// The conversation in the `nth` request to the model.
    pub(crate) fn told(&self, nth: usize) -> String {
        self.wire.told(&self.endpoint.asked()[nth].body)
    }
}

fn turn(folder: &Path) -> Turn {
    Turn {
        errand: Errand::Work,
        prompt: "do it".to_owned(),
        system: None,
        model: None,
        effort: None,
        session: TurnSession::New("s-1".to_owned()),
        schema: None,
        permission: Permission::Edit,
        tools: None,
        mcp: Vec::new(),
        mcp_only: false,
        dirs: Vec::new(),
        budget_usd: None,
        cwd: folder.join("work"),
        scratch: folder.join("scratch"),
        trusted: false,
        sandboxed: false,
    }
}

/// A started agent.
pub(crate) struct Running {
    agent: &'static str,
    pub(crate) child: Child,
    lines: BufReader<ChildStdout>,
    reader: Box<dyn Reader>,
    entries: Vec<TranscriptEntry>,
}

impl Running {
    /// Reads until an entry matches.
    pub(crate) fn until(&mut self, what: &str, mut is_it: impl FnMut(&TranscriptEntry) -> bool) {
        while let Some(entries) = self.next() {
            if entries.iter().any(&mut is_it) {
                return;
            }
        }
        panic!("the agent ended before: {what}");
    }

    fn next(&mut self) -> Option<Vec<TranscriptEntry>> {
        let mut line = String::new();
        if self.lines.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        assert!(!line.contains(KEY), "the key is told: {line}");
        let entries = self.reader.line(line.trim_end());
        self.entries.extend(entries.iter().cloned());
        Some(entries)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    pub(crate) fn finish(mut self) -> Story {
        while self.next().is_some() {}
        let status = self.child.wait().unwrap();
        let exit = Exit { code: status.code(), signal: status.signal(), ended: None, stderr: String::new() };
        Story { agent: self.agent, entries: self.entries, ending: self.reader.finish(&exit), exit }
    }
}

/// The result of a turn.
pub(crate) struct Story {
    agent: &'static str,
    pub(crate) entries: Vec<TranscriptEntry>,
    pub(crate) ending: Ending,
    pub(crate) exit: Exit,
}

impl Story {
    /// The error class that the recovery of a run sees.
    pub(crate) fn class(&self) -> &'static str {
        let fault = notice::judge(self.agent, &self.ending, &self.exit, 0, &jiff::tz::TimeZone::UTC);
        fault.map_or("fine", |fault| fault.class.word())
    }

    /// The entries as lines, without those that depend on time, and the ending.
    pub(crate) fn text(&self) -> String {
        let mut lines: Vec<String> = self.entries.iter().filter_map(line).collect();
        lines.push(self.outcome());
        lines.join("\n")
    }

    pub(crate) fn outcome(&self) -> String {
        let Ending { text, structured, session, used, denied, trouble, .. } = &self.ending;
        let mut words = vec![format!("= {text:?}")];
        words.extend(structured.as_ref().map(|value| format!("value {value}")));
        words.extend(session.as_ref().map(|id| format!("in {id}")));
        words.extend(
            used.map(|used| format!("used {}/{}/{}", used.input_tokens, used.cached_tokens, used.output_tokens)),
        );
        words.extend((!denied.is_empty()).then(|| format!("denied {denied:?}")));
        words.extend(trouble.compacted.map(|is_shorter| format!("compacted {is_shorter}")));
        if trouble.is_error {
            words.extend(trouble.status.map(|status| format!("status {status}")));
            words.extend(trouble.code.as_ref().map(|code| format!("code {code}")));
            words.extend(trouble.stop.as_ref().map(|stop| format!("stop {stop}")));
            words.extend(trouble.retry_after_ms.map(|ms| format!("retry after {ms}")));
            words.push(format!("because {:?}", trouble.message));
        }
        words.join(" ")
    }
}

fn line(entry: &TranscriptEntry) -> Option<String> {
    Some(match entry {
        TranscriptEntry::Session { id, model } => format!("session {id} {}", model.as_deref().unwrap_or("?")),
        TranscriptEntry::Text { text, delta } => format!("{} {text:?}", if *delta { "more" } else { "text" }),
        TranscriptEntry::Thinking { text } => format!("thinks {text:?}"),
        TranscriptEntry::ToolCall { id, name, summary, .. } => format!("call {id} {name}: {summary}"),
        TranscriptEntry::ToolResult { id, ok, text } => {
            format!("result {id} {}: {text:?}", if *ok { "ok" } else { "failed" })
        }
        TranscriptEntry::Denied { name } => format!("denied {name}"),
        TranscriptEntry::Notice { text } => format!("notice {text}"),
        TranscriptEntry::Usage { .. } | TranscriptEntry::Alive => return None,
        TranscriptEntry::Background { tasks } => format!("background {}", tasks.join(", ")),
        TranscriptEntry::GoesOn => "continues".to_owned(),
        TranscriptEntry::Result => "result".to_owned(),
    })
}

/// Waits for something that happens in another process. The limit only matters for a broken test.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < give_up, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is running; a zombie is not.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}
