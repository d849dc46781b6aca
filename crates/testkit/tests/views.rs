//! Tests what people see of a run.
use longhaul_core::event::Envelope;
use longhaul_core::explain::explain;
use longhaul_core::index::Index;
use longhaul_core::plan::StepIx;
use longhaul_core::status::{Awaited, RunStatus};
use longhaul_core::view::{
    Spanned, StepView, TimelineSpan, attempts, brief, cost, critical_path, forecast, questions, run, steps, timeline,
    trace,
};
use longhaul_testkit::VirtualWorld;
use serde_json::json;

fn after(ms: i64, workflow: &str, script: &str) -> VirtualWorld {
    let mut world = VirtualWorld::new(workflow, script).unwrap();
    world.run_for(ms).unwrap();
    world
}

fn ended(workflow: &str, script: &str) -> VirtualWorld {
    let mut world = VirtualWorld::new(workflow, script).unwrap();
    world.run().unwrap();
    world
}

fn outline(steps: &[StepView]) -> String {
    let line = |step: &StepView| {
        let inner = if step.steps.is_empty() { String::new() } else { format!("({})", outline(&step.steps)) };
        let replaced = if step.replaced { "*" } else { "" };
        format!("{}{replaced}={}{inner}", step.path, step.status)
    };
    steps.iter().map(line).collect::<Vec<_>>().join(" ")
}

const BUSY: &str = r#"
steps:
  - {id: flaky, run: "true", retry: {max: 3, backoff: 1h}}
  - {id: go, approve: "Continue?", timeout: 2d}
  - {id: scope, ask: "How far?"}
  - {id: nap, wait: 3h}
  - {id: ready, wait: {event: ready}}
  - {id: work, run: "true", name: Hard work}
  - {id: deploy, run: "true", depends_on: [work, go]}
"#;
const BUSY_SCRIPT: &str = "flaky -> fail transient no network\nwork -> hang";

#[test]
fn every_wait_is_explained() {
    let world = after(61_000, BUSY, BUSY_SCRIPT);
    let texts: Vec<String> = explain(&world.plan, &world.state).into_iter().map(|found| found.text).collect();
    assert_eq!(
        texts,
        [
            "`flaky` is tried again at 2026-01-01T01:00:01Z, attempt 2",
            "`go` waits for an approval since 2026-01-01T00:00:00Z (1s so far), until 2026-01-03T00:00:00Z",
            "`scope` waits for an answer since 2026-01-01T00:00:00Z (1s so far)",
            "`nap` sleeps until 2026-01-01T03:00:00Z",
            "`ready` waits for the signal `ready`",
            "`deploy` waits for `work`, `go`",
        ]
    );
}

#[test]
fn a_run_at_a_glance_says_what_it_does_and_waits_for() {
    let world = after(61_000, BUSY, BUSY_SCRIPT);
    let glance = run(&world.plan, &world.state, world.now());
    assert_eq!((glance.status, glance.duration_ms), (RunStatus::Running, 61_000));
    assert_eq!(Awaited::join(&glance.waiting_for), "timer, approval, question, event");
    assert_eq!((glance.progress.running, glance.progress.waiting, glance.progress.succeeded), (1, 5, 0));
    assert_eq!(glance.current.iter().map(ToString::to_string).collect::<Vec<_>>(), ["work"]);
}

#[test]
fn a_run_that_only_waits_is_waiting_and_one_that_is_over_says_how() {
    let world = after(1_000, "do: [{id: go, approve: \"Continue?\"}]", "");
    assert_eq!(run(&world.plan, &world.state, world.now()).status, RunStatus::Waiting);
    let world = ended("do: [{id: a, run: \"true\", output: out}]", "a -> ok 3");
    let glance = run(&world.plan, &world.state, world.now() + 99_000);
    assert_eq!(
        (glance.status, glance.duration_ms, glance.outputs["out"].as_i64()),
        (RunStatus::Succeeded, 1_000, Some(3))
    );
    assert!(glance.why.is_empty() && glance.waiting_for.is_empty());
}

#[test]
fn steps_are_a_tree_with_what_may_still_come() {
    let workflow = r#"
do:
  - {id: each, for_each: [1, 2], do: [{id: x, run: "true"}, {id: y, run: "true"}]}
  - {id: last, run: "true"}
"#;
    let world = after(1_500, workflow, "");
    let tree = outline(&steps(&world.plan, &world.state, world.now()));
    assert_eq!(tree, "each=running(each[0]/x=succeeded each[0]/y=running) last=pending");
}

#[test]
fn earlier_visits_are_marked_as_replaced() {
    let workflow = r#"
steps:
  - {id: write, run: "true"}
  - {id: judge, run: "true", depends_on: write, output: v, rewind: {to: write, until: "v == 'good'", max: 2}}
"#;
    let world = ended(workflow, "judge -> ok \"bad\"\njudge#2 -> ok \"good\"");
    let tree = outline(&steps(&world.plan, &world.state, world.now()));
    assert_eq!(tree, "write*=succeeded judge*=succeeded write#2=succeeded judge#2=succeeded");
}

#[test]
fn nothing_of_a_cancelled_run_is_still_under_way() {
    let world = ended(BUSY, &format!("{BUSY_SCRIPT}\nat 2s cancel"));
    let tree = outline(&steps(&world.plan, &world.state, world.now()));
    assert!(!tree.contains("running") && !tree.contains("waiting") && !tree.contains("pending"), "{tree}");
    assert!(questions(&world.plan, &world.state).is_empty());
}

#[test]
fn a_long_output_is_cut() {
    let long = "ä".repeat(5_000);
    let world = ended("do: [{id: a, run: \"true\"}]", &format!("a -> ok \"{long}\""));
    let shown = steps(&world.plan, &world.state, world.now())[0].output.as_str().unwrap().to_owned();
    assert!(shown.ends_with("… (5000 characters)") && shown.chars().count() < 2_100);
}

#[test]
fn questions_carry_what_a_person_needs() {
    let workflow = r#"do: [{id: a, name: Draft, run: "true", review: "Use it?", on_error: ask}]"#;
    let world = after(1_000, workflow, "a -> ok \"draft\"");
    let asked = &questions(&world.plan, &world.state)[0];
    assert_eq!((asked.text.as_str(), asked.name.as_deref()), ("Use it?", Some("Draft")));
    assert_eq!(asked.output.as_ref().unwrap(), "draft");
    let world = after(1_000, workflow, "a -> fail failed broken");
    let asked = &questions(&world.plan, &world.state)[0];
    assert_eq!(asked.error.as_ref().unwrap().message, "broken");
    assert_eq!(asked.choices, ["retry", "skip", "fail"]);
}

#[test]
fn costs_are_summed_by_step_and_by_agent() {
    let workflow = r#"
do:
  - {id: a, prompt: one, agent: engineer, retry: {max: 1, backoff: 1s}}
  - {id: b, prompt: two, agent: architect}
  - {id: c, run: "true"}
"#;
    let script = r#"
a@1 -> fail transient no with {"usage": {"input_tokens": 10, "usd": 0.25}}
a@2 -> ok 1 with {"usage": {"input_tokens": 10, "usd": 0.25}}
b -> ok 1 with {"usage": {"output_tokens": 5, "usd": 2.0}}
"#;
    let world = ended(workflow, script);
    let cost = cost(&world.plan, &world.state);
    assert!((cost.total.usd - 2.5).abs() < 1e-9);
    assert_eq!(cost.steps.iter().map(|spent| spent.path.to_string()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(cost.agents["engineer"].input_tokens, 20);
    assert_eq!(cost.agents.keys().collect::<Vec<_>>(), ["engineer", "architect"]);
}

#[test]
fn costs_belong_to_who_did_the_work() {
    let workflow = "do: [{id: a, prompt: one, agent: {backend: claude, fallback: [codex]}}, {id: b, prompt: two}]";
    let script = r#"
session a@1 s1 by claude
a@1 -> fail auth no with {"usage": {"usd": 0.25}}
session a@2 s2 by codex
a@2 -> ok 1 with {"usage": {"usd": 2.0, "at_least": true}}
session b@1 s3 by gemini
b -> ok 1 with {"usage": {"usd": 0.5}}
"#;
    let world = ended(workflow, script);
    let cost = cost(&world.plan, &world.state);
    let spent: Vec<(&str, f64)> = cost.agents.iter().map(|(name, usage)| (name.as_str(), usage.usd)).collect();
    assert_eq!(spent, [("claude", 0.25), ("codex", 2.0), ("gemini", 0.5)]);
    assert!(cost.agents["codex"].at_least && cost.total.at_least && !cost.agents["claude"].at_least);
}

#[test]
fn the_timeline_has_attempts_pauses_questions_and_what_was_given_up() {
    let workflow = r#"
steps:
  - {id: a, run: "true", retry: {max: 1, backoff: 10s}}
  - {id: slow, run: "true", depends_on: a}
  - {id: judge, run: "true", depends_on: a, output: v, rewind: {to: a, until: "v == 'good'", max: 2}}
  - {id: go, approve: "Continue?", depends_on: judge}
"#;
    let script = r#"
a@1 -> fail transient no
a#2@1 -> ok
slow -> hang
slow#2 -> ok
judge -> ok "bad"
judge#2 -> ok "good"
go <- approve
"#;
    let world = ended(workflow, script);
    let zero = world.history[0].at;
    let line = |span: &TimelineSpan| {
        let what = match span.what {
            Spanned::Attempt(number) => format!("@{number}"),
            Spanned::Pause(number) => format!(" pause @{number}"),
            Spanned::Question => " question".to_owned(),
            Spanned::Wait => " wait".to_owned(),
        };
        let to = span.to.map_or("?".to_owned(), |to| ((to - zero) / 1_000).to_string());
        format!("{}{what} {}..{to} {}", span.path, (span.from - zero) / 1_000, span.end.unwrap_or("open"))
    };
    let lines: Vec<String> = timeline(&world.history).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "a@1 0..1 failed",
            "a pause @2 1..11 over",
            "a@2 11..12 succeeded",
            "slow@1 12..14 given up",
            "judge@1 12..13 succeeded",
            "a#2@1 13..14 succeeded",
            "slow#2@1 14..15 succeeded",
            "judge#2@1 14..15 succeeded",
            "go question 15..16 answered",
        ]
    );
}

#[test]
fn an_agent_at_work_is_named_with_the_rung_it_stands_on() {
    let workflow = "do: [{id: a, prompt: Look., agent: {backend: codex}, retry: {max: 3, backoff: 1s}}]";
    let world = after(10_000, workflow, "a@1 -> fail transient no network\na -> hang");
    let steps = steps(&world.plan, &world.state, world.now());
    let agent = steps[0].agent.as_ref().unwrap();
    assert_eq!((agent.name.as_str(), agent.session.as_deref()), ("codex", None));
    assert_eq!(Some(agent.since), steps[0].started_at);
    assert_eq!((steps[0].attempts, steps[0].recovery.as_deref()), (2, Some("tried again")));
}

fn to_come(inside: &str) -> String {
    let workflow =
        format!("limits: {{parallel: 10}}\ndo: [{{id: all, for_each: \"[]\", parallel: 3, do: [{inside}]}}]");
    let world = VirtualWorld::new(&workflow, "").unwrap();
    let at = world.plan.steps.iter().position(|step| step.id.as_str() == "all").unwrap();
    let index = Index::of(&world.plan);
    match forecast((&world.plan, &index), &world.state, StepIx(u32::try_from(at).unwrap()), 30, 100) {
        Some(found) => format!("{}{} at {}", found.turns, if found.or_more { "+" } else { "" }, found.at_once),
        None => "nothing".to_owned(),
    }
}

#[test]
fn a_list_tells_which_turns_of_agents_are_to_come() {
    let ask = |id: &str| format!("{{id: {id}, prompt: Look.}}");
    let (a, b, c) = (ask("a"), ask("b"), ask("c"));
    assert_eq!(to_come("{id: a, run: 'true'}"), "nothing");
    assert_eq!(to_come(&a), "30 at 3");
    assert_eq!(to_come(&format!("{a}, {b}")), "60 at 3", "one after the other");
    assert_eq!(to_come(&format!("{{id: p, parallel: {{x: [{a}], y: [{b}, {c}]}}}}")), "90 at 6", "side by side");
    assert_eq!(
        to_come(&format!("{{id: i, if: index > 1, then: [{a}, {b}], else: [{c}]}}")),
        "60 at 3",
        "the longer way"
    );
    assert_eq!(to_come(&format!("{{id: r, repeat: {{until: \"false\", max: 3}}, do: [{a}]}}")), "30+ at 3");
    let nested = format!("{{id: e, for_each: \"[]\", parallel: 5, do: [{a}]}}");
    assert_eq!(to_come(&nested), "30+ at 10", "no more than the workflow allows");
}

/// The expected cost of the remaining turns of a list, after some are done.
fn costs(inside: &str, script: &str) -> Option<f64> {
    let first = "{id: one, prompt: Look., agent: {backend: codex}}, {id: two, prompt: Look., agent: {backend: codex}}";
    let workflow = format!("do: [{first}, {{id: all, for_each: \"[1, 2, 3]\", do: [{inside}]}}]");
    let world = after(4_500, &workflow, script);
    let at = world.plan.steps.iter().position(|step| step.id.as_str() == "all").unwrap();
    let index = Index::of(&world.plan);
    forecast((&world.plan, &index), &world.state, StepIx(u32::try_from(at).unwrap()), 10, 100).unwrap().usd
}

#[test]
fn what_turns_will_cost_is_told_from_what_such_turns_have_cost() {
    let script =
        "one -> ok 1 with {\"usage\": {\"usd\": 1.0}}\ntwo -> ok 1 with {\"usage\": {\"usd\": 2.0}}\nall[*]/a -> hang";
    let by = |agent: &str| format!("{{id: a, prompt: Look., agent: {{backend: {agent}}}}}");
    assert_eq!(costs(&by("codex"), script), Some(15.0), "as turns of the same agent did");
    assert_eq!(costs(&by("claude"), script), None, "nobody knows");
    assert_eq!(costs(&format!("{}, {{id: b, prompt: Look., agent: {{backend: claude}}}}", by("codex")), script), None);
    let dearer = script.replace("hang", "ok 1 with {\"usage\": {\"usd\": 4.0}}");
    assert_eq!(costs(&by("codex"), &dearer), Some(40.0), "as the same step did in earlier items");
    let unknown = script.replace("\"usd\": 2.0", "\"usd\": 2.0, \"usd_unknown\": true");
    assert_eq!(costs(&by("codex"), &unknown), Some(10.0), "what is only known in part does not count");
}

fn critical(workflow: &str, script: &str) -> String {
    let world = ended(workflow, script);
    critical_path(&world.plan, &world.state).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_critical_path_goes_back_through_what_ended_last() {
    let diamond = "
steps:
  - {id: a, run: 'true'}
  - {id: slow, run: 'true', depends_on: [a]}
  - {id: quick, run: 'true', depends_on: [a]}
  - {id: z, run: 'true', depends_on: [slow, quick]}
  - {id: aside, run: 'true'}
";
    assert_eq!(critical(diamond, "slow -> slow 10s ok 1"), "a slow z");
    assert_eq!(critical(diamond, "quick -> slow 10s ok 1"), "a quick z");
    assert_eq!(critical(diamond, "aside -> slow 60s ok 1"), "aside", "the end waited for nothing else");
}

#[test]
fn the_critical_path_goes_into_loops_and_out_of_them() {
    let nested = "
do:
  - {id: list, run: 'true'}
  - id: each
    for_each: [1, 2]
    do: [{id: x, run: 'true'}, {id: y, run: 'true'}]
  - {id: last, run: 'true'}
";
    let one_by_one = critical(nested, "each[0]/y -> slow 9s ok 1");
    assert_eq!(one_by_one, "list each[0]/x each[0]/y each[1]/x each[1]/y last");
    let at_once = critical(&nested.replace("[1, 2]", "[1, 2]\n    parallel: 2"), "each[0]/y -> slow 9s ok 1");
    assert_eq!(at_once, "list each[0]/x each[0]/y last");
}

#[test]
fn attempts_are_told_one_after_the_other() {
    let world = ended(
        "do: [{id: a, run: 'true', retry: {max: 2, backoff: 1s}}]",
        "a@1 -> fail transient no network\na@2 -> ok 7",
    );
    let told = attempts(&world.history, &"a".parse().unwrap());
    let line = |attempt: &longhaul_core::view::Attempt| {
        let error = attempt.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        format!("{}={} {error}", attempt.attempt, attempt.status)
    };
    assert_eq!(told.iter().map(line).collect::<Vec<_>>(), ["1=failed no network", "2=succeeded "]);
    assert!(told[0].ended_at.unwrap() < told[1].started_at);
    assert!(attempts(&world.history, &"b".parse().unwrap()).is_empty());
}

/// Events, one second after the other.
fn happened(events: &[serde_json::Value]) -> Vec<Envelope> {
    let envelope = |(at, event): (u64, &serde_json::Value)| {
        let mut whole = json!({"v": 1, "seq": at + 1, "at": at * 1_000});
        whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    };
    (0..).zip(events).map(envelope).collect()
}

#[test]
fn an_attempt_waits_for_a_worker_until_one_takes_it_and_then_says_who_and_where() {
    let history = happened(&[
        json!({"event": "attempt_started", "path": "near", "attempt": 1, "host": "alpha"}),
        json!({"event": "attempt_started", "path": "far", "attempt": 1, "queued": ["gpu"]}),
        json!({"event": "attempt_released", "path": "far", "attempt": 1}),
        json!({"event": "attempt_claimed", "path": "far", "attempt": 1, "worker": "bert", "host": "beta"}),
        json!({"event": "attempt_succeeded", "path": "far", "attempt": 1, "result": {}}),
    ]);
    let told = |until: usize| {
        let attempt = attempts(&history[..until], &"far".parse().unwrap()).remove(0);
        let who = (attempt.worker.unwrap_or_default(), attempt.host.unwrap_or_default());
        format!("{} since {} by {:?}", attempt.status, attempt.started_at / 1_000, who)
    };
    assert_eq!(told(3), r#"waiting since 1 by ("", "")"#);
    assert_eq!(told(4), r#"running since 3 by ("bert", "beta")"#);
    assert_eq!(told(5), r#"succeeded since 3 by ("bert", "beta")"#);
    assert_eq!(attempts(&history, &"near".parse().unwrap())[0].host.as_deref(), Some("alpha"));
    let line = |span: &TimelineSpan| {
        let who = (span.worker.as_deref().unwrap_or_default(), span.host.as_deref().unwrap_or_default());
        format!("{} {:?} {:?} {:?}", span.path, span.what, span.to.map(|to| to / 1_000), who)
    };
    let lines: Vec<String> = timeline(&history).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            r#"near Attempt(1) None ("", "alpha")"#,
            r#"far Wait Some(3) ("", "")"#,
            r#"far Attempt(1) Some(4) ("bert", "beta")"#
        ]
    );
}

#[test]
fn a_line_of_a_list_says_what_is_waited_for_while_nothing_is_at_work() {
    let gate = "do: [{id: a, run: 'true'}, {id: go, approve: 'Go?'}]";
    let world = after(1000, gate, "");
    let line = brief("r-1", &world.plan, &world.state);
    assert_eq!((line.asks, line.attempts, line.line.done), (Some(1), 1, 1));
    assert_eq!(line.line.waiting_for, ["approval"]);
    assert!(line.line.waits.unwrap().starts_with("`go` waits for an approval since"));
    let busy = after(1000, gate, "a -> hang");
    assert_eq!(brief("r-1", &busy.plan, &busy.state).line.waits, None);
}

#[test]
fn a_run_is_a_trace_that_is_the_same_each_time() {
    let workflow = "do: [{id: each, for_each: [1], do: [{id: x, run: 'true', retry: {max: 1, backoff: 1s}}]}, {id: nap, wait: 5s}]";
    let world = ended(workflow, "each[0]/x@1 -> fail transient no network\neach[0]/x@2 -> ok 1");
    let run = longhaul_core::id::RunId::new("some-run").unwrap();
    let told = trace(&run, &world.history).unwrap();
    assert_eq!(Some(&told), trace(&run, &world.history).as_ref());
    let name = |id: &Option<String>| {
        told.spans.iter().find(|span| Some(&span.id) == id.as_ref()).map_or("-", |span| &span.name)
    };
    let lines: Vec<String> =
        told.spans.iter().skip(1).map(|span| format!("{} < {}", span.name, name(&span.parent))).collect();
    let root = &told.spans[0].name;
    let expected = [
        format!("each < {root}"),
        "each[0]/x < each".to_owned(),
        format!("nap < {root}"),
        "each[0]/x pause < each[0]/x".to_owned(),
        "nap wait < nap".to_owned(),
        "each[0]/x@1 < each[0]/x".to_owned(),
        "each[0]/x@2 < each[0]/x".to_owned(),
    ];
    assert_eq!(lines, expected);
    assert_eq!(told.spans[6].error.as_deref(), Some("no network"));
    assert!(told.spans.iter().all(|span| span.from <= span.to && span.to <= told.spans[0].to));
}
