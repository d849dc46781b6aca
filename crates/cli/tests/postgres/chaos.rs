//! Tests workers and servers as real processes, with a real database, users and random failures, for a while.
//!
//! `LONGHAUL_CHAOS=20m cargo test -p longhaul --test all postgres::chaos -- --nocapture` runs for longer.
//!
//! **Invariant:** every run ends, acknowledged data is in the store, no result is there twice, every result is of the
//! newest attempt, and no process is left.

mod host;
mod verdict;
mod visitor;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use longhaul_core::duration::parse_ms;
use longhaul_core::status::RunStatus;
use longhaul_store::conformance::proxy::Proxy;
use longhaul_store::conformance::server::{Safe, TestServer};
use longhaul_store::conformance::{event, id, making};
use longhaul_store::{Append, Error, EventId, Postgres, PostgresOptions, Query, Store};
use serde_json::Value;

use crate::crash::trial::{alive, until};
use crate::postgres::machine::Machine;
use host::{Host, Ill};
use visitor::{Acknowledged, Visitor, follow};

const WORK: &str = r#"
name: work
do:
  - id: all
    for_each: "['x', 'y', 'z']"
    parallel: 2
    do:
      - id: step
        run: 'sleep 0.{{ index }}; echo {{ item }}'
        workspace: any
        retry: {max: 100, on: any, backoff: {first: 50ms, factor: 1}}
  - {id: nap, wait: 300ms}
  - {id: ok, approve: Continue?}
  - {id: sign, wait: {event: go}}
  - {id: after, run: 'echo done', output: end, retry: {max: 100, on: any, backoff: {first: 50ms, factor: 1}}}
outputs: {end: end}
"#;
const ENDLESS: &str = "
name: endless
do:
  - {id: long, run: 'sleep 3600 & sleep 3600', workspace: any, retry: {max: 100, on: any, backoff: {first: 50ms, factor: 1}}}
";
const WORKFLOWS: [(&str, &str); 2] = [("work", WORK), ("endless", ENDLESS)];
/// The number of runs of the command line at once.
const RUNS: usize = 4;
/// How long everything may take to finish after the last failure.
const REST: Duration = Duration::from_secs(300);

/// A random number below `end`, from a seed that is printed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Causes one failure, unless no process is left for it.
fn harm(dice: &mut Dice, hosts: &mut [Host], server: &TestServer) -> Option<String> {
    let from = dice.roll(hosts.len() as u64) as usize;
    let at = (0..hosts.len()).map(|at| (from + at) % hosts.len()).find(|at| !hosts[*at].is_ill())?;
    let host = &mut hosts[at];
    let what = match dice.roll(16) {
        0..=3 => {
            host.replace();
            "killed"
        }
        4..=5 => {
            host.fall_ill(Ill::Stopped, 4_000 + dice.roll(1_500));
            "stopped past its lease"
        }
        6..=7 => {
            host.proxy.cut();
            "cut off"
        }
        8 => {
            host.fall_ill(Ill::Deaf, dice.roll(6_000));
            "on a deaf line"
        }
        9..=10 => {
            host.proxy.strand();
            "with half-open connections"
        }
        11..=13 => {
            host.proxy.lose(1 + dice.roll(5));
            "without answers after COMMIT"
        }
        _ => {
            server.kill();
            server.restart();
            return Some("database killed".to_owned());
        }
    };
    Some(format!("{} {what}", host.kind()))
}

/// Appends to its own run over a bad connection, and remembers the acknowledged events.
async fn witness(store: Arc<dyn Store>, stop: Arc<AtomicBool>) -> Vec<EventId> {
    let mut acknowledged = Vec::new();
    let mut append = making(&id("witness"));
    while !stop.load(Ordering::SeqCst) {
        match store.append(append.clone()).await {
            Ok(_) | Err(Error::AlreadyApplied) => {
                acknowledged.push(append.events[0].id);
                append = Append::new(id("witness"), acknowledged.len() as u64, vec![event("{}")]);
            }
            Err(Error::Io(_) | Error::Unreachable(_) | Error::Busy) => {}
            Err(other) => panic!("{other}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    acknowledged
}

/// The store as the test itself sees it, without the bad connections.
struct Onlooker {
    runtime: tokio::runtime::Runtime,
    store: Arc<dyn Store>,
}

impl Onlooker {
    fn at(address: &str) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let store = runtime.block_on(open(address));
        Self { runtime, store }
    }

    /// The open runs.
    fn unfinished(&self) -> Vec<String> {
        let statuses = RunStatus::words_of(RunStatus::OPEN);
        let query = Query { statuses, limit: 10_000, ..Query::default() };
        let rows = self.runtime.block_on(self.store.runs(query)).unwrap();
        rows.into_iter().map(|row| row.run.to_string()).filter(|run| run != "witness").collect()
    }
}

async fn open(address: &str) -> Arc<dyn Store> {
    Arc::new(Postgres::open(&address.parse().unwrap(), PostgresOptions::default()).await.unwrap())
}

/// Starts runs from the command line until the end; returns their ids.
fn supply(here: &Machine, onlooker: &Onlooker, end: Instant) -> Vec<String> {
    let mut started = Vec::new();
    while Instant::now() < end {
        if onlooker.unfinished().iter().filter(|run| run.starts_with("run-")).count() >= RUNS {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        let run = format!("run-{}", started.len());
        let told = here.trial.longhaul(&["run", "work", "--run-id", &run, "--queue"], None);
        assert_eq!(told.code, 0, "{}", told.stderr);
        started.push(run);
    }
    started
}

fn from_environment() -> (Duration, u64) {
    let told = std::env::var("LONGHAUL_CHAOS").ok();
    let ms = told.map_or(30_000, |told| parse_ms(&told).unwrap());
    let seed =
        std::env::var("LONGHAUL_SEED").map_or(u64::from(std::process::id()) << 20 | 1, |seed| seed.parse().unwrap());
    println!("LONGHAUL_SEED={seed}");
    (Duration::from_millis(ms), seed)
}

#[test]
fn chaos() {
    let (lasts, seed) = from_environment();
    let (mut dice, server) = (Dice(seed), TestServer::start(Safe::Yes));
    let address = server.address();
    let onlooker = Onlooker::at(&address);
    let (here, line) = (Machine::with("here", &WORKFLOWS, &address), Proxy::to(server.socket()));
    let stop = Arc::new(AtomicBool::new(false));
    let bad = onlooker.runtime.block_on(open(&line.through(&address)));
    let witness = onlooker.runtime.spawn(witness(bad, Arc::clone(&stop)));
    let mut hosts: Vec<Host> = ["w1", "w2", "w3"].map(|name| Host::worker(name, &WORKFLOWS, &server, &address)).into();
    hosts.extend(["s1", "s2"].map(|name| Host::node(name, &WORKFLOWS, &server, &address)));
    let nodes = || hosts.iter().filter_map(Host::client).collect::<Vec<_>>();
    let (visitors, watched) = (nodes(), nodes());
    let end = Instant::now() + lasts;
    let (mut faults, is_over) = (BTreeMap::new(), AtomicBool::new(false));
    let (newest, over) = (Mutex::new(None), || is_over.load(Ordering::SeqCst));
    let (started, acknowledged, breaks) = std::thread::scope(|scope| {
        let supply = scope.spawn(|| supply(&here, &onlooker, end));
        let visit = scope.spawn(|| Visitor::new(visitors, seed ^ 7, &newest).visit(end, over));
        let follow = scope.spawn(|| follow(&watched, || newest.lock().unwrap().clone(), over));
        while Instant::now() < end {
            line.lose(dice.roll(2));
            if let Some(fault) = harm(&mut dice, &mut hosts, &server) {
                *faults.entry(fault).or_insert(0) += 1;
            }
            for host in &mut hosts {
                host.heal(Instant::now());
                host.revive();
            }
            std::thread::sleep(Duration::from_millis(100 + dice.roll(500)));
        }
        hosts.iter_mut().for_each(|host| host.heal(end + REST));
        let (started, since) = (supply.join().unwrap(), Instant::now());
        while !onlooker.unfinished().is_empty() {
            assert!(since.elapsed() < REST, "never over: {:?}", onlooker.unfinished());
            hosts.iter_mut().for_each(Host::revive);
            std::thread::sleep(Duration::from_millis(100));
        }
        is_over.store(true, Ordering::SeqCst);
        (started, visit.join().unwrap(), follow.join().unwrap())
    });
    stop.store(true, Ordering::SeqCst);
    let witnessed = onlooker.runtime.block_on(witness).unwrap();
    hosts.iter_mut().for_each(Host::stop);
    let all: i32 = faults.values().sum();
    println!("{all} faults: {faults:#?}");
    println!(
        "{} runs by the command line, {} over HTTP ({} refusals), {} answers, {} signals, {} cancels, {} breaks of the stream, {} appends of the witness",
        started.len(),
        acknowledged.runs().count(),
        acknowledged.refused,
        acknowledged.answered.len(),
        acknowledged.signalled.len(),
        acknowledged.cancelled.len(),
        breaks,
        witnessed.len(),
    );
    judge(&onlooker, &witnessed, &here, (&started, &acknowledged));
    until("nothing is left", || hosts.iter().all(|host| alive(host.machine.trial.path(), |_| true).is_empty()));
}

fn judge(
    onlooker: &Onlooker,
    witnessed: &[EventId],
    here: &Machine,
    (started, acknowledged): (&[String], &Acknowledged),
) {
    let Onlooker { runtime, store } = onlooker;
    assert_eq!(runtime.block_on(store.check()), Ok(vec![]));
    let kept = runtime.block_on(store.read(&id("witness"), 0, usize::MAX >> 1)).unwrap();
    assert_eq!(kept.iter().take(witnessed.len()).map(|event| event.id).collect::<Vec<_>>(), witnessed);
    for run in started.iter().chain(acknowledged.runs()) {
        let told = here.trial.longhaul(&["events", run, "--json"], None);
        let events: Vec<Value> = told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        verdict::holds(run, &events, acknowledged);
        assert_eq!(runtime.block_on(store.tasks(&id(run))), Ok(vec![]));
    }
    let query = Query { limit: 100_000, ..Query::default() };
    let runs = runtime.block_on(store.runs(query)).unwrap().len();
    assert_eq!(runs, started.len() + acknowledged.runs().count() + 1, "a key made two runs");
}
