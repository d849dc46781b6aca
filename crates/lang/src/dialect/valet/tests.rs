//! Whole files of Valet's, and what they become.

use crate::dialect::Dialect;
use crate::dialect::transcript::{codes, native_codes, one_finding_each, pointed, transcript};

fn example(name: &str, text: &str) -> String {
    transcript(Dialect::Valet, name, text)
}

/// What is said about a single step.
fn step(json: &str) -> String {
    pointed(Dialect::Valet, "w.json", &format!("{{\"steps\":[{json}]}}"))
}

/// What is said about a single node of a graph, beside a trigger and a tool.
fn node(json: &str) -> String {
    let others = r#"{"id":"in","type":"trigger"},{"id":"t","type":"tool","service":"s","action":"a"}"#;
    pointed(Dialect::Valet, "w.json", &format!("{{\"version\":\"dag/v1\",\"nodes\":[{others},{json}],\"edges\":[]}}"))
}

#[test]
fn a_sequence_of_every_type_is_kept() {
    let text = include_str!("../../../../../tests/dialects/valet/nightly-triage.json");
    insta::assert_snapshot!(example("nightly-triage.json", text));
}

#[test]
fn every_form_of_a_key_is_understood() {
    let text = include_str!("../../../../../tests/dialects/valet/forms.yaml");
    insta::assert_snapshot!(example("forms.yaml", text));
}

#[test]
fn a_graph_of_every_type_is_kept() {
    let text = include_str!("../../../../../tests/dialects/valet/graph.json");
    insta::assert_snapshot!(example("graph.json", text));
}

#[test]
fn what_either_validator_refuses_is_an_error() {
    for (json, expected) in [
        (
            r#"{"type":"bash"}"#,
            "error[LH0109] 1:11 at `{\"type\":\"bash\"}`: a `bash` step needs `command` (no `command` here)",
        ),
        (
            r#"{"type":"loop","steps":[{"type":"notify","content":"x"}]}"#,
            "error[LH0109] 1:11: a `loop` step needs `over` (no `over` here)",
        ),
        (
            r#"{"type":"loop","over":[1],"itemVar":"1x","steps":[{"type":"notify","content":"x"}]}"#,
            "error[LH0603] 1:47 at `\"1x\"`: `1x` cannot be a name (not a name; a name is a letter or `_`, then letters, digits and `_`)",
        ),
        (
            r#"{"type":"loop","over":"outputs.nope","steps":[{"id":"note","type":"agent_prompt","prompt":"x"}]}"#,
            "error[LH0303] 1:33 at `\"outputs.nope\"`: no step leaves `nope` (nothing to go over; did you mean `note`?)",
        ),
        (
            r#"{"type":"loop","over":[1],"steps":[]}"#,
            "error[LH0603] 1:45 at `[]`: a `loop` step needs at least one step (no steps)",
        ),
        (
            r#"{"type":"notify","content":"x","target":"slack"}"#,
            "error[LH0603] 1:51 at `\"slack\"`: `target` can only be `orchestrator` (not a target)",
        ),
        (
            r#"{"type":"agent_prompt","prompt":"x","outputSchema":{"d":{"type":"date"}}}"#,
            "error[LH0505] 1:75 at `\"date\"`: `date` is not a type (not a schema; types are: string, number, boolean, array, object)",
        ),
        (
            r#"{"type":"agent_prompt","prompt":" ","goal":""}"#,
            "error[LH0109] 1:11: an `agent_prompt` step needs `prompt` (no `prompt` here)",
        ),
        (
            r#"{"type":"agent_prompt","prompt":"x","await_timeout_ms":500}"#,
            "error[LH0603] 1:66 at `500`: `await_timeout_ms` must be at least 1000 (too short)",
        ),
        (
            r#"{"type":"conditional","condition":"a ==","then":[{"type":"notify","content":"x"}]}"#,
            "error[LH0302] 1:50 at ``: this condition cannot be read (a value is missing here)",
        ),
        (
            r#"{"type":"agent","prompt":"x"}"#,
            "error[LH0604] 1:19 at `\"agent\"`: steps of type `agent` no longer exist (removed; use `agent_prompt`)",
        ),
        (
            r#"{"type":"bsah","command":"x"}"#,
            "error[LH0603] 1:19 at `\"bsah\"`: `bsah` is not a type of step (unknown type; did you mean `bash`?)",
        ),
        (
            r#"{"type":"tool","tool":"deploy"}"#,
            "error[LH0406] 1:33 at `\"deploy\"`: there is no tool `deploy` (unknown tool; tools are: bash, spawn_session, send_message, list_workflows, run_workflow, list_workflow_executions)",
        ),
        (
            r#"{"type":"tool","tool":"send_message","arguments":{"content":"x"}}"#,
            "error[LH0109] 1:60 at `{\"content\":\"x\"}`: a call of `send_message` needs `targetSessionId` (no `targetSessionId` here)",
        ),
        (
            r#"{"id":"a/b","type":"notify","content":"x"}"#,
            "error[LH0603] 1:17 at `\"a/b\"`: the id `a/b` has `/` or `:` in it (not an id)",
        ),
        (
            r#"{"type":"notify","contnet":"x"}"#,
            "error[LH0108] 1:28 at `\"contnet\"`: a `notify` step has no key `contnet` (unknown key; did you mean `content`?)\n\
             error[LH0109] 1:11: a `notify` step needs `content` (no `content` here)",
        ),
        (
            r#"{"type":"notify","content":"{{steps.x}}"}"#,
            "error[LH0303] 1:41 at `steps.x`: `steps.x` cannot be read here (unknown name; paths begin with `variables`, `outputs` or `loop`)",
        ),
        (
            r#"{"type":"notify","content":"a \"{{loop.item}}\""}"#,
            "error[LH0303] 1:45 at `loop.item`: `loop.item` cannot be read here (unknown name; there is no loop around this step)",
        ),
        (
            r#"{"type":"notify","content":"{{a | upper}}"}"#,
            "error[LH0302] 1:41 at `a | upper`: `a | upper` is not a path (only paths can stand in braces; a template is one path here, such as `variables.name` or `outputs.step.field`)",
        ),
    ] {
        assert_eq!(step(json), expected, "{json}");
    }
}

#[test]
fn the_top_level_has_its_own_rules() {
    let top = |json: &str| pointed(Dialect::Valet, "w.json", json);
    assert_eq!(
        top(r#"{"failureNotify":"x","steps":[{"type":"notify","content":"x"}]}"#),
        "error[LH0603] 1:18 at `\"x\"`: `failureNotify` must be `orchestrator` or `none` (not one of them)"
    );
    assert_eq!(
        top(r#"{"stepz":1,"steps":[{"type":"notify","content":"x"}]}"#),
        "warning[LH0602] 1:2 at `\"stepz\"`: `stepz` has no effect here: nothing reads it (not kept; did you mean `steps`?)"
    );
}

#[test]
fn what_a_graph_must_not_be_is_an_error() {
    for (json, expected) in [
        (r#"{"id":"a b","type":"wait","duration":"1h"}"#, "`a b` cannot be an id"),
        (r#"{"id":"x","type":"bash"}"#, "there are no nodes of type `bash`"),
        (r#"{"id":"x","type":"forech"}"#, "`forech` is not a type of node"),
        (r#"{"id":"x","type":"tool","service":"s","action":"a","retries":11}"#, "`retries` can be at most 10"),
        (r#"{"id":"x","type":"wait","duration":700000000}"#, "a wait is at most 7 days"),
        (r#"{"id":"x","type":"if","conditions":["t.ok"]}"#, "`x` decides between nothing"),
        (r#"{"id":"x","type":"llm","prompt":"{{nope.a}}"}"#, "`nope.a` cannot be read here"),
        (
            r#"{"id":"x","type":"foreach","items":"t.l","concurrency":21,"body":{"id":"y","type":"stop"}}"#,
            "`concurrency` must be from 1 to 20",
        ),
        (r#"{"id":"x","type":"approval","onDeny":"cancel"}"#, "`onDeny` cannot be `cancel`"),
        (r#"{"id":"x","type":"stop","outcom":"failed"}"#, "a `stop` node has no key `outcom`"),
    ] {
        let found = node(json);
        assert!(found.starts_with("error") && found.contains(expected), "{json}: {found}");
    }
}

#[test]
fn a_graph_has_at_most_two_hundred_nodes() {
    let graph = |count: usize| {
        let nodes: Vec<String> = (0..count).map(|n| format!(r#"{{"id":"n{n}","type":"stop"}}"#)).collect();
        pointed(Dialect::Valet, "w.json", &format!(r#"{{"nodes":[{}],"edges":[]}}"#, nodes.join(",")))
    };
    assert_eq!(graph(200), "");
    assert!(graph(201).contains("at most 200 nodes, and this one has 201"));
}

#[test]
fn any_tree_is_survived() {
    for text in [
        "steps: [{type: bash, command: {}}, 3, {type: loop, over: 3, steps: {}}, {type: parallel, steps: [1]}]",
        "steps: [{type: conditional, condition: [], then: {}}, {type: tool, tool: bash, arguments: []}, {type: []}]",
        "steps: [{type: agent_prompt, prompt: [], outputSchema: 3, thread: 4, outputVariable: [], id: 7, name: {}}]",
        "{version: dag/v1, nodes: 3, edges: {}}",
        "{version: dag/v1, nodes: [3, {}, {id: [], type: {}}, {id: a, type: if}], edges: [3, {}, {from: a, to: a, fromOutput: true}]}",
        "{version: dag/v1, nodes: [{id: a, type: foreach, items: {}, body: 3}, {id: b, type: set, values: 3}], edges: []}",
    ] {
        let found = pointed(Dialect::Valet, "w.yaml", text);
        assert!(found.contains("error["), "{text}: {found}");
    }
}

#[test]
fn a_file_with_one_mistake_has_one_finding() {
    one_finding_each!(
        "valet-missing-command.json" => "LH0109",
        "valet-condition-syntax.json" => "LH0302",
        "valet-removed-type.yaml" => "LH0604",
        "valet-unknown-tool.json" => "LH0406",
        "valet-unknown-root.yaml" => "LH0303",
        "valet-loop-over-nothing.json" => "LH0303",
        "valet-output-schema.json" => "LH0505",
        "valet-unknown-key.yaml" => "LH0108",
        "valet-notify-target.json" => "LH0603",
        "valet-dag-old-type.json" => "LH0604",
        "valet-dag-unknown-node.json" => "LH0303",
    );
}

#[test]
fn an_empty_list_of_steps_is_one_finding() {
    assert_eq!(codes("w.json", r#"{"steps":[{"type":"loop","over":[1],"steps":[]}]}"#), ["LH0603"]);
    assert_eq!(codes("w.json", r#"{"version":"dag/v1","nodes":[],"edges":[]}"#), ["LH0215"]);
}

#[test]
fn the_native_text_is_a_native_file() {
    let forms = include_str!("../../../../../tests/dialects/valet/forms.yaml");
    assert!(native_codes(Dialect::Valet, "forms.yaml", forms).is_empty());
    let graph = include_str!("../../../../../tests/dialects/valet/graph.json");
    assert!(native_codes(Dialect::Valet, "graph.json", graph).is_empty());
    let triage = include_str!("../../../../../tests/dialects/valet/nightly-triage.json");
    assert_eq!(native_codes(Dialect::Valet, "triage.json", triage), ["LH0404"], "only the persona is missing");
}
