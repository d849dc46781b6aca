//! Tests what people see of agents: while they work, afterwards, and in the summary of a run.
//!
//! The agent is a script that prints the stream of Claude Code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{Told, command, told};
use serde_json::Value;
use tempfile::TempDir;

const RUN: &str = "run-1";

/// Prints the file `stream`; at a line `wait` it waits for a file `go`.
const AGENT: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --version ]; then echo '2.1.400 (Claude Code)'; exit; fi
cat > /dev/null
while IFS= read -r line; do
  if [ "$line" = wait ]; then
    while [ ! -e "$here/go" ]; do sleep 0.05; done
  else
    printf '%s\n' "$line"
  fi
done < "$here/stream"
"#;

const STREAM: &str = r#"{"type":"system","subtype":"init","session_id":"5f1c","model":"some-model"}
{"type":"assistant","session_id":"5f1c","message":{"id":"m1","model":"some-model","content":[{"type":"text","text":"I will look.\n\n\tThen \u001b[2Jtest."}],"usage":{"input_tokens":4000,"output_tokens":100}}}
{"type":"assistant","session_id":"5f1c","message":{"id":"m1","model":"some-model","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}],"usage":{"input_tokens":4000,"output_tokens":100}}}
{"type":"system","subtype":"permission_denied","session_id":"5f1c","tool_name":"Bash"}
{"type":"system","subtype":"api_retry","session_id":"5f1c","error":"overloaded","error_status":529,"attempt":1,"max_retries":10}
wait
{"type":"assistant","session_id":"5f1c","message":{"id":"m2","model":"some-model","content":[{"type":"text","text":"All is well, s3cr3t-word."}],"usage":{"input_tokens":4000,"output_tokens":100}}}
{"type":"result","subtype":"success","is_error":false,"session_id":"5f1c","result":"All is well.","total_cost_usd":0.031,"usage":{"input_tokens":8000,"output_tokens":200}}
"#;

const SAID: &str = "    review │ I will look.
    review │     Then ␛[2Jtest.
    review ⚙ Bash cargo test
    review ✗ Bash was not allowed
    review ! overloaded 529, trying again (1 of 10)
    review │ All is well, •••.
    review · $0.03, 8.2k tokens
";

const REVIEW: &str = "name: w\nlimits: {usd: 5, tokens: 500000}\ndo: [{id: review, prompt: Look at it.}]\n";

/// A project with one workflow, and a home whose settings name the agent.
struct Project(TempDir);

impl Project {
    fn new(workflow: &str, stream: &str) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::create_dir(project.path(".longhaul")).unwrap();
        fs::create_dir_all(project.path("home/.longhaul")).unwrap();
        fs::write(project.path("w.yaml"), workflow).unwrap();
        fs::write(project.path("stream"), stream).unwrap();
        let agent = project.path("agent");
        fs::write(&agent, AGENT).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = format!(
            "[agents.claude]\nprogram = \"{}\"\nauth = \"key\"\nkey_env = \"LONGHAUL_TEST_KEY\"\n",
            agent.display()
        );
        fs::write(project.path("home/.longhaul/config.toml"), settings).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.0.path(), args);
        command.env("HOME", self.path("home")).env("LONGHAUL_AGENT", "claude").env("LONGHAUL_TEST_KEY", "k");
        command.env("LONGHAUL_SECRET_WORD", "s3cr3t-word");
        command
    }

    fn longhaul(&self, args: &[&str]) -> Told {
        told(self.command(args).output().unwrap())
    }

    fn ok(&self, args: &[&str]) -> String {
        let told = self.longhaul(args);
        assert_eq!(told.code, 0, "{args:?}: {}{}", told.stdout, told.stderr);
        told.stdout
    }

    fn run(&self, more: &[&str]) -> String {
        self.ok(&[&["run", "w.yaml", "--run-id", RUN], more].concat())
    }

    fn go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// Waits for something that other processes do.
fn until(what: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The denied tool is an event of the run, beside what the agent itself says.
const DENIED: &str = "  ! review: its agent called the tool `Bash`, which it may not use, and continued without it\n";

/// What a run prints whose agent says this: the denial comes before the cost.
fn printed(said: &str) -> String {
    let (work, cost) = said.split_at(said.trim_end().rfind('\n').unwrap() + 1);
    format!("  ▸ review\n{work}{DENIED}{cost}  ✓ review\n✓ run-1 succeeded\n")
}

#[test]
fn an_agent_is_seen_while_it_works_and_afterwards() {
    let project = Project::new(REVIEW, STREAM);
    project.go();
    assert_eq!(project.run(&[]), printed(SAID));
    let logs = project.longhaul(&["logs", RUN]);
    assert_eq!(logs.stdout, SAID);
    assert!(logs.stderr.starts_with("── review@1 · 20") && logs.stderr.lines().count() == 1, "{}", logs.stderr);
    let entries = project.ok(&["logs", RUN, "review", "--json"]);
    let kinds: Vec<String> = entries
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["path"], &line["attempt"]), (&"review".into(), &1.into()));
            line["entry"]["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.join(" "), "session text usage tool_call denied notice text usage usage result");
    assert!(!entries.contains("s3cr3t-word"), "{entries}");
}

#[test]
fn the_quiet_hear_nothing_of_agents_and_programs_get_events_alone() {
    let project = Project::new(REVIEW, STREAM);
    project.go();
    assert_eq!(project.run(&["--quiet"]), format!("  ▸ review\n{DENIED}  ✓ review\n✓ run-1 succeeded\n"));
    let events = project.ok(&["run", "w.yaml", "--run-id", "run-2", "--json"]);
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().all(|event| event["event"].is_string() && event["seq"].is_number()), "{events:?}");
    let kept = project.ok(&["events", "run-2", "--json"]);
    let without_time = |line| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        assert!(event.as_object_mut().unwrap().remove("time").is_some(), "{event}");
        event
    };
    let kept: Vec<Value> = kept.lines().map(without_time).collect();
    assert_eq!(events, kept, "the whole of it, whoever recorded it");
}

#[test]
fn what_an_agent_cost_may_not_be_known() {
    let stream = STREAM.replace(r#""total_cost_usd":0.031,"#, "");
    let project = Project::new(REVIEW, &stream);
    project.go();
    let said = SAID.replace("$0.03", "cost not known");
    assert_eq!(project.run(&[]), printed(&said));
}

#[test]
fn the_status_names_the_agent_at_work_and_the_budget() {
    let project = Project::new(REVIEW, STREAM);
    let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("the session", || project.longhaul(&["status", RUN]).stdout.contains("session"));
    let follower = project.start(&["logs", RUN, "--follow"]);
    let status = project.ok(&["status", RUN]);
    let (head, rest) = status.split_once('\n').unwrap();
    assert!(head.starts_with("run-1 w: running, 0 steps done, "), "{head}");
    let (step, budget) = rest.split_once('\n').unwrap();
    let (step, since) = step.split_once(", since ").unwrap();
    assert_eq!(step, "  running    review  claude, session 5f1c");
    assert!(since.starts_with("20") && since.ends_with('Z'), "{since}");
    assert_eq!(
        budget,
        "  money:  $0.00 spent, $0.50 set aside, $0.00 assumed, limit $5.00\n  \
           tokens: 0 spent, 30k set aside, 0 assumed, limit 500k\n"
    );
    project.go();
    assert_eq!(told(run.wait_with_output().unwrap()).code, 0);
    assert_eq!(told(follower.wait_with_output().unwrap()).stdout, SAID);
    let status = project.ok(&["status", RUN]);
    assert_eq!(
        status.split_once('\n').unwrap().1,
        "  succeeded  review\n  money:  $0.03 spent, $0.00 set aside, $0.00 assumed, limit $5.00\n  \
           tokens: 8.2k spent, 0 set aside, 0 assumed, limit 500k\n"
    );
}

#[test]
fn the_scripted_agent_is_seen_as_others_are() {
    let project = Project::new(REVIEW, "");
    let script = "replies: [{step: review, reply: \"one\\ntwo s3cr3t-word\", usage: {input_tokens: 900, output_tokens: 600, usd: 0.5}}]\n";
    fs::write(project.path("script.yaml"), script).unwrap();
    assert_eq!(
        project.run(&["--agent", "scripted", "--script", "script.yaml"]),
        "  ▸ review\n    review │ one\n    review │ two •••\n    review · $0.50, 1.5k tokens\n  ✓ review\n✓ run-1 succeeded\n"
    );
}

#[test]
fn a_long_list_for_agents_is_announced() {
    let each = "name: w\nlimits: {usd: 5}\ndo:\n- id: all\n  for_each: \"range(ITEMS) | list\"\n  parallel: 4\n  do:\n  \
                - {id: look, prompt: Look.}\n  - {id: fix, if: item > 3, then: [{id: more, prompt: Fix.}], else: [{id: less, run: 'true'}]}\n";
    let announced = |items: &str| {
        let project = Project::new(&each.replace("ITEMS", items), "");
        let shown = project.run(&["--agent", "scripted", "--quiet"]);
        shown.lines().filter(|line| line.contains("to come")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(announced("21"), "  all: 42 agent turns to come, up to 4 at once; limits: $5.00");
    assert_eq!(announced("20"), "");
}
