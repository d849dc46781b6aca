//! `longhaul shelve`, `versions`, `rollback`, `proposals` and `triggers`, the real command.

use crate::binary::{Told, longhaul};
use serde_json::Value;
use tempfile::TempDir;

const ONE: &str = "name: greet\ndo:\n  - {id: say, run: printf one, output: said}\noutputs: {said: '{{ said }}'}\n";

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".longhaul")).unwrap();
        Self(folder)
    }

    fn write(&self, text: &str) {
        std::fs::write(self.0.path().join("greet.yaml"), text).unwrap();
    }

    fn told(&self, line: &str) -> Told {
        let args: Vec<&str> = line.split(' ').collect();
        longhaul(self.0.path(), &args)
    }

    fn done(&self, line: &str) -> String {
        let told = self.told(line);
        assert_eq!(told.code, 0, "{line}: {}", told.stderr);
        told.stdout
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{line} --json"))).unwrap()
    }

    fn refused(&self, line: &str) -> String {
        let told = self.told(line);
        assert_ne!(told.code, 0, "{line}: {}", told.stdout);
        told.stderr
    }

    fn shelve(&self, text: &str) -> String {
        self.write(text);
        self.json("shelve greet.yaml")["hash"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_workflow_goes_forward_and_back() {
    let project = Project::new();
    let one = project.shelve(ONE);
    let two = project.shelve(&ONE.replace("printf one", "printf two"));
    assert_eq!(project.json("shelve greet.yaml")["changed"], false);
    let versions = project.json("versions greet");
    let rows: Vec<(&str, bool)> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["hash"].as_str().unwrap(), row["current"].as_bool().unwrap()))
        .collect();
    assert_eq!(rows, [(two.as_str(), true), (one.as_str(), false)]);
    std::fs::remove_file(project.0.path().join("greet.yaml")).unwrap();
    project.done("run greet --run-id first");
    assert!(project.done("outputs first").contains("two"));
    assert_eq!(project.json(&format!("rollback greet {}", &one[7..19]))["hash"], one.as_str());
    assert_eq!(project.json(&format!("rollback greet {one}"))["changed"], false);
    project.done("run greet --run-id second");
    assert!(project.done("outputs second").contains("one"));
    assert_eq!(project.done("versions greet --text"), ONE);
    assert!(project.refused("rollback greet sha256:00000000").contains("has no version"));
    assert!(project.refused("versions nobody").contains("there are: greet"));
}

#[test]
fn what_has_errors_or_is_based_on_something_else_is_not_kept() {
    let project = Project::new();
    let one = project.shelve(ONE);
    project.write("name: greet\ndo:\n  - {id: say, rnu: printf}\n");
    assert!(project.refused("shelve greet.yaml").contains("has errors"));
    project.write(&ONE.replace("printf one", "printf two"));
    assert!(project.refused("shelve greet.yaml --base sha256:12345678").contains("has changed since"));
    assert!(project.refused("shelve greet.yaml --name ../up").contains("cannot be the name"));
    project.done(&format!("shelve greet.yaml --base {one}"));
    assert_eq!(project.json("versions").as_array().unwrap().len(), 1);
    assert_eq!(project.json("runs").as_array().unwrap().len(), 0, "the shelf is none of the runs");
}

#[test]
fn proposals_go_from_hand_to_hand() {
    let project = Project::new();
    project.shelve(ONE);
    project.write(&ONE.replace("printf one", "printf better"));
    let id = project.json("proposals add greet greet.yaml --notes louder")["proposal"].clone();
    let list = project.done("proposals list greet --status pending");
    assert!(list.contains("pending") && list.contains("louder"), "{list}");
    let shown = project.done(&format!("proposals show {id}"));
    assert!(
        shown.contains("-  - {id: say, run: printf one") && shown.contains("+  - {id: say, run: printf better"),
        "{shown}"
    );
    assert!(project.refused(&format!("proposals apply {id}")).contains("only an approved one"));
    project.done(&format!("proposals approve {id} --notes fine"));
    project.done(&format!("proposals apply {id}"));
    assert!(project.done("versions greet --text").contains("better"));
    assert!(project.refused(&format!("proposals apply {id}")).contains("already applied"));
    assert!(project.refused("proposals show 99").contains("there is no proposal 99"));
}

#[test]
fn triggers_are_kept_and_shown_with_their_next_times() {
    let project = Project::new();
    project.shelve(ONE);
    let args = ["triggers", "add", "Nightly", "greet", "--cron", "0 2 * * *", "--timezone", "Europe/Berlin"];
    let told = longhaul(project.0.path(), &args);
    assert!(
        told.code == 0 && told.stderr.contains("next: ") && told.stderr.contains("longhaul worker"),
        "{}",
        told.stderr
    );
    project.done("triggers add button greet");
    let list = project.told("triggers list");
    assert!(list.stdout.contains("Nightly  schedule  greet") && list.stdout.contains("next 20"), "{}", list.stdout);
    assert!(list.stderr.contains("is running, and only then"), "{}", list.stderr);
    let rows = project.json("triggers list");
    assert_eq!(rows[0]["next"].as_array().unwrap().len(), 3);
    let run = project.json("triggers run button")["run"].as_str().unwrap().to_owned();
    project.done(&format!("resume {run}"));
    project.done("triggers remove nightly");
    assert_eq!(project.json("triggers list").as_array().unwrap().len(), 1);
    assert!(project.refused("triggers add x nothing").contains("there is no workflow `nothing`"));
    assert!(project.refused("triggers run nobody").contains("there are: button"));
}

#[test]
fn a_step_of_a_run_changes_nothing_of_it() {
    let project = Project::new();
    project.shelve(ONE);
    let binary = env!("CARGO_BIN_EXE_longhaul");
    for line in [
        "shelve greet.yaml",
        "rollback greet 12345678",
        "proposals approve 1",
        "triggers add x greet",
        "triggers remove x",
    ] {
        let text = format!("name: sly\ndo:\n  - {{id: sly, run: '{binary} {line} 2> said.txt || true'}}\n");
        std::fs::write(project.0.path().join("sly.yaml"), text).unwrap();
        project.done("run sly.yaml");
        let said = std::fs::read_to_string(project.0.path().join("said.txt")).unwrap();
        assert!(said.contains("a step of") && said.contains("may not"), "{line}: {said}");
    }
}
