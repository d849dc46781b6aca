//! Commands to a run. Each command names its caller, and the engine decides whether the caller may give it.

use std::time::Duration;

use longhaul_core::Json;
use longhaul_core::address;
use longhaul_core::decide::Planner;
use longhaul_core::event::{Answer, BudgetChange};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller};
use longhaul_core::path::StepPath;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_core::state::State;
use longhaul_runtime::{Applied, Error, Loaded, Message, key_of};

use crate::App;

/// How long to wait for an engine to react to a command.
pub const PATIENCE: Duration = Duration::from_millis(1500);

/// A command to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    /// Answer the question of a step.
    Answer(GivenAnswer),
    /// Send a signal to the run.
    Signal {
        /// The name that a step waits for.
        name: String,
        /// The data of the signal.
        data: Json,
    },
    /// Cancel the run.
    Cancel {
        /// The reason, as others read it.
        reason: Option<String>,
    },
    /// Start no new steps.
    Pause,
    /// Start new steps again.
    Unpause,
    /// Stop the run, until somebody resumes it.
    Stop,
    /// Let a stopped run continue.
    Resume,
    /// Start the run again after a failure.
    Retry {
        /// The first step to run again; `None` means the steps that failed.
        from: Option<StepPath>,
    },
    /// Tell the agent of a step something. Its next turn carries it.
    Tell {
        /// The step, as people type it: see [`longhaul_core::address`].
        step: String,
        /// The text for the agent.
        text: String,
    },
    /// Change limits of the run.
    Budget(BudgetChange),
    /// Continue on another machine, without the files on the lost one.
    Abandon,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenAnswer {
    /// The step that asks. `None` means the only step that asks.
    pub step: Option<StepPath>,
    /// The decision, or the text.
    pub answer: Answer,
    /// A comment on the answer.
    pub comment: Option<String>,
    /// The hash of the text that the caller saw, if the interface knows it.
    pub shown: Option<String>,
    /// The secret of the question, if the caller has it.
    pub secret: Option<String>,
}

impl GivenAnswer {
    /// An answer to the only step that asks.
    pub fn new(answer: Answer) -> Self {
        Self { step: None, answer, comment: None, shown: None, secret: None }
    }

    /// An answer to a step.
    pub fn to(step: StepPath, answer: Answer) -> Self {
        Self { step: Some(step), ..Self::new(answer) }
    }
}

impl RunCommand {
    /// The message for the run's inbox. If the command names no step, this finds the one that asks.
    pub fn message(self, state: &State, caller: &Caller) -> Result<Message, Rejection> {
        let by = caller.by().map(str::to_owned);
        Ok(match self {
            Self::Answer(answering) => answer(answering, state, caller)?,
            Self::Signal { name, data } => Message::Signal { name, data, by },
            Self::Cancel { reason } => Message::Cancel { reason, by },
            Self::Pause => Message::Pause { by },
            Self::Unpause => Message::Unpause { by },
            Self::Stop => Message::Stop { by },
            Self::Resume => Message::Resume { by },
            Self::Retry { from } => Message::Retry { from, by },
            Self::Tell { step, text } => {
                let path = step.parse().map_err(|why| Rejection::invalid(format!("`{step}` is not a step: {why}")))?;
                Message::Tell { path, text, by }
            }
            Self::Budget(change) => Message::Budget { change, by },
            Self::Abandon => match &state.placement.host {
                Some(host) => Message::Leave { host: host.clone(), by },
                None => return Err(Rejection::untimely("its files are not tied to a machine")),
            },
        })
    }

    /// The command with the whole address of the step that its caller means.
    fn addressed(self, loaded: &Loaded) -> Result<Self, Rejection> {
        let Self::Tell { step, text } = self else { return Ok(self) };
        let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
        let step = address::meant(planner, &loaded.state, &step)?.to_string();
        Ok(Self::Tell { step, text })
    }

    /// Whether it is an answer to the only question of a run that asks none.
    fn answers_nothing(&self, state: &State) -> bool {
        matches!(self, Self::Answer(given) if given.step.is_none()) && state.questions().next().is_none()
    }

    /// Whether the command also works on a run whose history cannot be read.
    fn needs_no_state(&self) -> bool {
        matches!(self, Self::Cancel { .. })
    }
}

fn answer(answering: GivenAnswer, state: &State, caller: &Caller) -> Result<Message, Rejection> {
    let step = match answering.step {
        Some(step) => step,
        None => only_question(state)?,
    };
    let auth = if answering.secret.is_some() { Auth::Secret } else { caller.auth };
    let mut message = Message::answer(step, answering.answer, Caller { auth, ..caller.clone() });
    if let Message::Answer { comment, shown, key, .. } = &mut message {
        (*comment, *shown) = (answering.comment, answering.shown);
        *key = answering.secret.as_deref().map(key_of);
    }
    Ok(message)
}

fn only_question(state: &State) -> Result<StepPath, Rejection> {
    let open: Vec<&StepPath> = state.questions().map(|(step, _)| &step.path).collect();
    match open.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Rejection::untimely("this run asks nothing at the moment").with(Remedy::LookAgain)),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Rejection::invalid(format!("several steps ask: {}", names.join(", "))).say("name one"))
        }
    }
}

impl App {
    /// Carries out a command for a caller, and returns its outcome.
    pub async fn command(&self, run: &RunId, command: RunCommand, caller: &Caller) -> Result<Applied, Error> {
        self.command_within(run, command, caller, PATIENCE).await
    }

    /// Like `command`, with the caller's own limit for waiting.
    pub async fn command_within(
        &self,
        run: &RunId,
        command: RunCommand,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Applied, Error> {
        let (state, command) = match self.engine().load(run).await {
            Err(error) if error.is_damage() && command.needs_no_state() => (State::default(), command),
            loaded => {
                let loaded = loaded?;
                let command = command.addressed(&loaded)?;
                (loaded.state, command)
            }
        };
        if command.answers_nothing(&state) {
            return Err(self.engine().asks_nothing(run, None).await.into());
        }
        let message = command.message(&state, caller)?;
        self.engine().command(run, message, &caller.who, patience).await
    }

    /// Carries out a message that the interface has built itself.
    pub async fn send(&self, run: &RunId, message: Message, caller: &Caller) -> Result<Applied, Error> {
        self.engine().command(run, message, &caller.who, PATIENCE).await
    }
}
