//! Tests turns that succeed, on every API.

use longhaul_agents::contract::{Errand, Meter, TurnSession};
use longhaul_core::Json;
use serde_json::json;

use crate::serve::bench::{Bench, KEY};
use crate::serve::wires::{Part, Stop, WIRES, Wire};

fn resume(id: &str) -> TurnSession {
    TurnSession::Resume { id: id.to_owned(), before: Meter::default() }
}

#[test]
fn a_model_answers() {
    for wire in WIRES {
        let story = Bench::new(wire).take([wire.says("Hi\nhello there")]);
        let expected = "\
text \"Hi\\n\"
more \"hello there\"
session s-1 m-1
result
= \"Hi\\nhello there\" in s-1 used 10/4/5";
        assert_eq!(story.text(), expected, "{wire:?}");
        assert_eq!(story.exit.code, Some(0));
    }
}

#[test]
fn a_request_goes_to_its_address_with_its_key() {
    for wire in WIRES {
        let mut bench = Bench::new(wire);
        bench.turn.system = Some("You are a pirate.".to_owned());
        bench.turn.model = Some("m-2".to_owned());
        bench.take([wire.says("Aye")]);
        let asked = bench.endpoint.asked().remove(0);
        assert_eq!(
            (asked.path.as_str(), &asked.body["model"], &asked.body["stream"]),
            (wire.path(), &json!("m-2"), &json!(true))
        );
        let header =
            if wire == Wire::Messages { format!("x-api-key: {KEY}") } else { format!("authorization: bearer {KEY}") };
        assert!(asked.headers.contains(&header), "{}", asked.headers);
        assert!(asked.body.to_string().contains("You are a pirate."));
        assert_eq!(bench.told(0), "user: do it");
        assert_eq!(wire.tools(&asked.body), ["read", "write", "edit", "list", "grep", "shell"]);
    }
}

#[test]
fn tools_change_the_workspace_and_their_results_are_told() {
    for wire in WIRES {
        let bench = Bench::new(wire);
        let story = bench.take([
            wire.answers(
                &[
                    Part::Text("I write it."),
                    Part::Call("c1", "write", json!({"path": "a.txt", "content": "one\ntwo\n"})),
                    Part::Call("c2", "edit", json!({"path": "a.txt", "old": "two", "new": "2"})),
                ],
                Stop::Done,
            ),
            wire.calls("c3", "read", json!({"path": "b.txt"})),
            wire.says("Done."),
        ]);
        let expected = "\
text \"I write it.\"
session s-1 m-1
call c1 write: a.txt
result c1 ok: \"`a.txt` is written: 8 bytes\"
call c2 edit: a.txt
result c2 ok: \"`a.txt` is changed in 1 place\"
call c3 read: b.txt
result c3 failed: \"there is no `b.txt`\"
text \"Done.\"
result
= \"Done.\" in s-1 used 30/12/15";
        assert_eq!(story.text(), expected, "{wire:?}");
        assert_eq!(bench.file("a.txt"), "one\n2\n");
        let told = "\
user: do it
assistant: I write it.
call c1: write {\"path\":\"a.txt\",\"content\":\"one\\ntwo\\n\"}
call c2: edit {\"path\":\"a.txt\",\"old\":\"two\",\"new\":\"2\"}
result c1: `a.txt` is written: 8 bytes
result c2: `a.txt` is changed in 1 place
call c3: read {\"path\":\"b.txt\"}
result c3: error: there is no `b.txt`";
        assert_eq!(bench.told(2), told, "{wire:?}");
    }
}

#[test]
fn a_session_goes_on_where_it_was() {
    for wire in WIRES {
        let mut bench = Bench::new(wire);
        bench.take([wire.says("First.")]);
        bench.turn.session = resume("s-1");
        bench.turn.prompt = "and then?".to_owned();
        let story = bench.take([wire.says("Second.")]);
        assert_eq!(story.outcome(), "= \"Second.\" in s-1 used 10/4/5");
        assert_eq!(bench.told(1), "user: do it\nassistant: First.\nuser: and then?");
    }
}

#[test]
fn an_answer_in_a_form_is_forced_where_the_wire_can_not_ask_for_it() {
    let mut bench = Bench::new(Wire::Messages);
    bench.turn.schema = Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    let wire = bench.wire;
    let story = bench.take([wire.says("It is 3."), wire.calls("c1", "answer", json!({"n": 3}))]);
    assert_eq!(story.outcome(), "= \"{\\\"n\\\":3}\" value {\"n\":3} in s-1 used 20/8/10");
    let asked = bench.endpoint.asked();
    assert_eq!(asked[0].body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(asked[1].body["tool_choice"], json!({"type": "tool", "name": "answer"}));
    assert_eq!(wire.tools(&asked[0].body).last().unwrap(), "answer");
    bench.turn.session = resume("s-1");
    bench.turn.schema = None;
    bench.take([wire.says("ok")]);
    assert!(bench.told(2).contains("result c1: accepted"), "{}", bench.told(2));
}

#[test]
fn without_other_tools_the_form_is_forced_at_once() {
    let mut bench = Bench::new(Wire::Messages);
    bench.turn.tools = Some(Vec::new());
    bench.turn.schema = Some(json!({"type": "array", "items": {"type": "string"}}));
    let story = bench.take([bench.wire.calls("c1", "answer", json!({"answer": ["a"]}))]);
    assert_eq!(story.ending.structured, Some(json!(["a"])));
    assert_eq!(bench.endpoint.asked()[0].body["tool_choice"]["name"], "answer");
}

#[test]
fn an_answer_in_a_form_is_asked_for_where_the_wire_has_it() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    for wire in [Wire::Chat, Wire::Responses] {
        let mut bench = Bench::new(wire);
        bench.turn.schema = Some(schema.clone());
        let story = bench.take([wire.says("It is 3."), wire.says("{\"n\":3}")]);
        assert_eq!(story.outcome(), "= \"{\\\"n\\\":3}\" value {\"n\":3} in s-1 used 20/8/10");
        let asked = bench.endpoint.asked();
        let form = |body: &Json| {
            let form =
                if wire == Wire::Chat { &body["response_format"]["json_schema"] } else { &body["text"]["format"] };
            form.clone()
        };
        // A form makes many servers answer at once, so it does not come together with tools.
        assert_eq!((form(&asked[0].body), wire.tools(&asked[0].body).len()), (Json::Null, 6));
        assert_eq!((&form(&asked[1].body)["schema"], &form(&asked[1].body)["strict"]), (&schema, &json!(true)));
        assert_eq!(wire.tools(&asked[1].body), [""; 0]);
        assert!(bench.told(0).contains("JSON Schema"), "{}", bench.told(0));
    }
}

#[test]
fn a_model_that_was_cut_off_goes_on() {
    for wire in WIRES {
        let bench = Bench::new(wire);
        let story = bench.take([wire.answers(&[Part::Text("Once upon ")], Stop::Cut), wire.says("a time.")]);
        assert_eq!(story.outcome(), "= \"Once upon a time.\" in s-1 used 20/8/10", "{wire:?}");
        assert!(bench.told(1).starts_with("user: do it\nassistant: Once upon \nuser: "));
    }
}

#[test]
fn a_context_is_shortened_to_notes() {
    for wire in WIRES {
        let mut bench = Bench::new(wire);
        bench.take([wire.calls("c1", "list", json!({})), wire.says("Nothing there.")]);
        bench.turn.session = resume("s-1");
        bench.turn.errand = Errand::Compact;
        let story = bench.take([wire.says("The folder is empty.")]);
        assert_eq!(story.outcome(), "= \"\" in s-1 used 10/4/5 compacted true");
        let asked = bench.endpoint.asked();
        assert!(wire.tools(&asked[2].body).is_empty());
        let told = bench.told(2);
        let record = "user: [asked] do it\n\n[did] list {}\n\n[result] (nothing)\n\n[said] Nothing there.\n";
        assert!(told.starts_with(record), "{told}");
        bench.turn.errand = Errand::Work;
        bench.turn.prompt = "continue".to_owned();
        bench.take([wire.says("Yes.")]);
        let told = bench.told(3);
        assert!(
            told.ends_with("The folder is empty.\n\ncontinue")
                || told.ends_with("The folder is empty.\nuser: continue"),
            "{told}"
        );
        assert!(!told.contains("list"));
    }
}

#[test]
fn an_empty_session_is_short_enough() {
    let mut bench = Bench::new(Wire::Chat);
    bench.turn.errand = Errand::Compact;
    assert_eq!(bench.take([]).outcome(), "= \"\" used 0/0/0 compacted false");
    assert!(bench.endpoint.asked().is_empty());
}
