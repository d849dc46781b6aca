//! The live tree on a real terminal: drawn in place, answered by keys, and gone without a trace.

use crate::binary;
mod pty;
mod screen;
mod shown;

use std::path::Path;

use pty::Session;

const GATE: &str = "
name: gate
do:
  - {id: think, prompt: Think., output: thought}
  - {id: go, approve: 'Continue with {{ thought }}?'}
  - {id: done, run: echo done}
";

/// What the agent says would set the title of the terminal, clear it and move the cursor.
const HOSTILE: &str =
    r#"replies: [{step: think, after: 300ms, says: ["\e]0;title\a\e[2Jwide 検査\e[9A"], reply: "a \e[31mthought"}]"#;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
    std::fs::write(folder.path().join("w.yaml"), GATE).unwrap();
    std::fs::write(folder.path().join("replies.yaml"), HOSTILE).unwrap();
    folder
}

const RUN: [&str; 7] = ["run", "w.yaml", "the task", "--run-id", "r-01", "--script", "replies.yaml"];

fn session(folder: &Path, columns: u16, rows: u16) -> Session {
    Session::start(folder, &RUN, columns, rows, &[("TERM", "xterm")])
}

#[test]
fn a_gate_is_answered_in_place_and_the_tree_stays_behind() {
    let folder = project();
    let mut session = session(folder.path(), 80, 24);
    session.until("a approve");
    session.resize(40, 10);
    session.until("Continue with a ␛[31mthought?");
    session.press("d");
    session.until("why not?");
    session.press("\x1b");
    session.until("a approve");
    session.press("a");
    assert_eq!(session.wait(), 0);
    let screen = session.screen();
    assert!(screen.contains("✓ gate r-01  succeeded") && screen.contains("✓ done"), "{screen}");
    assert!(!screen.contains("approve  d"), "{screen}");
    session.is_as_before();
    let raw = session.raw();
    assert!(!raw.contains("\x1b]") && !raw.contains("\x1b[2J") && !raw.contains('\x07'), "{raw:?}");
    assert!(raw.contains("\x1b[?25h"), "the cursor is not shown again");
}

#[test]
fn whoever_leaves_or_is_ended_parks_the_run_and_gives_the_terminal_back() {
    let folder = project();
    let mut leaver = session(folder.path(), 80, 24);
    leaver.until("q park");
    leaver.press("q");
    assert_eq!(leaver.wait(), 130);
    assert!(leaver.screen().contains("longhaul resume r-01"), "{}", leaver.screen());
    leaver.is_as_before();

    let resume = ["resume", "r-01", "--script", "replies.yaml"];
    let mut ended = Session::start(folder.path(), &resume, 20, 5, &[("TERM", "xterm")]);
    ended.until("q park");
    ended.terminate();
    assert_eq!(ended.wait(), 130);
    ended.is_as_before();
}

/// Variables of the environment.
type Env<'e> = &'e [(&'e str, &'e str)];

#[test]
fn who_wants_no_colours_gets_lines() {
    let folder = project();
    let plain = [&RUN[..], &["--plain"]].concat();
    let cases: [(&[&str], Env<'_>); 3] =
        [(&RUN, &[("NO_COLOR", "1")]), (&RUN, &[("TERM", "dumb")]), (&plain, &[("TERM", "xterm")])];
    for (at, (args, env)) in cases.iter().enumerate() {
        let args: Vec<String> = args.iter().map(|arg| arg.replace("r-01", &format!("r-1{at}"))).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut session = Session::start(folder.path(), &args, 80, 24, env);
        session.until("? go: Continue with");
        session.terminate();
        assert_eq!(session.wait(), 130);
        let raw = session.raw();
        assert!(!raw.contains("\x1b[?25l") && !raw.contains("\x1b[J") && !raw.contains("\x1b]"), "{raw:?}");
    }
}

#[test]
fn all_runs_are_listed_and_one_is_opened_and_approved() {
    let folder = project();
    let told = binary::longhaul(folder.path(), &RUN);
    assert_eq!(told.code, 3, "{}", told.stderr);
    let mut session = Session::start(folder.path(), &["top"], 80, 24, &[("TERM", "xterm")]);
    session.until("go asks");
    session.press("\r");
    session.until("Continue with");
    session.press("a");
    session.press("q");
    session.until("1 run");
    session.press("q");
    assert_eq!(session.wait(), 0);
    session.is_as_before();
    assert_eq!(binary::longhaul(folder.path(), &["resume", "r-01"]).code, 0);
}
