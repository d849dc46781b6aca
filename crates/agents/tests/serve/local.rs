//! Tests what servers of local models do differently from the services whose APIs they copy.

use longhaul_agents::contract::Errand;
use longhaul_core::Json;
use serde_json::json;

use crate::serve::bench::Bench;
use crate::serve::endpoint::Answer;
use crate::serve::wires::{Part, Stop, WIRES, Wire};

fn typed(wire: Wire) -> Bench {
    let mut bench = Bench::new(wire);
    bench.turn.schema = Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
    bench
}

fn refuses(message: &str) -> Answer {
    Answer::Status(400, "", json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

fn has_form(body: &Json) -> bool {
    !body["response_format"].is_null() || !body["text"]["format"].is_null()
}

/// A typed step uses tools first. An answer in the form ends it, without another request.
#[test]
fn a_typed_step_uses_tools() {
    for wire in [Wire::Chat, Wire::Responses] {
        let bench = typed(wire);
        let answer = wire.says("Three.\n```json\n{\"n\": 3}\n```");
        let story = bench.take([wire.calls("c1", "list", json!({})), answer]);
        assert!(story.outcome().starts_with("= \"Three."), "{}", story.outcome());
        let asked = bench.endpoint.asked();
        assert_eq!(asked.len(), 2, "{wire:?}");
        assert!(!asked.iter().any(|asked| has_form(&asked.body)), "{wire:?}");
    }
}

/// A server that does not know schemas is asked without one, now and later.
#[test]
fn a_refused_form_is_left_out_and_remembered() {
    for wire in [Wire::Chat, Wire::Responses] {
        let mut bench = typed(wire);
        bench.turn.tools = Some(Vec::new());
        let story = bench.take([refuses("response_format.type json_schema is unavailable"), wire.says("{\"n\":3}")]);
        assert!(story.outcome().contains("value {\"n\":3}"), "{}", story.outcome());
        bench.turn.session = longhaul_agents::contract::TurnSession::New("s-2".to_owned());
        bench.take([wire.says("{\"n\":4}")]);
        let forms: Vec<bool> = bench.endpoint.asked().iter().map(|asked| has_form(&asked.body)).collect();
        assert_eq!(forms, [true, false, false], "{wire:?}");
    }
}

/// If the request fails without the form too, the first reason is told and nothing is remembered.
#[test]
fn another_refusal_is_not_taken_for_a_form() {
    let mut bench = typed(Wire::Chat);
    bench.turn.tools = Some(Vec::new());
    let story = bench.take([refuses("no such model"), refuses("still no such model")]);
    assert!(story.outcome().contains("no such model") && !story.outcome().contains("still"), "{}", story.outcome());
    bench.take([Bench::new(Wire::Chat).wire.says("{\"n\":3}")]);
    assert!(has_form(&bench.endpoint.asked()[2].body));
}

/// A server that wants the limit of a reply under another name, or not at all, gets that.
#[test]
fn the_limit_of_a_reply_is_named_as_the_server_wants() {
    let bench = Bench::new(Wire::Chat);
    let other = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    bench.take([refuses(other), refuses("max_completion_tokens is too large: 16000"), Wire::Chat.says("Hi.")]);
    let asked = bench.endpoint.asked();
    let limit = |at: usize| (asked[at].body["max_tokens"].clone(), asked[at].body["max_completion_tokens"].clone());
    assert_eq!(limit(0), (json!(16_000), Json::Null));
    assert_eq!(limit(1), (Json::Null, json!(16_000)));
    assert_eq!(limit(2), (Json::Null, Json::Null));
}

/// A value that was cut off is no value: the engine asks again.
#[test]
fn a_value_that_is_cut_off_is_invalid() {
    for wire in [Wire::Chat, Wire::Responses] {
        let bench = typed(wire);
        let story = bench.take([wire.answers(&[Part::Text("{\"n\": 1")], Stop::Cut)]);
        assert!(story.outcome().contains("code cut_value"), "{}", story.outcome());
    }
}

/// An answer in one piece is an answer, and an error with status 200 is an error with its reason.
#[test]
fn an_answer_in_one_piece_is_read() {
    let chat = json!({"model": "m", "choices": [{"message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 5}});
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}]);
    let responses = json!({"model": "m", "status": "completed", "output": output, "usage": {"input_tokens": 10, "output_tokens": 5}});
    let messages = json!({"model": "m", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}});
    for (wire, body) in WIRES.into_iter().zip([messages, chat, responses]) {
        let story = Bench::new(wire).take([Answer::Status(200, "", format!("\n{body}"))]);
        assert_eq!(story.outcome(), "= \"Hi.\" in s-1 used 10/0/5", "{wire:?}");
        let error = json!({"error": {"message": "the model is loading", "code": 503}});
        let story = Bench::new(wire).take([Answer::Status(200, "", error.to_string())]);
        assert!(story.outcome().contains("status 503"), "{}", story.outcome());
        assert!(story.outcome().contains("the model is loading"), "{}", story.outcome());
        let story = Bench::new(wire).take([Answer::Status(200, "", "<html>Log in</html>".to_owned())]);
        assert!(
            story.outcome().contains("malformed_stream") && story.outcome().contains("Log in"),
            "{}",
            story.outcome()
        );
    }
}

/// Reasoning is in the transcript.
#[test]
fn reasoning_is_shown() {
    let event = |delta: Json| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
    let stream = [
        event(json!({"reasoning_content": "I think "})),
        event(json!({"reasoning_content": "about it."})),
        event(json!({"content": "Hi."})),
        format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})),
    ];
    let story = Bench::new(Wire::Chat).take([Answer::Stream(stream.concat())]);
    assert!(story.text().starts_with("thinks \"I think about it.\"\ntext \"Hi.\""), "{}", story.text());
}

/// A call that the model wrote as text is made. A text that only looks like one is asked for again.
#[test]
fn a_call_written_as_text_is_made() {
    let call =
        "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"path\": \"a.txt\", \"content\": \"x\"}}\n</tool_call>";
    for wire in WIRES {
        let bench = Bench::new(wire);
        let story = bench.take([wire.says(call), wire.says("<tool_call>list it</tool_call>"), wire.says("Done.")]);
        assert_eq!(story.outcome(), "= \"Done.\" in s-1 used 30/12/15", "{wire:?}");
        assert_eq!(bench.file("a.txt"), "x");
        let bench = Bench::new(wire);
        let never = || wire.says("<tool_call>list it</tool_call>");
        let story = bench.take([never(), never(), never()]);
        assert!(story.outcome().contains("code tool_call_as_text"), "{}", story.outcome());
    }
}

/// A conversation of prompts alone is not compacted: nothing could become shorter.
#[test]
fn only_a_prompt_is_not_compacted() {
    let mut bench = Bench::new(Wire::Chat);
    bench.take([refuses("this model's maximum context length is 8 tokens")]);
    bench.turn.errand = Errand::Compact;
    assert_eq!(bench.take([]).outcome(), "= \"\" used 0/0/0 compacted false");
    assert_eq!(bench.endpoint.asked().len(), 1);
}
