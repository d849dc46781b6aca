//! Tests single lines of a stream that no recording contains: they need a plan, a person, or luck.

use std::path::Path;

use jiff::tz::TimeZone;
use longhaul_agents::contract::{Ending, Exit, Stopped, TranscriptEntry, Turn};
use longhaul_agents::{drivers, notice};
use longhaul_core::plan::ErrorClass;

use super::{show, turn};

fn read(agent: &str, turn: &Turn, lines: &[&str]) -> (Vec<TranscriptEntry>, Ending) {
    let mut reader = drivers::by_name(agent).unwrap().reader(turn);
    let entries = lines.iter().flat_map(|line| reader.line(line)).collect();
    let exit = Exit { code: Some(1), signal: None, ended: None, stderr: String::new() };
    (entries, reader.finish(&exit))
}

fn ending(agent: &str, lines: &[&str]) -> String {
    show::ending(&read(agent, &turn(Path::new("/nowhere")), lines).1)
}

#[test]
fn a_limit_of_claudes_plan_tells_when_it_ends() {
    let told = ending(
        "claude",
        &[
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794800000,"rateLimitType":"five_hour"},"session_id":"s"}"#,
            r#"{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit","api_error_status":429,"session_id":"s"}"#,
        ],
    );
    assert!(told.contains("status: 429") && told.contains("resets: 1794800000000"), "{told}");
}

#[test]
fn a_limit_is_waited_for_that_only_an_event_tells_of() {
    let rejected = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794800000,"rateLimitType":"five_hour"},"session_id":"s"}"#;
    let (_, ending) = read("claude", &turn(Path::new("/nowhere")), &[rejected]);
    let exit = Exit { code: Some(1), signal: None, ended: None, stderr: "some noise".to_owned() };
    let fault = notice::judge("claude", &ending, &exit, 1_794_790_000_000, &TimeZone::UTC).unwrap();
    assert_eq!((fault.class, fault.retry_at_ms), (ErrorClass::UsageLimit, Some(1_794_800_000_000)));
}

#[test]
fn a_key_that_is_refused_twice_is_hopeless() {
    let retry = |attempt: u32, status: u16| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":{attempt},"max_retries":10,"error_status":{status},"error":"authentication_failed"}}"#
        )
    };
    let mut reader = drivers::by_name("claude").unwrap().reader(&turn(Path::new("/nowhere")));
    for (attempt, status, hopeless) in [(1, 401, false), (2, 529, false), (2, 401, true)] {
        reader.line(&retry(attempt, status));
        assert_eq!(reader.is_hopeless(), hopeless, "{attempt} {status}");
    }
    let exit = Exit { code: None, signal: None, ended: Some(Stopped::Hopeless), stderr: String::new() };
    let fault = notice::judge("claude", &reader.finish(&exit), &exit, 0, &TimeZone::UTC).unwrap();
    let expected = (ErrorClass::Auth, "the key or login is refused (authentication_failed 401)");
    assert_eq!((fault.class, fault.message.as_str()), expected);
}

#[test]
fn a_limit_that_is_only_near_is_a_notice_and_no_trouble() {
    let warning = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1794800000,"rateLimitType":"seven_day"}}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#;
    let (entries, ending) = read("claude", &turn(Path::new("/nowhere")), &[warning, result]);
    assert!(entries.contains(&TranscriptEntry::Notice { text: "limit seven_day: allowed_warning".to_owned() }));
    assert_eq!(ending.trouble.resets_at_ms, None);
}

const QUESTION: &str = r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which one?"}]}}]}}"#;

#[test]
fn a_question_that_nobody_answers_is_told() {
    let told = ending("claude", &[QUESTION, r#"{"type":"result","is_error":false,"result":"I need an answer."}"#]);
    assert!(told.contains("question: Which one?"), "{told}");
}

#[test]
fn a_question_that_was_answered_is_none() {
    let answer =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"q","content":"the first"}]}}"#;
    let told = ending("claude", &[QUESTION, answer, r#"{"type":"result","is_error":false,"result":"done"}"#]);
    assert!(!told.contains("question"), "{told}");
}

#[test]
fn what_a_helper_of_the_agent_says_is_not_its_answer() {
    let helper = r#"{"type":"assistant","parent_tool_use_id":"t","message":{"id":"h","content":[{"type":"text","text":"from a helper"}]}}"#;
    let (entries, ending) = read("claude", &turn(Path::new("/nowhere")), &[helper]);
    assert!(!show::entries(&entries).contains("from a helper"));
    assert_eq!(ending.text, "");
}

#[test]
fn copilot_asks_through_a_tool_too() {
    let asked = r#"{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"ask_user","arguments":{"question":"Red or blue?"}}}"#;
    assert!(ending("copilot", &[asked]).contains("question: Red or blue?"));
}

#[test]
fn a_command_that_codex_was_not_allowed_is_denied() {
    let declined = r#"{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"rm -rf /","aggregated_output":"","status":"declined"}}"#;
    let (entries, ending) = read("codex", &turn(Path::new("/nowhere")), &[declined]);
    let shown = show::entries(&entries);
    assert_eq!(
        shown,
        "call     1 command_execution `rm -rf /` {\"command\":\"rm -rf /\"}\ndenied   command_execution\nresult   1 failed "
    );
    assert_eq!(ending.denied, ["command_execution"]);
}

#[test]
fn a_summary_is_one_line_of_at_most_120_characters() {
    let long = format!(
        r#"{{"type":"tool.execution_start","data":{{"toolCallId":"1","toolName":"bash","arguments":{{"note":"n","command":"a\n\tb \u001b[31m {}"}}}}}}"#,
        "é".repeat(500)
    );
    let (entries, _) = read("copilot", &turn(Path::new("/nowhere")), &[&long]);
    let summary = entries.iter().find_map(|entry| match entry {
        TranscriptEntry::ToolCall { summary, .. } => Some(summary.clone()),
        _ => None,
    });
    let summary = summary.unwrap();
    assert_eq!(summary.chars().count(), 120);
    assert!(summary.starts_with("a b [31m é") && summary.ends_with('…'), "{summary}");
}
