//! Tests steering: `tell`, `budget`, names and times of steps, and checks before something starts.

use crate::binary::project::{Project, RUN};
use serde_json::{Value, json};

const GATED: &str =
    "name: w\ndo:\n  - {id: go, approve: 'Go?'}\n  - {id: b, name: The work, prompt: 'Fix it.', output: text}\n";
const SCRIPT: &str = "replies:\n  - {step: b, contains: 'use the cache', reply: heard}\n  - {step: b, reply: alone}\n";

fn scripted(project: &Project, args: &[&str]) -> crate::binary::Told {
    std::fs::write(project.path("s.yaml"), SCRIPT).unwrap();
    let own = ["--agent", "scripted", "--script", "s.yaml"];
    project.longhaul(&args.iter().copied().chain(own).collect::<Vec<_>>())
}

fn waiting() -> Project {
    let project = Project::new(GATED);
    assert_eq!(scripted(&project, &["run", "w.yaml", "--run-id", RUN]).code, 3);
    project
}

#[test]
fn an_agent_hears_what_it_was_told_before_it_started() {
    let project = waiting();
    let told = project.longhaul(&["tell", RUN, "b", "use", "the", "cache"]);
    assert!(
        told.code == 0 && told.stderr.starts_with("Told. The agent hears it with its next turn"),
        "{}",
        told.stderr
    );
    let status = project.ok(&["status", RUN]);
    assert!(status.contains("for its next turn: use the cache") && status.contains("The work"), "{status}");
    project.ok(&["approve", RUN]);
    assert_eq!(scripted(&project, &["resume", RUN]).code, 0);
    assert_eq!(project.ok(&["outputs", RUN, "b"]).trim(), "heard");
    assert_eq!(project.found("attempt_started")["hints"], json!([1]));
    project.refuses(&["tell", RUN, "b", "late"], "retry --from b");
}

#[test]
fn what_cannot_be_told_is_refused_and_changes_nothing() {
    let project = waiting();
    project.refuses(&["tell", RUN, "go", "hello"], "no agent does `go`");
    project.refuses(&["tell", RUN, "nothing", "hello"], "there are: `go`, `b`");
    project.refuses(&["tell", RUN, "b", "  "], "the text is empty");
    project.refuses(&["tell", RUN, "b", &"x".repeat(20_001)], "more than 20000 characters");
    let told = project.longhaul(&["tell", RUN, "b", "\u{1b}[2Jred {{ secrets.X }}", "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(!project.ok(&["events", RUN]).contains('\u{1b}'));
}

#[test]
fn a_step_may_not_tell_the_agents_of_its_own_run_or_change_its_limits() {
    let text = "name: w\nlimits: {usd: 5}\ndo:\n  - {id: sly, run: '($LONGHAUL tell run-1 b hello; $LONGHAUL budget run-1 --usd +5) 2> \"$OUT\" || true'}\n  - {id: b, prompt: Work., output: text}\n";
    let project = Project::new(text);
    assert_eq!(scripted(&project, &["run", "w.yaml", "--run-id", RUN]).code, 0);
    let said = std::fs::read_to_string(project.path("out")).unwrap();
    assert_eq!(said.matches("cannot decide what becomes of run-1").count(), 2, "{said}");
    assert!(project.found("hint_given").is_null() && project.found("budget_changed").is_null());
}

#[test]
fn a_raised_limit_lets_the_run_continue_and_holds() {
    let text = "name: w\nlimits: {steps: 1, on_exceed: ask}\ndo:\n  - {id: a, run: echo 1}\n  - {id: b, run: echo 2}\n  - {id: c, run: echo 3}\n";
    let project = Project::new(text);
    let told = project.run();
    assert_eq!(told.code, 3);
    assert!(told.stderr.contains(&format!("raise it: longhaul budget {RUN} --steps +50")), "{}", told.stderr);
    assert!(project.ok(&["status", RUN]).contains("`longhaul budget` raises the limit, `longhaul unpause` drops it"));
    project.refuses(&["budget", RUN, "--steps", "1"], "the run has used 1 steps");
    project.refuses(&["budget", RUN, "--usd", "+1"], "no limit on usd to add to");
    let told = project.longhaul(&["budget", RUN, "--steps", "+1", "--json"]);
    let data: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&data["outcome"], &data["then"]), (&json!("changed"), &json!("needs_engine")), "{data}");
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3);
    let budget = project.json(&["budget", RUN, "--json"]);
    assert_eq!(budget["steps"], json!({"used": 2, "limit": 2}));
    assert!(project.ok(&["budget", RUN]).contains("of 2"));
    project.ok(&["budget", RUN, "--steps", "20"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn steps_are_shown_with_their_items_and_times_and_found_by_what_is_shown() {
    let text = "name: w\ndo:\n  - id: files\n    for_each: ['src/a.rs', \"b\\e[31m.rs\"]\n    do:\n      - {id: look, name: Look, run: 'echo said {{ item }}'}\n";
    let project = Project::new(text);
    let told = project.run();
    assert!(
        told.code == 0 && told.stdout.contains("▸ files[0]/look (src/a.rs, Look)"),
        "{}{}",
        told.stdout,
        told.stderr
    );
    let status = project.ok(&["status", RUN]);
    assert!(status.contains("files[0]/look  src/a.rs") && !status.contains("\u{1b}[31m"), "{status}");
    let events = project.ok(&["events", RUN, "--utc"]);
    let first = events.lines().nth(1).unwrap();
    assert!(first.as_bytes()[2] == b':' && first.contains("▶ w"), "{events}");
    assert!(project.found("attempt_started")["time"].as_str().unwrap().ends_with('Z'));
    let logs = project.longhaul(&["logs", RUN, "files[1]/look"]);
    assert!(logs.stdout.starts_with("said b") && logs.stderr.contains("── files[1]/look@1"), "{}", logs.stderr);
    assert!(project.longhaul(&["logs", RUN, "lock"]).stderr.contains("there is no step `lock`"));
}

#[test]
fn the_reason_of_a_failure_is_told_when_it_was_printed_to_stdout() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: 'echo nothing to commit; exit 1'}\n");
    let told = project.run();
    assert!(told.stdout.contains("✗ a: exit code 1: nothing to commit"), "{}", told.stdout);
}

#[test]
fn a_trigger_that_could_start_nothing_is_refused_at_once() {
    let text = "name: w\ninputs: {n: {type: integer}}\ndo:\n  - {id: a, run: 'echo {{ inputs.n }} {{ task }}'}\n";
    let project = Project::new(text);
    let add = |more: &[&str]| {
        let line = ["triggers", "add", "x", "w.yaml", "--cron", "0 7 * * *"];
        project.longhaul(&line.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
    };
    let refuses = |more: &[&str], why: &str| {
        let told = add(more);
        assert!(told.code == 2 && told.stderr.contains(why), "{more:?}: {}", told.stderr);
    };
    refuses(&["--input", "n=1"], "reads `task`, and the trigger has none; give it with --task TEXT");
    refuses(&["--task", "t"], "the input `n` is missing");
    refuses(&["--task", "t", "--input", "n=1", "--input", "m=2"], "there is no input `m`");
    refuses(&["--input", "task=t", "--task", "t", "--input", "n=1"], "the task has its own option");
    assert!(project.json(&["triggers", "list", "--json"]).as_array().unwrap().is_empty());
    assert_eq!(add(&["--task", "the task", "--input", "n=1"]).code, 0);
    let run = project.ok(&["triggers", "run", "x"]);
    project.ok(&["resume", run.trim()]);
    assert_eq!(project.ok(&["outputs", run.trim(), "a"]).trim(), "1 the task");
    std::fs::write(project.path("w.yaml"), "name: w\ndo:\n  - {id: a, runn: x}\n").unwrap();
    let told = add(&["--task", "t"]);
    assert!(told.code == 1 && told.stderr.contains("LH0"), "{}", told.stderr);
}

#[test]
fn an_agent_that_does_not_exist_starts_nothing() {
    let project = Project::new("name: w\ndo:\n  - {id: a, prompt: Work., output: text}\n");
    let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN, "--agent", "cluade"]);
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(told.stderr.contains("there is no agent `cluade`; did you mean `claude`?"), "{}", told.stderr);
    for (settings, why) in [
        ("agent = 'nosuch'", "`agent`: there is no agent `nosuch`"),
        (
            "[agents.mine]\nbackend = 'claud'",
            "`agents.mine.backend`: there is no agent `claud`; did you mean `claude`?",
        ),
    ] {
        project.user_settings(settings);
        let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN]);
        assert!(told.code == 2 && told.stderr.contains(why), "{settings}: {}", told.stderr);
        assert!(project.longhaul(&["doctor"]).stdout.contains(why), "{settings}");
        assert_eq!(project.longhaul(&["runs"]).code, 0, "who only reads is not stopped");
    }
}

#[test]
fn a_run_id_of_something_else_and_an_unknown_signal_are_refused() {
    let text = "name: w\ndo:\n  - {id: a, wait: {event: ready}}\n  - {id: b, run: 'echo {{ task | default(1) }}'}\n";
    let project = Project::new(text);
    project.ok(&["run", "w.yaml", "one task", "--run-id", RUN, "--queue"]);
    project.refuses(&["signal", RUN, "redy"], "it can receive: `ready`");
    project.refuses(&["run", "w.yaml", "another", "--run-id", RUN], "was started with another task");
    std::fs::write(project.path("v.yaml"), "name: v\ndo:\n  - {id: a, run: echo 1}\n").unwrap();
    project.refuses(&["run", "v.yaml", "--run-id", RUN], "`run-1` is a run of `w`, not of `v`");
    project.ok(&["signal", RUN, "ready"]);
    assert_eq!(project.longhaul(&["run", "w.yaml", "one task", "--run-id", RUN]).code, 0);
}

#[test]
fn a_missing_task_is_told_unless_the_workflow_asks_whether_there_is_one() {
    let without = |text: &str| {
        let project = Project::new(text);
        project.run().stderr.contains("warning: the workflow reads `task`, and none was given")
    };
    assert!(without("name: w\ndo:\n  - {id: a, run: 'echo {{ task }}'}\n"));
    assert!(!without("name: w\ndo:\n  - {id: a, run: 'echo {% if task %}{{ task }}{% endif %}'}\n"));
    assert!(!without("name: w\ndo:\n  - {id: a, run: echo 1}\n"));
}

#[test]
fn a_second_run_that_edits_the_same_folder_is_warned_about() {
    let text = "name: w\ndo:\n  - {id: a, wait: {event: ready}}\n  - {id: b, prompt: Work., output: text}\n";
    let project = Project::new(text);
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue", "--agent", "scripted"]);
    let second = || project.longhaul(&["run", "w.yaml", "--queue", "--agent", "scripted"]);
    assert!(second().stderr.contains("`run-1` (w) also edits files in"), "{}", second().stderr);
    let read_only = text.replace("prompt: Work.", "agent: {sandbox: read-only}, prompt: Look.");
    std::fs::write(project.path("v.yaml"), read_only.replace("name: w", "name: v")).unwrap();
    let told = project.longhaul(&["run", "v.yaml", "--queue", "--agent", "scripted"]);
    assert!(told.code == 0 && !told.stderr.contains("also edits"), "{}", told.stderr);
    project.user_settings("same_folder = 'refuse'");
    assert_eq!(second().code, 1);
    project.user_settings("same_folder = 'allow'");
    assert!(!second().stderr.contains("also edits"));
    project.user_settings("same_folder = 'maybe'");
    assert!(second().stderr.contains("`same_folder` is none of warn, allow, refuse"));
}
