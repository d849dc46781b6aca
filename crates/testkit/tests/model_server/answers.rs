//! Tests answers in every API, at once and as a stream.

use serde_json::{Value, json};

use crate::model_server::client::{APIS, post, question, server, streaming, words};

#[test]
fn every_api_gets_the_text_in_its_own_words() {
    let server = server("always text Hi {{n}} {{prompt}}");
    for (index, (api, path)) in APIS.into_iter().enumerate() {
        let answer = post(&server, path, &question(api, "there", false, &[]));
        assert_eq!(words(api, &answer.json()), format!("Hi {} there", index + 1), "{api}");
    }
    let keys: Vec<String> = server.log().into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["k1"; 4]);
}

/// The text and the input of the call in a stream, put together from its pieces.
fn gathered(api: &str, events: &[Value]) -> (String, String) {
    let all = |places: &[&str]| -> String {
        let at = |event: &Value| places.iter().find_map(|place| event.pointer(place)?.as_str().map(str::to_owned));
        events.iter().filter_map(at).collect()
    };
    let of = |kind: &str, place: &str| -> String {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind.filter_map(|event| event.pointer(place)?.as_str()).collect()
    };
    match api {
        "anthropic" => (all(&["/delta/text"]), all(&["/delta/partial_json"])),
        "responses" => {
            (of("response.output_text.delta", "/delta"), of("response.function_call_arguments.delta", "/delta"))
        }
        "chat" => (all(&["/choices/0/delta/content"]), all(&["/choices/0/delta/tool_calls/0/function/arguments"])),
        _ => {
            let args = events.iter().find_map(|event| event.pointer("/candidates/0/content/parts/0/functionCall/args"));
            let spoken: Vec<Value> = events.iter().filter(|event| is_spoken(event)).cloned().collect();
            let text = spoken.iter().filter_map(|event| event.pointer("/candidates/0/content/parts/0/text")?.as_str());
            (text.collect(), args.map(Value::to_string).unwrap_or_default())
        }
    }
}

fn is_spoken(event: &Value) -> bool {
    event.pointer("/candidates/0/content/parts/0/thought").is_none()
}

#[test]
fn the_pieces_of_a_stream_are_the_answer() {
    let script = "think why\n+ text It is a longer text, to be told in pieces.\n+ run ls -la\n".repeat(4);
    let server = server(&script);
    for (api, path) in APIS {
        let answer = post(&server, &streaming(path), &question(api, "go", true, &["Bash"]));
        assert!(answer.headers.contains("text/event-stream") && answer.is_complete, "{api}");
        let (text, input) = gathered(api, &answer.events());
        assert_eq!(text, "It is a longer text, to be told in pieces.", "{api}");
        assert_eq!(serde_json::from_str::<Value>(&input).unwrap(), json!({"command": "ls -la"}), "{api}");
    }
}

#[test]
fn streams_end_as_their_api_ends() {
    let server = server("always text ok");
    let last = |api, path: &str| post(&server, &streaming(path), &question(api, "go", true, &[])).body;
    let bodies: Vec<String> = APIS.into_iter().map(|(api, path)| last(api, path)).collect();
    assert!(bodies[0].trim_end().ends_with(r#"{"type":"message_stop"}"#), "{}", bodies[0]);
    assert!(bodies[1].contains("event: response.completed"), "{}", bodies[1]);
    assert!(bodies[2].trim_end().ends_with("data: [DONE]"), "{}", bodies[2]);
    assert!(bodies[3].contains(r#""finishReason":"STOP""#), "{}", bodies[3]);
}

#[test]
fn the_tool_is_the_one_that_the_client_offers() {
    let server = server("always run ls");
    for (offered, name) in
        [("Bash", "Bash"), ("run_shell_command", "run_shell_command"), ("exec_command", "exec_command")]
    {
        let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &["read", offered]));
        assert_eq!(answer.json()["content"][0]["name"], name);
        assert_eq!(answer.json()["stop_reason"], "tool_use");
    }
}

#[test]
fn tools_get_what_their_schema_asks_for() {
    let server = server("write notes/a.txt one two\nrun ls\nwrite b.txt three");
    let properties =
        json!({"filePath": {}, "content": {}, "mode": {"enum": ["new", "old"]}, "lines": {"type": "integer"}});
    let writer =
        json!({"name": "write", "input_schema": {"properties": properties, "required": ["filePath", "mode", "lines"]}});
    let shell = json!({"name": "shell", "input_schema": {"properties": {"command": {"type": "array"}}}});
    let mut asked = question("anthropic", "go", false, &[]);
    (asked["tools"], asked["system"]) = (json!([writer, shell]), json!("Working directory: /srv/project\nBe brief."));
    let input = |answer: &Value| answer["content"][0]["input"].clone();
    let answer = post(&server, "/v1/messages", &asked).json();
    let wanted = json!({"filePath": "/srv/project/notes/a.txt", "content": "one two", "mode": "new", "lines": 1});
    assert_eq!(input(&answer), wanted);
    let answer = post(&server, "/v1/messages", &asked).json();
    assert_eq!(input(&answer), json!({"command": ["bash", "-lc", "ls"]}));
    asked["tools"] = json!([]);
    let answer = post(&server, "/v1/messages", &asked).json();
    assert_eq!(input(&answer), json!({"command": "cat > 'b.txt' <<'__END__'\nthree\n__END__"}));
}

#[test]
fn freeform_tools_get_text() {
    let server = server("write a.txt x\nrun ls\nwrite a.txt x");
    let mut asked = question("responses", "go", false, &[]);
    asked["tools"] = json!([{"type": "custom", "name": "apply_patch"}]);
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n";
    assert_eq!(post(&server, "/v1/responses", &asked).json()["output"][0]["input"], patch);
    asked["tools"] = json!([]);
    // code mode: the only tool takes a program, and is offered inside the conversation
    let tools = json!({"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]});
    asked["input"] = json!([tools, {"role": "user", "content": "go"}]);
    for call in ["tools.exec_command({cmd: \"ls\"})", "tools.apply_patch(\"*** Begin Patch"] {
        let answer = post(&server, "/v1/responses", &asked).json();
        assert_eq!(answer["output"][0]["type"], "custom_tool_call");
        assert!(answer["output"][0]["input"].as_str().unwrap().contains(call), "{answer:#}");
    }
}

#[test]
fn structured_answers_go_through_the_tool_for_them_or_are_text() {
    let server = server("3x structured name=pear count:=3 'note=a b'");
    let wanted = json!({"name": "pear", "count": 3, "note": "a b"});
    for tool in ["StructuredOutput", "answer"] {
        let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &["Bash", tool])).json();
        assert_eq!((&answer["content"][0]["name"], &answer["content"][0]["input"]), (&json!(tool), &wanted));
    }
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[])).json();
    assert_eq!(serde_json::from_str::<Value>(answer["content"][0]["text"].as_str().unwrap()).unwrap(), wanted);
}

#[test]
fn results_of_tools_are_found_in_every_api() {
    let server = server("always text got {{tool_result}}");
    let bodies = [
        json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "R"}]}]}]}),
        json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "R"}]}),
        json!({"messages": [{"role": "tool", "tool_call_id": "c", "content": "R"}]}),
        json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"output": "R"}}}]}]}),
    ];
    for ((api, path), body) in APIS.into_iter().zip(bodies) {
        assert_eq!(words(api, &post(&server, path, &body).json()), "got R", "{api}");
    }
}

#[test]
fn answers_can_stop_short() {
    let server = server("4x max-tokens so far\n4x refuse no\n4x empty");
    let stops = [
        ("/stop_reason", ["max_tokens", "refusal", "end_turn"]),
        ("/status", ["incomplete", "incomplete", "completed"]),
        ("/choices/0/finish_reason", ["length", "content_filter", "stop"]),
        ("/candidates/0/finishReason", ["MAX_TOKENS", "SAFETY", "STOP"]),
    ];
    for step in 0..3 {
        for ((api, path), (place, wanted)) in APIS.into_iter().zip(&stops) {
            let answer = post(&server, path, &question(api, "go", false, &[])).json();
            assert_eq!(answer.pointer(place).unwrap(), wanted[step], "{api}");
        }
    }
}

#[test]
fn tokens_are_those_of_the_script() {
    let server = server("usage in=100 out=7 cached=40\nalways text ok");
    let places = [
        "/usage/cache_read_input_tokens",
        "/usage/input_tokens_details/cached_tokens",
        "/usage/prompt_tokens_details/cached_tokens",
        "/usageMetadata/cachedContentTokenCount",
    ];
    for ((api, path), place) in APIS.into_iter().zip(places) {
        let answer = post(&server, path, &question(api, "go", false, &[])).json();
        assert_eq!(answer.pointer(place).unwrap(), 40, "{api}");
    }
}
