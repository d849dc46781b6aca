//! Tests everything that goes wrong: with the endpoint, with the model, with ourselves.

use std::fs;

use longhaul_agents::contract::{Meter, TranscriptEntry, TurnSession};
use rustix::process::Signal;
use serde_json::json;

use crate::serve::bench::{Bench, eventually, runs};
use crate::serve::endpoint::Answer;
use crate::serve::wires::{Part, Stop, WIRES, Wire};

fn complains(wire: Wire, status: u16, headers: &'static str, kind: &str, message: &str) -> Answer {
    let error = json!({"type": kind, "message": message});
    let body = if wire == Wire::Messages { json!({"type": "error", "error": error}) } else { json!({"error": error}) };
    Answer::Status(status, headers, body.to_string())
}

#[test]
fn what_the_endpoint_says_is_told_with_its_status() {
    let check = |status, headers, kind, message, expected: &str| {
        for wire in WIRES {
            let story = Bench::new(wire).take([complains(wire, status, headers, kind, message)]);
            assert_eq!(story.outcome(), format!("= \"\" used 0/0/0 {expected}"), "{wire:?}");
            assert_eq!(story.exit.code, Some(1));
        }
    };
    check(
        429,
        "retry-after: 7\r\n",
        "rate_limit_error",
        "slow",
        "status 429 code rate_limit_error retry after 7000 because \"slow\"",
    );
    check(529, "", "overloaded_error", "busy", "status 529 code overloaded_error because \"busy\"");
    check(401, "", "authentication_error", "who?", "status 401 code authentication_error because \"who?\"");
    check(
        400,
        "",
        "invalid_request_error",
        "prompt is too long: 9 tokens > 8 maximum",
        "status 400 code context_length_exceeded because \"prompt is too long: 9 tokens > 8 maximum\"",
    );
}

/// Every reported problem must get its class.
#[test]
fn every_trouble_has_its_class() {
    let check = |wire: Wire, answer: Answer, expected: &str| {
        let story = Bench::new(wire).take([answer]);
        assert_eq!(story.class(), expected, "{wire:?} {}", story.outcome());
    };
    for wire in WIRES {
        check(wire, wire.says("fine"), "fine");
        check(wire, complains(wire, 429, "retry-after: 7\r\n", "rate_limit_error", "slow"), "rate_limit");
        check(wire, complains(wire, 529, "", "overloaded_error", "busy"), "overload");
        check(wire, complains(wire, 401, "", "authentication_error", "who?"), "auth");
        check(wire, complains(wire, 400, "", "invalid_request_error", "prompt is too long"), "overflow");
        check(wire, complains(wire, 404, "", "not_found_error", "The model `m-1` does not exist"), "unknown_model");
        check(wire, complains(wire, 500, "", "api_error", "oops"), "transient");
        check(wire, Answer::Stream(String::new()), "transient");
        check(wire, Answer::Stream("data: <html>\n\n".to_owned()), "transient");
        check(wire, wire.answers(&[], Stop::Refused), "refused");
        check(wire, wire.answers(&[], Stop::Cut), "failed");
        check(wire, wire.answers(&[], Stop::Done), "empty");
    }
}

#[test]
fn the_key_is_not_repeated_even_by_those_who_were_given_it() {
    let wire = Wire::Chat;
    let story = Bench::new(wire).take([complains(wire, 401, "", "invalid_api_key", "bad key sk-very-secret-indeed")]);
    assert!(story.outcome().ends_with("because \"bad key •••\""), "{}", story.outcome());
}

#[test]
fn the_key_is_not_carried_elsewhere() {
    for wire in WIRES {
        let bench = Bench::new(wire);
        let other = crate::serve::endpoint::Endpoint::start();
        let to: &'static str = format!("location: http://127.0.0.1:{}/v1\r\n", other.port).leak();
        let story = bench.take([Answer::Status(307, to, String::new())]);
        assert!(story.outcome().contains("status 307 code redirected"), "{}", story.outcome());
        assert!(other.asked().is_empty());
    }
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    for wire in WIRES {
        let whole = wire.stream(&[Part::Text("half an answer")], Stop::Done);
        let half = &whole[..whole.len() / 2];
        // Once before the announced length, once with a clean end in the middle.
        for answer in [Answer::Cut(half.to_owned()), Answer::Stream(half[..half.rfind("data:").unwrap()].to_owned())] {
            let bench = Bench::new(wire);
            let story = bench.take([answer]);
            assert!(story.outcome().starts_with("= \"\" used 0/0/0 code stream_cut"), "{}", story.outcome());
            // Nothing of it is part of the conversation, and the prompt is not sent twice.
            bench.take([wire.says("whole")]);
            assert_eq!(bench.told(1), "user: do it");
        }
    }
}

#[test]
fn errors_come_inside_streams_too() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}, "message": "busy"});
    for wire in WIRES {
        let story = Bench::new(wire).take([Answer::Stream(format!("data: {error}\n\n"))]);
        let expected = "= \"\" used 0/0/0 status 529 code overloaded_error because \"busy\"";
        assert_eq!(story.outcome(), expected, "{wire:?}");
    }
    let story = Bench::new(Wire::Chat).take([Answer::Stream("data: <html>\n\n".to_owned())]);
    assert!(story.outcome().contains("code malformed_stream"));
}

#[test]
fn nobody_listens() {
    let mut bench = Bench::new(Wire::Chat);
    bench.setup.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    let story = bench.take([]);
    assert_eq!(story.class(), "transient");
    assert!(story.outcome().contains("code unreachable because \"`http://127.0.0.1:1/v1/chat/completions`"));
}

#[test]
fn a_model_that_refuses_says_so() {
    for wire in WIRES {
        let story = Bench::new(wire).take([wire.answers(&[Part::Text("I cannot")], Stop::Refused)]);
        assert!(story.outcome().contains("code refusal stop refusal"), "{wire:?} {}", story.outcome());
    }
}

#[test]
fn a_model_that_never_comes_to_an_end_is_stopped() {
    for wire in WIRES {
        let mut bench = Bench::new(wire);
        bench.setup.args.extend(["--rounds".to_owned(), "2".to_owned()]);
        let story = bench.take([wire.calls("c1", "list", json!({})), wire.calls("c2", "list", json!({}))]);
        assert!(story.outcome().contains("used 20/8/10 code max_rounds"), "{}", story.outcome());
        let cut = || wire.answers(&[Part::Text("more ")], Stop::Cut);
        let story = Bench::new(wire).take([cut(), cut(), cut(), cut()]);
        assert!(story.outcome().contains("code max_tokens stop max_tokens"), "{}", story.outcome());
    }
}

#[test]
fn a_turn_that_hangs_is_stopped_by_a_signal() {
    for wire in WIRES {
        let bench = Bench::new(wire);
        bench.endpoint.then([wire.calls("c1", "list", json!({})), Answer::Silence]);
        let running = bench.start();
        eventually("it waits for the endpoint", || bench.endpoint.asked().len() == 2);
        running.signal(Signal::TERM);
        let story = running.finish();
        assert_eq!(story.exit.code, Some(143));
        assert_eq!(story.outcome(), "= \"\" in s-1 used 10/4/5 code stopped because \"the turn was stopped\"");
    }
}

const HANGS: &str = "echo $$ > pid.new; mv pid.new pid; tail -f /dev/null";

#[test]
fn a_command_ends_with_the_turn_that_ran_it() {
    let wire = Wire::Messages;
    let bench = Bench::new(wire);
    bench.endpoint.then([wire.calls("c1", "shell", json!({"command": HANGS}))]);
    let running = bench.start();
    eventually("the command runs", || bench.path("work/pid").exists());
    running.signal(Signal::TERM);
    let story = running.finish();
    assert_eq!(story.exit.code, Some(143));
    assert!(!runs(&bench.file("pid")));
    assert!(!story.entries.iter().any(|entry| matches!(entry, TranscriptEntry::ToolResult { .. })));
}

#[test]
fn a_turn_is_taken_up_after_a_crash_in_the_middle_of_a_tool() {
    for wire in WIRES {
        let mut bench = Bench::new(wire);
        let calls = [
            Part::Call("c1", "shell", json!({"command": "echo done > first"})),
            Part::Call("c2", "shell", json!({"command": HANGS})),
        ];
        bench.endpoint.then([wire.answers(&calls, Stop::Done)]);
        let running = bench.start();
        eventually("the second command runs", || bench.path("work/pid").exists());
        running.signal(Signal::KILL);
        let story = running.finish();
        assert!(story.outcome().contains("in s-1 used 10/4/5 code no_ending"), "{}", story.outcome());
        let orphan = bench.file("pid").trim().parse().unwrap();
        // The owner of the agent cleans up after it; here that is this test.
        rustix::process::kill_process_group(rustix::process::Pid::from_raw(orphan).unwrap(), Signal::KILL).unwrap();

        bench.turn.session = TurnSession::Resume { id: "s-1".to_owned(), before: Meter::default() };
        let story = bench.take([wire.says("I look first.")]);
        assert_eq!(story.outcome(), "= \"I look first.\" in s-1 used 10/4/5");
        let told = bench.told(1);
        let (before, after) = told.split_once("result c1: ").unwrap();
        assert!(before.starts_with("user: do it\ncall c1: shell"));
        let expected =
            "(it printed nothing)\nresult c2: error: interrupted, outcome unknown: look before you do it again";
        assert_eq!(after, expected, "{wire:?}");
    }
}

#[test]
fn a_session_that_is_not_there_is_missed() {
    let mut bench = Bench::new(Wire::Chat);
    bench.turn.session = TurnSession::Resume { id: "s-9".to_owned(), before: Meter::default() };
    assert!(bench.take([]).outcome().contains("code session_not_found"));
    bench.turn.session = TurnSession::New("../../etc".to_owned());
    assert!(bench.take([]).outcome().contains("code bad_session"));
    assert!(bench.endpoint.asked().is_empty());
}

#[test]
fn what_is_no_request_is_refused() {
    let bench = Bench::new(Wire::Chat);
    let mut said = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (reading, writing) = std::io::pipe().unwrap();
    let code = runtime.block_on(longhaul_agents::serve::serve("openai", &b"hello\n"[..], writing));
    std::io::Read::read_to_end(&mut { reading }, &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(code, 1);
    assert!(said.contains("`longhaul __agent openai` is started by the engine"), "{said}");
    assert!(fs::read_dir(bench.path("home")).unwrap().next().is_none());
}
