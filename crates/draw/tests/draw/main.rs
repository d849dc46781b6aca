//! Tests drawings: plans in, pictures out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(test)]
mod builder;
mod hostile;
mod plans;
mod size;

use longhaul_core::plan::Plan;
use longhaul_draw::{dot, mermaid, picture, svg, tree};

/// Checks every format of one plan, each against its snapshot.
fn check(name: &str, plan: &Plan) {
    insta::assert_snapshot!(format!("{name}.tree"), tree(plan));
    insta::assert_snapshot!(format!("{name}.mermaid"), mermaid(plan));
    insta::assert_snapshot!(format!("{name}.dot"), dot(plan));
    insta::assert_snapshot!(format!("{name}.svg"), svg(plan));
}

/// The data for a client that draws by itself.
fn json(plan: &Plan) -> serde_json::Value {
    serde_json::to_value(picture(plan)).unwrap()
}

#[test]
fn parallel_steps_stand_side_by_side_and_a_join_names_what_it_waits_for() {
    check("review", &plans::review());
}

#[test]
fn loops_hold_their_steps() {
    check("tasks", &plans::tasks());
}

#[test]
fn a_state_machine_shows_its_start_its_ways_and_its_ends() {
    check("night-watch", &plans::night_watch());
}

#[test]
fn branches_are_named_by_what_they_are_for() {
    check("choices", &plans::choices());
}

#[test]
fn a_choice_is_drawn_once_and_a_rewind_leads_back() {
    check("release", &plans::release());
}

#[test]
fn a_sub_workflow_is_one_node_and_its_own_section_appears_once_if_it_is_used() {
    check("nested", &plans::nested());
}

#[test]
fn the_data_of_a_drawing_has_a_place_for_every_node_and_edge() {
    insta::assert_json_snapshot!("tasks.json", json(&plans::tasks()));
    for plan in [plans::review(), plans::night_watch(), plans::choices(), plans::release(), plans::nested()] {
        let value = json(&plan);
        let count = |path: &str| value.pointer(path).and_then(|list| list.as_array()).map(Vec::len);
        assert_eq!(count("/graph/nodes"), count("/layout/nodes"));
        assert_eq!(count("/graph/edges"), count("/layout/edges"));
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    for make in [plans::review, plans::tasks, plans::night_watch, plans::choices, plans::release, plans::nested] {
        let draw = |plan: &Plan| [tree(plan), mermaid(plan), dot(plan), svg(plan), json(plan).to_string()];
        assert_eq!(draw(&make()), draw(&make()));
    }
}
