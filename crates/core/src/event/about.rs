//! What an event is about. The one place that knows it: everything else asks here.

use super::Event;
use crate::path::StepPath;
use crate::task::TaskKey;

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSubject<'a> {
    /// The run as a whole.
    Run,
    /// A step.
    Step(&'a StepPath),
    /// An attempt of a step that was begun.
    Attempt(&'a StepPath, u32),
}

impl Event {
    /// What it is about.
    pub fn subject(&self) -> EventSubject<'_> {
        match self {
            Self::AttemptStarted { path, attempt, .. }
            | Self::AttemptClaimed { path, attempt, .. }
            | Self::AttemptReleased { path, attempt }
            | Self::AttemptAdopted { path, attempt }
            | Self::AttemptDelayed { path, attempt, .. }
            | Self::ToolDenied { path, attempt, .. }
            | Self::AttemptSucceeded { path, attempt, .. }
            | Self::AttemptFailed { path, attempt, .. }
            | Self::AttemptStopped { path, attempt, .. }
            | Self::SessionSeen { path, attempt, .. }
            | Self::FilesKept { path, attempt, .. }
            | Self::FilesRestored { path, attempt, .. }
            | Self::FilesRebuilt { path, attempt, .. }
            | Self::CarryFailed { path, attempt, .. }
            | Self::HostedClaimed { path, attempt, .. }
            | Self::HeartbeatSeen { path, attempt, .. }
            | Self::HostedReturned { path, attempt } => EventSubject::Attempt(path, *attempt),
            Self::RetryScheduled { path, .. }
            | Self::StepSkipped { path, .. }
            | Self::ItemsFound { path, .. }
            | Self::BodyOpened { path, .. }
            | Self::QuestionAsked { path, .. }
            | Self::Answered { path, .. }
            | Self::Approved { path, .. }
            | Self::HintGiven { path, .. }
            | Self::Consented { path, .. }
            | Self::WaitStarted { path, .. }
            | Self::StepEnded { path, .. }
            | Self::Routed { path, .. }
            | Self::Rewound { path, .. }
            | Self::UnitStopped { path, .. }
            | Self::ResultKept { path, .. }
            | Self::LimitReached { path: Some(path), .. } => EventSubject::Step(path),
            Self::TimerFired { timer } => timer.path().map_or(EventSubject::Run, EventSubject::Step),
            Self::RunStarted(_)
            | Self::HostSettled { .. }
            | Self::HostMissed { .. }
            | Self::HostSeen { .. }
            | Self::HostLeft { .. }
            | Self::BudgetChanged { .. }
            | Self::ConsentRevoked { .. }
            | Self::Signalled { .. }
            | Self::LimitReached { path: None, .. }
            | Self::SignalRefused { .. }
            | Self::Refused { .. }
            | Self::CancelRequested { .. }
            | Self::Paused { .. }
            | Self::Unpaused { .. }
            | Self::RunStopped { .. }
            | Self::RunResumed { .. }
            | Self::Reopened { .. }
            | Self::PlanReplaced(_)
            | Self::RunFinished { .. }
            | Self::OnFailureStarted { .. }
            | Self::Imported { .. }
            | Self::OnFailureEnded { .. } => EventSubject::Run,
        }
    }

    /// The step that it is about.
    pub fn path(&self) -> Option<&StepPath> {
        match self.subject() {
            EventSubject::Run => None,
            EventSubject::Step(path) | EventSubject::Attempt(path, _) => Some(path),
        }
    }

    /// The attempt that it is about.
    pub fn attempt(&self) -> Option<(&StepPath, u32)> {
        match self.subject() {
            EventSubject::Attempt(path, attempt) => Some((path, attempt)),
            EventSubject::Run | EventSubject::Step(_) => None,
        }
    }

    /// The attempt that ends with it.
    pub fn ended_attempt(&self) -> Option<(&StepPath, u32)> {
        self.attempt().filter(|_| {
            matches!(self, Self::AttemptSucceeded { .. } | Self::AttemptFailed { .. } | Self::AttemptStopped { .. })
        })
    }

    /// The task that ends with it.
    pub fn ended_task(&self) -> Option<TaskKey> {
        self.ended_attempt().map(|(path, attempt)| TaskKey::new(path, attempt))
    }

    /// Whether it tells something of an open attempt that only its maker can know.
    pub fn is_of_maker(&self) -> bool {
        matches!(
            self,
            Self::AttemptSucceeded { .. }
                | Self::AttemptFailed { .. }
                | Self::AttemptStopped { .. }
                | Self::AttemptAdopted { .. }
                | Self::AttemptDelayed { .. }
                | Self::ToolDenied { .. }
                | Self::SessionSeen { .. }
                | Self::FilesKept { .. }
                | Self::FilesRestored { .. }
                | Self::FilesRebuilt { .. }
                | Self::CarryFailed { .. }
        )
    }

    /// The word for it in the journal.
    pub fn name(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written["event"].as_str().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(event: serde_json::Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn an_event_says_what_it_is_about() {
        let ended = read(json!({"event": "attempt_stopped", "path": "a[1]/b", "attempt": 2}));
        assert_eq!(ended.attempt().map(|(path, attempt)| (path.to_string(), attempt)), Some(("a[1]/b".to_owned(), 2)));
        assert_eq!(ended.ended_task().unwrap().to_string(), "a[1]/b@2");
        let claimed = read(json!({"event": "claimed", "path": "a", "attempt": 1, "by": "ed", "until": 5}));
        assert!(claimed.attempt().is_some() && claimed.ended_task().is_none() && !claimed.is_of_maker());
        let fired = read(json!({"event": "timer_fired", "timer": "retry:a"}));
        assert_eq!(fired.subject(), EventSubject::Step(&"a".parse().unwrap()));
        assert_eq!(read(json!({"event": "timer_fired", "timer": "deadline"})).subject(), EventSubject::Run);
    }

    #[test]
    fn names_in_the_journal_are_those_of_before() {
        for (event, name) in [
            (json!({"event": "claimed", "path": "a", "attempt": 1, "by": "ed", "until": 5}), "claimed"),
            (json!({"event": "handed_back", "path": "a", "attempt": 1}), "handed_back"),
            (json!({"event": "unpaused"}), "unpaused"),
        ] {
            assert_eq!(read(event).name(), name);
        }
        let retry = json!({"event": "retry_scheduled", "path": "a", "attempt": 2, "due": 1, "rung": "continue"});
        assert_eq!(serde_json::to_value(read(retry.clone())).unwrap(), retry);
    }
}
