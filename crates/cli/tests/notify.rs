//! Tests notifications and reports with the real command.

use serde_json::json;

use crate::binary::project::{Project, RUN};

const GATE: &str = "name: gated\ndo:\n  - {id: go, approve: 'Go <on>?'}\n";
/// A channel that writes title, id and text to a file, and one that always fails.
const SETTINGS: &str = r#"
[channels.file]
kind = "command"
command = ["sh", "-c", "{ echo \"$LONGHAUL_TITLE\"; cat; echo; } >> \"$LOG\""]
[channels.broken]
kind = "command"
command = ["sh", "-c", "exit 7"]
[notify]
"#;

fn project(workflow: &str, notify: &str) -> Project {
    let project = Project::new(workflow);
    project.user_settings(&format!("{SETTINGS}{notify}\n"));
    project
}

#[test]
fn a_run_that_waits_tells_it_before_its_process_ends_and_once() {
    let project = project(GATE, "channels = ['file']\nlink = 'https://haul.example'");
    assert_eq!(project.run().code, 3);
    let lines = [
        format!("gated {RUN} needs your approval"),
        "Go <on>?".to_owned(),
        "Step: go".to_owned(),
        format!("longhaul approve {RUN} go"),
        format!("https://haul.example/runs/{RUN}"),
    ];
    assert_eq!(project.log(), lines);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3);
    assert_eq!(project.log(), lines, "once");
    let listed = project.json(&["notify", "list", "--json"]);
    assert_eq!(listed[0]["title"], json!(lines[0]));
    assert_eq!((&listed[0]["channels"][0]["channel"], &listed[0]["channels"][0]["tries"]), (&json!("file"), &json!(1)));
    assert!(listed[0]["channels"][0]["sent_at"].is_i64() && listed.as_array().unwrap().len() == 1, "{listed}");
}

#[test]
fn a_channel_that_fails_shows_in_status_and_the_run_does_not_mind() {
    let project = project("do: [{id: a, run: 'exit 3'}]\n", "channels = ['file', 'broken']");
    assert_eq!(project.run().code, 1);
    assert_eq!(project.log().last().unwrap(), &format!("longhaul retry {RUN}"));
    let status = project.ok(&["status", RUN]);
    let told = "notification over `broken`: failed: `sh` ended with exit code 7; tried again at ";
    assert!(status.contains(told) && status.contains("; longhaul notify list"), "{status}");
    assert!(project.ok(&["notify", "list"]).contains("    broken: failed: `sh` ended with exit code 7"));
}

#[test]
fn channels_can_be_tested() {
    let project = project(GATE, "channels = ['desktop', 'file', 'broken']");
    let told = project.longhaul(&["notify", "test"]);
    assert_eq!((told.code, told.stdout.as_str()), (1, "✓ file: sent\n✗ broken: `sh` ended with exit code 7\n"));
    assert_eq!(project.log()[0], "Longhaul: a test");
    let told = project.json(&["notify", "test", "file", "--json"]);
    assert_eq!(told, json!([{"channel": "file", "ok": true, "error": null}]));
    project.user_settings("");
    let told = project.longhaul(&["notify", "test"]);
    assert!(told.code == 2 && told.stderr.contains("this machine has no desktop"), "{} {}", told.code, told.stderr);
}

#[test]
fn wrong_settings_are_named_and_those_of_a_checkout_wait_for_trust() {
    let project = project(GATE, "channels = ['flie']");
    let doctor = project.longhaul(&["doctor"]).stdout;
    assert!(
        doctor.contains("`notify.channels` names `flie`, which is not a channel; did you mean `file`?"),
        "{doctor}"
    );
    assert!(doctor.contains("nobody is notified"), "{doctor}");
    project.user_settings("[notify]\non = ['gates']");
    let told = project.longhaul(&["runs"]);
    assert!(
        told.code != 0 && told.stderr.contains("`notify.on` names `gates`; did you mean `gate`?"),
        "{}",
        told.stderr
    );
    project.user_settings("");
    std::fs::write(project.path(".longhaul/config.toml"), "[notify]\nlink = 'https://evil.example'\n").unwrap();
    let told = project.longhaul(&["runs"]);
    assert!(
        told.stderr.contains("`notify` says who is notified about runs, and came with the project"),
        "{}",
        told.stderr
    );
}

#[test]
fn a_night_is_reported_in_every_format() {
    let project = project(GATE, "channels = []\ntimezone = 'UTC'");
    assert_eq!(project.run().code, 3);
    let text = project.ok(&["digest"]);
    assert!(text.contains("1 run: 1 needs you\n\nNeeds you\n  run-1 go (gated), gate\n      Go <on>?\n"), "{text}");
    assert!(text.contains(&format!("      longhaul approve {RUN} go\n")), "{text}");
    let html = project.ok(&["digest", "--format", "html"]);
    assert!(html.starts_with("<!doctype html>") && html.contains("Go &lt;on&gt;?"), "{html}");
    assert!(project.ok(&["digest", "--format", "markdown"]).contains("  - Go &lt;on&gt;?\n"));
    let data = project.json(&["digest", "--json", "--since", "3d"]);
    assert_eq!((&data["totals"]["needs_you"], &data["waiting"][0]["step"]), (&json!(1), &json!("go")));
    assert!(data["until"].as_i64().unwrap() - data["since"].as_i64().unwrap() >= 3 * 24 * 3_600_000);
    let all = project.json(&["digest", "--all", "--json"]);
    assert_eq!(all[0]["digest"]["totals"]["runs"], json!(1), "{all}");
    assert_eq!(project.longhaul(&["digest", "--format", "pdf"]).code, 2);
}

#[test]
fn a_worker_prints_that_a_run_waits() {
    let project = project(GATE, "channels = []");
    let mut worker = project.command(&["worker"]);
    let mut worker = worker.stderr(std::process::Stdio::piped()).spawn().unwrap();
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue"]);
    let lines = std::io::BufRead::lines(std::io::BufReader::new(worker.stderr.take().unwrap()));
    let found = lines.map(Result::unwrap).find(|line| line.contains("needs your approval"));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let line = format!("{RUN} go (gated) needs your approval: Go <on>?; longhaul approve {RUN} go");
    assert_eq!(found.as_deref(), Some(line.as_str()));
}
