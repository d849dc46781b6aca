//! Tests `python.call`: work-buddy's `auto_run`, with a real Python.

use serde_json::{Value, json};

use crate::binary::project::{Project, RUN};

/// A package like work-buddy's.
const PACKAGE: &str = r#"
import os, sys, time

def load(name, n=1):
    print("loading " + name)
    return {"name": name, "n": n, "session": os.environ["WORK_BUDDY_SESSION_ID"]}

def merge(cfg, extra=None):
    return {"cfg": cfg, "extra": extra, "__reconcile_store__": True}

def fails():
    raise ValueError("no such thing")

def exits():
    os._exit(9)

def babbles():
    os.write(1, b"hello\n")

def odd():
    return {1, 2}

def sleeps():
    with open(os.environ["LOG"], "a") as log:
        log.write("asleep\n")
    time.sleep(600)
"#;

fn project(steps: &str) -> Project {
    let text = format!("kind: workflow\nname: wb\nworkflow_name: wb\nsteps:\n{steps}");
    let project = Project::new(&text);
    std::fs::create_dir(project.path("work_buddy")).unwrap();
    std::fs::write(project.path("work_buddy/__init__.py"), "").unwrap();
    std::fs::write(project.path("work_buddy/ops.py"), PACKAGE).unwrap();
    project
}

fn step(call: &str) -> String {
    format!("  - {{id: it, step_type: code, auto_run: {{{call}}}}}\n")
}

fn output(project: &Project, step: &str) -> Value {
    let is_meant = |event: &Value| event["event"] == "attempt_succeeded" && event["path"] == step;
    project.events().into_iter().find(is_meant).unwrap()["result"]["output"].clone()
}

#[test]
fn a_chain_hands_results_on() {
    let project = project(
        "  - {id: load, step_type: code, auto_run: {callable: work_buddy.ops.load, kwargs: {name: x, n: null}}}\n  \
           - {id: res, step_type: code, depends_on: [load], auto_run: {callable: work_buddy.ops.merge, input_map: {cfg: load}}}\n",
    );
    let told = project.run();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    let loaded = json!({"name": "x", "n": 1, "session": RUN});
    assert_eq!(output(&project, "load"), loaded, "what has no value is not given");
    assert_eq!(output(&project, "res"), json!({"cfg": loaded, "extra": null}));
    assert_eq!(project.stderr_of("load"), "loading x\n");
}

#[test]
fn what_goes_wrong_is_said_and_not_tried_again() {
    let failed = |name: &str| {
        let project = project(&step(&format!("callable: work_buddy.ops.{name}")));
        let (class, message) = project.failed();
        let tries = project.events().iter().filter(|event| event["event"] == "attempt_started").count();
        assert_eq!((class.as_str(), tries), ("failed", 1), "{message}");
        message
    };
    assert_eq!(failed("fails"), "ValueError: no such thing");
    assert!(failed("exits").starts_with("the subprocess crashed with exit code 9"));
    assert!(failed("babbles").starts_with("the subprocess did not answer in JSON: hello"));
    assert_eq!(failed("odd"), "TypeError: Object of type set is not JSON serializable");
    assert!(failed("missing").starts_with("AttributeError"));
}

#[test]
fn what_takes_too_long_is_tried_once_more_if_that_is_wanted() {
    for (more, tries, said) in
        [("", 2, "timed out after 1s (2 attempts)"), (", retry_on_timeout: false", 1, "timed out after 1s (1 attempt)")]
    {
        let project = project(&step(&format!("callable: work_buddy.ops.sleeps, timeout: 1{more}")));
        assert_eq!(project.failed(), ("timeout".to_owned(), said.to_owned()));
        assert_eq!(project.log().len(), tries);
    }
}

#[test]
fn nothing_outside_of_the_package_is_called() {
    let project = Project::new(&crate::tools::one("tool: python.call, args: {callable: os.getcwd}"));
    assert!(project.failed().1.starts_with("Import path `os.getcwd` rejected"));
    let other = Project::new(&crate::tools::one("tool: python.eval"));
    assert_eq!(other.failed().1, "`python` has no tool `eval`; it has: call");
}
