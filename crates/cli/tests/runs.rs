//! Tests runs: answers from other processes, interruptions, failures, looking back.
//!
//! **Invariant:** a message from one process reaches the process that drives the run; a rejected message has a reason
//! and changes nothing.

mod archive;
mod damage;
mod pauses;
mod values;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::binary::project::{Project, RUN};
use crate::binary::{Told, told};
use serde_json::Value;

impl Project {
    fn start(&self, args: &[&str]) -> Background {
        let mut command = self.command(args);
        Background(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    fn count(&self, event: &str) -> usize {
        self.events().iter().filter(|found| found["event"] == event).count()
    }

    fn status(&self) -> String {
        let told = self.longhaul(&["status", RUN, "--json"]);
        serde_json::from_str::<Value>(&told.stdout).map_or_else(|_| String::new(), |status| text(&status["status"]))
    }

    fn attempt_file(&self, path: &str) -> PathBuf {
        self.state("runs").join(RUN).join(path)
    }

    /// Whether a command of this project's engines is alive.
    fn has_children(&self) -> bool {
        let mark = format!("LOG={}", self.path("log").display());
        std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let environment = String::from_utf8_lossy(&environment);
            environment.contains("LONGHAUL_ENGINE=") && environment.split('\0').any(|variable| variable == mark)
        })
    }
}

/// A command that runs beside the test, and ends with it.
struct Background(Option<Child>);

impl Background {
    fn signal(&self, name: &str) {
        let pid = self.0.as_ref().unwrap().id();
        let script = format!("kill -{name} {pid}");
        assert!(std::process::Command::new("bash").args(["-c", &script]).status().unwrap().success());
    }

    fn end(mut self) -> Told {
        told(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Waits for something that other processes do.
fn until(what: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const GATE: &str = r#"
name: gate
do:
  - {id: before, run: 'echo before >> "$LOG"'}
  - {id: ok, approve: Continue?}
  - {id: after, run: 'echo after >> "$LOG"'}
"#;

/// A step that runs until it is stopped the first time, and does nothing the second time.
const LONG: &str = r#"
name: long
do:
  - {id: first, run: 'echo first >> "$LOG"'}
  - {id: long, run: 'echo long >> "$LOG"; test "$(grep -c long "$LOG")" -ge 2 || { (setsid sleep 600 &); sleep 600; }'}
  - {id: last, run: 'echo last >> "$LOG"'}
"#;

#[test]
fn a_run_that_only_people_can_move_is_left_waiting_and_goes_on_when_answered() {
    let project = Project::new(GATE);
    let told = project.run();
    assert_eq!(told.code, 3, "{}", told.stderr);
    assert!(told.stderr.contains("waits for 1 answer"), "{}", told.stderr);
    assert_eq!(project.status(), "waiting");
    project.ok(&["approve", RUN]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.log(), ["before", "after"]);
}

#[test]
fn an_answer_from_another_process_reaches_the_worker() {
    let project = Project::new(GATE);
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    let worker = project.start(&["worker"]);
    until("the question", || project.status() == "waiting");
    project.ok(&["approve", RUN, "ok"]);
    until("the end", || project.status() == "succeeded");
    assert_eq!(project.log(), ["before", "after"]);
    worker.signal("INT");
    assert_eq!(worker.end().code, 0);
}

#[test]
fn an_answer_from_another_process_reaches_a_run_in_the_foreground() {
    let waits = "name: w\nsteps:\n  - {id: ok, approve: Continue?}\n  - {id: nap, wait: {event: wake}}\n  - {id: after, depends_on: ok, run: 'echo after >> \"$LOG\"'}\n";
    let project = Project::new(waits);
    let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("the question", || project.count("question_asked") == 1);
    project.ok(&["approve", RUN]);
    until("the step after it", || project.log() == ["after"]);
    project.ok(&["signal", RUN, "wake"]);
    assert_eq!(run.end().code, 0);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let project = Project::new(GATE);
    project.run();
    project.refuses(&["approve", RUN, "before"], "`before` asks nothing");
    project.refuses(&["approve", RUN, "nowhere"], "no step `nowhere` was reached");
    project.refuses(&["retry", RUN], "the run is not over");
    project.refuses(&["unpause", RUN], "it is not paused");
    project.ok(&["deny", RUN, "--reason", "not now"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 1);
    project.refuses(&["approve", RUN, "ok"], "`ok` has been answered: ");
    project.refuses(&["cancel", RUN], "the run is over");
    project.refuses(&["fork", RUN, "--at", "nowhere"], "no step `nowhere` was reached");
    project.refuses(&["logs", RUN, "nowhere"], "there is no step `nowhere`");
}

const ASKS: &str = r#"
name: asks
do:
  - {id: way, approve: Which way?, choices: [left, right]}
  - {id: scope, ask: How far?, answer: {depth: integer}, output: scope}
  - {id: label, ask: Which label?, output: label}
  - {id: ready, wait: {event: ready, schema: {n: integer}}}
"#;

#[test]
fn an_answer_that_was_not_asked_for_is_refused_at_once_with_what_would_be_taken() {
    let project = Project::new(ASKS);
    project.run();
    project.refuses(&["answer", RUN, "way", "up"], "it takes: yes, no, left, right");
    project.ok(&["answer", RUN, "way", "left"]);
    project.longhaul(&["resume", RUN]);
    project.refuses(&["answer", RUN, "scope", "far"], r#"it must follow {"type":"object""#);
    project.refuses(&["answer", RUN, "scope", r#"{"depth": "3"}"#], r#"`depth`: "3" is not of type "integer""#);
    project.ok(&["answer", RUN, "scope", r#"{"depth": 3}"#]);
    project.longhaul(&["resume", RUN]);
    // A label that looks like a number is still a text.
    project.ok(&["answer", RUN, "label", "42"]);
    let resumed = project.start(&["resume", RUN]);
    until("the wait", || project.count("wait_started") == 1);
    project.refuses(&["signal", RUN, "ready", "1"], r#"it must follow {"type":"object""#);
    project.ok(&["signal", RUN, "ready", r#"{"n": 1}"#]);
    assert_eq!(resumed.end().code, 0);
    let label = project.events().into_iter().find(|event| event["path"] == "label" && event["event"] == "answered");
    assert_eq!(label.unwrap()["answer"]["value"]["value"], "42");
}

#[test]
fn a_run_is_named_by_what_only_it_begins_with() {
    let project = Project::new("name: w\ndo: [{run: 'true'}]\n");
    project.ok(&["run", "w.yaml", "--run-id", "abcd-1"]);
    project.ok(&["run", "w.yaml", "--run-id", "abcd-12"]);
    for command in ["status", "events", "outputs", "resume", "logs", "export", "approve", "cancel"] {
        let told = project.longhaul(&[command, "zzzz"]);
        assert_eq!(
            (told.code, told.stderr.contains("there is no run `zzzz`")),
            (2, true),
            "{command}: {}",
            told.stderr
        );
        let told = project.longhaul(&[command, "abcd"]);
        assert_eq!((told.code, told.stderr.contains("not unique")), (2, true), "{command}: {}", told.stderr);
    }
    assert!(project.ok(&["status", "abcd-1"]).starts_with("abcd-1 "));
    let told = project.longhaul(&["run", "w.yaml", "--run-id", "X"]);
    assert_eq!((told.code, told.stderr.contains("4 to 40 small letters")), (2, true), "{}", told.stderr);
}

#[test]
fn two_processes_that_drive_one_run_do_each_step_once() {
    let each = r#"
name: each
do:
  - id: all
    for_each: "['a', 'b', 'c', 'd', 'e', 'f']"
    parallel: 3
    do: [{id: work, run: 'echo {{ item }} >> "$LOG"; sleep 0.05'}]
  - {id: after, run: 'echo after >> "$LOG"'}
"#;
    let project = Project::new(each);
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    let both = [project.start(&["resume", RUN]), project.start(&["resume", RUN])];
    for one in both {
        let told = one.end();
        assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    }
    let mut log = project.log();
    assert_eq!(log.pop().as_deref(), Some("after"));
    log.sort();
    assert_eq!(log, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(project.count("attempt_failed"), 0);
}

#[test]
fn who_waits_for_a_process_that_is_killed_takes_its_work_over() {
    let project = Project::new(LONG);
    let first = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("the long step", || project.log().len() == 2);
    let second = project.start(&["resume", RUN]);
    first.signal("KILL");
    let told = second.end();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.log(), ["first", "long", "long", "last"]);
    assert!(!project.has_children());
}

#[test]
fn a_process_that_slept_through_its_lease_stops_what_another_took_over() {
    let project = Project::new(LONG);
    let start = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("LONGHAUL_LEASE_MS", "600").stdout(Stdio::null()).stderr(Stdio::null());
        Background(Some(command.spawn().unwrap()))
    };
    let sleeper = start(&["run", "w.yaml", "--run-id", RUN]);
    until("the long step", || project.log().len() == 2);
    sleeper.signal("STOP");
    assert_eq!(start(&["resume", RUN]).end().code, 0);
    assert!(project.has_children(), "a stopped engine cannot have ended its command");
    sleeper.signal("CONT");
    assert_eq!(sleeper.end().code, 0);
    // Its guard ends its leftovers, if it was quicker.
    until("the end of its command", || !project.has_children());
    assert_eq!(project.log(), ["first", "long", "long", "last"]);
    assert_eq!(project.count("run_finished"), 1);
}

#[test]
fn an_interrupted_run_is_parked_and_goes_on() {
    for signal in ["INT", "TERM"] {
        let project = Project::new(LONG);
        let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
        until("the long step", || project.log().len() == 2);
        run.signal(signal);
        let told = run.end();
        assert_eq!(told.code, 130, "{}{}", told.stdout, told.stderr);
        assert!(told.stderr.contains(&format!("longhaul resume {RUN}")), "{}", told.stderr);
        assert!(!project.has_children(), "{signal}");
        assert_eq!(project.events().last().unwrap()["event"], "attempt_stopped");
        project.ok(&["resume", RUN]);
        assert_eq!(project.log(), ["first", "long", "long", "last"]);
        assert_eq!(project.count("attempt_started"), 4);
    }
}

const STUBBORN: &str = r#"
name: stubborn
do:
  - id: long
    run: 'echo long >> "$LOG"; test $(wc -l < "$LOG") -gt 6 || sleep 600; exit 1'
    retry: {max: 1, on: [any], backoff: {first: 1ms}}
"#;

#[test]
fn a_run_may_be_interrupted_as_often_as_people_like() {
    let project = Project::new(STUBBORN);
    for round in 1..=6 {
        let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
        until("the long step", || project.log().len() == round);
        run.signal("INT");
        assert_eq!(run.end().code, 130, "round {round}");
    }
    assert_eq!((project.count("attempt_stopped"), project.count("question_asked")), (6, 0));
    // The next step fails and is retried once, as the workflow says: no stop counted as a retry.
    assert_eq!(project.longhaul(&["resume", RUN]).code, 1);
    assert_eq!((project.log().len(), project.count("attempt_failed")), (8, 2));
}

#[test]
fn a_worker_that_is_interrupted_records_what_it_stops() {
    let project = Project::new(LONG);
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    let worker = project.start(&["worker"]);
    until("the long step", || project.log().len() == 2);
    worker.signal("INT");
    assert_eq!(worker.end().code, 0);
    assert!(!project.has_children());
    assert_eq!(project.events().last().unwrap()["event"], "attempt_stopped");
}

#[test]
fn a_second_interruption_quits_at_once_and_the_guard_clears_up() {
    let deaf = r#"
name: deaf
do: [{id: deaf, run: 'trap "" TERM INT; echo deaf >> "$LOG"; while true; do sleep 600; done'}]
"#;
    let project = Project::new(deaf);
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    let worker = project.start(&["worker"]);
    until("the step", || project.log() == ["deaf"]);
    worker.signal("INT");
    worker.signal("TERM");
    assert!([0, 130].contains(&worker.end().code));
    until("nothing is left", || !project.has_children());
}

#[test]
fn cancelling_from_another_process_ends_the_command() {
    let project = Project::new(LONG);
    let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("the long step", || project.log().len() == 2);
    project.ok(&["cancel", RUN, "--reason", "enough"]);
    assert_eq!(run.end().code, 1);
    assert_eq!((project.status().as_str(), project.has_children()), ("cancelled", false));
    assert_eq!(project.log(), ["first", "long"]);
}

#[test]
fn a_run_that_ends_early_stops_what_is_under_way() {
    let steps = "steps:
  - {id: slow, run: sleep 300}
  - {id: quick, run: 'true'}
  - {id: stop, end: success, depends_on: quick}
";
    let project = Project::new(steps);
    project.ok(&["run", "w.yaml", "--run-id", RUN]);
    assert_eq!((project.status(), project.count("attempt_succeeded")), ("succeeded".to_owned(), 1));
    until("the command is gone", || !project.has_children());
}

#[test]
fn a_paused_run_starts_nothing_until_it_is_let_go() {
    let project = Project::new(GATE);
    project.run();
    project.ok(&["pause", RUN]);
    project.ok(&["approve", RUN]);
    let run = project.start(&["resume", RUN]);
    until("the pause", || project.status() == "paused" && project.count("answered") == 1);
    assert_eq!(project.log(), ["before"]);
    project.ok(&["unpause", RUN]);
    assert_eq!(run.end().code, 0);
    assert_eq!(project.log(), ["before", "after"]);
}

#[test]
fn a_failed_run_that_is_retried_keeps_what_was_done() {
    let fails = r#"
name: fails
do:
  - {id: good, run: 'echo good >> "$LOG"'}
  - {id: bad, run: 'echo bad >> "$LOG"; echo "no such luck" >&2; test -e ok'}
"#;
    let project = Project::new(fails);
    let told = project.run();
    assert_eq!((told.code, told.stdout.contains("no such luck")), (1, true), "{}", told.stdout);
    std::fs::write(project.path("ok"), "").unwrap();
    project.ok(&["retry", RUN]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.log(), ["good", "bad", "bad"]);
}

#[test]
fn a_fork_does_anew_from_its_step_on() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: a, run: 'echo a >> \"$LOG\"; echo one', output: x}\n  - {id: b, run: 'echo b >> \"$LOG\"; echo {{ x }} two', output: y}\noutputs: {y: y}\n",
    );
    project.run();
    let forked = text(&project.json(&["fork", RUN, "--at", "b", "--json"])["run"]);
    project.ok(&["resume", &forked]);
    assert_eq!(project.log(), ["a", "b", "b"]);
    assert_eq!(project.json(&["outputs", &forked])["y"], "one two");
}

#[test]
fn files_tell_about_a_run_from_its_start_to_its_end() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: say, prompt: 'Say {{ task }}.', output: said}\n  - {id: make, run: 'echo made; echo oops >&2', output: made}\n  - {id: ok, approve: Well?}\n",
    );
    project.ok(&["run", "w.yaml", "hello", "--run-id", RUN, "--queue"]);
    let about =
        |name: &str| -> Value { serde_json::from_slice(&std::fs::read(project.attempt_file(name)).unwrap()).unwrap() };
    assert_eq!(
        (&about("run.json")["status"], &about("run.json")["task"]),
        (&Value::from("running"), &Value::from("hello"))
    );
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3);
    assert_eq!(about("run.json")["status"], "waiting");
    project.ok(&["approve", RUN]);
    project.ok(&["resume", RUN]);
    assert_eq!(about("run.json")["status"], "succeeded");
    assert_eq!(about("context.json")["made"], "made");
    let read = |name: &str| std::fs::read_to_string(project.attempt_file(name)).unwrap();
    assert_eq!(read("steps/say/@1/prompt.md"), "Say hello.");
    assert_eq!((read("steps/make/@1/stdout").as_str(), read("steps/make/@1/stderr").as_str()), ("made\n", "oops\n"));
    assert_eq!(about("steps/make/@1/output.json"), "made");
}

#[test]
fn logs_are_what_attempts_printed() {
    let project =
        Project::new("name: w\ndo:\n  - {id: a, run: 'echo from a; echo oops >&2'}\n  - {id: b, run: 'echo from b'}\n");
    project.run();
    let told = project.longhaul(&["logs", RUN]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "from a\noops\nfrom b\n"), "{}", told.stderr);
    assert_eq!(project.ok(&["logs", RUN, "b"]), "from b\n");
    let pieces = project.ok(&["logs", RUN, "--json"]);
    let mut second: Value = serde_json::from_str(pieces.lines().nth(1).unwrap()).unwrap();
    assert!(second.as_object_mut().unwrap().remove("started").unwrap().as_str().unwrap().ends_with('Z'));
    assert_eq!(second, serde_json::json!({"path": "a", "attempt": 1, "stream": "stderr", "text": "oops\n"}));
}

#[test]
fn logs_follow_a_run_to_its_end() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: a, run: 'echo early; until test -e go; do sleep 0.02; done; echo late'}\n",
    );
    let run = project.start(&["run", "w.yaml", "--run-id", RUN]);
    until("the first word", || {
        std::fs::read(project.attempt_file("steps/a/@1/stdout")).is_ok_and(|text| !text.is_empty())
    });
    let logs = project.start(&["logs", "-f", RUN]);
    std::fs::write(project.path("go"), "").unwrap();
    assert_eq!(logs.end().stdout, "early\nlate\n");
    assert_eq!(run.end().code, 0);
}

#[test]
fn an_export_holds_the_whole_run() {
    let project = Project::new(
        "name: w\ndo: [{id: a, run: 'head -c 300000 /dev/zero | tr \"\\0\" x', output: big}]\noutputs: {size: big | length}\n",
    );
    project.run();
    let export = project.json(&["export", RUN]);
    assert_eq!(
        (&export["run"], &export["status"], &export["workflow"]),
        (&RUN.into(), &"succeeded".into(), &"w".into())
    );
    assert_eq!(export["events"].as_array().unwrap().len(), project.events().len());
    assert!(export["plan"].is_object());
}

#[test]
fn pruning_forgets_finished_runs_only_and_only_when_told() {
    let project = Project::new(GATE);
    project.run();
    std::fs::write(project.path("done.yaml"), "name: done\ndo: [{run: 'true'}]\n").unwrap();
    for run in ["done-1", "done-2"] {
        project.ok(&["run", "done.yaml", "--run-id", run]);
    }
    assert_eq!(project.ok(&["prune"]), "");
    let would = project.json(&["prune", "--older", "0s", "--json"]);
    assert_eq!(would, serde_json::json!({"runs": ["done-2", "done-1"], "removed": false}));
    project.ok(&["status", "done-1"]);
    project.ok(&["prune", "--older", "0s", "--keep", "1", "--yes"]);
    assert_eq!(project.longhaul(&["status", "done-1"]).code, 2);
    assert!(!project.state("runs/done-1").exists());
    project.ok(&["status", "done-2"]);
    assert_eq!(project.status(), "waiting");
    assert_eq!(project.longhaul(&["prune", "--older", "soon"]).code, 2);
}

#[test]
fn a_large_output_is_whole_on_disk_and_once_in_the_store() {
    let project = Project::new("name: w\ndo: [{id: a, run: 'head -c 50000000 /dev/zero | tr \"\\0\" x; echo'}]\n");
    let told = project.run();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(std::fs::metadata(project.attempt_file("steps/a/@1/stdout")).unwrap().len(), 50_000_001);
    let kept: u64 = ["longhaul.db", "longhaul.db-wal"]
        .iter()
        .filter_map(|name| Some(std::fs::metadata(project.state(name)).ok()?.len()))
        .sum();
    assert!(kept < 60_000_000, "{kept}");
    let last = project.found("attempt_succeeded");
    assert_eq!((last["result"]["stdout"].is_null(), last["result"]["newline"].as_bool()), (true, Some(true)));
}

#[test]
fn a_step_that_takes_too_long_is_ended_with_all_it_started() {
    let project = Project::new("name: w\ndo: [{id: a, run: '(setsid sleep 600 &); sleep 600', timeout: 200ms}]\n");
    assert_eq!(project.run().code, 1);
    let failed = project.events().into_iter().find(|event| event["event"] == "attempt_failed").unwrap();
    assert_eq!(failed["error"]["class"], "timeout");
    assert!(!project.has_children());
}

#[test]
fn a_script_that_is_gone_when_its_turn_comes_fails_its_step() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: rm gone.sh}\n  - {id: b, run: {script: gone.sh}}\n");
    std::fs::write(project.path("gone.sh"), "true\n").unwrap();
    let told = project.run();
    assert_eq!(told.code, 1, "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("gone.sh"), "{}", told.stdout);
}

#[test]
fn a_store_that_is_none_is_named_and_left_alone() {
    let project = Project::new(GATE);
    let text = "not a database, but long enough to be taken for one. ".repeat(100);
    std::fs::write(project.path("notes.txt"), &text).unwrap();
    let told = project.longhaul(&["run", "w.yaml", "--store", "notes.txt"]);
    assert_eq!((told.code, told.stderr.contains("notes.txt")), (2, true), "{}", told.stderr);
    assert_eq!(std::fs::read_to_string(project.path("notes.txt")).unwrap(), text);
}

#[test]
fn a_store_that_can_not_be_made_is_named() {
    let project = Project::new(GATE);
    for store in ["/proc/longhaul.db", "no/such/folder/longhaul.db"] {
        let told = project.longhaul(&["run", "w.yaml", "--store", store]);
        assert_eq!((told.code, told.stderr.contains(store)), (2, true), "{}", told.stderr);
    }
}

#[test]
fn a_secret_reaches_its_command_and_nothing_that_is_kept() {
    let canary = "canary-5d1e7";
    let project = Project::new(
        "name: w\ndo:\n  - {id: named, env: {TOKEN: '{{ secrets.X }}'}, run: 'echo \"$(printf %s \"$TOKEN\" | wc -c) $TOKEN\"; echo $TOKEN >&2', output: said}\n  - {id: inherited, run: 'echo \"{\\\"a\\\": [\\\"$LONGHAUL_SECRET_X\\\"]}\"', output: {as: json, parse: json}}\n  - {id: fails, run: 'echo $LONGHAUL_SECRET_X >&2; exit 1', optional: true}\noutputs: {said: said, json: json}\n",
    );
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let told = told(command.env("LONGHAUL_SECRET_X", canary).output().unwrap());
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.json(&["outputs", RUN])["said"], format!("{} •••", canary.len()));
    assert!(!told.stdout.contains(canary) && !told.stderr.contains(canary));
    assert!(!project.ok(&["export", RUN]).contains(canary));
    let files = files_below(&project.state(""));
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(canary.len()).any(|window| window == canary.as_bytes()), "{}", file.display());
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_command_about_runs_explains_itself() {
    let project = Project::new(GATE);
    for command in [
        "run", "resume", "runs", "status", "events", "outputs", "logs", "export", "prune", "approve", "deny", "edit",
        "answer", "signal", "cancel", "pause", "unpause", "retry", "fork", "worker",
    ] {
        let help = project.ok(&[command, "--help"]);
        assert!(help.contains("Usage: longhaul"), "{command}: {help}");
        assert!(command == "worker" || help.contains("--json"), "{command}: {help}");
    }
}
