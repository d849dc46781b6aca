//! Somebody who starts runs, answers, signals and cancels over HTTP, at whichever node answers, and remembers what was acknowledged.
//!
//! **Invariant:** nothing is told twice that was acknowledged once. So what is lost after that is missed for ever: its run does not end.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Dice;
use crate::serve::site::{Answer, Client};

/// What was acknowledged, by the ids of runs.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// Made, of the workflow that ends by itself.
    pub(crate) begun: BTreeSet<String>,
    /// Made, of the workflow that ends only when it is cancelled.
    pub(crate) endless: BTreeSet<String>,
    pub(crate) answered: BTreeSet<String>,
    pub(crate) signalled: BTreeSet<String>,
    pub(crate) cancelled: BTreeSet<String>,
    /// Requests that were not answered, or with an error.
    pub(crate) refused: usize,
}

impl Acknowledged {
    /// All that were made.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &String> {
        self.begun.iter().chain(&self.endless)
    }
}

/// Somebody who asks.
pub(crate) struct Visitor<'a> {
    nodes: Vec<Client>,
    dice: Dice,
    /// Runs that were told an answer, whether that was acknowledged or not: they continue, and wait for a signal.
    told: BTreeSet<String>,
    /// The run that was made last.
    newest: &'a Mutex<Option<String>>,
    pub(crate) acknowledged: Acknowledged,
}

/// Runs of a visitor that are under way at once.
const RUNS: usize = 4;

impl<'a> Visitor<'a> {
    pub(crate) fn new(nodes: Vec<Client>, seed: u64, newest: &'a Mutex<Option<String>>) -> Self {
        Self { nodes, dice: Dice(seed), told: BTreeSet::new(), newest, acknowledged: Acknowledged::default() }
    }

    /// Starts runs until the end, and tells all runs what they wait for until none waits for it any more.
    pub(crate) fn visit(mut self, end: Instant, is_over: impl Fn() -> bool) -> Acknowledged {
        let mut made = 0;
        loop {
            if Instant::now() < end && self.waiting().len() < RUNS {
                made += 1;
                self.make(made);
            }
            self.answer();
            self.signal();
            self.cancel();
            if Instant::now() >= end && self.waiting().is_empty() && is_over() {
                return self.acknowledged;
            }
            std::thread::sleep(Duration::from_millis(50 + self.dice.roll(150)));
        }
    }

    /// Runs that it has not told everything.
    fn waiting(&self) -> Vec<String> {
        let Acknowledged { begun, endless, signalled, cancelled, .. } = &self.acknowledged;
        begun.difference(signalled).chain(endless.difference(cancelled)).cloned().collect()
    }

    /// Asks whichever node: `None` if it did not answer, or could not do it.
    fn ask(&mut self, method: &str, path: &str, key: &str, body: &Value) -> Option<Answer> {
        let node = &self.nodes[self.dice.roll(self.nodes.len() as u64) as usize];
        let key = format!("Idempotency-Key: {key}");
        let headers = ["X-Longhaul: 1", "Content-Type: application/json", &key];
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let answer = node.try_ask(method, path, &headers, &body).ok().filter(|answer| answer.status < 429);
        self.acknowledged.refused += usize::from(answer.is_none());
        answer
    }

    /// The same key at one node after the other, until one says what it made.
    fn make(&mut self, number: u64) {
        let workflow = if number.is_multiple_of(4) { "endless" } else { "work" };
        let (key, body) = (format!("visit-{number}"), json!({"workflow": workflow}));
        loop {
            let answer = self.ask("POST", "/api/v1/runs", &key, &body);
            let Some(answer) = answer.filter(|answer| [200, 201].contains(&answer.status)) else {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            // Cut off in the middle of it: asked again, it says the same.
            let Ok(said) = serde_json::from_str::<Value>(&answer.body) else { continue };
            let run = said["run"].as_str().unwrap().to_owned();
            *self.newest.lock().unwrap() = Some(run.clone());
            let Acknowledged { begun, endless, .. } = &mut self.acknowledged;
            let is_new = if workflow == "work" { begun.insert(run) } else { endless.insert(run) };
            assert!(is_new, "two keys made one run");
            return;
        }
    }

    /// Whatever is asked, of whichever run.
    fn answer(&mut self) {
        let Some(answer) = self.ask("GET", "/api/v1/questions", "-", &Value::Null) else { return };
        let asked = serde_json::from_str::<Value>(&answer.body).unwrap_or_default();
        for question in asked["questions"].as_array().cloned().unwrap_or_default() {
            let run = question["run"].as_str().unwrap().to_owned();
            let is_gate = question["path"] == "ok";
            if is_gate && self.acknowledged.answered.contains(&run) {
                continue;
            }
            let body =
                json!({"path": question["path"], "answer": "approve", "shown": question["shown"], "override": true});
            if is_gate {
                self.told.insert(run.clone());
            }
            let told = self.ask("POST", &format!("/api/v1/runs/{run}/answer"), "-", &body);
            if is_gate && told.is_some_and(|told| told.status == 202) {
                self.acknowledged.answered.insert(run);
            }
        }
    }

    /// What it started, and what it answered; a signal that comes early is kept.
    fn signal(&mut self) {
        let Acknowledged { begun, signalled, .. } = &self.acknowledged;
        let due: Vec<String> = begun.union(&self.told).filter(|run| !signalled.contains(*run)).cloned().collect();
        for run in due {
            let told = self.ask("POST", &format!("/api/v1/runs/{run}/signal"), "-", &json!({"name": "go"}));
            if told.is_some_and(is_taken) {
                self.acknowledged.signalled.insert(run);
            }
        }
    }

    /// Not all at once, so that some are running for a while.
    fn cancel(&mut self) {
        let Acknowledged { endless, cancelled, .. } = &self.acknowledged;
        let due: Vec<String> = endless.difference(cancelled).cloned().collect();
        for run in due {
            if self.dice.roll(20) > 0 {
                continue;
            }
            let told = self.ask("POST", &format!("/api/v1/runs/{run}/cancel"), "-", &json!({"reason": "enough"}));
            if told.is_some_and(is_taken) {
                self.acknowledged.cancelled.insert(run);
            }
        }
    }
}

/// It is stored; or the run is over, because it had been stored before and the answer was lost.
fn is_taken(told: Answer) -> bool {
    [202, 409].contains(&told.status)
}

/// Follows one run after another, at whichever node answers, continuing after the last event that was seen.
pub(crate) fn follow(nodes: &[Client], newest: impl Fn() -> Option<String>, is_over: impl Fn() -> bool) -> usize {
    let (mut breaks, mut node, mut before) = (0, 0, None);
    while !is_over() {
        let Some(run) = newest().filter(|run| before.as_ref() != Some(run)) else {
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let (mut last, mut has_ended) = (0, false);
        while !has_ended && !is_over() {
            let header = format!("Last-Event-ID: {last}");
            node = (node + 1) % nodes.len();
            let Ok(mut stream) = nodes[node].try_stream(&format!("/api/v1/runs/{run}/stream"), &[&header]) else {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            while let Some(event) = stream.next().filter(|_| !has_ended) {
                if let Some(seq) = event.id {
                    assert_eq!(seq, last + 1, "{run}: an event is missing, or there twice");
                    last = seq;
                }
                has_ended = event.data["event"] == "run_finished";
            }
            breaks += usize::from(!has_ended);
        }
        before = Some(run);
    }
    breaks
}
