//! Tests hosted runs on a real store: whatever is dropped, doubled or late, every result is recorded once and no run
//! stops.

mod bench;

use std::task::Poll;
use std::time::Duration;

use longhaul_core::event::{Answer, Envelope, Event, Usage};
use longhaul_core::origin::Caller;
use longhaul_core::status::{Awaited, RunStatus};
use longhaul_core::view;
use longhaul_runtime::{EngineEvent, Error, ForkRequest, Heartbeat, HostStatus, Message, StartRequest, Submission};
use longhaul_store::Query;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use bench::{Bench, said};

const THREE: &str = "
steps:
  - {id: a, prompt: do a, output: x}
  - {id: b, prompt: do b, output: y}
  - {id: c, prompt: do c, output: z}
  - {id: d, depends_on: [a, b, c], prompt: '{{ x }}{{ y }}{{ z }} all'}
";

#[tokio::test]
async fn a_batch_is_handed_out_together_and_again_to_whoever_asks_again() {
    let bench = Bench::new();
    let run = bench.start(THREE).await;
    let first = bench.engine().next(&run, "ed").await.unwrap();
    assert_eq!(first.status, HostStatus::Ready);
    assert_eq!(bench::prompts(&first), ["do a", "do b", "do c"]);
    let again = bench.engine().next(&run, "ed").await.unwrap();
    assert_eq!(bench::prompts(&again), bench::prompts(&first));
    let seen = bench.engine().peek(&run).await.unwrap();
    assert_eq!((seen.status, seen.ready.len(), seen.running.len()), (HostStatus::AwaitingOutputs, 0, 3));
    let early = bench.engine().submit(&run, "d", said("1"), "ed").await.unwrap_err();
    assert_eq!(early.to_string(), "`d` is not ready yet: what it depends on is not done");
    let after = bench.engine().submit(&run, "a", said("1"), "ed").await.unwrap();
    assert_eq!(
        (bench::prompts(&after), after.completed, after.total),
        (vec!["do b".to_owned(), "do c".to_owned()], 1, 4)
    );
    bench.engine().submit(&run, "b", said("2"), "ed").await.unwrap();
    let last = bench.engine().submit(&run, "c", said("3"), "ed").await.unwrap();
    assert_eq!(bench::prompts(&last), ["123 all"]);
    assert_eq!(last.outputs, ["x", "y", "z"]);
    let over = bench.engine().submit(&run, "d", said("done"), "ed").await.unwrap();
    assert_eq!((over.status, over.completed), (HostStatus::Succeeded, 4));
}

const ONE: &str = "
steps:
  - {id: a, prompt: do a}
";

#[tokio::test]
async fn of_two_clients_that_race_one_is_recorded_and_the_other_told() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    let (left, right) = (bench.engine(), bench.engine());
    let (first, second) = tokio::join!(left.next(&run, "left"), right.next(&run, "right"));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.ready.len() + second.ready.len(), 1, "both got it, or nobody");
    let submit = |text| Submission { attempt: Some(1), ..said(text) };
    let (first, second) =
        tokio::join!(left.submit(&run, "a", submit("l"), "left"), right.submit(&run, "a", submit("r"), "right"));
    let refused: Vec<String> =
        [first, second].into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        ["the run is over: it succeeded", "`a` has been submitted already"].contains(&refused[0].as_str()),
        "{refused:?}"
    );
    assert_eq!(bench.results_of(&run, "a").await, 1);
}

#[tokio::test]
async fn a_client_that_does_not_hold_a_step_must_name_its_attempt() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    bench.engine().next(&run, "main").await.unwrap();
    let other = bench.engine().submit(&run, "a", said("1"), "sub").await.unwrap_err();
    assert_eq!(other.to_string(), "`a` is handed out to main; who works for them names the attempt, which is 1");
    let named = Submission { attempt: Some(1), ..said("1") };
    assert_eq!(bench.engine().submit(&run, "a", named, "sub").await.unwrap().status, HostStatus::Succeeded);
}

#[tokio::test]
async fn a_claim_that_runs_out_is_offered_anew_and_its_late_result_refused() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    bench.engine().next(&run, "slow").await.unwrap();
    bench.forward(60 * 60 * 1000);
    let held = bench
        .engine()
        .heartbeat(&run, "a", Heartbeat { hint: Some("half".to_owned()), attempt: None }, "slow")
        .await
        .unwrap();
    assert_eq!((held.hint.as_deref(), held.stale), (Some("half"), false));
    bench.forward(100 * 60 * 1000);
    let waits = bench.engine().next(&run, "quick").await.unwrap();
    assert_eq!((waits.status, waits.ready.len(), waits.running[0].stale), (HostStatus::AwaitingOutputs, 0, true));
    assert_eq!(waits.message, "`a` is handed out to slow, silent for 1h40m");
    let loaded = bench.engine().load(&run).await.unwrap();
    let glance = view::run(&loaded.plan.0, &loaded.state, bench.engine().now_ms());
    assert_eq!((glance.status, glance.waiting_for), (RunStatus::Waiting, vec![Awaited::Client]));
    assert_eq!(glance.why[0].text, "`a` is handed out to slow, silent for 1h40m (half), until 2027-01-15T11:00:00Z");
    bench.forward(20 * 60 * 1000);
    let again = bench.engine().next(&run, "quick").await.unwrap();
    assert_eq!((again.ready[0].attempt, again.running[0].by.as_str()), (2, "quick"));
    let late = Submission { attempt: Some(1), ..said("late") };
    let late = bench.engine().submit(&run, "a", late, "slow").await.unwrap_err();
    assert_eq!(late.to_string(), "attempt 1 of `a` was given up; it is handed out again, as attempt 2");
    let nameless = bench.engine().submit(&run, "a", said("late"), "slow").await.unwrap_err();
    assert!(nameless.to_string().starts_with("`a` is handed out to quick"), "{nameless}");
    let over = bench.engine().submit(&run, "a", said("in time"), "quick").await.unwrap();
    assert_eq!((over.status, bench.results_of(&run, "a").await), (HostStatus::Succeeded, 1));
    let twice = bench.engine().submit(&run, "a", said("in time"), "quick").await.unwrap_err();
    assert_eq!(twice.to_string(), "the run is over: it succeeded");
}

#[tokio::test]
async fn a_value_that_does_not_fit_leaves_the_step_open() {
    let bench = Bench::new();
    let run = bench
        .start(
            "
steps:
  - id: a
    prompt: list them
    output: {as: found, schema: {type: object, properties: {k: {type: array, minItems: 1}}, required: [k]}}
  - {id: b, depends_on: [a], prompt: 'use {{ found.k[0] }}'}
",
        )
        .await;
    let work = bench.engine().next(&run, "ed").await.unwrap();
    assert!(work.ready[0].prompt.starts_with("list them\n\n") && work.ready[0].prompt.contains("minItems"), "{work:?}");
    for wrong in [json!(null), json!({}), json!({"k": "s"}), json!({"k": []}), json!("no json")] {
        let sent = Submission { output: wrong.clone(), ..Submission::default() };
        let refused = bench.engine().submit(&run, "a", sent, "ed").await.unwrap_err();
        assert!(matches!(&refused, Error::Misfit { step, .. } if step == "a"), "{wrong}: {refused:?}");
    }
    assert_eq!(bench.engine().peek(&run).await.unwrap().running[0].attempt, 1);
    let next = bench.engine().submit(&run, "a", said("Here it is: {\"k\": [7]}"), "ed").await.unwrap();
    assert_eq!(bench::prompts(&next), ["use 7"]);
    assert_eq!(next.results["a"], json!({"k": [7]}));
    assert_eq!(next.ready[0].inputs["found"], json!({"k": [7]}));
}

#[tokio::test]
async fn what_no_agent_does_is_done_by_the_engine_and_told() {
    let bench = Bench::new();
    let run = bench
        .start(
            "
inputs: {deep: {type: boolean, default: false}}
steps:
  - {id: load, name: Load it, run: echo 5}
  - {id: deeper, when: deep, run: echo never}
  - {id: think, depends_on: [load], prompt: 'think about {{ steps.load.output }}', output: thought}
  - {id: keep, depends_on: [think], run: 'echo kept > kept.txt'}
  - {id: close, depends_on: [keep], prompt: 'close {{ thought }}'}
",
        )
        .await;
    let first = bench.engine().next(&run, "ed").await.unwrap();
    let ran: Vec<String> = first.auto_ran.iter().map(|ran| format!("{} {}", ran.id, ran.status)).collect();
    assert_eq!(ran, ["deeper skipped", "load ok"]);
    assert_eq!(first.auto_ran[0].reason.as_deref(), Some("its `when` is false"));
    assert_eq!(bench::prompts(&first), ["think about 5"]);
    let next = bench.engine().submit(&run, "think", said("hard"), "ed").await.unwrap();
    let ran: Vec<&str> = next.auto_ran.iter().map(|ran| ran.id.as_str()).collect();
    assert_eq!((ran, bench::prompts(&next)), (vec!["keep"], vec!["close hard".to_owned()]));
    assert!(bench.dir.path().join("kept.txt").exists());
    assert_eq!(next.results.keys().collect::<Vec<_>>(), ["keep", "think"]);
    // An answer that got lost on the way can be read again.
    assert_eq!(bench.engine().next(&run, "ed").await.unwrap().auto_ran, next.auto_ran);
}

#[tokio::test]
async fn a_step_that_takes_long_does_not_keep_a_client_and_is_not_begun_twice() {
    let bench = Bench::new();
    let run = bench
        .start(
            "
steps:
  - {id: build, run: 'echo once >> built.txt; while [ ! -e go ]; do sleep 0.05; done'}
  - {id: look, prompt: look around}
  - {id: close, depends_on: [build, look], prompt: close}
",
        )
        .await;
    let engine = bench.engine();
    let first = engine.next_within(&run, "ed", Duration::ZERO).await.unwrap();
    let first = if first.ready.is_empty() { engine.next(&run, "ed").await.unwrap() } else { first };
    assert_eq!(bench::prompts(&first), ["look around"]);
    // An engine is driving the run, and still accepts the result.
    let next = engine.submit_within(&run, "look", said("seen"), "ed", Duration::ZERO).await.unwrap();
    assert_eq!((next.status, next.message.as_str()), (HostStatus::Waiting, "the engine is running `build`; ask again"));
    std::fs::write(bench.dir.path().join("go"), "").unwrap();
    let last = engine.next(&run, "ed").await.unwrap();
    assert_eq!(bench::prompts(&last), ["close"]);
    assert_eq!(std::fs::read_to_string(bench.dir.path().join("built.txt")).unwrap(), "once\n");
}

#[tokio::test]
async fn a_person_looks_at_what_was_submitted() {
    let workflow = "
steps:
  - {id: plan, prompt: plan it, review: OK?, output: plan}
  - {id: impl, depends_on: [plan], prompt: 'do {{ plan }}'}
";
    let answers = [
        (Answer::Approve, "do P1"),
        (Answer::Edit { value: json!("P2") }, "do P2"),
        (Answer::Deny { reason: None }, "`plan`: denied by a person"),
    ];
    for (answer, expected) in answers {
        let bench = Bench::new();
        let run = bench.start(workflow).await;
        bench.engine().next(&run, "ed").await.unwrap();
        let asked = bench.engine().submit(&run, "plan", said("P1"), "ed").await.unwrap();
        assert_eq!((asked.status, asked.ready.len(), asked.outputs.len()), (HostStatus::AwaitingApproval, 0, 0));
        assert_eq!((asked.questions[0].text.as_str(), &asked.questions[0].output), ("OK?", &Some(json!("P1"))));
        let path = "plan".parse().unwrap();
        bench.engine().tell(&run, Message::answer(path, answer, Caller::default()), None).await.unwrap();
        let after = bench.engine().next(&run, "ed").await.unwrap();
        assert_eq!(after.error.clone().unwrap_or_else(|| bench::prompts(&after).join(" ")), expected);
    }
}

#[tokio::test]
async fn a_verdict_sends_the_work_back_and_it_is_handed_out_anew() {
    let bench = Bench::new();
    let run = bench
        .start(
            "
steps:
  - {id: impl, prompt: write it, output: code}
  - id: review
    depends_on: [impl]
    prompt: 'judge {{ code }}'
    output: {as: verdict, parse: json}
    rewind: {to: impl, until: verdict.ok, max: 2}
  - {id: done, depends_on: [review], prompt: tell them}
",
        )
        .await;
    bench.engine().next(&run, "ed").await.unwrap();
    bench.engine().submit(&run, "impl", said("v1"), "ed").await.unwrap();
    let back = bench.engine().submit(&run, "review", said("{\"ok\": false}"), "ed").await.unwrap();
    assert_eq!((back.ready[0].path.to_string(), back.outputs.len()), ("impl#2".to_owned(), 0));
    let doubled = Submission { attempt: Some(1), ..said("v1") };
    let doubled = bench.engine().submit(&run, "impl", doubled, "ed").await.unwrap_err();
    assert_eq!(doubled.to_string(), "`impl` has been submitted already");
    let judged = bench.engine().submit(&run, "impl", said("v2"), "ed").await.unwrap();
    assert_eq!(bench::prompts(&judged), ["judge v2"]);
    let failed = bench.engine().submit(&run, "review", said("{\"ok\": false}"), "ed").await.unwrap();
    assert_eq!(
        (failed.status, failed.error.as_deref()),
        (HostStatus::Failed, Some("`review#2` is not satisfied after 2 rounds"))
    );
}

#[tokio::test]
async fn a_client_that_can_not_do_a_step_fails_it() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    bench.engine().next(&run, "ed").await.unwrap();
    let sent = Submission { error: Some("no such file".to_owned()), ..Submission::default() };
    let failed = bench.engine().submit(&run, "a", sent, "ed").await.unwrap();
    assert_eq!((failed.status, failed.error.as_deref()), (HostStatus::Failed, Some("`a`: no such file")));
}

#[tokio::test]
async fn what_a_host_reports_counts_and_what_it_does_not_is_not_nothing() {
    let bench = Bench::new();
    let run = bench
        .start("limits: {tokens: 100000}\nsteps:\n  - {id: a, prompt: a}\n  - {id: b, depends_on: [a], prompt: b}\n")
        .await;
    bench.engine().next(&run, "ed").await.unwrap();
    let usage = Some(Usage { input_tokens: 70, output_tokens: 30, ..Usage::default() });
    bench.engine().submit(&run, "a", Submission { usage, ..said("1") }, "ed").await.unwrap();
    bench.engine().submit(&run, "b", said("2"), "ed").await.unwrap();
    let state = bench.engine().load(&run).await.unwrap().state;
    assert_eq!((state.account.usage.tokens(), state.account.assumed.tokens()), (100, 100));
}

#[tokio::test]
async fn a_worker_does_the_engines_part_alone_and_leaves_the_rest() {
    let bench = Bench::new();
    let run = bench.start("steps:\n  - {id: a, run: echo 1}\n  - {id: b, depends_on: [a], prompt: continue}\n").await;
    let engine = bench.engine();
    let stop = CancellationToken::new();
    let mut pulse = engine.pulse();
    let work = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    let offered = |event: &Envelope| matches!(event.event, Event::AttemptStarted { hosted: true, .. });
    loop {
        let EngineEvent::Events(_, events) = pulse.recv().await.unwrap() else { continue };
        if events.iter().any(offered) {
            break;
        }
    }
    stop.cancel();
    work.await.unwrap().unwrap();
    let row = engine.list(Query { limit: 1, ..Query::default() }).await.unwrap().remove(0);
    assert_eq!(row.head.status, "waiting");
    let seen = engine.peek(&run).await.unwrap();
    assert_eq!((seen.status, seen.free.len(), seen.running.len()), (HostStatus::Ready, 1, 0));
}

#[tokio::test]
async fn only_a_run_for_a_host_hands_its_steps_out() {
    let bench = Bench::new();
    let run = bench.engine().start(&bench::plan(ONE), StartRequest::default()).await.unwrap();
    let refused = bench.engine().next(&run, "ed").await.unwrap_err();
    assert!(refused.to_string().contains("only a hosted run gives its steps to clients"), "{refused}");
    assert_eq!(bench.events(&run).await.len(), 1);
}

/// Makes a call and kills its caller, with everything that it has started, after so many polls.
fn killed_after<T>(polls: usize, call: impl AsyncFnOnce() -> T) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let left = runtime.block_on(async {
        let mut call = std::pin::pin!(call());
        let mut left = polls;
        std::future::poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(None);
            }
            left -= 1;
            call.as_mut().poll(context).map(Some)
        })
        .await
    });
    runtime.shutdown_background();
    left
}

#[test]
fn a_server_that_is_killed_within_any_call_loses_nothing() {
    let bench = Bench::new();
    let workflow = "
steps:
  - {id: a, prompt: do a, output: x}
  - {id: note, depends_on: [a], set: {seen: x}}
  - {id: b, depends_on: [note], prompt: 'do b with {{ seen }}', output: y}
  - {id: c, depends_on: [note], prompt: do c}
outputs: {x: x, y: y}
";
    let run = killed_after(usize::MAX, async || bench.start(workflow).await).unwrap();
    let mut acknowledged = Vec::new();
    for polls in 1..200 {
        let Some(handed) = killed_after(polls, async || bench.engine().next(&run, "ed").await) else { continue };
        let handed = handed.unwrap();
        for work in &handed.ready {
            let sent = Submission { attempt: Some(work.attempt), ..said(&work.step) };
            let step = work.path.to_string();
            let done = killed_after(polls, async || bench.engine().submit(&run, &step, sent, "ed").await);
            acknowledged.extend(done.and_then(Result::ok).map(|_| step));
        }
        if handed.status == HostStatus::Succeeded {
            break;
        }
    }
    let check = async || {
        let state = bench.engine().load(&run).await.unwrap().state;
        assert_eq!(
            state.finished.unwrap().outputs,
            [("x".to_owned(), json!("a")), ("y".to_owned(), json!("b"))].into()
        );
        for step in ["a", "b", "c"] {
            assert_eq!(bench.results_of(&run, step).await, 1, "{step}");
            assert!(acknowledged.iter().filter(|known| *known == step).count() <= 1, "{step} was taken twice");
        }
    };
    killed_after(usize::MAX, check).unwrap();
}

#[tokio::test]
async fn a_fork_hands_out_anew_what_the_other_run_has_handed_out() {
    let bench = Bench::new();
    let run = bench.start("steps:\n  - {id: a, prompt: do a}\n  - {id: b, prompt: do b}\n").await;
    bench.engine().next(&run, "ed").await.unwrap();
    bench.engine().submit(&run, "b", said("1"), "ed").await.unwrap();
    let fork = bench.engine().fork(&run, ForkRequest::from("b".parse().unwrap())).await.unwrap();
    let other = bench.engine().next(&fork, "other").await.unwrap();
    assert_eq!(bench::prompts(&other), ["do a", "do b"]);
    assert_eq!(bench.engine().next(&run, "ed").await.unwrap().running[0].by, "ed");
}

#[tokio::test]
async fn a_paused_run_hands_nothing_new_out_but_takes_what_is_under_way() {
    let bench = Bench::new();
    let run = bench.start("steps:\n  - {id: a, prompt: do a}\n  - {id: b, depends_on: [a], prompt: do b}\n").await;
    bench.engine().next(&run, "ed").await.unwrap();
    bench.engine().tell(&run, Message::Pause { by: None }, None).await.unwrap();
    let paused = bench.engine().submit(&run, "a", said("1"), "ed").await.unwrap();
    assert_eq!((paused.status, paused.ready.len()), (HostStatus::Waiting, 0));
    assert!(paused.message.contains("paused"), "{}", paused.message);
    bench.engine().tell(&run, Message::Unpause { by: None }, None).await.unwrap();
    assert_eq!(bench::prompts(&bench.engine().next(&run, "ed").await.unwrap()), ["do b"]);
}

#[tokio::test]
async fn people_find_the_prompt_and_the_result_among_the_files_of_the_run() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    bench.engine().next(&run, "ed").await.unwrap();
    bench.engine().submit(&run, "a", said("done"), "ed").await.unwrap();
    let folder = bench.engine().attempt_dir(&run, &"a".parse().unwrap(), 1);
    assert_eq!(std::fs::read_to_string(folder.join("prompt.md")).unwrap(), "do a");
    assert_eq!(std::fs::read_to_string(folder.join("output.json")).unwrap(), "\"done\"");
}

#[tokio::test]
async fn what_a_client_gives_back_is_there_for_the_next_one_at_once() {
    let bench = Bench::new();
    let run = bench.start(ONE).await;
    bench.engine().next(&run, "gone").await.unwrap();
    assert_eq!(bench.engine().give_back(&run, "gone").await.unwrap(), 1);
    assert_eq!(bench.engine().give_back(&run, "gone").await.unwrap(), 0);
    let next = bench.engine().next(&run, "here").await.unwrap();
    assert_eq!((next.ready[0].attempt, next.running[0].by.as_str()), (2, "here"));
}
