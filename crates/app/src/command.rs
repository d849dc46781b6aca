//! Commands to a run: who may give them is decided by the engine, from the caller that each of them names.

use std::time::Duration;

use longhaul_core::Json;
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller};
use longhaul_core::path::StepPath;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_core::state::State;
use longhaul_runtime::{Applied, Error, Message, key_of};

use crate::App;

/// How long an engine may take to show itself after a command.
pub const PATIENCE: Duration = Duration::from_millis(1500);

/// What somebody wants of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    /// Answer what it asks.
    Answer(GivenAnswer),
    /// Send it a signal.
    Signal {
        /// The name that a step waits for.
        name: String,
        /// What it carries.
        data: Json,
    },
    /// Stop it.
    Cancel {
        /// The reason, for others to read.
        reason: Option<String>,
    },
    /// Start nothing new.
    Pause,
    /// Start new steps again.
    Unpause,
    /// Start it again after a failure.
    Retry {
        /// From this step on; without one, from what failed.
        from: Option<StepPath>,
    },
    /// Continue elsewhere, without the files on its machine.
    Abandon,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenAnswer {
    /// The step that asks; without one, the only step that does.
    pub step: Option<StepPath>,
    /// What is said.
    pub answer: Answer,
    /// What is said beside it.
    pub comment: Option<String>,
    /// The hash of what the caller was shown, where the interface knows it.
    pub shown: Option<String>,
    /// The secret of the question, where the caller was given it.
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
    /// The command as a run takes it in. The step that asks is looked for where none is named.
    pub fn message(self, state: &State, caller: &Caller) -> Result<Message, Rejection> {
        let by = caller.by().map(str::to_owned);
        Ok(match self {
            Self::Answer(answering) => answer(answering, state, caller)?,
            Self::Signal { name, data } => Message::Signal { name, data, by },
            Self::Cancel { reason } => Message::Cancel { reason, by },
            Self::Pause => Message::Pause { by },
            Self::Unpause => Message::Unpause { by },
            Self::Retry { from } => Message::Retry { from, by },
            Self::Abandon => match &state.placement.host {
                Some(host) => Message::Leave { host: host.clone(), by },
                None => return Err(Rejection::untimely("its files are on no machine of several")),
            },
        })
    }

    /// Whether it holds for a run that cannot be read, too.
    fn needs_no_state(&self) -> bool {
        matches!(self, Self::Cancel { .. })
    }
}

fn answer(answering: GivenAnswer, state: &State, caller: &Caller) -> Result<Message, Rejection> {
    let step = match answering.step {
        Some(step) => step,
        None => only_question(state)?,
    };
    let auth = if answering.secret.is_some() { Auth::Token } else { caller.auth };
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
        [] => Err(nothing_asked()),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Rejection::invalid(format!("several steps ask: {}", names.join(", "))).say("name one"))
        }
    }
}

fn nothing_asked() -> Rejection {
    Rejection::untimely("this run asks nothing at the moment").with(Remedy::LookAgain)
}

impl App {
    /// Carries a command out in the name of a caller, and says what came of it.
    pub async fn command(&self, run: &RunId, command: RunCommand, caller: &Caller) -> Result<Applied, Error> {
        self.command_within(run, command, caller, PATIENCE).await
    }

    /// The same, for an interface that drives the run itself afterwards, or has waited enough.
    pub async fn command_within(
        &self,
        run: &RunId,
        command: RunCommand,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Applied, Error> {
        let state = match self.engine().load(run).await {
            Err(error) if error.is_damage() && command.needs_no_state() => State::default(),
            loaded => loaded?.state,
        };
        let message = match command.message(&state, caller) {
            Err(rejection) if rejection == nothing_asked() => {
                return Err(self.engine().asks_nothing(run, None).await.into());
            }
            message => message?,
        };
        self.engine().command(run, message, &caller.who, patience).await
    }

    /// Carries out a command that an interface has put together itself.
    pub async fn send(&self, run: &RunId, message: Message, caller: &Caller) -> Result<Applied, Error> {
        self.engine().command(run, message, &caller.who, PATIENCE).await
    }
}
