//! How runs, steps and attempts are doing, each in a word.

use crate::event::Ended;
use crate::plan::Outcome;
use crate::words::words;

words! {
    /// How a run is doing; [`crate::state::State::status_in`] says it.
    ///
    /// A store can hold words of other versions: readers parse the word, and show the text if that fails.
    RunStatus {
        /// It waits for other runs of its concurrency group.
        Queued = "queued",
        /// Something of it is under way, or is about to be decided.
        Running = "running",
        /// Everything that is left of it waits for something.
        Waiting = "waiting",
        /// Nothing new starts.
        Paused = "paused",
        /// A person stopped it; no engine continues it until a person resumes it.
        Stopped = "stopped",
        /// It is over, and ended well.
        Succeeded = "succeeded",
        /// It is over, and ended badly.
        Failed = "failed",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// Every status of a run that is not over.
    pub const OPEN: [Self; 5] = [Self::Queued, Self::Running, Self::Waiting, Self::Paused, Self::Stopped];
    /// Every status of a run that is over.
    pub const OVER: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Cancelled];

    /// Whether a run with this status is over.
    pub fn is_over(self) -> bool {
        Self::OVER.contains(&self)
    }

    /// Some of them as a store has them.
    pub fn words_of<const N: usize>(some: [Self; N]) -> Vec<String> {
        some.iter().map(Self::to_string).collect()
    }
}

impl From<Outcome> for RunStatus {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Succeeded,
            Outcome::Failure => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

words! {
    /// How a step is doing.
    StepStatus {
        /// It was not begun.
        Pending = "pending",
        /// It is under way.
        Running = "running",
        /// It waits; see [`Awaited`].
        Waiting = "waiting",
        /// It ended well.
        Succeeded = "succeeded",
        /// It ended badly.
        Failed = "failed",
        /// It was left out.
        Skipped = "skipped",
        /// It was stopped, or given up.
        Cancelled = "cancelled",
    }
}

impl StepStatus {
    /// Whether a step with this status is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Skipped | Self::Cancelled)
    }
}

impl From<Ended> for StepStatus {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Succeeded => Self::Succeeded,
            Ended::Failed => Self::Failed,
            Ended::Skipped => Self::Skipped,
            Ended::Cancelled => Self::Cancelled,
        }
    }
}

words! {
    /// How an attempt is doing.
    AttemptStatus {
        /// It waits for a worker.
        Waiting = "waiting",
        /// It is under way.
        Running = "running",
        /// It ended well.
        Succeeded = "succeeded",
        /// It ended badly.
        Failed = "failed",
        /// It was stopped, or given up.
        Stopped = "stopped",
    }
}

words! {
    /// What a step waits for.
    Awaited {
        /// A person has to approve something.
        Approval = "approval",
        /// A person has to answer a question.
        Question = "question",
        /// A person has to decide what to do about a failure.
        Operator = "operator",
        /// The machine that has the files of the run.
        Machine = "machine",
        /// The client that makes the turns of the run's agents.
        Client = "client" | "host",
        /// A worker that can take the attempt.
        Worker = "worker",
        /// A signal.
        Event = "event",
        /// A moment.
        Timer = "timer",
    }
}

impl Awaited {
    /// Whether a person is asked something that the workflow, or its failure, needs.
    pub fn is_person(self) -> bool {
        matches!(self, Self::Approval | Self::Question | Self::Operator)
    }

    /// Words for people: `approval, timer`.
    pub fn join(some: &[Self]) -> String {
        some.iter().map(|awaited| awaited.word()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_parsed_and_stored_alike() {
        for (status, word) in RunStatus::ALL.iter().zip(RunStatus::WORDS) {
            assert_eq!(status.to_string(), *word);
            assert_eq!(word.parse::<RunStatus>().as_ref(), Ok(status));
            assert_eq!(serde_json::to_string(status).unwrap(), format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<RunStatus>(&format!("\"{word}\"")).unwrap(), *status);
        }
        assert_eq!(format!("{:<10}|", RunStatus::Failed), "failed    |");
        assert_eq!(
            "done".parse::<StepStatus>().unwrap_err().to_string(),
            "`done` is not one of pending, running, waiting, succeeded, failed, skipped, cancelled"
        );
    }

    #[test]
    fn every_status_of_a_run_is_open_or_over() {
        let open = RunStatus::ALL.iter().filter(|status| !status.is_over());
        assert_eq!(open.copied().collect::<Vec<_>>(), RunStatus::OPEN);
        assert_eq!(RunStatus::words_of(RunStatus::OVER), ["succeeded", "failed", "cancelled"]);
    }

    #[test]
    fn what_an_earlier_version_called_a_host_is_a_client() {
        assert_eq!("host".parse(), Ok(Awaited::Client));
        assert_eq!(Awaited::join(&[Awaited::Client, Awaited::Timer]), "client, timer");
    }
}
