//! Tests a database or a worker that is away for a while: the work continues or runs again, and never fails because of
//! it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use longhaul_store::conformance::proxy::{Proxy, ProxyLink};
use longhaul_store::conformance::server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::crash::trial::{RUN, Trial, alive, end, is_sound, until};

/// Short, so that a test can wait for its end.
const LEASE_MS: u64 = 3000;

/// A worker on a connection that can fail, and a reader of the same store.
struct World {
    proxy: Arc<Proxy>,
    worker: std::process::Child,
    works: Trial,
    reads: Trial,
}

impl World {
    /// A world with a started run.
    fn new(text: &str) -> Self {
        let server = server::shared();
        let (proxy, address) = (Arc::new(Proxy::to(server.socket())), server.address());
        let works = Trial::of("work", text).kept_in(&proxy.through(&address));
        let reads = Trial::of("work", text).kept_in(&address);
        let told = reads.longhaul(&["run", "work.yaml", "--run-id", RUN, "--queue"], None);
        assert_eq!(told.code, 0, "{}", told.stderr);
        let mut command = works.command(&["worker"], None);
        // Its store gives up sooner, too, so that its loop has to wait.
        command.env("LONGHAUL_LEASE_MS", LEASE_MS.to_string()).env("LONGHAUL_PATIENCE_MS", "700");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let worker = command.spawn().unwrap();
        until("the step", || works.log().contains_key("begun"));
        Self { proxy, worker, works, reads }
    }

    fn at_work(&self) -> usize {
        alive(self.works.path(), |environment| environment.contains("LONGHAUL_ATTEMPT=")).len()
    }

    fn say_go(&self) {
        std::fs::write(self.works.path().join("go"), "").unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.worker), signal).unwrap();
    }

    /// The history of the run, once it has succeeded.
    fn ended(mut self) -> Vec<Value> {
        until("the end", || self.reads.is_over(RUN));
        let events = self.reads.events();
        is_sound(&events);
        assert_eq!(end(&events).status, "success", "{events:#?}");
        self.signal(Signal::TERM);
        assert_eq!(self.worker.wait().unwrap().code(), Some(0));
        events
    }
}

fn count(events: &[Value], what: &str) -> usize {
    events.iter().filter(|event| event["event"] == what).count()
}

fn part_of_a_lease(quarters: u64) -> Duration {
    Duration::from_millis(LEASE_MS * quarters / 4)
}

const PATIENT: &str = r#"
name: work
do:
  - {id: long, run: 'echo begun >> "$LOG"; until test -e go; do sleep 0.05; done', workspace: any}
"#;

#[test]
fn an_outage_that_is_shorter_than_a_lease_stops_nothing() {
    for line in [ProxyLink::Deaf, ProxyLink::Cut] {
        let world = World::new(PATIENT);
        world.proxy.set(line);
        std::thread::sleep(part_of_a_lease(3));
        world.proxy.set(ProxyLink::Open);
        // After longer than its first lease, the worker must have another one.
        std::thread::sleep(part_of_a_lease(6));
        world.say_go();
        assert_eq!(world.works.log()["begun"], 1);
        let events = world.ended();
        assert_eq!((count(&events, "attempt_stopped"), count(&events, "attempt_failed")), (0, 0));
    }
}

/// A result that comes during an outage is recorded later.
#[test]
fn what_ends_during_an_outage_is_recorded_after_it() {
    let world = World::new(PATIENT);
    world.proxy.set(ProxyLink::Cut);
    world.say_go();
    std::thread::sleep(part_of_a_lease(8));
    world.proxy.set(ProxyLink::Open);
    let events = world.ended();
    assert_eq!((count(&events, "attempt_started"), count(&events, "attempt_failed")), (1, 0));
}

/// Without another worker, nothing has claimed its task.
#[test]
fn a_worker_that_slept_goes_on_with_what_nobody_took() {
    for quarters in [3, 4, 12] {
        let world = World::new(PATIENT);
        world.signal(Signal::STOP);
        std::thread::sleep(part_of_a_lease(quarters));
        world.signal(Signal::CONT);
        std::thread::sleep(part_of_a_lease(6));
        world.say_go();
        assert_eq!(world.works.log()["begun"], 1);
        let events = world.ended();
        assert_eq!((count(&events, "attempt_stopped"), count(&events, "attempt_failed")), (0, 0), "{quarters}");
    }
}

/// Does not answer the first time; `done` after that.
fn silent_once() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            if number > 0 {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ndone");
            }
            held.push(stream);
        }
    });
    port
}

#[test]
fn what_is_stopped_for_its_lease_is_made_again_and_has_not_failed() {
    let text = r#"
name: work
do:
  - id: both
    parallel:
      one: [{id: command, run: 'echo begun >> "$LOG"; test -e go || sleep 300', workspace: any}]
      two: [{id: request, http: {url: 'http://127.0.0.1:PORT/'}, workspace: any}]
"#;
    let world = World::new(&text.replace("PORT", &silent_once().to_string()));
    world.proxy.set(ProxyLink::Deaf);
    until("the end of what others may have", || world.at_work() == 0);
    world.say_go();
    world.proxy.set(ProxyLink::Open);
    let events = world.ended();
    assert_eq!((count(&events, "attempt_stopped"), count(&events, "attempt_failed")), (2, 0), "{events:#?}");
    assert_eq!(count(&events, "attempt_started"), 4);
}
