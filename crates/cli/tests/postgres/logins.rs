//! Tests a machine with a worker's login, beside one that drives the runs: real processes, a real server.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use longhaul_store::conformance::server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{self, Told};
use crate::crash::trial::until;

const RUN: &str = "the-run";

/// Two checkouts, the owner's and the box's, with one database.
struct Pair {
    owner: TempDir,
    lent: TempDir,
    address: String,
    login: String,
}

/// A process, killed at the end of the test.
struct Worker(Child);

impl Worker {
    fn stop(&mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
        self.0.wait().unwrap().code()
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pair {
    fn of(workflow: &str) -> Self {
        let folder = || {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("work.yaml"), workflow).unwrap();
            std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
            std::fs::write(folder.path().join(".longhaul/config.toml"), "[fleet]\nproject = \"pair\"\n").unwrap();
            folder
        };
        let mut pair =
            Self { owner: folder(), lent: folder(), address: server::shared().address(), login: String::new() };
        let told = pair.as_owner(&["store", "login", "box"]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        pair.login = told.stdout.trim().to_owned();
        pair
    }

    fn command(&self, (folder, host, store): (&Path, &str, &str), args: &[&str]) -> Command {
        let mut command = binary::command(folder, args);
        command.env("LONGHAUL_STORE", store).env("LONGHAUL_HOST", host).env("LONGHAUL_LEASE_MS", "3000");
        command.env("SEEN", self.owner.path().join("seen"));
        command
    }

    fn as_owner(&self, args: &[&str]) -> Told {
        binary::told(self.command((self.owner.path(), "office", &self.address), args).output().unwrap())
    }

    fn as_box(&self, args: &[&str]) -> Told {
        binary::told(self.command((self.lent.path(), "box", &self.login), args).output().unwrap())
    }

    fn node(&self) -> Worker {
        Self::started(self.command((self.owner.path(), "office", &self.address), &["worker", "--name", "node"]))
    }

    fn boxed(&self) -> Worker {
        let args = ["worker", "--labels", "gpu", "--name", "lent"];
        Self::started(self.command((self.lent.path(), "box", &self.login), &args))
    }

    fn started(mut command: Command) -> Worker {
        Worker(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn detach(&self) {
        let told = self.as_owner(&["run", "work.yaml", "--run-id", RUN, "--queue"]);
        assert_eq!(told.code, 0, "{}", told.stderr);
    }

    fn is(&self, status: &str) -> bool {
        let told = self.as_owner(&["status", RUN, "--json"]);
        let value: Value = serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}", told.stderr));
        value["status"] == status
    }

    fn events(&self) -> Vec<Value> {
        let told = self.as_owner(&["events", RUN, "--json"]);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn count(&self, event: &str) -> usize {
        self.events().iter().filter(|one| one["event"] == event).count()
    }

    /// The lines that the steps have written, sorted.
    fn seen(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.owner.path().join("seen")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

const WORK: &str = r#"
name: work
do:
  - {id: before, run: 'echo "before $LONGHAUL_HOST" >> "$SEEN"'}
  - id: rounds
    repeat: {until: said == '2', max: 5}
    do:
      - {id: round, run: 'echo round >> "$SEEN"; grep -c round "$SEEN"', runs_on: gpu, workspace: any, output: said}
  - id: both
    parallel:
      one: [{id: there, run: 'echo "there $LONGHAUL_HOST" >> "$SEEN"', runs_on: gpu, workspace: any}]
      two: [{id: here, run: 'echo "here $LONGHAUL_HOST" >> "$SEEN"', workspace: any}]
  - {id: shaky, run: 'echo "shaky $LONGHAUL_HOST" >> "$SEEN"; test "$(grep -c shaky "$SEEN")" = 2', runs_on: gpu, workspace: any, retry: {max: 2, on: [failed], backoff: {first: 100ms}}}
  - {id: ok, approve: Continue?}
  - {id: long, run: 'echo "long $LONGHAUL_HOST" >> "$SEEN"; test -e "$SEEN.go" || sleep 300; echo end', runs_on: gpu, workspace: any}
  - {id: after, run: 'echo "after $LONGHAUL_HOST" >> "$SEEN"', workspace: any}
"#;

/// The whole story: the box runs its steps, the node everything else; a stolen address answers no gate; after a kill
/// the box comes back.
#[test]
fn a_box_makes_its_steps_and_nothing_else() {
    let pair = Pair::of(WORK);
    pair.detach();
    let _node = pair.node();
    let lent = pair.boxed();
    until("the gate", || pair.is("waiting") && pair.count("question_asked") == 1);
    let workers: Value = serde_json::from_str(&pair.as_owner(&["workers", "--json"]).stdout).unwrap();
    let logins: Vec<&Value> = workers["workers"].as_array().unwrap().iter().map(|worker| &worker["login"]).collect();
    assert_eq!(logins, [&Value::from("box"), &Value::Null]);
    let before = pair.events().len();
    for args in [
        &["approve", RUN][..],
        &["deny", RUN],
        &["cancel", RUN],
        &["run", "work.yaml"],
        &["runs"],
        &["status", RUN],
        &["store", "check"],
        &["store", "login", "more"],
        &["store", "logout", "box"],
        &["prune", "--yes"],
    ] {
        let told = pair.as_box(args);
        assert_eq!(told.code, 2, "{args:?} {}", told.stdout);
        assert!(told.stderr.contains("`box` is a login for `longhaul worker`"), "{args:?} {}", told.stderr);
    }
    assert_eq!((pair.events().len(), pair.is("waiting")), (before, true));
    assert_eq!(pair.as_owner(&["approve", RUN]).code, 0);
    until("the long step", || pair.seen().contains(&"long box".to_owned()));
    lent.kill();
    std::fs::write(pair.owner.path().join("seen.go"), "").unwrap();
    let mut again = pair.boxed();
    until("the end", || pair.is("succeeded"));
    assert_eq!(again.stop(), Some(0));
    let expected = ["after office", "before office", "here office", "long box", "long box", "round", "round"];
    let expected: Vec<&str> = expected.into_iter().chain(["shaky box", "shaky box", "there box"]).collect();
    assert_eq!(pair.seen(), expected);
    assert_eq!(pair.count("refused"), 0, "{:?}", pair.events());
    let long = |event: &Value| event["path"] == "long" && event["event"] == "attempt_succeeded";
    assert_eq!(pair.events().iter().filter(|event| long(event)).count(), 1);
}

const LONG: &str = r#"
name: work
do:
  - {id: long, run: 'echo begun >> "$SEEN"; test -e "$SEEN.go" || sleep 300', runs_on: gpu, workspace: any}
"#;

#[test]
fn a_box_that_is_told_to_stop_hands_back_what_it_does() {
    let pair = Pair::of(LONG);
    pair.detach();
    let _node = pair.node();
    let mut command = pair.command((pair.lent.path(), "box", &pair.login), &["worker", "--labels", "gpu"]);
    let mut lent = Worker(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    until("the step", || pair.seen().len() == 1);
    assert_eq!(lent.stop(), Some(0));
    let said = std::io::read_to_string(lent.0.stderr.take().unwrap()).unwrap();
    assert!(said.contains("the-run long: taken\n") && said.contains("the-run long: stopped"), "{said}");
    until("the wait", || pair.count("attempt_stopped") == 1);
    assert!(!pair.as_owner(&["workers"]).stdout.contains("lent"));
    std::fs::write(pair.owner.path().join("seen.go"), "").unwrap();
    let _again = pair.boxed();
    until("the end", || pair.is("succeeded"));
    assert_eq!(pair.seen().len(), 2);
}

#[test]
fn a_cancel_stops_what_a_box_does() {
    let pair = Pair::of(LONG);
    pair.detach();
    let (_node, _lent) = (pair.node(), pair.boxed());
    until("the step", || pair.seen().len() == 1);
    assert_eq!(pair.as_owner(&["cancel", RUN]).code, 0);
    until("the end", || pair.is("cancelled"));
}

/// Its reports are stored, also if no node is running at that time.
#[test]
fn a_result_is_kept_while_nobody_is_there_who_records_it() {
    let pair = Pair::of(&LONG.replace("test -e", "until test -e \"$SEEN.go\"; do sleep 0.1; done; test -e"));
    pair.detach();
    let node = pair.node();
    let mut lent = pair.boxed();
    until("the step", || pair.seen().len() == 1);
    node.kill();
    std::fs::write(pair.owner.path().join("seen.go"), "").unwrap();
    until("the report", || server_says(&pair, "SELECT count(*) FROM message WHERE source = 'login:box'") == "1");
    assert_eq!(lent.stop(), Some(0));
    // Its lease has expired, too.
    until("the lease", || {
        server_says(&pair, "SELECT count(*) FROM task WHERE lease_until_ms < extract(epoch FROM now()) * 1000") == "1"
    });
    let _node = pair.node();
    until("the end", || pair.is("succeeded"));
    assert_eq!((pair.seen().len(), pair.count("attempt_failed")), (1, 0));
}

#[test]
fn a_login_that_is_taken_back_ends_its_worker_with_a_sentence() {
    let pair = Pair::of(LONG);
    pair.detach();
    let _node = pair.node();
    let mut command = pair.command((pair.lent.path(), "box", &pair.login), &["worker", "--labels", "gpu"]);
    let lent = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("the step", || pair.seen().len() == 1);
    assert!(pair.as_owner(&["store", "logins"]).stdout.starts_with("box  1 busy"));
    let told = pair.as_owner(&["store", "logout", "box", "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let told = binary::told(lent.wait_with_output().unwrap());
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(told.stderr.contains("the login `box` was removed"), "{}", told.stderr);
    assert!(told.stderr.contains("the-run long: taken"), "{}", told.stderr);
    until("the loss", || pair.count("attempt_failed") == 1);
    let told = pair.as_box(&["worker"]);
    assert!(told.code == 2 && told.stderr.contains("or the login was revoked"), "{}", told.stderr);
}

#[test]
fn a_box_says_which_labels_it_may_not_have() {
    let pair = Pair::of(LONG);
    let login = pair.as_owner(&["store", "login", "small", "--labels", "gpu,linux"]).stdout.trim().to_owned();
    let args = ["worker", "--labels", "gpu,prod"];
    let mut command = pair.command((pair.lent.path(), "box", &login), &args);
    let mut lent = Worker(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    until("the worker", || pair.as_owner(&["workers"]).stdout.contains("box-"));
    assert_eq!(lent.stop(), Some(0));
    let said = std::io::read_to_string(lent.0.stderr.take().unwrap()).unwrap();
    assert!(said.starts_with("warning: the login `small` may not have the label prod: "), "{said}");
    assert!(said.contains(" with the labels gpu, linux, for the engines that drive the runs"), "{said}");
}

const GATED: &str = r#"
name: work
do:
  - id: both
    parallel:
      gate: [{id: ok, approve: Continue?}]
      work: [{id: model, run: 'echo "{\"text\": \"made\"}"', runs_on: gpu, workspace: any, output: {as: made, schema: {text: string}}, retry: {max: 1, on: [invalid], backoff: {first: 100ms}}}]
      here: [{id: busy, run: 'until test -e "$SEEN.go"; do sleep 0.1; done; echo honest', output: said}]
  - {id: after, run: 'echo after'}
outputs: {made: made, said: said}
"#;

/// The messages of a thief who has the address and knows the program: the node accepts only those about the attempt
/// that the login holds.
#[test]
fn a_stolen_address_can_not_say_what_only_people_and_nodes_can() {
    let pair = Pair::of(GATED);
    pair.detach();
    let _node = pair.node();
    until("the gate", || pair.count("question_asked") == 1 && pair.count("attempt_started") == 2);
    let thief = |statement: &str| {
        let schema = pair.address.rsplit_once('=').unwrap().1;
        let mut psql = server::shared().program("psql");
        psql.env("PGUSER", format!("{schema}_box")).args(["-X", "-A", "-t", "-q", "-c"]);
        binary::told(psql.arg(format!("SET search_path = {schema}; {statement}")).output().unwrap())
    };
    let labels = r#"["gpu", "project:pair"]"#;
    let held = thief(&format!(
        "SELECT key FROM scoped_claim_1('t:1:1:x:@box', '{labels}', 9000000000000, 9, 'a', NULL, '{{}}', '{{}}')"
    ));
    let key = "both[1]/model@1";
    assert_eq!(held.stdout.trim(), key, "{}", held.stderr);
    let report = |event: &str| {
        let told = thief(&format!(
            "SELECT scoped_report_1('t:1:1:x:@box', '{RUN}', '{key}', 1, $${event}$$, 1, uuid_send(gen_random_uuid()))"
        ));
        assert_eq!(told.stdout.trim(), "new", "{}", told.stderr);
    };
    let ok = r#""path": "both[0]/ok""#;
    let lies = [
        format!(r#"{{"event": "answered", {ok}, "answer": "approve"}}"#),
        format!(r#"{{"message": "answer", {ok}, "answer": "approve"}}"#),
        format!(r#"{{"event": "step_ended", {ok}, "end": {{"status": "succeeded"}}}}"#),
        format!(r#"{{"event": "attempt_succeeded", {ok}, "attempt": 1, "result": {{}}}}"#),
        r#"{"event": "attempt_succeeded", "path": "both[2]/busy", "attempt": 1, "result": {"output": "forged"}}"#
            .to_owned(),
        r#"{"event": "attempt_started", "path": "after", "attempt": 1}"#.to_owned(),
        r#"{"event": "run_finished", "outcome": "success"}"#.to_owned(),
        r#"{"event": "cancel_requested"}"#.to_owned(),
        r#"{"event": "timer_fired", "timer": "x"}"#.to_owned(),
        r#"{"event": "attempt_succeeded", "path": "both[1]/model", "attempt": 1, "result": {"output": "early"}}"#
            .to_owned(),
        "nonsense".to_owned(),
    ];
    lies.iter().for_each(|lie| report(lie));
    until("the refusals", || pair.count("refused") == lies.len());
    assert_eq!((pair.count("answered"), pair.count("attempt_succeeded")), (0, 0));
    // It may report its own attempt, but its text never becomes a command line.
    let model = r#""path": "both[1]/model", "attempt": 1"#;
    report(&format!(r#"{{"event": "attempt_claimed", {model}, "worker": "t"}}"#));
    report(&format!(r#"{{"event": "session_seen", {model}, "session": {{"id": "--config=x", "agent": "codex"}}}}"#));
    let carried = r#"{"commit": "--upload-pack=x", "name": "refs/longhaul/x", "number": 1}"#;
    report(&format!(
        r#"{{"event": "attempt_succeeded", {model}, "result": {{"output": {{"text": "x"}}, "carried": {carried}}}}}"#
    ));
    until("the refusals", || pair.count("refused") == lies.len() + 2);
    // The node that records its outputs checks them.
    report(&format!(r#"{{"event": "attempt_succeeded", {model}, "result": {{"output": 7, "by": "me"}}}}"#));
    until("the failure", || pair.count("attempt_failed") == 1);
    let lent = pair.boxed();
    until("the result", || pair.count("attempt_succeeded") == 1);
    drop(lent);
    assert_eq!((pair.count("refused"), pair.count("answered")), (lies.len() + 2, 0));
    std::fs::write(pair.owner.path().join("seen.go"), "").unwrap();
    assert_eq!(pair.as_owner(&["approve", RUN]).code, 0);
    until("the end", || pair.is("succeeded"));
    let outputs: Value = serde_json::from_str(&pair.as_owner(&["outputs", RUN, "--json"]).stdout).unwrap();
    assert_eq!((&outputs["made"]["text"], &outputs["said"]), (&"made".into(), &"honest".into()));
}

/// A report that was sent in time is read too late: another worker has the task.
#[test]
fn a_report_on_what_was_taken_away_is_refused_and_holds_nobody_up() {
    let pair = Pair::of(LONG);
    pair.detach();
    let node = pair.node();
    until("the wait", || pair.count("attempt_started") == 1);
    node.kill();
    server_says(&pair, "UPDATE task SET worker = 'gone:1:1:x:@box', lease_until_ms = 1");
    let event = r#"{"event": "attempt_claimed", "path": "long", "attempt": 1, "worker": "gone"}"#;
    let body = serde_json::json!({"message": "report", "login": "box", "worker": "lost:1:1:y:@box", "key": "long@1",
        "attempt": 1, "event": event});
    server_says(&pair, &format!("SELECT post_1('{RUN}', 'login:box', 'x', convert_to('{body}', 'UTF8'), 1, 'a')"));
    let _node = pair.node();
    until("the refusal", || pair.count("refused") == 1);
    std::fs::write(pair.owner.path().join("seen.go"), "").unwrap();
    let _lent = pair.boxed();
    until("the end", || pair.is("succeeded"));
}

fn server_says(pair: &Pair, question: &str) -> String {
    let schema = pair.address.rsplit_once('=').unwrap().1;
    server::shared().sql(&format!("SET search_path = {schema}; {question}"))
}
