//! Tests agents that are interrupted in the middle, in steps with `on_interrupt: restore`.

use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::crash::agents::Bench;
use crate::crash::trial::{ABORTED, RUN, at_once, end, is_sound, until};

const WORKFLOW: &str = r"
name: agents
do:
  - {id: first, prompt: Do it., agent: {backend: claude}, output: {as: first}, on_interrupt: restore}
";

/// Files that belong to the trial, not to the work.
const IGNORED: &str =
    "/claude\n/home\n/no-such-home\n/go\n/pid\n/starts\n/prompt\n/half\n/seen\n/log\n/agents.yaml\n*.cache\n";

/// Does half of its work the first time; reports every time what it finds.
const HALF: &str = r#"
{ cat kept.txt mine.txt staged.txt; ls added.txt; git log --format=%s; git diff --cached --name-only; echo; } >> "$folder/seen" 2>&1
if [ ! -e "$folder/half" ]; then
    echo agent > kept.txt; rm mine.txt; echo added > added.txt; mkdir -p deep/er; echo deep > deep/er/file
    sed -i '/cache/d' .gitignore; echo changed > secret.cache
    git add -A; git -c user.name=a -c user.email=a@b commit -qm agent
    echo more > kept.txt
    touch "$folder/half"
fi
"#;

/// Each turn writes a line.
const LINE: &str = "echo turn >> kept.txt\n";

fn git(bench: &Bench, args: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@t"];
    let output = Command::new("git").args(identity).args(args).current_dir(bench.path()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn write(bench: &Bench, name: &str, text: &str) {
    std::fs::write(bench.file(name), text).unwrap();
}

fn read(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.file(name)).unwrap_or_else(|_| "-".to_owned())
}

/// A work tree with a commit, something staged, something changed, something new and something ignored.
fn project(does: &str) -> Bench {
    let bench = Bench::of(WORKFLOW, does);
    git(&bench, &["init", "-q", "-b", "main"]);
    write(&bench, ".gitignore", IGNORED);
    write(&bench, "kept.txt", "old\n");
    git(&bench, &["add", "-A"]);
    git(&bench, &["commit", "-q", "-m", "begin"]);
    write(&bench, "staged.txt", "staged\n");
    git(&bench, &["add", "staged.txt"]);
    write(&bench, "kept.txt", "edited\n");
    write(&bench, "mine.txt", "mine\n");
    write(&bench, "secret.cache", "secret\n");
    bench
}

fn kill_all(bench: &Bench) {
    for pid in bench.alive() {
        let _gone = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
    }
    until("the end of all agents", || bench.alive().is_empty());
}

#[test]
fn what_was_killed_together_with_its_agent_begins_anew_with_its_files_put_back() {
    let bench = project(HALF);
    let mut engine = bench.begin();
    until("half of the work", || bench.file("half").exists() && bench.has("session_seen"));
    engine.kill().unwrap();
    engine.wait().unwrap();
    kill_all(&bench);
    bench.go();
    assert_eq!(bench.code(&["resume", RUN], None), 0);
    let events = bench.events();
    is_sound(&events);
    assert_eq!(end(&events).status, "success");

    // The second agent found the same files as the first one.
    let seen = read(&bench, "seen");
    let seen: Vec<&str> = seen.trim_end().split("\n\n").collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].starts_with("edited\nmine\nstaged\n") && seen[0].ends_with("begin\nstaged.txt"), "{}", seen[0]);
    let starts = bench.starts();
    assert!(starts.len() == 2 && starts.iter().all(|start| start.starts_with("new")), "{starts:?}");

    // Ignored files stayed unchanged, although the agent had removed them from the ignore list.
    assert_eq!(read(&bench, "secret.cache"), "changed\n");
    assert_eq!(git(&bench, &["status", "--short"]), " M kept.txt\nA  staged.txt\n?? mine.txt");

    // The discarded files can be found, under the name in the journal.
    let restored = events.iter().find(|event| event["event"] == "files_restored").unwrap();
    let left = restored["left"].as_str().unwrap();
    assert_eq!(left, "refs/longhaul/run-1/first@1/left");
    for (file, text) in [("kept.txt", "more"), ("added.txt", "added"), ("deep/er/file", "deep")] {
        assert_eq!(git(&bench, &["show", &format!("{left}:{file}")]), text);
    }
    assert_eq!(git(&bench, &["log", "-1", "--format=%s", &format!("{left}^1")]), "agent");
}

/// One crash of everything at an append. False if there are fewer appends.
fn crashes_at(point: &str) -> bool {
    let bench = project(LINE);
    bench.go();
    let begin = ["run", "agents.yaml", "the task", "--run-id", RUN];
    let code = bench.code(&begin, Some(point));
    kill_all(&bench);
    if code != ABORTED {
        assert_eq!(code, 0, "{point}");
        return false;
    }
    if bench.code(&["resume", RUN], None) != 0 {
        assert_eq!(bench.code(&begin, None), 0, "{point}");
    }
    let events = bench.events();
    is_sound(&events);
    assert_eq!(end(&events).status, "success", "{point}");
    assert_eq!(read(&bench, "kept.txt"), "edited\nturn\n", "{point}");
    true
}

#[test]
fn wherever_everything_dies_the_files_show_one_turn() {
    let reached = Mutex::new(0);
    at_once((1..=8).collect(), |number: u32| {
        for side in ["before", "after"] {
            *reached.lock().unwrap() += usize::from(crashes_at(&format!("append:{side}:{number}")));
        }
    });
    assert!(*reached.lock().unwrap() >= 6, "{reached:?}");
}

#[test]
fn without_a_work_tree_the_step_fails_and_says_what_to_do() {
    let bench = Bench::of(WORKFLOW, LINE);
    bench.go();
    assert_ne!(bench.code(&["run", "agents.yaml", "the task", "--run-id", RUN], None), 0);
    assert!(bench.starts().is_empty(), "an agent was begun");
    let events = bench.events();
    let failed = events.iter().find(|event| event["event"] == "attempt_failed").unwrap();
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("is not in a git work tree; `git init` makes it one"), "{message}");
}
