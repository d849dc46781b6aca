//! workhorse text in, native text out.

use super::super::Dialect;
use super::super::transcript::{findings, transcript};

macro_rules! examples {
    ($($test:ident: $folder:literal,)*) => {
        $(#[test]
        fn $test() {
            let text = include_str!(concat!("../../../../../tests/dialects/workhorse/", $folder, "/workflow.yaml"));
            insta::assert_snapshot!(transcript(Dialect::Workhorse, "workflow.yaml", text));
        })*
    };
}

examples! {
    the_three_nodes_that_work_and_the_two_that_end: "counter",
    flows_calls_and_the_keys_of_later_releases: "tour",
}

const END: &str = "  - {id: end, type: terminal}\n";

fn native(nodes: &str) -> String {
    transcript(Dialect::Workhorse, "workflow.yaml", &format!("start: a\nnodes:\n{END}{nodes}"))
}

fn said(nodes: &str) -> String {
    findings(Dialect::Workhorse, "workflow.yaml", &format!("start: a\nnodes:\n{END}{nodes}"))
}

/// The expressions of a branch.
fn branch(fields: &str) -> Vec<String> {
    let native = native(&format!("  - {{id: a, type: branch, {fields}}}\n"));
    let whens = native.split("when: ").skip(1).map(|rest| rest.split(", to: ").next().unwrap_or_default());
    whens.map(|when| when.trim_matches('"').replace("\\\\", "\\")).collect()
}

#[test]
fn branches_compare_spellings_and_orders() {
    for (fields, expression) in [
        ("path: a.b, cases: {x: end}", "a.b is spelled('x')"),
        ("path: a.b-c.0.not, cases: {x: end}", "a['b-c']['0']['not'] is spelled('x')"),
        ("path: a-b.c, cases: {\"it's\": end}", "inputs['a-b'].c is spelled('it\\'s')"),
        ("path: a, conditions: [{op: '==', value: '1', next: end}]", "a is spelled('1')"),
        ("path: a, conditions: [{op: '!=', value: '1', next: end}]", "a is defined and a is not spelled('1')"),
        ("path: a, conditions: [{op: '<=', value: '1', next: end}]", "compare(a, '<=', '1')"),
    ] {
        assert_eq!(branch(fields), [expression], "{fields}");
        assert!(minijinja::Environment::new().compile_expression(expression).is_ok(), "{expression}");
    }
}

#[test]
fn the_python_spelling_wins_where_a_file_has_both() {
    let whens = branch("path: a, cases: {'true': end, x: end, 'True': end}");
    assert_eq!(whens, ["a is spelled('x')", "a is spelled('True')", "a is spelled('true')"]);
}

#[test]
fn cases_come_before_conditions_and_the_default_last() {
    let native = native(
        "  - {id: a, type: branch, path: p, default: end, conditions: [{op: <, value: '1', next: a}], cases: {x: end}}\n",
    );
    let order = ["spelled", "compare", "- {to: end}"].map(|part| native.find(part).expect(part));
    assert!(order.is_sorted(), "{native}");
}

#[test]
fn an_empty_default_is_none() {
    assert!(!native("  - {id: a, type: branch, path: p, cases: {x: end}, default: ''}\n").contains("- {to:"));
}

#[test]
fn mistakes_are_said() {
    for (nodes, finding) in [
        (
            "  - {id: a, type: branch, path: p, cases: {true: end}}",
            "error LH0107: a case must be text, but this is a boolean (put it in quotes: \"true\")",
        ),
        (
            "  - {id: a, type: branch, path: p, cases: {1: end}}",
            "error LH0107: a case must be text, but this is a number",
        ),
        (
            "  - {id: a, type: branch, path: p, conditions: [{op: <, value: 10, next: end}]}",
            "error LH0107: `value` must be text",
        ),
        (
            "  - {id: a, type: branch, path: p, conditions: [{op: =<, value: '1', next: end}], default: end}",
            "error LH0107: `op` cannot be `=<`",
        ),
        ("  - {id: a, type: branch, path: p}", "error LH0603: a branch node leads nowhere"),
        ("  - {id: a, type: branch, path: '', default: end}", "error LH0603: an empty path leads nowhere"),
        (
            "  - {id: a, type: branch, path: p, defualt: end, cases: {x: end}}",
            "error LH0108: a branch node has no key `defualt` (did you mean `default`?)",
        ),
        ("  - {id: a, type: agent, prompt: p.md, args: {k: 5}}", "error LH0107: an argument must be text"),
        ("  - {id: a, type: script, script: s.sh, args: [5]}", "error LH0107: an entry of `args` must be text"),
        ("  - {id: 7, type: terminal}", "error LH0107: `id` must be text, but this is a number"),
        ("  - {id: a}", "error LH0109: a node needs `type`"),
        (
            "  - {id: a, type: agnet, prompt: p.md}",
            "error LH0107: a node cannot be of type `agnet` (did you mean `agent`?)",
        ),
        ("  - {id: a, type: agent}", "error LH0109: an agent node needs `prompt`"),
        (
            "  - {id: a, type: agent, prompt: p.md, timeout: soon}",
            "error LH0107: `timeout` must be a number of seconds",
        ),
        (
            "  - {id: a, type: agent, prompt: p.md, outputs: [{key: a-b}]}",
            "error LH0603: the output `a-b` cannot be a name",
        ),
        (
            "  - {id: a, type: agent, prompt: p.md, outputs: [{key: k}, {key: k}]}",
            "warning LH0603: the output `k` is listed twice",
        ),
        ("  - {id: a, type: agent, prompt: p.md, labels: {x: y}}", "warning LH0602: `labels` has no effect here"),
        (
            "  - {id: a, type: script, script: s.sh, outputs: [{key: k, default: 1}]}",
            "warning LH0602: `default` has no effect here",
        ),
        (
            "  - {id: a, type: call, fn: inc, outputs: [{key: k}]}",
            "error LH0603: there is no function `inc` to call (did you mean `incr`?)",
        ),
        ("  - {id: a, type: call, fn: incr, outputs: [{key: k, wrap: w}]}", "error LH0603: `wrap` cannot be said"),
        (
            "  - {id: a, type: call, fn: seed, args: {k: '{% if x %}y{% endif %}'}}",
            "error LH0603: a template with statements",
        ),
    ] {
        let said = said(nodes);
        assert!(said.lines().count() == 1 && said.contains(finding), "{nodes}\nexpected {finding}\ngot {said}");
    }
}

#[test]
fn a_file_without_start_is_still_one() {
    assert_eq!(findings(Dialect::Workhorse, "workflow.yaml", "nodes: [{id: a, type: terminal}]"), "");
}

#[test]
fn time_is_written_in_seconds() {
    for (seconds, native_text) in [("1200", "timeout: 1200s"), ("0.5", "timeout: 500ms"), ("infinity", "timeout: none")]
    {
        let text = native(&format!("  - {{id: a, type: agent, prompt: p.md, timeout: {seconds}, next: end}}"));
        assert!(text.contains(native_text), "{text}");
    }
    assert!(!native("  - {id: a, type: agent, prompt: p.md, next: end}").contains("timeout"));
}

#[test]
fn counters_count_what_they_are_given() {
    for (fields, expression) in [
        ("outputs: [{key: n}]", "n | default(0) | int + 1"),
        ("args: ['{{ m }}'], outputs: [{key: n}]", "m | default(0) | int + 1"),
        ("args: [m.total], outputs: [{key: n}]", "m.total | default(0) | int + 1"),
        ("args: {value: '{{ m }}', by: '2'}, outputs: [{key: n, default: 5}]", "m | default(5) | int + ('2' | int)"),
    ] {
        let text = native(&format!("  - {{id: a, type: call, fn: incr, {fields}, next: end}}"));
        assert!(text.contains(expression), "{fields}: {text}");
        assert!(minijinja::Environment::new().compile_expression(expression).is_ok(), "{expression}");
    }
}

#[test]
fn seeds_do_not_overwrite() {
    let text = native("  - {id: a, type: call, fn: seed, args: {n: '0', m: '{{ x }}'}, next: end}");
    assert!(text.contains("n | default('0')") && text.contains("m | default(x)"), "{text}");
}

#[test]
fn an_agent_without_outputs_has_no_output() {
    assert!(!native("  - {id: a, type: agent, prompt: p.md, next: end}").contains("output"));
}

#[test]
fn a_broken_file_has_one_finding() {
    for (code, text) in [
        ("LH0107", include_str!("../../../../../tests/broken/workhorse-number-as-case.yaml")),
        ("LH0108", include_str!("../../../../../tests/broken/workhorse-unknown-key.yaml")),
        ("LH0107", include_str!("../../../../../tests/broken/workhorse-unknown-type.yaml")),
        ("LH0107", include_str!("../../../../../tests/broken/workhorse-number-as-argument.yaml")),
        ("LH0107", include_str!("../../../../../tests/broken/workhorse-operator.yaml")),
        ("LH0603", include_str!("../../../../../tests/broken/workhorse-unknown-function.yaml")),
        ("LH0603", include_str!("../../../../../tests/broken/workhorse-empty-path.yaml")),
        ("LH0603", include_str!("../../../../../tests/broken/workhorse-output-name.yaml")),
    ] {
        let said = findings(Dialect::Workhorse, "w.yaml", text);
        assert!(said.lines().count() == 1 && said.contains(&format!("error {code}")), "{text}\n{said}");
    }
}

#[test]
fn what_a_flow_gives_is_taken_where_a_node_takes_nothing() {
    let text = "start: a
flows:
  f: {start: x, nodes: [{id: x, type: terminal}], outputs: [{key: r, from: v.r}, {key: 'b d'}]}
  unused: {start: x, nodes: [{id: x, type: terminal}]}
nodes:
  - {id: a, type: flow, flow: f, next: b}
  - {id: b, type: flow, flow: g, next: c}
  - {id: c, type: terminal}
";
    insta::assert_snapshot!(transcript(Dialect::Workhorse, "workflow.yaml", text));
}
