//! Tests writing a workflow and testing it without a model: `longhaul new` and `longhaul test`.

use std::path::Path;

use crate::binary::longhaul;
use serde_json::Value;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// The differences that `longhaul test` reports for one test.
fn differences(folder: &Path, workflow: &str, test: &str) -> Vec<String> {
    write(folder, "w.yaml", workflow);
    let indented: String = test.lines().map(|line| format!("    {line}\n")).collect();
    write(folder, "w.test.yaml", &format!("tests:\n  - name: it\n{indented}"));
    let told = longhaul(folder, &["test", "w.yaml", "--json"]);
    let page: Value = serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}{}", told.stdout, told.stderr));
    assert_eq!(page["ok"], told.code == 0);
    let found = page["tests"][0]["differences"].as_array().unwrap();
    found.iter().map(|difference| difference.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_template_checks_clean_and_passes_its_own_tests() {
    let folder = project();
    for template in ["steps", "loop", "fan-out"] {
        let name = format!("my-{template}");
        assert_eq!(longhaul(folder.path(), &["new", &name, "--from", template]).code, 0, "{template}");
        let told = longhaul(folder.path(), &["check", "--strict", &name]);
        assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    }
    let told = longhaul(folder.path(), &["test"]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(told.stderr, "5 passed, 0 failed\n");
    // Tests are not workflows.
    let listed = longhaul(folder.path(), &["list"]).stdout;
    assert!(listed.contains("my-loop ") && !listed.contains(".test"), "{listed}");
}

#[test]
fn a_built_in_workflow_can_be_begun_with_and_nothing_is_overwritten() {
    let folder = project();
    assert_eq!(longhaul(folder.path(), &["new", "ours", "--from", "code-review"]).code, 0);
    let file = folder.path().join(".longhaul/workflows/ours.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\nname: ours\n") && text.contains("security-review"), "{text}");
    assert_eq!(longhaul(folder.path(), &["check", "--strict", "ours"]).code, 0);
    for args in [["new", "ours"], ["new", "Not fit"], ["new", "../out"]] {
        assert_eq!(longhaul(folder.path(), &args).code, 2, "{args:?}");
    }
    assert_eq!(longhaul(folder.path(), &["new", "x", "--from", "nothing"]).code, 2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

const WORKFLOW: &str = "
name: w
do:
  - {id: plan, prompt: 'Plan {{ task }}', output: {as: plan, schema: {title: string}}}
  - {id: nap, wait: 3h}
  - {id: go, approve: 'Do {{ plan.title }}?'}
  - {id: ship, run: 'echo shipped >> log; exit 7', retry: {max: 3, on: failed, backoff: 1h}}
outputs:
  title: plan.title
";

const SHIPS: &str = "
task: a release
replies: [{step: plan, attempt: 1, fail: overload}, {step: plan, reply: {title: one}, after: 30s, usage: {input_tokens: 5}}]
commands: [{step: ship, attempt: 1, exit_code: 1}, {step: ship, stdout: done}]
answers: [{step: go, approve: true}]
";

#[test]
fn hours_pass_at_once_and_faults_are_injected() {
    let folder = project();
    let expect = "expect: {status: succeeded, done: [plan, nap, go, ship], attempts: {plan: 2, ship: 2}, outputs: {title: one}, \
                  prompts: {plan: Plan a release}, tokens: 5}";
    assert_eq!(differences(folder.path(), WORKFLOW, &format!("{SHIPS}{expect}")), Vec::<String>::new());
}

#[test]
fn every_difference_is_told() {
    let folder = project();
    let expect = "expect: {status: failed, message: no, done: [go, plan], failed: [go], skipped: [ship], never: [nap], attempts: {ship: 1}, \
                  outputs: {title: two}, prompts: {plan: Nothing, ship: x}, files: {log: x}, tokens: 4}";
    let answers = SHIPS.replace("answers: [", "answers: [{step: nobody, deny: why}, ");
    let found = differences(folder.path(), WORKFLOW, &format!("{answers}{expect}"));
    let begins = [
        "status: expected failed, but it has succeeded",
        "message: expected `no` in ``",
        "done: `plan` is not done in this order; done were plan, nap, go, ship",
        "failed: `go` is not; failed were none",
        "skipped: `ship` is not; skipped were none",
        "never: `nap` was reached",
        "attempts: expected 1 of `ship`, but there were 2",
        "outputs.title:\n    -\"two\"\n    +\"one\"",
        "prompts: `plan` was not told `Nothing`",
        "prompts: `ship` was not told `x`",
        "files: there is no log",
        "tokens: expected at most 4, but it used 5",
        "answers: no step asked for the one to `nobody`",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found}\nis not\n{begin}");
    }
}

#[test]
fn a_test_plays_several_people() {
    let folder = project();
    let workflow = "
name: w
do:
  - {id: go, approve: 'Go?', approvals: {from: role:release, count: 2, not_starter: true}}
  - {id: ship, run: 'true'}
";
    let two = "answers: [{step: go, approve: true, by: kim}, {step: go, approve: true, by: ana}]\n";
    let expect = "expect: {status: succeeded, done: [go, ship]}";
    assert_eq!(differences(folder.path(), workflow, &format!("{two}{expect}")), Vec::<String>::new());
    let alone = two.replace("ana", "kim");
    let found = differences(folder.path(), workflow, &format!("{alone}{expect}"));
    assert!(found[0].contains("kim has approved this already (1 of 2)"), "{found:?}");
    let one = "answers: [{step: go, approve: true, by: kim}]\nexpect: {status: waiting, never: [ship]}";
    assert_eq!(differences(folder.path(), workflow, one), Vec::<String>::new());
}

#[test]
fn an_engine_that_is_killed_does_nothing_twice_that_was_finished() {
    let folder = project();
    let workflow = "
name: w
do:
  - {id: first, run: 'echo once >> log'}
  - {id: second, prompt: Think., output: thought}
  - {id: third, run: 'echo {{ thought }} >> log'}
";
    let test = "
replies: [{step: second, reply: deep, after: 20s}]
crash: second
expect: {status: succeeded, done: [first, second, third], attempts: {first: 1, second: 2}, files: {log: \"once\\ndeep\\n\"}}
";
    assert_eq!(differences(folder.path(), workflow, test), Vec::<String>::new());
    let never = test.replace("crash: second", "crash: fourth").replace("20s", "0s");
    let found = differences(folder.path(), workflow, &never);
    assert!(found[0].contains("`fourth`, but that step never started"), "{found:?}");
}

#[test]
fn a_run_becomes_a_test_that_passes() {
    let folder = project();
    write(folder.path(), "w.yaml", &WORKFLOW.replace("; exit 7", "").replace("3h", "10ms"));
    write(folder.path(), "replies.yaml", "replies: [{step: plan, reply: {title: one}}]");
    let args = ["run", "w.yaml", "a release", "--run-id", "first", "--script", "replies.yaml"];
    assert_eq!(longhaul(folder.path(), &args).code, 3);
    assert_eq!(longhaul(folder.path(), &["test", "--record", "first"]).code, 2);
    assert_eq!(longhaul(folder.path(), &["approve", "first"]).code, 0);
    assert_eq!(longhaul(folder.path(), &["resume", "first"]).code, 0);
    let told = longhaul(folder.path(), &["test", "--record", "first"]);
    let recorded = told.stdout.replace("\"workflow\": \"w\"", "\"workflow\": \"w.yaml\"");
    write(folder.path(), "w.test.yaml", &recorded);
    std::fs::remove_file(folder.path().join("log")).unwrap();
    let told = longhaul(folder.path(), &["test", "w.test.yaml"]);
    assert_eq!(told.code, 0, "{}{}\n{recorded}", told.stdout, told.stderr);
    // Its command was not executed again.
    assert!(!folder.path().join("log").exists());
}

#[test]
fn what_is_misspelt_is_an_error() {
    let folder = project();
    write(folder.path(), "w.yaml", WORKFLOW);
    for text in ["tests: [{name: x, anwsers: []}]", "tests: [{name: x, expect: {statsu: failed}}]", "test: []"] {
        write(folder.path(), "w.test.yaml", text);
        let told = longhaul(folder.path(), &["test", "w.yaml"]);
        assert_eq!(told.code, 2, "{text}: {}{}", told.stdout, told.stderr);
    }
    let found = differences(folder.path(), WORKFLOW, "replies: [{step: plan, rply: x}]");
    assert!(found[0].contains("did you mean `reply`"), "{found:?}");
}
