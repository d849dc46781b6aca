//! Simulates agents: they start conversations, end in every possible way, and outlive the engine that started them.

use longhaul_core::Json;
use longhaul_core::decide::{Start, thread_of};
use longhaul_core::event::{Event, Failure, Result as Left, Session, Usage};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, WorkKind};
use longhaul_core::task::TaskKey;
use serde_json::json;

use super::Sim;

impl Sim {
    /// The agent of an open attempt reports its conversation: at some point, never, or again after an engine found it.
    pub(super) fn session(&mut self, at: usize) -> Option<Event> {
        let start = self.open.get(at).filter(|start| start.kind == WorkKind::Prompt)?.clone();
        if !self.chance.one_in(2) {
            return None;
        }
        let key = TaskKey::new(&start.path, start.attempt).to_string();
        let goes_on = start.turn.session.as_ref().filter(|_| !self.chance.one_in(6));
        let goes_on = self.named.get(&key).cloned().or_else(|| goes_on.map(|session| session.id.clone()));
        let id = goes_on.unwrap_or_else(|| self.new_session());
        self.named.insert(key, id.clone());
        let agent = doer(&start).to_owned();
        // The abilities of a conversation do not change: they follow from its id.
        let number: usize = id.bytes().map(usize::from).sum();
        let (resumes, compacts) = (!number.is_multiple_of(6), number.is_multiple_of(2));
        let session = Session { id, agent, resumes, compacts, total: None };
        let thread = thread_of(start.params.get("agent")).map(str::to_owned);
        Some(Event::SessionSeen { path: start.path, attempt: start.attempt, session, thread })
    }

    /// The files of an agent are recorded: sooner, later, or never.
    pub(super) fn files_kept(&mut self, at: usize) -> Option<Event> {
        let start = self.open.get(at).filter(|start| start.turn.keep)?;
        let (path, attempt) = (start.path.clone(), start.attempt);
        Some(Event::FilesKept { name: format!("{path}@{attempt}"), path, attempt })
    }

    fn new_session(&self) -> String {
        format!("session-{}", self.named.len() + 1)
    }

    /// How the turn of an agent ends.
    pub(super) fn turn_ended(&mut self, start: &Start) -> Event {
        let (path, attempt) = (start.path.clone(), start.attempt);
        let usage = self.cost();
        if self.is_patient() && self.chance.one_in(8) {
            return Event::AttemptStopped { path, attempt, usage };
        }
        let session_total = usage.filter(|_| self.chance.one_in(2));
        let cached = usage.is_none() && self.chance.one_in(20);
        let output = if start.turn.compact { json!("") } else { self.good(&path) };
        let result = Left { output, usage, session_total, cached, ..Left::default() };
        let stopped = self.state.cancelling && self.chance.one_in(2);
        if stopped || (self.is_patient() && self.chance.one_in(2)) {
            let error = self.failure();
            // An invalid answer, or no answer at all.
            let said = error.class == ErrorClass::Invalid && !self.chance.one_in(4);
            let output = if said { json!("It is good.") } else { Json::Null };
            return Event::AttemptFailed { path, attempt, error, result: Left { output, cached: false, ..result } };
        }
        Event::AttemptSucceeded { path, attempt, result }
    }

    /// The cost of a turn, if it is reported.
    pub(super) fn cost(&mut self) -> Option<Usage> {
        let told = !self.chance.one_in(3);
        let usage = Usage {
            input_tokens: self.chance.below(40),
            output_tokens: self.chance.below(10),
            usd: self.chance.below(1_000) as f64 / 4_000.0,
            usd_unknown: self.chance.one_in(6),
            at_least: self.chance.one_in(6),
            ..Usage::default()
        };
        told.then_some(usage)
    }

    fn failure(&mut self) -> Failure {
        let class = *self.chance.pick(&ErrorClass::ALL);
        let limit = matches!(class, ErrorClass::RateLimit | ErrorClass::UsageLimit | ErrorClass::Overload);
        let reset = self.chance.below(5 * 3_600_000);
        let known = limit && self.chance.one_in(2);
        Failure { retry_after_ms: known.then_some(reset), ..Failure::new(class, "it did not work") }
    }

    /// A valid result for a step, whatever its outputs are.
    pub(super) fn good(&self, path: &StepPath) -> Json {
        let step = self.state.find(path).map(|step| self.plan.step(step.step));
        let shaped = step.is_some_and(|step| step.output.schema.is_some());
        if shaped { json!({"status": "good"}) } else { json!("good") }
    }

    /// After a crash: some running agents are found again, and some work is lost.
    pub(super) fn come_back(&mut self) -> Result<(), String> {
        if self.state.is_finished() {
            return Ok(());
        }
        for start in self.open.clone() {
            let (path, attempt) = (start.path.clone(), start.attempt);
            let open = self.open.iter().any(|open| open.path == path && open.attempt == attempt);
            let event = match self.chance.below(4) {
                _ if !open => continue,
                0 if start.kind == WorkKind::Prompt => Event::AttemptAdopted { path, attempt },
                1 if self.is_patient() => {
                    let error = Failure::new(ErrorClass::Lost, "the process that made the attempt is gone");
                    Event::AttemptFailed { path, attempt, error, result: Left::default() }
                }
                _ => continue,
            };
            self.tell(event)?;
        }
        Ok(())
    }
}

/// The agent that a conversation belongs to.
pub(crate) fn doer(start: &Start) -> &str {
    let own = start.params.get("agent").and_then(|agent| agent.get("backend")?.as_str());
    let named = start.turn.agent.as_deref().or(own).unwrap_or("claude");
    named.split_once('@').map_or(named, |(agent, _)| agent)
}
