//! Tests which notifications follow from a run: a workflow and a script in, lines out.

use longhaul_core::id::RunId;
use longhaul_core::notification::{OpenNotification, line, open};
use longhaul_core::view::brief;
use longhaul_testkit::VirtualWorld;

fn after(ms: i64, workflow: &str, script: &str) -> VirtualWorld {
    let mut world = VirtualWorld::new(workflow, script).unwrap();
    world.run_for(ms).unwrap();
    world
}

/// The lines that a worker prints.
fn lines(world: &VirtualWorld) -> Vec<String> {
    let pending = |notification| OpenNotification {
        run: RunId::new("run-1").unwrap(),
        workflow: "w".to_owned(),
        task: String::new(),
        notification,
    };
    open(&world.plan, &world.state).into_iter().map(pending).map(|one| line(&one)).collect()
}

fn keys(world: &VirtualWorld) -> Vec<String> {
    open(&world.plan, &world.state).into_iter().map(|one| one.key).collect()
}

#[test]
fn questions_of_all_kinds_say_what_to_type() {
    let workflow = "steps:\n  - {id: go, approve: \"Deploy?\\nReally?\"}\n  - {id: many, ask: 'How many?'}\n  \
                    - {id: look, run: echo x, review: true}\n  - {id: broken, run: 'false', on_error: ask}\n";
    let world = after(1000, workflow, "look -> ok \"x\"\nbroken -> fail failed no luck");
    let found = lines(&world);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[0], "run-1 go (w) needs your approval: Deploy? Really?; longhaul approve run-1 go");
    assert_eq!(found[1], "run-1 many (w) has a question for you: How many?; longhaul answer run-1 many VALUE");
    assert!(found.iter().any(|line| line.ends_with("; longhaul approve run-1 look")), "{found:?}");
    assert!(found.iter().any(|line| line.ends_with("longhaul answer run-1 broken retry|skip|fail")), "{found:?}");
}

#[test]
fn one_limit_of_many_steps_is_one_notification() {
    let workflow = "steps: [{id: each, for_each: [1, 2, 3], parallel: 3, do: [{id: a, prompt: hi}]}]";
    let script = "each[0]/a -> fail usage_limit full retry_after 2h\neach[1]/a -> fail usage_limit full retry_after 2h\n\
                  each[2]/a -> fail usage_limit full retry_after 2h";
    let world = after(60_000, workflow, script);
    let found = lines(&world);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("run-1 each[0]/a (w) waits for a usage limit: waits until 2026-01-01T02:"),
        "{found:?}"
    );
    assert!(found[0].ends_with("full; longhaul status run-1"), "{found:?}");
}

#[test]
fn an_answer_closes_and_a_new_question_is_another_one() {
    let workflow = "steps: [{id: a, run: 'false', on_error: ask}]";
    let first = after(1_000, workflow, "a -> fail failed no luck");
    let later = after(10_000, workflow, "a -> fail failed no luck\na@2 -> fail failed again\nat 5s answer a approve");
    let (first, later) = (keys(&first), keys(&later));
    assert_eq!((first.len(), later.len()), (1, 1));
    assert_ne!(first, later);
    let over = after(10_000, workflow, "a -> fail failed no luck\na@2 -> ok \"x\"\nat 5s answer a approve");
    assert!(keys(&over)[0].starts_with("success:"), "{:?}", keys(&over));
}

#[test]
fn a_person_who_pauses_or_cancels_is_not_told() {
    let paused = after(10_000, "steps: [{id: a, wait: 5s}, {id: b, wait: 9s}]", "at 1s pause");
    assert!(paused.state.paused && keys(&paused).is_empty(), "{:?}", keys(&paused));
    let cancelled = after(10_000, "steps: [{id: a, wait: 1h}]", "at 1s cancel");
    assert!(cancelled.state.is_finished() && keys(&cancelled).is_empty(), "{:?}", keys(&cancelled));
}

#[test]
fn a_flood_of_questions_is_bounded_in_the_row() {
    let items: Vec<String> = (0..100).map(|item| item.to_string()).collect();
    let workflow = format!(
        "steps: [{{id: each, for_each: [{}], parallel: 100, do: [{{id: go, approve: '{}'}}]}}]",
        items.join(","),
        "x".repeat(5000)
    );
    let world = after(1_000, &workflow, "");
    let brief = brief("r", &world.plan, &world.state);
    assert_eq!((brief.asks, brief.notifications.len()), (Some(100), 20));
    assert!(serde_json::to_string(&brief).unwrap().len() < 20_000);
}

#[test]
fn the_row_of_a_run_that_is_over_has_its_outputs_in_one_line() {
    let workflow = "outputs: {a: '{{ steps.a.output }}'}\nsteps: [{id: a, run: x}]";
    let world = after(1_000, workflow, &format!("a -> ok \"{}\"", "long ".repeat(200)));
    let outputs = brief("r", &world.plan, &world.state).outputs.unwrap();
    assert!(outputs.starts_with("a: long long") && outputs.chars().count() <= 130, "{outputs}");
}

#[test]
fn a_machine_that_is_gone_is_told_with_the_answers() {
    let chapter = include_str!("../../../tests/spec/machines.md");
    let block = |name: &str| chapter.split(&format!("```{name}\n")).nth(1).unwrap().split("```").next().unwrap();
    let script: Vec<&str> =
        block("script").lines().filter(|line| !line.contains("answer") && !line.contains("20m")).collect();
    let world = after(15 * 60_000, block("yaml"), &script.join("\n"));
    let found = lines(&world);
    assert!(found[0].contains(" waits for a machine that is silent: "), "{found:?}");
    assert!(found[0].ends_with("; longhaul answer run-1 two wait|abandon|cancel"), "{found:?}");
    assert_eq!(found.len(), 1, "one question for all steps that wait for it");
}
