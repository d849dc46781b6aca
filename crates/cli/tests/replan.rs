//! Tests `retry --with`, `retry --edit`, `fork --with` and `show RUN --source`, with the real program.
//!
//! **Invariant:** what the comparison says is kept is not run again, and a refused command changes nothing.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::binary::project::{Project, RUN};

const BROKEN: &str =
    "do:\n  - {id: a, run: 'echo a >> $LOG; echo out', output: out}\n  - {id: b, run: 'echo b >> $LOG; exit 3'}\n";

/// A run that failed at its last step.
fn failed() -> Project {
    let project = Project::new(BROKEN);
    assert_eq!(project.run().code, 1);
    project
}

fn write(project: &Project, text: &str) {
    std::fs::write(project.path("w.yaml"), text).unwrap();
}

fn fixed() -> String {
    BROKEN.replace("exit 3", "exit 0")
}

#[test]
fn a_fixed_file_finishes_the_run_and_does_nothing_twice() {
    let project = failed();
    let before = project.ok(&["status", RUN]);
    assert!(!before.contains("has changed"), "{before}");
    write(&project, &fixed());
    let line =
        format!("w.yaml has changed since this run got it; continue with it: longhaul retry {RUN} --with w.yaml");
    assert!(project.ok(&["status", RUN]).contains(&line));
    let over = project.longhaul(&["resume", RUN]);
    assert!(over.code == 1 && over.stderr.contains(&line), "{}", over.stderr);

    let events = project.events();
    let dry = project.ok(&["retry", RUN, "--with", "w.yaml", "--dry-run"]);
    assert_eq!(
        dry,
        "  a                    kept\n  b  changed: command  runs\n1 step kept, 0 steps again, 1 step to run\n"
    );
    assert_eq!(project.events(), events, "--dry-run changes nothing");

    let said = project.longhaul(&["retry", RUN, "--with", "w.yaml"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let end = format!("Restarted. No engine is running it; continue with: longhaul resume {RUN}");
    assert!(said.stderr.trim().ends_with(&end), "{}", said.stderr);
    let replaced = project.found("plan_replaced");
    assert_eq!((&replaced["kept"], &replaced["again"]), (&json!(["a"]), &Value::Null), "{replaced}");
    assert_eq!(project.json(&["status", RUN, "--json"])["steps"][0]["status"], "succeeded");
    assert!(!project.ok(&["status", RUN]).contains("has changed"));

    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.log(), ["a", "b", "b"]);
    assert_eq!(project.json(&["outputs", RUN])["out"], "out");
    assert_eq!(project.ok(&["show", RUN, "--source"]), fixed());
    project.refuses(&["show", "nosuch-run", "--source"], "there is no workflow `nosuch-run`");
}

#[test]
fn a_file_with_errors_and_a_missing_input_are_refused() {
    let project = failed();
    write(&project, "do: [{id: a, rum: echo}]\n");
    project.refuses(&["retry", RUN, "--with", "w.yaml"], "rum");
    assert!(project.ok(&["status", RUN]).contains("and it has errors: longhaul check w.yaml"));
    write(&project, &format!("inputs: {{n: {{type: integer}}}}\n{}", fixed().replace("exit 0", "echo {{ n }}")));
    project.refuses(&["retry", RUN, "--with", "w.yaml"], "the input `n` is missing");
    project.refuses(&["retry", RUN, "--with", "w.yaml", "--keep", "nosuch", "-i", "n=1"], "no step `nosuch`");
    project.refuses(&["retry", RUN, "--keep", "a"], "need a changed workflow");
    let said = project.json(&["retry", RUN, "--with", "w.yaml", "--input", "n=4", "--json"]);
    assert_eq!((&said["outcome"], &said["comparison"]["inputs"]), (&json!("restarted"), &json!(["n"])), "{said}");
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn a_step_that_may_be_renamed_is_asked_about() {
    let project = failed();
    write(&project, &fixed().replace("id: a", "id: first"));
    project.refuses(&["retry", RUN, "--with", "w.yaml"], "--keep first");
    let said = project.json(&["retry", RUN, "--with", "w.yaml", "--keep", "first", "--json"]);
    assert_eq!(said["comparison"]["rows"][0]["was"], "a", "{said}");
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.log(), ["a", "b", "b"]);
}

#[test]
fn an_editor_changes_the_text_of_the_run_alone() {
    let project = failed();
    let editor = project.path("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i 's/exit 3/exit 0/' \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = project.command(&["retry", RUN, "--edit"]);
    let said = crate::binary::told(command.env_remove("VISUAL").env("EDITOR", &editor).output().unwrap());
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(project.ok(&["show", RUN, "--source"]), fixed());
    assert_eq!(std::fs::read_to_string(project.path("w.yaml")).unwrap(), BROKEN);
    assert!(!project.ok(&["status", RUN]).contains("has changed"));
    let mut command = project.command(&["retry", RUN, "--edit"]);
    let said = crate::binary::told(command.env_remove("VISUAL").env("EDITOR", "true").output().unwrap());
    assert!(said.code == 0 && said.stderr.contains("nothing was changed"), "{}", said.stderr);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn a_fork_with_a_fixed_file_leaves_the_run_as_it_is() {
    let project = failed();
    write(&project, &fixed());
    let before = project.events();
    let fork = project.json(&["fork", RUN, "--with", "w.yaml", "--json"])["run"].as_str().unwrap().to_owned();
    assert_eq!(project.events(), before);
    assert_eq!(project.longhaul(&["resume", &fork]).code, 0);
    assert_eq!(project.log(), ["a", "b", "b"]);
    let again =
        project.json(&["fork", RUN, "--with", "w.yaml", "--at", "a", "--json"])["run"].as_str().unwrap().to_owned();
    assert_eq!(project.longhaul(&["resume", &again]).code, 0);
    assert_eq!(project.log(), ["a", "b", "b", "a", "b"]);
}

#[test]
fn a_run_can_be_given_one_plan_after_another() {
    let project = failed();
    for round in 0..3 {
        write(&project, &BROKEN.replace("exit 3", &format!("exit 3 # {round}")));
        project.ok(&["retry", RUN, "--with", "w.yaml", "--yes"]);
        assert_eq!(project.longhaul(&["resume", RUN]).code, 1);
    }
    write(&project, &fixed());
    project.ok(&["retry", RUN, "--with", "w.yaml"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.log(), ["a", "b", "b", "b", "b", "b"]);
    let fork = project.json(&["fork", RUN, "--at", "b", "--json"])["run"].as_str().unwrap().to_owned();
    assert_eq!(project.longhaul(&["resume", &fork]).code, 1, "the first attempt of b was made with the first plan");
}
