//! Tests the drivers with streams that the real programs wrote.
//!
//! `recordings/<agent>/<case>.jsonl` is the stream, shortened where it is long and says nothing. Lines that start with
//! `# ` describe the rest: `resume IN CACHED OUT [USD]` (the turn resumed a session that had used this much),
//! `compact`, `exit CODE` or `signal N`, `ended WHY`, `stderr LINE`, `usage JSON` (the report beside the stream).
//! `<case>.txt` is the report of the driver, and its meaning.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use longhaul_agents::contract::{Errand, Exit, Meter, Stopped, Turn, TurnSession};
use longhaul_agents::{drivers, notice};

use super::{show, snapshot, turn};

/// 2026-11-15 12:00 UTC.
const NOW_MS: i64 = 1_794_744_000_000;
const SESSION: &str = "22222222-2222-4333-8444-555555555777";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

fn cases(agent: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().join(agent)).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")).collect();
    cases.sort();
    cases
}

fn around(stream: &str, turn: &mut Turn) -> Exit {
    let mut exit = Exit { code: None, signal: None, ended: None, stderr: String::new() };
    for (word, rest) in
        stream.lines().filter_map(|line| line.strip_prefix("# ")).map(|line| line.split_once(' ').unwrap_or((line, "")))
    {
        match word {
            "resume" => turn.session = TurnSession::Resume { id: SESSION.to_owned(), before: meter(rest) },
            "compact" => turn.errand = Errand::Compact,
            "exit" => exit.code = Some(rest.parse().unwrap()),
            "signal" => exit.signal = Some(rest.parse().unwrap()),
            "ended" => exit.ended = Some(Stopped::Timeout),
            "stderr" => exit.stderr += &format!("{rest}\n"),
            "usage" => std::fs::write(turn.scratch.join("usage.json"), rest).unwrap(),
            other => panic!("`{other}` is no word about a recording"),
        }
    }
    exit
}

fn meter(text: &str) -> Meter {
    let numbers: Vec<&str> = text.split(' ').collect();
    let tokens = |at: usize| numbers[at].parse().unwrap();
    let usd = numbers.get(3).map(|usd| usd.parse().unwrap());
    Meter { input_tokens: tokens(0), cached_tokens: tokens(1), output_tokens: tokens(2), usd }
}

fn read(agent: &str, stream: &str) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let mut turn = turn(scratch.path());
    turn.session = TurnSession::New(SESSION.to_owned());
    let exit = around(stream, &mut turn);
    let mut reader = drivers::by_name(agent).unwrap().reader(&turn);
    let lines = stream.lines().filter(|line| !line.starts_with("# "));
    let entries: Vec<_> = lines.flat_map(|line| reader.line(line)).collect();
    let (ending, mut text) = (reader.finish(&exit), show::entries(&entries));
    let fault = notice::judge(agent, &ending, &exit, NOW_MS, &TimeZone::UTC);
    let meaning = fault.map_or("an answer".to_owned(), |fault| format!("{} ({})", fault.class.word(), fault.signature));
    text += &format!("\n----\n{}\n----\n{meaning}\n", show::ending(&ending));
    text
}

fn check(agent: &str) {
    let cases = cases(agent);
    assert!(cases.len() > 10, "only {} recordings of {agent}", cases.len());
    let differences: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let stream = std::fs::read_to_string(case).unwrap();
            snapshot::compare(&case.with_extension("txt"), &read(agent, &stream))
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn claude_is_understood() {
    check("claude");
}

#[test]
fn codex_is_understood() {
    check("codex");
}

#[test]
fn copilot_is_understood() {
    check("copilot");
}

#[test]
fn gemini_is_understood() {
    check("gemini");
}

#[test]
fn opencode_is_understood() {
    check("opencode");
}

/// Each line of each recording that is a JSON object is cut at every third byte, and lines are left out and doubled.
#[test]
fn a_stream_that_breaks_off_anywhere_is_still_read() {
    for name in ["claude", "codex", "copilot", "gemini", "opencode"] {
        let agent = drivers::by_name(name).unwrap();
        for case in cases(name) {
            let stream = std::fs::read_to_string(&case).unwrap();
            let mut reader = agent.reader(&turn(Path::new("/nowhere")));
            for line in stream.lines() {
                for end in (0..line.len()).step_by(3).filter(|end| line.is_char_boundary(*end)) {
                    reader.line(&line[..end]);
                }
                reader.line(line);
                reader.line(line);
            }
            reader.finish(&Exit { code: None, signal: Some(9), ended: None, stderr: String::new() });
        }
    }
}
