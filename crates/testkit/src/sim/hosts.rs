//! Simulates clients: they take steps, go silent, submit late, submit twice, and submit invalid results.

use longhaul_core::decide::held_until;
use longhaul_core::event::{Envelope, Event, Failure, Result as Left};
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use longhaul_core::task::TimerId;
use serde_json::json;

use super::Sim;

const CLIENTS: [&str; 3] = ["ann", "bob", "cleo"];

impl Sim {
    /// The next event of a step that is leased to a client.
    pub(super) fn hosted(&mut self, path: &StepPath) -> Event {
        let step = self.state.find(path).map(|step| (step.attempts, step.lease().cloned()));
        let (attempt, lease) = step.unwrap_or_default();
        let by = (*self.chance.pick(&CLIENTS)).to_owned();
        let until = held_until(self.now);
        let path = path.clone();
        match (lease, self.chance.below(if self.is_patient() { 10 } else { 2 })) {
            // The first client gets the lease; the others must be refused.
            (None, 0..=6) => Event::HostedClaimed { path, attempt, by, until },
            (Some(_), 2) => Event::HostedClaimed { path, attempt, by, until },
            (Some(lease), 3) => {
                self.now = self.now.max(lease.until);
                Event::TimerFired { timer: TimerId::Lease(path) }
            }
            (Some(_), 4) => Event::HeartbeatSeen { path, attempt, hint: Some("half".to_owned()), until },
            (_, 5) => Event::HostedReturned { path, attempt },
            // For an attempt that was given up, or that no client ever had.
            (_, 6) => self.submitted(path, attempt + 1, by),
            (_, 7) => self.submitted(path, attempt.saturating_sub(1), by),
            (_, 8) => {
                let error = Failure::new(ErrorClass::Failed, "it could not be done");
                let result = Left { usage: self.cost(), by: Some(by), ..Left::default() };
                Event::AttemptFailed { path, attempt, error, result }
            }
            // It may be valid anyway, if the step declares no outputs.
            (_, 9) => Event::AttemptSucceeded {
                path,
                attempt,
                result: Left { output: json!(["nonsense"]), by: Some(by), ..Left::default() },
            },
            _ => {
                let event = self.submitted(path.clone(), attempt, by);
                self.owed = Some((path.to_string(), attempt));
                self.delivered.push(event.clone());
                event
            }
        }
    }

    fn submitted(&mut self, path: StepPath, attempt: u32, by: String) -> Event {
        let result = Left { output: self.good(&path), usage: self.cost(), by: Some(by), ..Left::default() };
        Event::AttemptSucceeded { path, attempt, result }
    }
}

/// Checks that a valid submission was recorded.
pub(super) fn is_kept(owed: Option<(String, u32)>, events: &[Envelope]) -> Result<(), String> {
    let Some((of, number)) = owed else { return Ok(()) };
    let is_it = |envelope: &Envelope| matches!(&envelope.event, Event::AttemptSucceeded { path, attempt, .. } if path.to_string() == of && *attempt == number);
    match events.iter().any(is_it) {
        true => Ok(()),
        false => Err(format!("what was submitted for `{of}@{number}` is lost")),
    }
}
