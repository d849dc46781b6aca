//! How the background engine ends, and who may end it.

use std::path::Path;

use super::{Night, STEPS, signal};
use crate::binary::project::RUN;
use crate::binary::told;
use crate::crash::trial::until;

fn is_there(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_worker_that_does_not_end_is_killed_and_the_engine_answers_meanwhile() {
    let night = Night::new(STEPS);
    assert_eq!(night.detach().code, 0);
    until("the first step", || night.0.log().len() == 1);
    let status = night.status();
    let engine = status["engine"]["pid"].as_u64().unwrap();
    let worker = status["engine"]["workers"][0]["pid"].as_u64().unwrap();
    signal("-STOP", worker);
    let stop = super::background(night.command(&["up", "--stop"]));
    until("it ends", || night.status()["engine"]["is_ending"] == true);
    assert!(is_there(engine) && is_there(worker));
    let said = told(stop.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("the background engine has ended"), "{}", said.stderr);
    assert!(!is_there(worker), "the worker is gone");
    assert_eq!(night.engine(), None);
    night.go();
    night.0.ok(&["up"]);
    night.until_it_is("succeeded");
}

#[test]
fn a_step_of_a_run_does_not_end_the_background_engine() {
    let calls =
        r#"for what in --stop --install --uninstall; do "$LONGHAUL" up $what 2>> said && touch done; done; true"#;
    let night = Night::new(&format!("name: calls\ndo: [{{id: call, run: '{calls}'}}]\n"));
    assert_eq!(night.detach().code, 0);
    night.until_it_is("succeeded");
    assert!(night.engine().is_some());
    assert!(!night.0.path("done").exists());
    let said = std::fs::read_to_string(night.0.path("said")).unwrap();
    assert_eq!(said.matches("this is a step of a run").count(), 3, "{said}");
}

#[test]
fn the_worker_of_a_deleted_project_is_given_up() {
    let (stays, goes) = (Night::new(STEPS), Night::new(STEPS));
    let home = stays.0.path("state");
    let ask = |night: &Night, args: &[&str]| told(night.command(args).env("XDG_STATE_HOME", &home).output().unwrap());
    let workers = || {
        let status = ask(&stays, &["up", "--status", "--json"]).stdout;
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        status["engine"]["workers"].as_array().cloned().unwrap_or_default()
    };
    for night in [&stays, &goes] {
        let said = ask(night, &["run", "w.yaml", "--run-id", RUN, "--detach"]);
        assert_eq!(said.code, 0, "{}", said.stderr);
        until("the first step", || night.0.log().len() == 1);
    }
    let worker = workers()[1]["pid"].as_u64().unwrap();
    goes.go();
    signal("-STOP", worker);
    let folder = goes.0.path("w.yaml").parent().unwrap().to_owned();
    std::fs::remove_dir_all(&folder).unwrap();
    signal("-9", worker);
    until("it is given up", || workers().len() == 1);
    std::fs::create_dir_all(&folder).unwrap();
    assert_eq!(ask(&stays, &["up", "--stop"]).code, 0);
}
