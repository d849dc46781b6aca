//! Tests `cache`: what runs once and what runs again. Every execution writes a line to a log.

use longhaul_core::plan::Outcome;
use longhaul_core::state::State;

use crate::kinds::bench::Bench;

fn step(cache: &str, command: &str) -> String {
    format!(
        "inputs: {{x: {{type: string, default: one}}}}\nsteps:\n  - id: a\n    run: {command}\n    cache: {cache}\n"
    )
}

const LOGGED: &str = "echo done >> log; echo result";

fn executions(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.file("log")).unwrap_or_default().lines().count()
}

fn first(state: &State) -> &longhaul_core::state::StepInst {
    &state.steps()[0]
}

#[tokio::test]
async fn the_second_run_uses_the_result_of_the_first() {
    let bench = Bench::new();
    let (_, _, state) = bench.run(&step("true", LOGGED), &[]).await;
    assert!(!first(&state).outcome.result.cached);
    let (_, outcome, state) = bench.run(&step("true", LOGGED), &[]).await;
    assert_eq!((outcome, executions(&bench)), (Outcome::Success, 1));
    assert!(first(&state).outcome.result.cached);
    assert_eq!(first(&state).outcome.result.output, "result");
    assert_eq!(first(&state).outcome.result.exit_code, Some(0));
}

#[tokio::test]
async fn a_step_that_does_not_say_so_is_done_every_time() {
    let bench = Bench::new();
    for _ in 0..2 {
        bench.run(&step("false", LOGGED), &[]).await;
    }
    assert_eq!(executions(&bench), 2);
}

#[tokio::test]
async fn another_command_input_or_variable_is_another_result() {
    let bench = Bench::new();
    bench.run(&step("true", LOGGED), &[]).await;
    bench.run(&step("true", "echo done >> log; echo other"), &[]).await;
    assert_eq!(executions(&bench), 2);
    let by_input = step("{inputs: [x]}", LOGGED);
    bench.run(&by_input, &[("x", "one")]).await;
    bench.run(&by_input, &[("x", "one")]).await;
    assert_eq!(executions(&bench), 3);
    bench.run(&by_input, &[("x", "two")]).await;
    assert_eq!(executions(&bench), 4);
    bench.run(&format!("{by_input}    env: {{A: b}}\n"), &[("x", "two")]).await;
    assert_eq!(executions(&bench), 5);
}

#[tokio::test]
async fn another_prompt_is_another_result() {
    let bench = Bench::new();
    let prompt = "inputs: {x: string}\nsteps:\n  - id: a\n    prompt: \"say {{ x }}\"\n    cache: true\n";
    let cached = async |x: &str| {
        let (_, _, state) = bench.run(prompt, &[("x", x)]).await;
        (first(&state).outcome.result.cached, first(&state).outcome.result.usage)
    };
    assert!(!cached("one").await.0);
    assert_eq!(cached("one").await, (true, None));
    assert!(!cached("two").await.0);
}

#[tokio::test]
async fn a_file_that_changed_came_or_went_is_another_result() {
    let bench = Bench::new();
    let workflow = step("{files: ['src/*.txt']}", LOGGED);
    std::fs::create_dir(bench.file("src")).unwrap();
    std::fs::write(bench.file("src/a.txt"), "1").unwrap();
    std::fs::write(bench.file("other"), "1").unwrap();
    bench.run(&workflow, &[]).await;
    std::fs::write(bench.file("other"), "2").unwrap();
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 1);
    std::fs::write(bench.file("src/a.txt"), "2").unwrap();
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 2);
    std::fs::write(bench.file("src/b.txt"), "").unwrap();
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 3);
    std::fs::rename(bench.file("src/b.txt"), bench.file("src/c.txt")).unwrap();
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 4);
}

#[tokio::test]
async fn a_result_is_good_until_its_time_is_up() {
    let bench = Bench::new();
    let workflow = step("{ttl: 1h}", LOGGED);
    bench.run(&workflow, &[]).await;
    bench.clock.forward(3_599_999);
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 1);
    bench.clock.forward(1);
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 2);
    bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 2);
}

#[tokio::test]
async fn failures_are_not_kept() {
    let bench = Bench::new();
    for _ in 0..2 {
        let (_, outcome, _) = bench.run(&step("true", "echo done >> log; exit 1"), &[]).await;
        assert_eq!(outcome, Outcome::Failure);
    }
    assert_eq!(executions(&bench), 2);
}

#[tokio::test]
async fn a_file_of_the_cache_that_is_broken_is_ignored_and_replaced() {
    let bench = Bench::new();
    let kept = || {
        let files = std::fs::read_dir(bench.dir.path().join("home/cache")).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect::<Vec<_>>()
    };
    bench.run(&step("true", LOGGED), &[]).await;
    let good = std::fs::read_to_string(&kept()[0]).unwrap();
    let renamed = good.replace("\"key\":\"", "\"key\":\"0");
    for (bad, expected) in [("", 2), (&good[..good.len() / 2], 3), ("{}", 4), (renamed.as_str(), 5)] {
        std::fs::write(&kept()[0], bad).unwrap();
        bench.run(&step("true", LOGGED), &[]).await;
        assert_eq!(executions(&bench), expected, "{bad}");
    }
    bench.run(&step("true", LOGGED), &[]).await;
    assert_eq!((executions(&bench), kept().len()), (5, 1));
}

#[tokio::test]
async fn refreshing_does_the_work_and_keeps_the_new_result() {
    let mut bench = Bench::new();
    let workflow = step("true", "echo done >> log; wc -l < log");
    bench.run(&workflow, &[]).await;
    bench.options.refresh_cache = true;
    bench.run(&workflow, &[]).await;
    bench.options.refresh_cache = false;
    let (_, _, state) = bench.run(&workflow, &[]).await;
    assert_eq!(executions(&bench), 2);
    assert_eq!(first(&state).outcome.result.output, "2");
}
