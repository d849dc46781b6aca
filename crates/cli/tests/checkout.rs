//! Tests what a checkout, a step and another user cannot do to a user's runs.
//!
//! **Invariant:** nothing in the folder of a project counts as state; acknowledged data survives whatever a step does
//! there.

use crate::binary;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{Told, command, told};
use tempfile::TempDir;

/// A user with a home, and projects elsewhere.
struct User(TempDir);

impl User {
    fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(user.path("home")).unwrap();
        user
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// A repository with a workflow `w`.
    fn project(&self, name: &str, workflow: &str) -> PathBuf {
        let root = self.path(name);
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(root.join("w.yaml"), workflow).unwrap();
        git(&root, &["init", "-q"]);
        root
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = command(folder, args);
        command.env("HOME", self.path("home"));
        command
    }

    fn longhaul(&self, folder: &Path, args: &[&str]) -> Told {
        told(self.command(folder, args).output().unwrap())
    }

    fn ok(&self, folder: &Path, args: &[&str]) -> String {
        let told = self.longhaul(folder, args);
        assert_eq!(told.code, 0, "{args:?}: {}{}", told.stdout, told.stderr);
        told.stdout
    }

    /// Lets a worker look for work in a project until it has done something new. Returns its output.
    fn work(&self, folder: &Path, env: (&str, &Path)) -> String {
        std::fs::write(folder.join("probe.yaml"), ECHO).unwrap();
        let worker = self.command(folder, &["worker"]).env(env.0, env.1).stderr(Stdio::piped()).spawn();
        let mut worker = worker.unwrap();
        self.ok(folder, &["run", "probe.yaml", "--run-id", "probe-1", "--queue"]);
        let patience = Instant::now() + Duration::from_secs(60);
        while !self.ok(folder, &["status", "probe-1"]).contains("succeeded") && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        worker.kill().unwrap();
        String::from_utf8(worker.wait_with_output().unwrap().stderr).unwrap()
    }

    fn state(&self, folder: &Path) -> PathBuf {
        binary::state(self.command(folder, &[]))
    }
}

fn git(root: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let output = Command::new("git").args(who).args(args).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

const CLEAN: &str = "name: w\ndo:\n  - {id: a, run: echo 1}\n  - {id: clean, run: 'git clean -xfdq; rm -rf .longhaul; echo cleaned'}\n  \
                     - {id: ok, approve: 'Deploy?'}\n  - {id: c, run: echo 3}\n";
const ECHO: &str = "name: w\ndo: [{id: a, run: echo hello}]\n";

#[test]
fn a_step_that_cleans_the_project_takes_no_run_along() {
    let user = User::new();
    let root = user.project("a", CLEAN);
    let told = user.longhaul(&root, &["run", "w.yaml", "--run-id", "run-1"]);
    assert_eq!(told.code, 3, "{}", told.stderr);
    user.ok(&root, &["approve", "run-1"]);
    user.ok(&root, &["resume", "run-1"]);
    assert!(user.ok(&root, &["status", "run-1"]).contains("succeeded"));
}

#[test]
fn a_step_that_deletes_the_store_ends_the_run_with_an_error() {
    let user = User::new();
    let root = user.project("a", "name: w\ndo:\n  - {id: a, run: 'rm -rf \"$STATE\"'}\n  - {id: b, run: echo 3}\n");
    let state = user.state(&root);
    let mut command = user.command(&root, &["run", "w.yaml", "--run-id", "run-1"]);
    let told = told(command.env("STATE", &state).output().unwrap());
    assert_ne!(told.code, 0, "{}", told.stdout);
    assert!(told.stderr.contains("was deleted or replaced while this program used it"), "{}", told.stderr);
    assert!(!told.stdout.contains("✓ a") && !told.stdout.contains("succeeded"), "{}", told.stdout);
}

#[test]
fn runs_are_found_from_anywhere_in_the_project_and_after_it_was_moved() {
    let user = User::new();
    let root = user.project("a", ECHO);
    let told = user.longhaul(&root, &["run", "w.yaml", "--run-id", "run-1"]);
    let (project, store) = (root.display(), user.state(&root).join("longhaul.db"));
    assert!(told.stderr.contains(&format!("project {project}, store {}", store.display())), "{}", told.stderr);
    assert!(store.starts_with(user.path("home/.local/state/longhaul")), "{}", store.display());
    assert!(user.ok(&root.join("sub"), &["runs"]).contains("run-1"));
    assert!(!root.join(".longhaul").exists(), "nothing is kept in the project");
    let said = user.longhaul(&root, &["run", "w.yaml", "--run-id", "run-2", "--json"]).stderr;
    let first: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!((first["project"].as_str(), first["store"].as_str()), (root.to_str(), store.to_str()));
    if root.metadata().unwrap().created().is_err() {
        return eprintln!("this disk does not say how old a folder is");
    }
    std::fs::rename(&root, user.path("b")).unwrap();
    assert!(user.ok(&user.path("b/sub"), &["runs"]).contains("run-1"));
    git(&user.path(""), &["clone", "-q", "b", "c"]);
    assert!(!user.ok(&user.path("c"), &["runs"]).contains("run-1"), "a clone is another project");
}

#[test]
fn a_checkout_that_brings_state_along_is_not_believed() {
    let (attacker, user) = (User::new(), User::new());
    let evil = attacker.project("evil", "name: w\ndo: [{id: a, run: 'touch \"$PWNED\"'}]\n");
    let brought = evil.join(".longhaul/longhaul.db");
    std::fs::create_dir_all(evil.join(".longhaul/cache")).unwrap();
    attacker.ok(&evil, &["run", "w.yaml", "--run-id", "run-1", "--queue", "--store", brought.to_str().unwrap()]);
    let token = attacker.ok(&evil, &["serve", "token", "--role", "admin", "--store", brought.to_str().unwrap()]);
    assert!(evil.join(".longhaul/serve/keys").is_dir());
    git(&evil, &["add", "-Af"]);
    git(&evil, &["commit", "-qm", "x"]);
    git(&user.path(""), &["clone", "-q", evil.to_str().unwrap(), "clone"]);
    let clone = user.path("clone");
    let pwned = user.path("pwned");
    let said = user.work(&clone, ("PWNED", &pwned));
    assert!(said.contains("is not used") && said.contains("longhaul store adopt"), "{said}");
    assert!(!pwned.exists());
    assert!(!user.ok(&clone, &["runs"]).contains("run-1"));
    assert!(user.ok(&clone, &["serve", "tokens"]).is_empty(), "{token} admits nobody");
    let told = user.longhaul(&clone, &["store", "adopt", "--yes"]);
    assert!(told.code != 0 && told.stderr.contains("is part of the repository"), "{}", told.stderr);
}

#[test]
fn a_store_of_an_earlier_version_is_taken_over_when_somebody_says_so() {
    let user = User::new();
    let root = user.project("a", "name: w\ndo: [{id: a, run: 'echo x >> log'}]\n");
    std::fs::create_dir(root.join(".longhaul")).unwrap();
    for (run, more) in [("done-1", None), ("open-1", Some("--queue"))] {
        let args = ["run", "w.yaml", "--run-id", run, "--store", ".longhaul/longhaul.db"];
        user.ok(&root, &args.into_iter().chain(more).collect::<Vec<_>>());
    }
    std::os::unix::fs::symlink("/etc", root.join(".longhaul/runs/link")).unwrap();
    let told = user.longhaul(&root, &["store", "adopt"]);
    assert!(told.stderr.contains("has 2 runs, of which 1 open") && told.stdout.contains("open-1"), "{}", told.stderr);
    assert!(!user.ok(&root, &["runs"]).contains("done-1"), "looking takes nothing over");
    let told = user.longhaul(&root, &["store", "adopt", "--yes"]);
    assert!(told.code == 0 && told.stderr.contains("open runs are paused"), "{}", told.stderr);
    let log = || std::fs::read_to_string(root.join("log")).unwrap().lines().count();
    assert_eq!(user.ok(&root, &["outputs", "done-1", "a"]).trim(), "");
    assert!(user.state(&root).join("runs/done-1").is_dir() && !user.state(&root).join("runs/link").exists());
    user.work(&root, ("NOTHING", &root));
    assert_eq!(log(), 1, "it waits for a person");
    user.ok(&root, &["unpause", "open-1"]);
    user.ok(&root, &["resume", "open-1"]);
    assert_eq!(log(), 2);
    assert!(!user.longhaul(&root, &["runs"]).stderr.contains("is not used"));
    assert!(user.longhaul(&root, &["store", "adopt"]).stderr.contains("there is no store at"));
}

/// Only root can give files away; tests of the project crate cover the same without root.
#[test]
fn a_project_of_another_user_is_refused_until_it_is_allowed() {
    let user = User::new();
    let root = user.project("a", ECHO);
    let below = root.join("sub/deep");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir_all(root.join(".longhaul/workflows")).unwrap();
    std::fs::write(root.join(".longhaul/workflows/code-review.yaml"), ECHO).unwrap();
    if std::os::unix::fs::chown(root.join(".longhaul"), Some(65534), Some(65534)).is_err() {
        return eprintln!("skipped: only root can give a file away");
    }
    for args in [&["list"][..], &["run", "code-review"], &["serve"], &["worker"], &["runs"]] {
        let told = user.longhaul(&below, args);
        assert_eq!(told.code, 2, "{args:?}: {}", told.stdout);
        let remedy = format!("longhaul trust --folder {}", root.display());
        assert!(told.stderr.contains("belongs to user 65534") && told.stderr.contains(&remedy), "{}", told.stderr);
    }
    user.ok(&below, &["trust", "--folder", root.to_str().unwrap()]);
    user.ok(&below, &["run", "code-review"]);
    user.ok(&below, &["trust", "--folder", root.to_str().unwrap(), "--revoke"]);
    assert_eq!(user.longhaul(&below, &["list"]).code, 2);
}

#[test]
fn everything_that_is_kept_is_for_its_user_alone_whatever_the_umask() {
    let user = User::new();
    let text = "name: w\ndo:\n  - {id: a, run: 'umask; echo x; echo y >&2', output: said, cache: {}}\n  - {id: p, prompt: hello}\noutputs: {said: said}\n";
    let root = user.project("a", text);
    let open = |args: &str| {
        let program = env!("CARGO_BIN_EXE_longhaul");
        let mut shell = Command::new("bash");
        let like = user.command(&root, &[]);
        shell.args(["-c", &format!("umask 0; exec {program} {args}")]).current_dir(&root);
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        told(shell.output().unwrap())
    };
    let told = open("run w.yaml --run-id run-1");
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(user.ok(&root, &["outputs", "run-1"]).contains("0000"), "commands keep the umask of the user");
    assert_eq!(open("store backup copy.db").code, 0);
    assert_eq!(open("serve token").code, 0);
    let state = user.state(&root);
    let mut found = 0;
    let mut folders = vec![state.clone(), user.path("home/.local/state/longhaul")];
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root.join("copy.db")), 0o600);
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.symlink_metadata().unwrap().is_dir() {
                true => folders.push(entry),
                false => assert_eq!((mode(&entry), found += 1), (0o600, ()), "{}", entry.display()),
            }
        }
    }
    assert!(found > 8, "{found}");
}

#[test]
fn nothing_is_written_through_a_link_among_the_files_of_runs() {
    let user = User::new();
    let root = user.project("a", ECHO);
    let (store, mine) = (root.join("x.db"), user.path("mine"));
    std::fs::write(&mine, "mine").unwrap();
    let attempt = root.join("runs/run-1/steps/a/@1");
    std::fs::create_dir_all(&attempt).unwrap();
    std::os::unix::fs::symlink(&mine, attempt.join("stdout")).unwrap();
    std::os::unix::fs::symlink(&mine, root.join("runs/run-1/run.json")).unwrap();
    user.longhaul(&root, &["run", "w.yaml", "--run-id", "run-1", "--store", store.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    std::fs::remove_dir_all(root.join("runs")).unwrap();
    std::os::unix::fs::symlink(user.path("home"), root.join("runs")).unwrap();
    let told = user.longhaul(&root, &["run", "w.yaml", "--run-id", "run-2", "--store", store.to_str().unwrap()]);
    assert!(told.code == 2 && told.stderr.contains("runs is a link"), "{}", told.stderr);
}

/// A server that notes for whom it works, listed in the editors' file.
fn with_server(root: &Path, note: &str) {
    std::fs::create_dir_all(root.join("tools")).unwrap();
    std::fs::write(root.join("tools/server.py"), format!("open('{note}', 'w')\n")).unwrap();
    let servers = r#"{"mcpServers": {"s": {"command": "python3", "args": ["tools/server.py"]}}}"#;
    std::fs::write(root.join(".mcp.json"), servers).unwrap();
}

const CALL: &str = "name: w\ndo: [{id: a, tool: s.x, optional: true}]\n";

#[test]
fn trust_is_about_a_folder_and_the_scripts_that_its_content_names() {
    let user = User::new();
    let (good, evil) = (user.project("good", CALL), user.project("evil", CALL));
    with_server(&good, "good-ran");
    with_server(&evil, "evil-ran");
    assert!(user.ok(&good, &["trust"]).contains("tools/server.py"));
    user.longhaul(&evil, &["run", "w.yaml"]);
    assert!(!evil.join("evil-ran").exists(), "the same words elsewhere");
    user.longhaul(&good, &["run", "w.yaml"]);
    assert!(good.join("good-ran").exists());
    with_server(&good, "changed-ran");
    user.longhaul(&good, &["run", "w.yaml"]);
    assert!(!good.join("changed-ran").exists(), "another script");
}

#[test]
fn too_much_to_look_at_is_refused() {
    let user = User::new();
    let root = user.project("a", ECHO);
    std::fs::create_dir_all(root.join(".claude/hooks")).unwrap();
    for number in 0..10_001 {
        std::fs::File::create(root.join(format!(".claude/hooks/{number}"))).unwrap();
    }
    let told = user.longhaul(&root, &["trust"]);
    assert!(told.code == 2 && told.stderr.contains("more than 10000 files"), "{}", told.stderr);
}

#[test]
fn a_channel_of_a_checkout_tells_nobody_and_never_replaces_that_of_the_user() {
    let user = User::new();
    let root = user.project("a", "name: w\ndo: [{id: a, notify: team, text: hello, optional: true}]\n");
    let channel = |file: &str| {
        let file = user.path(file);
        format!("[channels.team]\nkind = 'command'\ncommand = ['sh', '-c', 'touch {}']\n", file.display())
    };
    std::fs::create_dir(root.join(".longhaul")).unwrap();
    std::fs::write(root.join(".longhaul/config.toml"), channel("pwned")).unwrap();
    let told = user.longhaul(&root, &["run", "w.yaml"]);
    assert!(told.stderr.contains("`channels.team` says who is notified about runs"), "{}", told.stderr);
    assert!(!user.path("pwned").exists());
    user.ok(&root, &["trust"]);
    user.ok(&root, &["run", "w.yaml"]);
    assert!(user.path("pwned").exists(), "a person has looked at it");
    std::fs::remove_file(user.path("pwned")).unwrap();
    std::fs::create_dir_all(user.path("home/.longhaul")).unwrap();
    std::fs::write(user.path("home/.longhaul/config.toml"), channel("mine")).unwrap();
    let told = user.longhaul(&root, &["run", "w.yaml"]);
    assert!(told.stderr.contains("your own settings have one of that name"), "{}", told.stderr);
    assert!(user.path("mine").exists() && !user.path("pwned").exists());
}
