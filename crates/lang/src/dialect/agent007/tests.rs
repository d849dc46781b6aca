//! agent007 text in, native text out.

use super::super::Dialect;
use super::super::transcript::{findings, transcript};

macro_rules! examples {
    ($($test:ident: $file:literal,)*) => {
        $(#[test]
        fn $test() {
            let text = include_str!(concat!("../../../../../tests/dialects/agent007/", $file));
            insta::assert_snapshot!(transcript(Dialect::Agent007, $file, text));
        })*
    };
}

examples! {
    approvals_inputs_and_a_budget_become_review_depends_on_and_limits: "release-notes.yaml",
    evaluators_rewind_and_reliability_becomes_limits_and_gates: "build-until-good.yaml",
    a_toml_router_with_every_other_step_type: "triage.toml",
    names_that_do_not_fit_are_changed_everywhere: "wording.yaml",
}

/// Findings of a file with these steps, one of which needs approval.
fn said(steps: &str) -> String {
    let approved = "  - {id: ok, agent: A, prompt: p, requires_approval: true}\n";
    findings(Dialect::Agent007, "w.yaml", &format!("name: w\nsteps:\n{approved}{steps}"))
}

/// The native text of one evaluator with this condition.
fn until(condition: &str) -> String {
    let text = format!(
        "name: w\nsteps:\n  - {{id: a, agent: A, prompt: p, output: x}}\n  - id: e\n    type: evaluator\n    agent: A\n    prompt: p\n    depends_on: [a]\n    evaluate: {{condition: {condition:?}, on_pass: z, on_fail: a}}\n  - {{id: z, agent: A, prompt: p, depends_on: [e]}}\n"
    );
    let native = transcript(Dialect::Agent007, "w.yaml", &text);
    let until = native.split_once("until: ").map(|(_, rest)| rest).unwrap_or(&native);
    until.split([',', '\n']).next().unwrap_or_default().to_owned()
}

#[test]
fn conditions_become_expressions() {
    for (condition, expression) in [
        ("{{x}} contains OK", "'ok' in (x | lower)"),
        ("{{x}} NOT_CONTAINS 'Bad'", "'bad' not in (x | lower)"),
        ("{{ x }} equals \"Yes\"", "(x | lower | trim) == 'yes'"),
        ("{{x}} starts_with it's", "(x | lower | trim) is startingwith('it\\'s')"),
        ("got {{x}} contains {{x}}", "('got ' ~ x) | lower"),
    ] {
        let native = until(condition);
        let plain = native.trim_matches('"').replace("\\\\", "\\");
        assert!(plain.contains(expression), "{condition}: {native}");
        assert!(minijinja::Environment::new().compile_expression(&plain).is_ok(), "{plain}");
    }
}

#[test]
fn conditions_that_can_never_hold_are_refused() {
    let refused = |condition: &str| {
        said(&format!(
            "  - {{id: e, type: evaluator, agent: A, prompt: p, evaluate: {{condition: {condition:?}, on_pass: ok, on_fail: ok}}}}\n"
        ))
    };
    assert!(refused("{{x}} is good").contains("LH0603: the condition compares nothing"));
    assert!(refused("x contains good").contains("LH0603: the condition asks about fixed text"));
    assert!(refused("{{x + 1}} contains good").contains("LH0603: the condition has braces around something"));
}

#[test]
fn a_choice_forward_is_no_rewind() {
    let text = "name: w
steps:
  - id: judge
    type: evaluator
    agent: A
    prompt: p
    output: v
    evaluate: {decision_field: ok, on_pass: ship, on_fail: fix, max_retries: 2}
  - {id: ship, agent: A, prompt: p, depends_on: [judge]}
  - {id: fix, agent: A, prompt: p, depends_on: [judge]}
";
    insta::assert_snapshot!(transcript(Dialect::Agent007, "w.yaml", text));
}

#[test]
fn a_pass_without_a_question_never_sends_anything_back() {
    let text = "name: w
steps:
  - {id: judge, type: evaluator, agent: A, prompt: p, evaluate: {on_pass: ship, on_fail: judge}}
  - {id: ship, agent: A, prompt: p, depends_on: [judge]}
";
    let native = transcript(Dialect::Agent007, "w.yaml", text);
    assert!(!native.contains("rewind") && native.contains("next: ship"), "{native}");
    assert!(native.contains("warning LH0602: `on_fail` has no effect here"), "{native}");
}

#[test]
fn mistakes_are_said() {
    for (steps, finding) in [
        ("  - {id: a, agent: A}", "4:5 error LH0109: step `a` needs either `prompt` or `skill`"),
        ("  - {id: a, prompt: p}", "error LH0109: step `a` needs `agent`"),
        ("  - {id: ' ', agent: A, prompt: p}", "error LH0109: `id` of step ` ` is blank"),
        ("  - {id: a, agent: A, prompt: 3}", "error LH0107: `prompt` must be text, but this is a number"),
        (
            "  - {id: a, agent: A, prompt: p, promt: q}",
            "error LH0108: step `a` has no key `promt` (did you mean `prompt`?)",
        ),
        ("  - {id: a, agent: A, prompt: p, inputs: [y]}", "error LH0303: step `a` takes `y`, which no step makes"),
        ("  - {id: a, agent: A, type: router, prompt: p}", "error LH0109: step `a` needs `routes`"),
        ("  - {id: a, agent: A, type: sub-workflow}", "error LH0109: step `a` needs `workflow`"),
        ("  - {id: a, agent: A, type: extract}", "error LH0109: step `a` needs `extract`"),
        ("  - {id: a, agent: A, type: multi-agent, prompt: p}", "error LH0109: step `a` needs `workers`"),
        ("  - {id: a, agent: A, type: evaluator, prompt: p}", "error LH0109: step `a` needs `evaluate`"),
        (
            "  - {id: a, agent: A, type: rooter, prompt: p}",
            "error LH0107: `type` cannot be `rooter` (did you mean `router`?)",
        ),
        ("  - {id: a, agent: A, prompt: p, output: task}", "error LH0603: an output cannot be called `task`"),
        (
            "  - {id: a, agent: A, prompt: p, approval_prompt: q}",
            "warning LH0602: `approval_prompt` has no effect here",
        ),
        ("  - {id: a, agent: A, prompt: p, workflow: q}", "warning LH0602: `workflow` has no effect here"),
        ("  - {id: a, agent: A, prompt: p, skill: q}", "warning LH0602: `prompt` has no effect here"),
        (
            "  - {id: a, agent: A, type: router, prompt: p, routes: [{goto: ok}]}",
            "warning LH0603: this route is never taken",
        ),
    ] {
        let said = said(steps);
        assert!(said.lines().count() == 1 && said.contains(finding), "{steps}\nexpected {finding}\ngot {said}");
    }
}

#[test]
fn built_in_inputs_need_no_producer() {
    assert_eq!(said("  - {id: a, agent: A, prompt: p, inputs: [task, memory.project, rag_context]}"), "");
}

fn settings(top: &str) -> String {
    let text = format!("name: w\n{top}\nsteps:\n  - {{id: a, agent: A, prompt: p}}\n");
    let native = transcript(Dialect::Agent007, "w.yaml", &text);
    let (before, after) = native.split_once("steps:").unwrap_or((&native, ""));
    let findings: Vec<&str> = after.lines().filter(|line| line.starts_with('#')).collect();
    format!("{}{}", before.trim_start_matches("name: w\n"), findings.join("\n"))
}

#[test]
fn the_outer_switch_sets_all_controls_and_an_inner_one_its_own() {
    insta::assert_snapshot!(
        [
            settings("reliability: {enabled: true}"),
            settings("reliability: {enabled: false, guardrails: {enabled: true, terms: [x]}}"),
            settings("reliability: {recovery: {max_step_retries: 0}, confidence: {missing_requires_approval: false}}"),
        ]
        .join("---\n")
    );
}

#[test]
fn the_governor_takes_over_from_on_exceed() {
    let native = settings(
        "budget: {max_usd_per_task: 2, on_exceed: pause}\nreliability: {budget_governor: {lazy_injection_threshold: 9}}",
    );
    assert!(native.contains("on_exceed: degrade") && !native.contains("ask"), "{native}");
    assert!(native.contains("`on_exceed` has no effect here") && native.contains("`lazy_injection_threshold` has no"));
}

#[test]
fn what_happens_at_a_limit_has_other_words() {
    for (word, native) in [("stop", "fail"), ("alert-only", "warn"), ("pause", "ask")] {
        assert!(settings(&format!("budget: {{on_exceed: {word}}}")).contains(&format!("on_exceed: {native}")));
    }
    assert!(settings("budget: {max_usd_per_task: 1}").contains("on_exceed: fail"));
}

#[test]
fn documented_thresholds_of_the_gate_are_not_lost() {
    let native = settings("eval_gate: {enabled: true, warn_threshold: 0.15, block_threshold: 0.3}");
    assert!(native.contains("quality_drop: 0.3"), "{native}");
    assert!(native.contains("warning LH0602: `warn_threshold` has no effect here"), "{native}");
}

#[test]
fn a_prompt_for_approval_is_shown_as_it_is() {
    let text =
        "name: w\nsteps:\n  - {id: a, agent: A, prompt: p, requires_approval: true, approval_prompt: 'Is {{x}} ok?'}\n";
    let native = transcript(Dialect::Agent007, "w.yaml", text);
    assert!(native.contains("review: \"{% raw %}Is {{x}} ok?{% endraw %}\""), "{native}");
}

#[test]
fn plain_step_files_stay_native() {
    use crate::source::{Format, Sources, read};
    let mut sources = Sources::default();
    let text = "steps: [{id: a, agent: x, prompt: p, output: o, depends_on: []}]";
    let file = sources.add("w.yaml", text);
    let node = read(&sources, file, Format::Yaml, &mut Vec::new()).unwrap();
    assert_eq!(Dialect::of(&node), Dialect::Native);
}

#[test]
fn a_broken_file_has_one_finding() {
    for (code, text) in [
        ("LH0109", include_str!("../../../../../tests/broken/agent007-no-prompt.yaml")),
        ("LH0108", include_str!("../../../../../tests/broken/agent007-unknown-key.yaml")),
        ("LH0303", include_str!("../../../../../tests/broken/agent007-unknown-input.yaml")),
        ("LH0603", include_str!("../../../../../tests/broken/agent007-condition-without-operator.yaml")),
        ("LH0109", include_str!("../../../../../tests/broken/agent007-blank-agent.yaml")),
        ("LH0107", include_str!("../../../../../tests/broken/agent007-unknown-type.yaml")),
        ("LH0107", include_str!("../../../../../tests/broken/agent007-budget-word.yaml")),
        ("LH0109", include_str!("../../../../../tests/broken/agent007-evaluator-without-block.yaml")),
    ] {
        let said = findings(Dialect::Agent007, "w.yaml", text);
        assert!(said.lines().count() == 1 && said.contains(&format!("error {code}")), "{text}\n{said}");
    }
}
