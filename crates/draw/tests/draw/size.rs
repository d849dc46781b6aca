//! Tests plans that are larger than a screen.

use longhaul_core::plan::Plan;
use longhaul_draw::{dot, graph, layout, mermaid, svg, tree};

use crate::plans::{chain, deep, fan};

/// How many lines each format takes for the steps of a plan.
fn mentions(plan: &Plan, id: &str) -> [usize; 4] {
    [tree(plan), mermaid(plan), dot(plan), svg(plan)].map(|text| text.matches(id).count())
}

#[test]
fn ten_thousand_steps_in_a_row_are_drawn() {
    let plan = chain(10_000);
    assert!(mentions(&plan, "s9999").iter().all(|count| *count > 0));
    let layout = layout(&graph(&plan));
    let order: Vec<f64> = layout.nodes.iter().map(|node| node.area.y).collect();
    assert!(order.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_thousand_steps_side_by_side_are_drawn_without_overlap() {
    let plan = fan(1_000);
    assert!(mentions(&plan, "s999").iter().all(|count| *count > 0));
    assert!(tree(&plan).contains("after s0, s1, s2, s3, s4, s5 and 994 more"));
    no_overlap(&plan);
}

#[test]
fn boxes_do_not_overlap_on_either_side_of_the_change_to_plain_rows() {
    for count in [3, 60, 166, 167] {
        no_overlap(&fan(count));
    }
}

#[test]
fn deep_nests_are_drawn() {
    let plan = deep(300);
    assert!(mentions(&plan, "leaf").iter().all(|count| *count > 0));
}

fn no_overlap(plan: &Plan) {
    let layout = layout(&graph(plan));
    for (n, a) in layout.nodes.iter().enumerate() {
        for b in &layout.nodes[n + 1..] {
            let (a, b) = (a.area, b.area);
            let apart_x = a.x + a.width <= b.x || b.x + b.width <= a.x;
            let apart_y = a.y + a.height <= b.y || b.y + b.height <= a.y;
            assert!(apart_x || apart_y, "{a:?} {b:?}");
        }
    }
}
