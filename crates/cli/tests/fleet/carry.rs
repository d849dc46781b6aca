//! Files that go with their run from one machine to another: real checkouts, a real remote, real deaths.

use super::*;

/// A fleet whose machines have checkouts of one repository, and a remote that all of them reach.
struct Carrying {
    fleet: Fleet,
    remote: TempDir,
}

impl Carrying {
    fn of(workflow: &str, settings: &str) -> Self {
        let carrying = Self { fleet: Fleet::of(workflow, settings), remote: tempfile::tempdir().unwrap() };
        git(carrying.remote.path(), &["init", "--quiet", "--bare"]);
        for machine in ["alpha", "beta", "gamma"] {
            let folder = carrying.fleet.folder(machine);
            std::fs::write(folder.join("base"), "base\n").unwrap();
            std::fs::write(folder.join(".gitignore"), "ignored\nseen*\n").unwrap();
            git(folder, &["init", "--quiet"]);
            git(folder, &["add", "base", ".gitignore"]);
            git(folder, &["commit", "--quiet", "-m", "base"]);
            git(folder, &["remote", "add", "origin", carrying.remote.path().to_str().unwrap()]);
        }
        carrying
    }

    /// What the remote has of the run.
    fn refs(&self) -> String {
        git(self.remote.path(), &["for-each-ref", "refs/longhaul"])
    }

    fn event(&self, name: &str) -> Value {
        let events = self.fleet.events();
        events.into_iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn output(&self, name: &str) -> String {
        self.event("run_finished")["outputs"][name].as_str().unwrap().to_owned()
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for who in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{who}_NAME"), "me").env(format!("{who}_EMAIL"), "me@example.com");
        command.env(format!("{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    let output = command.current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const WORK: &str = r#"
name: work
do:
  - {id: one, run: 'echo new > new; mkdir sub; echo deep > sub/deep; echo more >> base; git add base; echo no > ignored'}
  - {id: ok, approve: Continue?}
  - {id: two, run: 'cat new sub/deep base; ls; echo two >> new', output: two}
  - {id: three, run: 'cat new; git status --short', output: three}
outputs: {two: two, three: three}
"#;

/// What was there is there again elsewhere: new files, changed ones, and what was staged. The checkout is left alone.
#[test]
fn a_run_goes_on_elsewhere_with_the_files_that_it_had() {
    let carrying = Carrying::of(WORK, "[fleet]\nhost_grace = '1s'\ncarry = 'origin'\n");
    let fleet = &carrying.fleet;
    fleet.detach("gamma");
    let mut alpha = fleet.worker("alpha", &[]);
    until("the gate", || fleet.is("waiting"));
    alpha.0.kill().unwrap();
    alpha.0.wait().unwrap();
    let carried = carrying.event("attempt_succeeded")["result"]["carried"].clone();
    let commit = carried["commit"].as_str().unwrap();
    assert!(carrying.refs().contains(commit), "{carried} is not among {}", carrying.refs());
    let _beta = fleet.worker("beta", &[]);
    assert_eq!(fleet.told("gamma", &["approve", RUN]).code, 0);
    until("the question", || fleet.asks("machine"));
    let told = fleet.told("gamma", &["status", RUN]).stdout;
    assert!(told.contains(&format!("as of commit {}", &commit[..10])), "{told}");
    assert_eq!(fleet.told("gamma", &["answer", RUN, "two", "rebuild"]).code, 0);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(fleet.made_on(), ["one alpha", "two beta", "two beta", "three beta"]);
    assert_eq!(carrying.event("host_left")["carried"], carried);
    assert_eq!(carrying.event("files_rebuilt")["commit"], commit);
    let two = carrying.output("two");
    assert!(two.starts_with("new\ndeep\nbase\nmore\n") && !two.contains("ignored"), "{two}");
    assert_eq!(carrying.output("three").lines().take(3).collect::<Vec<_>>(), ["new", "two", "M  base"]);
    let beta = fleet.folder("beta");
    assert_eq!(std::fs::read_to_string(beta.join("base")).unwrap(), "base\n");
    assert!(!beta.join("new").exists());
    assert_eq!(git(beta, &["diff", "--stat", "HEAD"]), "");
    assert_eq!(carrying.refs(), "", "nobody needs them any more");
}

const HANGS: &str = r#"
name: work
do:
  - {id: one, run: 'echo new > new'}
  - id: two
    run: 'echo begun >> "$SEEN"; if test "$LONGHAUL_HOST" = alpha; then echo late >> new; sleep 300 & wait; fi; cat new'
    output: two
outputs: {two: two}
"#;

/// It slept through its lease and its grace: when it wakes up, nobody believes it, and its files are its own.
#[test]
fn a_machine_that_is_late_is_refused() {
    let settings = "[fleet]\nhost_grace = '1s'\ncarry = 'origin'\nwhen_host_gone = 'rebuild'\n";
    let carrying = Carrying::of(HANGS, settings);
    let fleet = &carrying.fleet;
    fleet.detach("gamma");
    let alpha = fleet.worker("alpha", &[]);
    until("the second step", || fleet.seen().len() == 1);
    alpha.signal(Signal::STOP);
    let _beta = fleet.worker("beta", &[]);
    until("the end", || fleet.is("succeeded"));
    assert_eq!(carrying.output("two"), "new");
    alpha.signal(Signal::CONT);
    let is_there = || fleet.told("gamma", &["workers", "--json"]).stdout;
    let seen = || {
        let workers: Value = serde_json::from_str(&is_there()).unwrap();
        workers["workers"]
            .as_array()
            .unwrap()
            .iter()
            .any(|worker| worker["host"] == "alpha" && worker["silent"] == false)
    };
    until("alpha", seen);
    assert_eq!(fleet.happened("attempt_succeeded"), 2);
    assert_eq!(fleet.happened("question_asked"), 0);
    assert_eq!((carrying.refs(), fleet.seen().len()), (String::new(), 2));
}

/// Work is worth more than that others could continue with it.
#[test]
fn files_that_can_not_be_sent_are_told_of_and_fail_nothing() {
    let carrying =
        Carrying::of("name: work\ndo:\n  - {id: one, run: 'echo new > new'}\n", "[fleet]\ncarry = 'origin'\n");
    let fleet = &carrying.fleet;
    git(fleet.folder("alpha"), &["remote", "set-url", "origin", "/nowhere/at/all"]);
    let told = fleet.told("alpha", &["run", "work.yaml", "--run-id", RUN]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let failed = carrying.event("carry_failed");
    assert!(failed["why"].as_str().unwrap().contains("/nowhere/at/all"), "{failed}");
    assert!(carrying.event("attempt_succeeded")["result"]["carried"].is_null());
}
