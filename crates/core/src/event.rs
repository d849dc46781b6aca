//! What happened in a run. One type: what is stored is what is streamed and what `--json` prints.
//!
//! **Invariant:** variants and fields are only ever added, each with a default, so that every history ever
//! written can be read for ever.

mod about;
mod attempt;
mod budget;
mod context;
mod machine;
mod question;
mod replace;
mod run;
mod step;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::id::StepId;
use crate::origin::Caller;
use crate::path::StepPath;
use crate::plan::Outcome;
use crate::recovery::RecoveryAction;
use crate::task::TimerId;

pub use about::EventSubject;
pub use attempt::{Failure, Result, Session, Usage};
pub use budget::{Amount, BudgetChange};
pub use context::{RunContext, RunTrigger, TriggerKind};
pub use machine::{Carried, OnHostLost};
pub use question::{Answer, QuestionKind};
pub use replace::{BodyMatch, PlanReplaced, RunSource, StepMatch};
pub use run::{Driver, RunStarted};
pub use step::{End, Ended, Skip};

/// The version of the envelope.
pub const VERSION: u32 = 1;

/// An event with its place in the history of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// See [`VERSION`].
    pub v: u32,
    /// From 1, without gaps.
    pub seq: u64,
    /// Milliseconds since 1970, UTC. Time reaches the planner only through this.
    pub at: i64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first event of every run.
    RunStarted(RunStarted),
    /// A leaf step's attempt is about to be made.
    AttemptStarted {
        /// The step.
        path: StepPath,
        /// From 1.
        attempt: u32,
        /// What is set aside for it until its cost is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserve: Option<Usage>,
        /// Whether it is handed out to the client that hosts the run, instead of being made by the engine.
        #[serde(default, skip_serializing_if = "is_false")]
        hosted: bool,
        /// The machine that makes it, where several share a store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// It waits for a worker with these labels; the engine that recorded it does not run it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<Vec<String>>,
        /// What people told the agent and this turn carries: the numbers of the step's hints, from 1.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hints: Vec<u32>,
    },
    /// A worker makes an attempt that waited for one.
    AttemptClaimed {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The worker that took it.
        worker: String,
        /// The machine that it is on, where several share a store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// The worker that claimed an attempt is gone and had not started it: the attempt waits again.
    AttemptReleased {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The files of the run are on this machine: it comes from a store that no other one shared.
    HostSettled {
        /// The machine.
        host: String,
    },
    /// The machine on which the files of the run are has been silent for too long, and a step waits for it.
    HostMissed {
        /// The machine.
        host: String,
        /// Since when nothing was heard of it.
        since: i64,
        /// What is done about it.
        #[serde(default, skip_serializing_if = "OnHostLost::is_pause")]
        then: OnHostLost,
    },
    /// The machine that was missed is there again: what was asked about it is withdrawn.
    HostSeen {
        /// The machine.
        host: String,
    },
    /// What comes next may be done on any machine: the files that were left on another one are given up, or made again from
    /// what was recorded of them.
    HostLeft {
        /// The machine.
        host: String,
        /// Who decided that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What the files are made again from, wherever the run continues.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Carried>,
    },
    /// The files that a run had on another machine were made again on this one.
    FilesRebuilt {
        /// The step that needs them.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// On which machine.
        host: String,
        /// The commit that they were made from.
        commit: String,
    },
    /// The files that an attempt left could not be sent to where other machines find them.
    CarryFailed {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The number that they would have had: see [`Carried::number`].
        #[serde(default)]
        number: u64,
        /// The reason, for people.
        why: String,
    },
    /// A client of a hosted run takes an attempt that is handed out, or keeps it for longer.
    #[serde(rename = "claimed")]
    HostedClaimed {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The client.
        by: String,
        /// When it is given up if nothing is heard.
        until: i64,
    },
    /// The client that works on a handed-out attempt sent a sign of life.
    HeartbeatSeen {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// What it is at, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// When it is given up if nothing more is heard.
        until: i64,
    },
    /// An attempt that was handed out is given back. It is offered again, and counts as if it had never been.
    #[serde(rename = "handed_back")]
    HostedReturned {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
    },
    /// Another process looks after an attempt that outlived the one that began it.
    AttemptAdopted {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
    },
    /// An attempt waits because its machine is short of something (files, processes, memory, room on a disk), or because its agent has
    /// answered while something of it continues in the background; or waits no longer.
    AttemptDelayed {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// What it waits for, and what to do; `None` if it waits no longer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The agent of an attempt called a tool that it may not use, and continued without it.
    ToolDenied {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The tool, as the agent names it.
        tool: String,
    },
    /// The agent of an attempt has a conversation that can be found again.
    SessionSeen {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The conversation.
        session: Session,
        /// The name under which other steps continue it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<String>,
    },
    /// The files that an agent is about to work on are recorded, so that they can be put back.
    FilesKept {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The reference under which git has them.
        name: String,
    },
    /// The files of an interrupted turn were put back.
    FilesRestored {
        /// The step.
        path: StepPath,
        /// The attempt that begins with them.
        attempt: u32,
        /// The reference under which git has what was put back.
        name: String,
        /// The reference under which git has what they had become.
        left: String,
    },
    /// An attempt ended well.
    AttemptSucceeded {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// What it left.
        result: Result,
    },
    /// An attempt ended badly.
    AttemptFailed {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// The reason, for people.
        error: Failure,
        /// What it left all the same.
        #[serde(default)]
        result: Result,
    },
    /// An attempt was stopped on purpose, with the engine that made it. It is made again, and counts as if it had never been.
    AttemptStopped {
        /// The step.
        path: StepPath,
        /// The number of the attempt.
        attempt: u32,
        /// What it had cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// Another attempt will be made; what failed inside a container is done again at once.
    RetryScheduled {
        /// The step.
        path: StepPath,
        /// The attempt to come.
        attempt: u32,
        /// When.
        due: i64,
        /// How an agent recovers from what failed.
        #[serde(rename = "rung", default, skip_serializing_if = "Option::is_none")]
        recovery: Option<RecoveryAction>,
    },
    /// A step is left out.
    StepSkipped {
        /// The step.
        path: StepPath,
        /// The reason, for people.
        why: Skip,
    },
    /// The items of a `for_each` are known.
    ItemsFound {
        /// The step.
        path: StepPath,
        /// The items.
        items: Vec<Json>,
    },
    /// A body inside a container begins: an item, a round, a branch, a sub-workflow.
    BodyOpened {
        /// The container.
        path: StepPath,
        /// Which item, round or branch.
        index: u32,
        /// Names that the container binds.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        bound: IndexMap<String, Json>,
    },
    /// A person is asked.
    QuestionAsked {
        /// The step.
        path: StepPath,
        /// What for.
        kind: QuestionKind,
        /// What they read.
        text: String,
        /// What they may answer, beside yes and no.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<String>,
        /// What a free answer looks like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json>,
        /// When silence becomes an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<i64>,
        /// The failure that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// The hash of the secret that answers it from afar. Whoever makes the event cannot know it: see
        /// [`crate::decide::seal`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A person answered.
    Answered {
        /// The step that asked.
        path: StepPath,
        /// What they said.
        answer: Answer,
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Who, from where, and how that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Box<Caller>>,
        /// What they said beside it, for others to read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The hash of what they were shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
        /// The hash of the secret that they gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A person approved where several have to; the question stays open for the others.
    Approved {
        /// The step whose question it is.
        path: StepPath,
        /// How many people have approved by now.
        given: usize,
        /// How many have to.
        needed: usize,
        /// The person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The person, from where, and how that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Box<Caller>>,
        /// What they said beside it, for others to read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The hash of what they were shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown: Option<String>,
    },
    /// A person told the agent of a step something. The next turn of the step carries it.
    HintGiven {
        /// The step.
        path: StepPath,
        /// What they said.
        text: String,
        /// Who said it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person changed the limits of the run. It continues if it was paused at one of them.
    BudgetChanged {
        /// The limits from now on. Those that are not named stay.
        change: BudgetChange,
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A step that the policy has something to say about may do what it does.
    Consented {
        /// The step.
        path: StepPath,
        /// By which rule.
        rule: String,
    },
    /// That the run was started is no consent to what it does any more.
    ConsentRevoked {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A step sleeps, or waits for a signal.
    WaitStarted {
        /// The step.
        path: StepPath,
        /// Until when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<i64>,
        /// For which signal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
    },
    /// A timer fired.
    TimerFired {
        /// The timer.
        timer: TimerId,
    },
    /// A signal arrived.
    Signalled {
        /// Its name.
        name: String,
        /// What it carries.
        data: Json,
        /// Who sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A step is over.
    StepEnded {
        /// The step.
        path: StepPath,
        /// How.
        end: End,
    },
    /// A step chose where to go.
    Routed {
        /// The step.
        path: StepPath,
        /// Where to.
        to: StepId,
    },
    /// A graph goes back.
    Rewound {
        /// The step that sent it back.
        path: StepPath,
        /// The step that starts over, with everything downstream of it.
        to: StepId,
    },
    /// A limit of the run, or of a sub-workflow, was reached.
    LimitReached {
        /// What it limits.
        limit: String,
        /// The step that uses the sub-workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<StepPath>,
    },
    /// A sub-workflow was ended by its limit; what was under way in it is given up.
    UnitStopped {
        /// The step that uses it.
        path: StepPath,
        /// The reason, for people.
        why: String,
    },
    /// A signal that had come early does not fit the step that now waits for it, and is dropped.
    SignalRefused {
        /// Its name.
        name: String,
        /// Why it does not fit.
        why: String,
    },
    /// Something arrived that does not fit: an answer to a closed question, a value that was not asked for.
    Refused {
        /// What arrived.
        what: String,
        /// Why it does not fit.
        why: String,
    },
    /// Somebody wants the run to stop.
    CancelRequested {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The reason, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody wants nothing new to start.
    Paused {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run may continue.
    Unpaused {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Somebody stopped the run: its attempts end, and no engine continues it until somebody resumes it.
    RunStopped {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Somebody resumed a stopped run.
    RunResumed {
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A failed or cancelled run starts again; finished steps keep their results.
    Reopened {
        /// From this step on; without one, from whatever failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<StepPath>,
        /// Who did it, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run continues with another plan. Every step starts over; results that still hold are kept, each with an event of its own.
    PlanReplaced(Box<PlanReplaced>),
    /// A step keeps the result that it had under the plan before.
    ResultKept {
        /// The step.
        path: StepPath,
        /// The address that it had before, if that was another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<StepPath>,
    },
    /// The run is over.
    RunFinished {
        /// How.
        outcome: Outcome,
        /// The reason, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// What it returns.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        outputs: IndexMap<String, Json>,
    },
    /// The run has failed, and its `on_failure` is about to be done.
    OnFailureStarted {
        /// From 1, over the whole run.
        attempt: u32,
    },
    /// A run that was over was brought back from an archive.
    Imported {
        /// Who did that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The `on_failure` of a run was done, or could not be.
    OnFailureEnded {
        /// The number of the attempt.
        attempt: u32,
        /// Why it could not be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
}

impl Event {
    /// An answer of which nothing else is known.
    pub fn answered(path: StepPath, answer: Answer) -> Self {
        Self::Answered { path, answer, by: None, caller: None, comment: None, shown: None, key: None }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
