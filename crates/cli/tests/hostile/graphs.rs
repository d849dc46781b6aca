//! Tests workflows with too many steps, and with cycles.

use std::fs;

use crate::hostile::child::{folder_with, refused, refused_in};

fn steps(count: usize, step: impl Fn(usize) -> String) -> String {
    "steps:\n".to_owned() + &(0..count).map(|at| format!("- {{{}}}\n", step(at))).collect::<String>()
}

#[test]
fn a_graph_of_a_hundred_thousand_steps_is_refused() {
    refused(steps(90_000, |at| format!("id: s{at}, run: echo")), "LH0102");
}

#[test]
fn a_circle_of_ten_thousand_steps_is_named_in_part() {
    let text =
        refused(steps(10_000, |at| format!("id: s{at}, run: echo, depends_on: s{}", (at + 1) % 10_000)), "LH0208");
    assert!(text.contains("(9988 more)") && text.len() < 2_000, "{text:.3000}");
}

#[test]
fn unknown_names_are_not_all_compared_with_all_known_ones() {
    refused(steps(10_000, |at| format!("id: s{at}, run: echo, depends_on: t{at}")), "LH0207");
    refused(steps(10_000, |at| format!("id: s{at}, prompt: '{{{{ nope{at} }}}}', output: o{at}")), "LH0303");
}

#[test]
fn workflows_that_use_each_other_through_files_are_refused() {
    let folder = folder_with("do: [{workflow: ./b.yaml}]\n");
    fs::write(folder.path().join("b.yaml"), "do: [{workflow: ./w.yaml}]\n").unwrap();
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert!(codes.contains(&"LH0411".to_owned()), "{text}");
}

#[test]
fn a_workflow_reaches_a_hundred_others_at_the_most() {
    let folder = folder_with("do: [{workflow: ./s0.yaml}]\n");
    for at in 0..130 {
        let uses = format!("do: [{{workflow: ./s{}.yaml}}, {{id: again, workflow: ./s{}.yaml}}]\n", at + 1, at + 1);
        fs::write(folder.path().join(format!("s{at}.yaml")), uses).unwrap();
    }
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert_eq!(codes, ["LH0102"], "{text}");
}

#[test]
fn names_that_pass_through_many_levels_are_limited() {
    let names: Vec<String> = (0..50_000).map(|at| format!("k{at}: 1")).collect();
    let (open, close) = ("{if: 'true', then: ".repeat(40), "}".repeat(40));
    refused(format!("do:\n- {open}{{set: {{{}}}}}{close}\n", names.join(", ")), "LH0102");
}

#[test]
fn thousands_of_workflows_and_inputs_in_one_file_take_no_more_than_their_share() {
    let workflows: String = (0..5_000).map(|at| format!("  w{at}: {{do: [{{workflow: w{}}}]}}\n", at + 1)).collect();
    refused(format!("do: [{{workflow: w0}}]\nworkflows:\n{workflows}"), "LH0408");
    let inputs: Vec<String> = (0..20_000).map(|at| format!("k{at}: string")).collect();
    let steps: String = (0..10_000)
        .map(|at| format!("- {{id: s{at}, run: 'echo {{{{ inputs.k{at} }}}} {{{{ k{at} }}}}'}}\n"))
        .collect();
    refused(
        format!("inputs: {{{}}}\ndo:\n{steps}- {{run: 'echo {{{{ inputs.nope }}}}'}}\n", inputs.join(", ")),
        "LH0307",
    );
}
