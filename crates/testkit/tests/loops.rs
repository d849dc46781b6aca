//! Loops in which nothing is done end, and say so; loops in which something is done continue.
use longhaul_testkit::World;

/// What a workflow comes to, and in how many events.
fn run(workflow: &str, script: &str) -> (String, usize) {
    let mut world = World::new(workflow, script).unwrap();
    world.run().unwrap();
    let text = world.text();
    let said = text.lines().rev().find(|line| line.contains(" run ")).unwrap_or_default().to_owned();
    (said, text.lines().count())
}

const ENDED: &str = "is part of a loop in which nothing is done: after 5000 rounds without any work the run was ended";

#[test]
fn nodes_that_only_lead_to_each_other_end_the_run() {
    let (said, events) = run(
        "
inputs: {x: {type: string, default: q}}
start: a
nodes:
  - {id: a, next: [{when: \"inputs.x == 'never'\", to: z}, {to: b}]}
  - {id: b, next: [{when: \"inputs.x == 'never'\", to: z}, {to: a}]}
  - {id: z, end: success}
",
        "",
    );
    assert!(said.contains(ENDED), "{said}");
    assert!(events < 20_000, "{events}");
}

#[test]
fn rounds_in_which_nothing_is_done_end_it_too_also_inside_and_beside_work() {
    let (said, _) = run(
        "
do:
  - id: both
    parallel:
      works: [{id: slow, run: 'true'}]
      spins:
        - id: spin
          repeat: {until: 'n == 2', max: 100000}
          do: [{id: one, set: {n: 1}}]
",
        "both[0]/slow -> hang",
    );
    assert!(said.contains(ENDED), "{said}");
}

/// Each of them is as long as can be borne, and between them something is done.
#[test]
fn work_between_rounds_starts_their_count_again() {
    let rounds = |id: &str| {
        let one = format!("[{{id: {id}-one, set: {{n: 1}}}}]");
        format!("  - {{id: {id}, repeat: {{until: 'n == 2', max: 2600, on_exhausted: continue}}, do: {one}}}")
    };
    let both = |between: &str| format!("do:\n{}\n{between}\n{}\n", rounds("first"), rounds("second"));
    for between in ["  - {id: work, run: 'true'}", "  - {id: nap, wait: 1s}", "  - {id: ok, approve: Continue?}"] {
        let (said, _) = run(&both(between), "ok <- approve");
        assert!(said.contains("run succeeded"), "{between}: {said}");
    }
    let (said, _) = run(&both("  - {id: nothing, set: {m: 1}}"), "");
    assert!(said.contains(ENDED), "{said}");
}
