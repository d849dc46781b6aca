//! Tests notifications with whole engines: workflows in, messages out. Time moves only when a test moves it.

use longhaul_config::{Channel, SecretSetting};
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::notification::{NotificationKind, NotifyRules};
use longhaul_core::origin::Caller;
use longhaul_runtime::{Engine, Message};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::kinds::bench::{Bench, plan, start};

const MIN: i64 = 60_000;
const GATED: &str = "name: gated\nsteps:\n  - {id: a, run: 'true'}\n  - {id: deploy, approve: 'Deploy <b>now</b>?'}\n";
const FAILING: &str = "name: failing\nsteps:\n  - {id: a, run: 'exit 3'}\n";

/// A server that answers with the given statuses, and passes on each key and body.
async fn web(statuses: &'static [&'static str]) -> (SecretSetting, mpsc::UnboundedReceiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = SecretSetting::Written(format!("http://{}/hook", listener.local_addr().unwrap()));
    let (sender, posted) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut statuses = statuses.iter().chain(std::iter::repeat(&"204 No Content"));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let (mut length, mut key) = (0, String::new());
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.to_lowercase().starts_with("idempotency-key:") {
                    key = line.split_once(':').unwrap().1.trim().to_owned();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            sender.send((key, serde_json::from_slice(&body).unwrap())).unwrap();
            let status = statuses.next().unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, posted)
}

fn bench(url: SecretSetting, rules: NotifyRules) -> Bench {
    let mut bench = Bench::new().with_channel("webhook", Channel::Webhook { url });
    bench.options.notify = NotifyRules { channels: vec!["webhook".to_owned()], ..rules };
    bench
}

/// Runs a workflow as far as it goes without a person.
async fn begin(engine: &Engine, workflow: &str) -> RunId {
    let run = start(engine, &plan(workflow), &[]).await;
    engine.nudge(&run, &CancellationToken::new()).await.unwrap();
    run
}

fn posted(posts: &mut mpsc::UnboundedReceiver<(String, Value)>) -> Vec<(String, Value)> {
    std::iter::from_fn(|| posts.try_recv().ok()).collect()
}

#[tokio::test]
async fn a_gate_is_told_once_by_several_engines_with_the_command_and_the_link() {
    let (url, mut posts) = web(&[]).await;
    let link = Some("https://haul.example".to_owned());
    let bench = bench(url, NotifyRules { link, ..NotifyRules::default() });
    let (one, two, three) = (bench.engine(), bench.engine(), bench.engine());
    let run = begin(&one, GATED).await;
    let (a, b, c) = tokio::join!(one.notify_due(), two.notify_due(), three.notify_due());
    a.and(b).and(c).unwrap();
    one.notify_due().await.unwrap();
    let [(key, body)] = posted(&mut posts).try_into().unwrap();
    assert_eq!(body["id"], key.as_str());
    assert!(key.starts_with(&format!("{run}/gate:deploy:")), "{key}");
    assert_eq!((&body["kind"], &body["run"], &body["step"]), (&"gate".into(), &run.as_str().into(), &"deploy".into()));
    assert_eq!(body["title"], format!("gated {run} needs your approval"));
    assert_eq!(body["command"], format!("longhaul approve {run} deploy"));
    assert_eq!(body["link"], format!("https://haul.example/runs/{run}"));
    assert_eq!(body["text"].as_str().unwrap().lines().next(), Some("Deploy <b>now</b>?"));
}

#[tokio::test]
async fn a_channel_that_fails_is_tried_again_with_the_same_key_and_the_ledger_says_so() {
    let (url, mut posts) = web(&["503 Away", "204 No Content"]).await;
    let bench = bench(url, NotifyRules::default());
    let engine = bench.engine();
    begin(&engine, FAILING).await;
    let next = engine.notify_due().await.unwrap();
    let message = engine.notify_ledger().await.unwrap().messages().next().cloned().unwrap();
    assert_eq!(message.channels[0].error.as_deref(), Some("the server answered 503 Service Unavailable"));
    assert_eq!(next, message.next);
    bench.clock.forward(29_000);
    engine.notify_due().await.unwrap();
    bench.clock.forward(1_000);
    bench.engine().notify_due().await.unwrap();
    let posts = posted(&mut posts);
    assert_eq!(posts.len(), 2);
    assert_eq!(posts[0], posts[1]);
    let message = engine.notify_ledger().await.unwrap().messages().next().cloned().unwrap();
    assert!(message.channels[0].sent_at.is_some() && message.channels[0].tries == 2, "{message:?}");
}

#[tokio::test]
async fn an_answered_gate_is_not_told_any_more() {
    let (url, mut posts) = web(&["503 Away"]).await;
    let bench = bench(url, NotifyRules::default());
    let engine = bench.engine();
    let run = begin(&engine, GATED).await;
    engine.notify_due().await.unwrap();
    let answer = Message::answer("deploy".parse().unwrap(), Answer::Approve, Caller::default());
    engine.tell(&run, answer, None).await.unwrap();
    engine.nudge(&run, &CancellationToken::new()).await.unwrap();
    bench.clock.forward(MIN);
    assert_eq!(engine.notify_due().await.unwrap(), None);
    assert_eq!(posted(&mut posts).len(), 1);
    let message = engine.notify_ledger().await.unwrap().messages().next().cloned().unwrap();
    assert_eq!(message.dropped.as_deref(), Some("it was answered or ended before"));
}

#[tokio::test]
async fn every_way_to_wait_or_end_has_its_kind() {
    let (url, _posts) = web(&[]).await;
    let bench = bench(url, NotifyRules::default());
    let engine = bench.engine();
    let cases = [
        (GATED, "gate"),
        ("steps: [{id: a, ask: 'How many?'}]", "question"),
        ("steps: [{id: a, run: 'echo x', review: true}]", "review"),
        ("steps: [{id: a, run: 'true', risk: high}]", "consent"),
        ("steps: [{id: a, run: 'exit 1', on_error: ask}]", "stuck"),
        ("steps: [{id: a, run: 'true', runs_on: [gpu]}]", "worker"),
        (FAILING, "failure"),
        ("steps: [{id: a, run: 'true'}]", "success"),
        ("limits: {steps: 1, on_exceed: ask}\nsteps: [{id: a, run: 'true'}, {id: b, run: 'true'}]", "budget"),
    ];
    for (workflow, kind) in cases {
        let run = begin(&engine, workflow).await;
        let row = engine.row(&run).await.unwrap().unwrap();
        let brief: longhaul_core::view::Brief = serde_json::from_str(&row.head.summary).unwrap();
        let kinds: Vec<&str> = brief.notifications.iter().map(|one| one.kind.word()).collect();
        assert_eq!(kinds, [kind], "{workflow}");
        assert!(!brief.notifications[0].text.is_empty() || kind == "success" || kind == "review", "{workflow}");
    }
}

#[tokio::test]
async fn a_workflow_that_notifies_the_same_channel_is_not_doubled() {
    let (url, mut posts) = web(&[]).await;
    let bench = bench(url, NotifyRules::default());
    let engine = bench.engine();
    begin(&engine, &format!("{FAILING}on_failure: {{notify: webhook}}\n")).await;
    engine.notify_due().await.unwrap();
    let [(key, body)] = posted(&mut posts).try_into().unwrap();
    assert_eq!((key.as_str(), &body["step"]), ("", &"on_failure".into()));
}

#[tokio::test]
async fn what_is_switched_off_is_not_told_and_what_an_engine_without_channels_saw_is() {
    let (url, mut posts) = web(&[]).await;
    let on = vec![NotificationKind::Gate];
    let mut bench = bench(url, NotifyRules { on, ..NotifyRules::default() });
    let telling = bench.engine();
    begin(&telling, FAILING).await;
    telling.notify_due().await.unwrap();
    bench.options.notify.channels.clear();
    let silent = bench.engine();
    let run = begin(&silent, GATED).await;
    silent.notify_due().await.unwrap();
    assert_eq!(posted(&mut posts).len(), 0);
    telling.notify_due().await.unwrap();
    let [(key, _)] = posted(&mut posts).try_into().unwrap();
    assert!(key.starts_with(run.as_str()), "{key}");
}

#[tokio::test]
async fn a_night_without_an_engine_ends_with_one_message() {
    let (url, mut posts) = web(&[]).await;
    let quiet = Some("00:00-12:00".parse().unwrap());
    let bench = bench(url, NotifyRules { quiet, ..NotifyRules::default() });
    let engine = bench.engine();
    // The clock of the bench starts at 08:00.
    for _ in 0..5 {
        begin(&engine, GATED).await;
    }
    let until = engine.notify_due().await.unwrap().unwrap();
    assert_eq!(until - engine.now_ms(), 4 * 60 * MIN);
    bench.clock.forward(9 * 60 * MIN);
    bench.engine().notify_due().await.unwrap();
    bench.engine().notify_due().await.unwrap();
    let [(_, body)] = posted(&mut posts).try_into().unwrap();
    assert_eq!(body["title"], "Longhaul: 5 need you");
    assert_eq!(body["text"].as_str().unwrap().matches("longhaul approve ").count(), 5);
}

#[tokio::test]
async fn the_report_is_sent_at_its_time_and_once() {
    let (url, mut posts) = web(&[]).await;
    let digest = Some("09:00".parse().unwrap());
    let bench = bench(url, NotifyRules { on: Vec::new(), digest, ..NotifyRules::default() });
    let (one, two) = (bench.engine(), bench.engine());
    let run = begin(&one, FAILING).await;
    let due = one.notify_due().await.unwrap().unwrap();
    assert_eq!(due - one.now_ms(), 60 * MIN);
    bench.clock.forward(70 * MIN);
    let (a, b) = tokio::join!(one.notify_due(), two.notify_due());
    a.and(b).unwrap();
    let [(key, body)] = posted(&mut posts).try_into().unwrap();
    assert_eq!((key.as_str(), &body["run"]), ("digest:2027-01-15", &Value::Null));
    assert_eq!(body["title"], "Longhaul: 1 run: 1 failed");
    assert!(body["text"].as_str().unwrap().contains(&format!("longhaul retry {run}")));
}

#[tokio::test]
async fn an_engine_that_died_while_sending_leaves_it_to_the_next_one() {
    let (url, mut posts) = web(&[]).await;
    let bench = bench(url.clone(), NotifyRules::default());
    let engine = bench.engine();
    begin(&engine, GATED).await;
    // A server that accepts and never answers: the process ends while it waits.
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stuck = Bench {
        dir: tempfile::tempdir().unwrap(),
        store: bench.store.clone(),
        clock: bench.clock.clone(),
        options: bench.options.clone(),
    };
    let address = SecretSetting::Written(format!("http://{}/", deaf.local_addr().unwrap()));
    stuck.options.channels.insert("webhook".to_owned(), Channel::Webhook { url: address });
    let dying = stuck.engine();
    tokio::select! {
        _ = dying.notify_due() => panic!("it does not answer"),
        _ = deaf.accept() => {}
    }
    engine.notify_due().await.unwrap();
    assert_eq!(posted(&mut posts).len(), 0, "the other one may still be sending");
    bench.clock.forward(2 * MIN);
    engine.notify_due().await.unwrap();
    assert_eq!(posted(&mut posts).len(), 1);
}

/// An address that accepts and never answers.
async fn deaf() -> (TcpListener, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = SecretSetting::Written(format!("http://{}/", listener.local_addr().unwrap()));
    (listener, Channel::Webhook { url })
}

#[tokio::test]
async fn a_channel_that_hangs_holds_up_no_other_message_and_no_end_and_is_sent_again_alone() {
    let (url, mut posts) = web(&[]).await;
    let (hanging, channel) = deaf().await;
    let mut bench = bench(url, NotifyRules::default()).with_channel("deaf", channel);
    bench.options.notify.channels.push("deaf".to_owned());
    let engine = bench.engine();
    let stop = CancellationToken::new();
    let watching = {
        let (engine, stop) = (engine.clone(), stop.clone());
        tokio::spawn(async move { engine.keep_notified(stop, &|_| {}).await })
    };
    let began = std::time::Instant::now();
    let first = begin(&engine, GATED).await;
    let _open = hanging.accept().await.unwrap();
    assert!(posts.recv().await.unwrap().0.starts_with(first.as_str()));
    let second = begin(&engine, GATED).await;
    assert!(posts.recv().await.unwrap().0.starts_with(second.as_str()));
    let _open_too = hanging.accept().await.unwrap();
    stop.cancel();
    watching.await.unwrap();
    assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
    // The next engine sends it only over the channel that has not got it.
    bench.clock.forward(2 * MIN);
    let (next, mut tries) = (bench.engine(), 0);
    tokio::select! {
        _ = next.notify_due() => panic!("it does not answer"),
        () = async { while tries < 2 { let _ = hanging.accept().await.unwrap(); tries += 1; } } => {}
    }
    assert_eq!(posted(&mut posts).len(), 0);
}

#[tokio::test]
async fn the_first_gate_of_a_store_is_told_by_the_engine_after_a_killed_one() {
    let (url, mut posts) = web(&[]).await;
    let bench = bench(url, NotifyRules::default());
    let queued = bench.engine();
    let run = start(&queued, &plan(GATED), &[]).await;
    bench.clock.forward(MIN);
    let killed = bench.engine();
    let work = tokio::spawn(async move { killed.work(CancellationToken::new()).await });
    while queued.load(&run).await.unwrap().state.questions().count() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    work.abort();
    bench.clock.forward(MIN);
    bench.engine().notify_due().await.unwrap();
    let [(key, _)] = posted(&mut posts).try_into().unwrap();
    assert!(key.starts_with(run.as_str()), "{key}");
}

#[tokio::test]
async fn the_loop_of_a_worker_says_and_sends_it() {
    let (url, mut posts) = web(&[]).await;
    let bench = bench(url, NotifyRules::default());
    let engine = bench.engine();
    let stop = CancellationToken::new();
    let (sender, mut lines) = mpsc::unbounded_channel();
    let told = move |line: &str| sender.send(line.to_owned()).unwrap();
    let watching = {
        let (engine, stop) = (engine.clone(), stop.clone());
        tokio::spawn(async move { engine.keep_notified(stop, &told).await })
    };
    tokio::task::yield_now().await;
    let run = begin(&engine, GATED).await;
    let line = lines.recv().await.unwrap();
    assert_eq!(
        line,
        format!("{run} deploy (gated) needs your approval: Deploy <b>now</b>?; longhaul approve {run} deploy")
    );
    assert!(posts.recv().await.unwrap().0.starts_with(run.as_str()));
    stop.cancel();
    watching.await.unwrap();
}

#[tokio::test]
async fn a_background_engine_stays_for_a_message_that_is_due_later() {
    let (url, mut posts) = web(&[]).await;
    let quiet = Some("00:00-12:00".parse().unwrap());
    let bench = bench(url, NotifyRules { quiet, ..NotifyRules::default() });
    let engine = bench.engine();
    begin(&engine, FAILING).await;
    assert!(!engine.is_needed().await.unwrap(), "the run is over");
    let stop = CancellationToken::new();
    let watching = {
        let (engine, stop) = (engine.clone(), stop.clone());
        tokio::spawn(async move { engine.keep_notified(stop, &|_| {}).await })
    };
    while !engine.is_needed().await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    stop.cancel();
    watching.await.unwrap();
    bench.clock.forward(5 * 60 * MIN);
    engine.notify_due().await.unwrap();
    assert_eq!(posted(&mut posts).len(), 1);
}
