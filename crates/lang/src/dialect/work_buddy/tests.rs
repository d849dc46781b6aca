//! Whole units of work-buddy's, and what they become.

use crate::dialect::Dialect;
use crate::dialect::transcript::{codes, native_codes, one_finding_each, pointed, transcript};

fn unit(body: &str) -> String {
    let text = format!("{{kind: workflow, workflow_name: w, {body}}}");
    pointed(Dialect::WorkBuddy, "w.yaml", &text)
}

#[test]
fn a_markdown_unit_is_kept() {
    let text = include_str!("../../../../../tests/dialects/work-buddy/morning.md");
    insta::assert_snapshot!(transcript(Dialect::WorkBuddy, "morning.md", text));
}

#[test]
fn a_store_has_the_workflows_that_have_steps() {
    let text = include_str!("../../../../../tests/dialects/work-buddy/store.json");
    insta::assert_snapshot!(transcript(Dialect::WorkBuddy, "store.json", text));
}

#[test]
fn broken_units_say_where() {
    for (body, expected) in [
        (
            "steps: [{id: a}]",
            "error[LH0109] 1:49 at `a`: the step `a` has no instruction (nothing says what to do; say what to do: `step_instructions.a`, or a section `## a` in Markdown)",
        ),
        (
            "steps: [{id: a, depends_on: [b]}, {id: b}], step_instructions: {a: x, b: y}",
            "error[LH0603] 1:65 at `b`: `b` must be declared before the step that depends on it (declared later)",
        ),
        (
            "steps: [{id: a}], step_instructions: {a: x, c: y}",
            "warning[LH0602] 1:80 at `c`: `c` has no effect here: it is an instruction for a step that does not exist (not kept)",
        ),
        (
            "steps: [{id: a, auto_run: {callable: os.system}}]",
            "error[LH0603] 1:73 at `os.system`: a callable must begin with `work_buddy.` (outside of the package)",
        ),
        (
            "steps: [{id: load, auto_run: {callable: work_buddy.a}}, {id: b, auto_run: {callable: work_buddy.b, input_map: {x: laod}}}]",
            "error[LH0603] 1:150 at `laod`: `laod` is not a step (no step has this id; did you mean `load`?)",
        ),
        (
            "steps: [{id: a, result_schema: {key_types: {k: date}}}], step_instructions: {a: x}",
            "error[LH0505] 1:83 at `date`: `date` is not a type (not a schema; types are: str, int, float, bool, list, dict)",
        ),
        (
            "steps: [{id: a, visibility: al}], step_instructions: {a: x}",
            "error[LH0603] 1:64 at `al`: `visibility` cannot be `al` (unknown word; it can be: full, summary, none, auto)",
        ),
        (
            "steps: [{id: a, step_typ: code}], step_instructions: {a: x}",
            "error[LH0108] 1:52 at `step_typ`: a step has no key `step_typ` (unknown key; did you mean `step_type`?)",
        ),
        (
            "execution: remote, steps: [{id: a}], step_instructions: {a: x}",
            "error[LH0603] 1:47 at `remote`: `execution` cannot be `remote` (unknown word; it can be: main, subagent)",
        ),
        (
            "params_schema: {n: {type: date}}, steps: [{id: a}], step_instructions: {a: x}",
            "warning[LH0602] 1:62 at `date`: `date` has no effect here: it is not a type, so any value is accepted (not kept)",
        ),
    ] {
        assert_eq!(unit(body), expected, "{body}");
    }
}

#[test]
fn any_tree_is_survived() {
    for body in [
        "steps: 3",
        "steps: [3, {}, {id: []}], step_instructions: 4, content: 5, params_schema: 6, tags: 7, aliases: {}",
        "steps: [{id: a, auto_run: 3, depends_on: 4, requires: 5}], params_schema: {x: 1}",
        "steps: [{id: a, auto_run: {callable: 1, kwargs: 2, input_map: {x: []}, timeout: x}}]",
        "steps: [{id: a, result_schema: 1, visibility: []}], step_instructions: {a: {}}",
    ] {
        assert!(unit(body).contains("error["), "{body}");
    }
}

#[test]
fn a_file_with_one_mistake_has_one_finding() {
    one_finding_each!(
        "work-buddy-no-instruction.md" => "LH0109",
        "work-buddy-wrong-order.json" => "LH0603",
        "work-buddy-callable.json" => "LH0603",
        "work-buddy-unknown-source.json" => "LH0603",
        "work-buddy-result-type.md" => "LH0505",
        "work-buddy-stray-instruction.md" => "LH0602",
        "work-buddy-unknown-key.json" => "LH0108",
        "work-buddy-no-steps.json" => "LH0215",
    );
}

#[test]
fn the_native_text_is_a_native_file() {
    let unit = include_str!("../../../../../tests/dialects/work-buddy/morning.md");
    assert_eq!(native_codes(Dialect::WorkBuddy, "morning.md", unit), ["LH0408"], "only the other workflow is missing");
    let store = include_str!("../../../../../tests/dialects/work-buddy/store.json");
    assert!(native_codes(Dialect::WorkBuddy, "store.json", store).is_empty());
}
