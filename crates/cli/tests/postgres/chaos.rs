//! Workers as real processes, a real server, and everything that goes wrong, at random, for a while.
//!
//! `LONGHAUL_CHAOS=20m cargo test -p longhaul --test postgres chaos -- --nocapture` goes on for longer.
//!
//! **Invariant:** every run ends, what was acknowledged is there, no result is there twice, none is of an attempt that was not
//! the newest, and nothing is left running.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use longhaul_core::duration::parse_ms;
use longhaul_store::conformance::proxy::{Line, Proxy};
use longhaul_store::conformance::server::{Safe, Server};
use longhaul_store::conformance::{event, id, making};
use longhaul_store::{Append, Error, EventId, Postgres, PostgresOptions, Query, Store};
use serde_json::Value;

use crate::trial::{Trial, alive, is_sound, until};

const WORKFLOW: &str = r#"
name: work
do:
  - id: all
    for_each: "['x', 'y', 'z']"
    parallel: 2
    do:
      - {id: step, run: 'sleep 0.{{ index }}; echo {{ item }}', retry: {max: 100, on: any, backoff: {first: 50ms, factor: 1}}}
  - {id: nap, wait: 300ms}
  - {id: after, run: 'echo done', output: end, retry: {max: 100, on: any, backoff: {first: 50ms, factor: 1}}}
outputs: {end: end}
"#;
const WORKERS: usize = 3;
const LEASE_MS: &str = "3000";
/// Runs that are under way at once.
const RUNS: usize = 6;

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

/// A worker, its machine, and its line to the server.
struct Host {
    trial: Trial,
    proxy: Proxy,
    child: Child,
    ill: Option<(Ill, Instant)>,
}

/// What passes by itself.
#[derive(Clone, Copy, PartialEq)]
enum Ill {
    Stopped,
    Deaf,
}

impl Host {
    fn new(server: &Server, address: &str) -> Self {
        let proxy = Proxy::to(server.socket());
        let trial = Trial::of("work", WORKFLOW).kept_in(&proxy.through(address));
        let child = start(&trial);
        Self { trial, proxy, child, ill: None }
    }

    fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    fn fall_ill(&mut self, ill: Ill, ms: u64) {
        match ill {
            Ill::Stopped => self.signal("-STOP"),
            Ill::Deaf => self.proxy.set(Line::Deaf),
        }
        self.ill = Some((ill, Instant::now() + Duration::from_millis(ms)));
    }

    /// What it was ill of passes when its time has come.
    fn heal(&mut self, at: Instant) {
        match self.ill.take_if(|(_, until)| *until <= at) {
            Some((Ill::Stopped, _)) => self.signal("-CONT"),
            Some((Ill::Deaf, _)) => {
                self.proxy.set(Line::Open);
                self.proxy.cut();
            }
            None => {}
        }
    }

    /// Kills it, and starts another one.
    fn replace(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = start(&self.trial);
    }

    /// It may have ended by itself: a store that is away for too long ends it.
    fn revive(&mut self) {
        if self.child.try_wait().unwrap().is_some() {
            self.child = start(&self.trial);
        }
    }
}

fn start(trial: &Trial) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(trial.path().join("worker.log")).unwrap();
    let mut command = trial.command(&["worker"], None);
    command.env("LONGHAUL_LEASE_MS", LEASE_MS).stdout(Stdio::null()).stderr(log);
    command.spawn().unwrap()
}

/// One thing goes wrong.
fn harm(dice: &mut Dice, hosts: &mut [Host], server: &Server) -> &'static str {
    let from = dice.roll(WORKERS as u64) as usize;
    let Some(at) = (from..from + WORKERS).map(|at| at % WORKERS).find(|at| hosts[*at].ill.is_none()) else {
        return "all were ill";
    };
    let host = &mut hosts[at];
    match dice.roll(13) {
        0..=2 => {
            host.replace();
            "a worker was killed"
        }
        3..=4 => {
            host.fall_ill(Ill::Stopped, 4_000 + dice.roll(1_500));
            "a worker slept through its lease"
        }
        5..=6 => {
            host.proxy.cut();
            "connections were cut"
        }
        7 => {
            host.fall_ill(Ill::Deaf, dice.roll(6_000));
            "a line was deaf"
        }
        8..=10 => {
            host.proxy.lose(1 + dice.roll(5));
            "answers were lost"
        }
        _ => {
            server.kill();
            server.restart();
            "the server was killed"
        }
    }
}

/// Appends to a run of its own over a bad line, and remembers what was acknowledged.
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

/// A result is of the newest attempt of its step.
fn none_is_stale(run: &str, events: &[Value]) {
    let mut newest: HashMap<&str, u64> = HashMap::new();
    for event in events {
        let (Some(path), Some(attempt)) = (event["path"].as_str(), event["attempt"].as_u64()) else { continue };
        match event["event"].as_str() {
            Some("attempt_started") => {
                let before = newest.insert(path, attempt).unwrap_or(0);
                assert_eq!(attempt, before + 1, "{run}: {event}");
            }
            Some("attempt_succeeded" | "attempt_failed" | "attempt_stopped") => {
                assert_eq!(newest.get(path), Some(&attempt), "{run}: {event}");
            }
            _ => {}
        }
    }
}

#[test]
fn chaos() {
    let told = std::env::var("LONGHAUL_CHAOS").ok();
    let ms = told.map_or(30_000, |told| parse_ms(&told).unwrap());
    let seed =
        std::env::var("LONGHAUL_SEED").map_or(u64::from(std::process::id()) << 20 | 1, |seed| seed.parse().unwrap());
    println!("LONGHAUL_SEED={seed}");
    let (mut dice, server) = (Dice(seed), Server::start(Safe::Yes));
    let address = server.address();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = |address: &str| {
        let address = address.parse().unwrap();
        let store = runtime.block_on(Postgres::open(&address, PostgresOptions::default())).unwrap();
        Arc::new(store) as Arc<dyn Store>
    };
    let here = Trial::of("work", WORKFLOW).kept_in(&address);
    let (store, line) = (open(&address), Proxy::to(server.socket()));
    let stop = Arc::new(AtomicBool::new(false));
    let witness = runtime.spawn(witness(open(&line.through(&address)), Arc::clone(&stop)));
    let mut hosts: Vec<Host> = (0..WORKERS).map(|_| Host::new(&server, &address)).collect();
    let end = Instant::now() + Duration::from_millis(ms);
    let unfinished = || {
        let statuses = longhaul_core::status::OPEN.map(str::to_owned).to_vec();
        let query = Query { statuses, workflow: Some("work".to_owned()), limit: 10_000, ..Query::default() };
        runtime.block_on(store.runs(query)).unwrap()
    };
    let supply = || {
        let mut started = 0;
        while Instant::now() < end {
            if unfinished().len() >= RUNS {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            started += 1;
            let told = here.longhaul(&["run", "work.yaml", "--run-id", &format!("run-{started}"), "--detach"], None);
            assert_eq!(told.code, 0, "{}", told.stderr);
        }
        started
    };
    let mut faults = HashMap::new();
    let started = std::thread::scope(|scope| {
        let supply = scope.spawn(supply);
        while Instant::now() < end {
            line.lose(dice.roll(2));
            *faults.entry(harm(&mut dice, &mut hosts, &server)).or_insert(0) += 1;
            for host in &mut hosts {
                host.heal(Instant::now());
                host.revive();
            }
            std::thread::sleep(Duration::from_millis(100 + dice.roll(500)));
        }
        supply.join().unwrap()
    });
    let last = Instant::now() + Duration::from_secs(3600);
    hosts.iter_mut().for_each(|host| host.heal(last));
    stop.store(true, Ordering::SeqCst);
    let acknowledged = runtime.block_on(witness).unwrap();
    until("the end of every run", || {
        hosts.iter_mut().for_each(Host::revive);
        let left = unfinished();
        // What was lost too often asks.
        for row in left.iter().filter(|row| row.head.status == "waiting") {
            here.longhaul(&["approve", row.run.as_str()], None);
        }
        left.is_empty()
    });
    for host in &mut hosts {
        host.signal("-INT");
        host.child.wait().unwrap();
    }
    println!("{started} runs, {} witnessed, faults: {faults:?}", acknowledged.len());
    assert_eq!(runtime.block_on(store.check()), Ok(vec![]));
    let witnessed = runtime.block_on(store.read(&id("witness"), 0, usize::MAX >> 1)).unwrap();
    assert_eq!(witnessed.iter().take(acknowledged.len()).map(|event| event.id).collect::<Vec<_>>(), acknowledged);
    for number in 1..=started {
        let run = format!("run-{number}");
        let told = here.longhaul(&["events", &run, "--json"], None);
        let events: Vec<Value> = told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        is_sound(&events);
        none_is_stale(&run, &events);
        let last = events.last().unwrap();
        assert_eq!((&last["event"], &last["outcome"]), (&"run_finished".into(), &"success".into()), "{run}: {last}");
        assert_eq!(runtime.block_on(store.tasks(&id(&run))), Ok(vec![]));
    }
    until("nothing is left", || hosts.iter().all(|host| alive(host.trial.path(), |_| true).is_empty()));
}
