//! What happened in a run. One type: what is stored is what is streamed and what `--json` prints.
//!
//! **Invariant:** variants and fields are only ever added, each with a default, so that every history ever
//! written can be read for ever.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Json;
use crate::approval::Approvals;
use crate::consent::Terms;
use crate::id::StepId;
use crate::ladder::Rung;
use crate::origin::{Caller, Origin};
use crate::path::StepPath;
use crate::plan::{ErrorClass, Outcome};

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
        /// Which step.
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
        /// It waits for a worker that has these labels: whoever recorded it does not make it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queued: Option<Vec<String>>,
    },
    /// A worker makes an attempt that waited for one.
    AttemptClaimed {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// Who.
        worker: String,
        /// The machine that it is on, where several share a store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// Whoever took an attempt that waited for a worker is gone, and had not begun it: it waits again.
    AttemptReleased {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
    },
    /// The files of the run are on this machine: it comes from a store that no other one shared.
    HostSettled {
        /// Which machine.
        host: String,
    },
    /// The machine on which the files of the run are has been silent for too long, and a step waits for it.
    HostMissed {
        /// Which machine.
        host: String,
        /// Since when nothing was heard of it.
        since: i64,
        /// What is done about it.
        #[serde(default, skip_serializing_if = "Gone::is_pause")]
        then: Gone,
    },
    /// The machine that was missed is there again: what was asked about it is withdrawn.
    HostSeen {
        /// Which machine.
        host: String,
    },
    /// What comes next may be done on any machine: the files that were left on another one are given up, or made again from
    /// what was recorded of them.
    HostLeft {
        /// Which machine.
        host: String,
        /// Who decided that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What the files are made again from, wherever the run goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Carried>,
    },
    /// The files that a run had on another machine were made again on this one.
    FilesRebuilt {
        /// The step that needs them.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// On which machine.
        host: String,
        /// The commit that they were made from.
        commit: String,
    },
    /// The files that an attempt left could not be sent to where other machines find them.
    CarryFailed {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// The number that they would have had: see [`Carried::number`].
        #[serde(default)]
        number: u64,
        /// Why.
        why: String,
    },
    /// A client of a hosted run takes an attempt that is handed out, or keeps it for longer.
    Claimed {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// Who.
        by: String,
        /// When it is given up if nothing is heard.
        until: i64,
    },
    /// Whoever works on an attempt that is handed out shows a sign of life.
    HeartbeatSeen {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// What it is at, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// When it is given up if nothing more is heard.
        until: i64,
    },
    /// An attempt that was handed out is given back. It is offered anew, and counts as if it had never been.
    HandedBack {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
    },
    /// Another process looks after an attempt that outlived the one that began it.
    AttemptAdopted {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
    },
    /// The agent of an attempt has a conversation that can be found again.
    SessionSeen {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// The conversation.
        session: Session,
        /// The name under which other steps continue it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<String>,
    },
    /// The files that an agent is about to work on are recorded, so that they can be put back.
    FilesKept {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// The reference under which git has them.
        name: String,
    },
    /// The files of an interrupted turn were put back.
    FilesRestored {
        /// Which step.
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
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// What it left.
        result: Result,
    },
    /// An attempt ended badly.
    AttemptFailed {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// Why.
        error: Failure,
        /// What it left all the same.
        #[serde(default)]
        result: Result,
    },
    /// An attempt was stopped on purpose, with the engine that made it. It is made again, and counts as if it had never been.
    AttemptStopped {
        /// Which step.
        path: StepPath,
        /// Which attempt.
        attempt: u32,
        /// What it had cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// Another attempt will be made; what failed inside a container is done again at once.
    RetryScheduled {
        /// Which step.
        path: StepPath,
        /// The attempt to come.
        attempt: u32,
        /// When.
        due: i64,
        /// In which way an agent goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rung: Option<Rung>,
    },
    /// A step is left out.
    StepSkipped {
        /// Which step.
        path: StepPath,
        /// Why.
        why: Skip,
    },
    /// The items of a `for_each` are known.
    ItemsFound {
        /// Which step.
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
        /// Which step.
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
        /// The hash of the secret that answers it from afar. Whoever makes the event can not know it: see
        /// [`crate::decide::seal`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A person answered.
    Answered {
        /// Which step's question.
        path: StepPath,
        /// What they said.
        answer: Answer,
        /// Who.
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
    /// A step that the policy has something to say about may do what it does.
    Consented {
        /// Which step.
        path: StepPath,
        /// By which rule.
        rule: String,
    },
    /// That the run was started is no consent to what it does any more.
    ConsentRevoked {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A step sleeps, or waits for a signal.
    WaitStarted {
        /// Which step.
        path: StepPath,
        /// Until when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<i64>,
        /// For which signal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
    },
    /// A timer went off.
    TimerFired {
        /// Which.
        timer: String,
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
        /// Which step.
        path: StepPath,
        /// How.
        end: End,
    },
    /// A step chose where to go.
    Routed {
        /// Which step.
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
        /// Which.
        limit: String,
        /// The step that uses the sub-workflow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<StepPath>,
    },
    /// A sub-workflow was ended by its limit; what was under way in it is given up.
    UnitStopped {
        /// The step that uses it.
        path: StepPath,
        /// Why.
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
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody wants nothing new to start.
    Paused {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run may go on.
    Unpaused {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A failed or cancelled run starts again; finished steps keep their results.
    Reopened {
        /// From this step on; without one, from whatever failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<StepPath>,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run is over.
    RunFinished {
        /// How.
        outcome: Outcome,
        /// Why.
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
        /// Which attempt.
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

/// What a run was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// What lists call it.
    pub workflow: String,
    /// The content hash of the plan that the run pins.
    pub plan: String,
    /// The planner's version.
    pub semantics: u32,
    /// The text it was started with.
    pub task: String,
    /// Inputs by name, defaults filled in.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Json>,
    /// About the run, for templates: `run.*`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub about: IndexMap<String, Json>,
    /// What started it.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub trigger: Json,
    /// Who started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Origin>,
    /// What the settings said about answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<Approvals>,
    /// What it may do without being asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Terms>,
    /// The run and step it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<(String, StepPath)>,
    /// Who makes the turns of its agents.
    #[serde(default, skip_serializing_if = "Driver::is_engine")]
    pub driver: Driver,
}

/// Who makes the turns of a run's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The engine calls agents.
    #[default]
    Engine,
    /// A client asks for the next steps, does them itself, and submits what came of them.
    Host,
}

impl Driver {
    fn is_engine(&self) -> bool {
        *self == Self::Engine
    }
}

/// What an attempt left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Result {
    /// The value that later steps read.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub output: Json,
    /// Of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Of a command, where it is not the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the conversation has used since its beginning, where the agent counts like that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_total: Option<Usage>,
    /// Whether it was taken from an earlier run instead of being done.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cached: bool,
    /// Who submitted it, where the attempt was handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The files as the attempt left them, where other machines can fetch them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
}

/// The files of a run as git has them, on a remote that all machines reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The commit.
    pub commit: String,
    /// The reference from which it can be fetched.
    pub name: String,
    /// How many were sent under that name: a larger one is newer.
    pub number: u64,
}

/// What is done about a machine that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// Nothing new starts until somebody decides. Only histories of earlier versions say so.
    #[default]
    Pause,
    /// A person is asked.
    Ask,
    /// The files are made again elsewhere from what was recorded of them; without a record, a person is asked.
    Rebuild,
}

impl Gone {
    fn is_pause(&self) -> bool {
        *self == Self::Pause
    }
}

/// A conversation with an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// As the agent calls it.
    pub id: String,
    /// Whose it is.
    pub agent: String,
    /// Whether it can be gone on with.
    #[serde(default)]
    pub resumes: bool,
    /// Whether it can be shortened.
    #[serde(default)]
    pub compacts: bool,
    /// What it has used since its beginning, where the agent counts like that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Usage>,
}

/// What work cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read.
    #[serde(default)]
    pub input_tokens: u64,
    /// Of the tokens read, those from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens written.
    #[serde(default)]
    pub output_tokens: u64,
    /// Money.
    #[serde(default)]
    pub usd: f64,
    /// Whether some of the money is not known, and `usd` only the rest.
    #[serde(default, skip_serializing_if = "is_false")]
    pub usd_unknown: bool,
}

impl Usage {
    /// Tokens, read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.usd += other.usd;
        self.usd_unknown |= other.usd_unknown;
    }
}

/// Why work failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// As far as a retry cares.
    pub class: ErrorClass,
    /// In words.
    pub message: String,
    /// When trying again makes sense, in milliseconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Failure {
    /// A failure of a class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after_ms: None }
    }
}

/// Why a step is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Its `when` is false.
    When,
    /// Its `run_if` asks for something else.
    RunIf,
    /// A choice led elsewhere.
    Route,
    /// A gate before it was denied.
    Denied,
    /// Something it depends on failed.
    Upstream,
    /// The run is being cancelled.
    Cancelled,
}

impl Skip {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::When => "its `when` is false",
            Self::RunIf => "its `run_if` does not hold",
            Self::Route => "another way was chosen",
            Self::Denied => "denied",
            Self::Upstream => "what it needs failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a person is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A gate between steps.
    Approval,
    /// Something only a person knows.
    Question,
    /// Whether an output may be used.
    Review,
    /// What to do about a failure, or about rounds or a limit that are used up.
    Operator,
    /// Whether a step may do what it does.
    Consent,
    /// What to do about the machine that has the files of the run, and is gone.
    Machine,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes; of a failure: try again.
    Approve,
    /// No; of a failure: give up.
    Deny {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Yes, with this instead; of a failure: use this as the result.
    Edit {
        /// The value.
        value: Json,
    },
    /// The answer to a question, or one of the choices.
    Value {
        /// The value.
        value: Json,
    },
    /// Of a failure: go on without it.
    Skip,
    /// Nobody answered in time.
    TimedOut,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// In a word.
    pub status: Ended,
    /// Names it sets beside its output.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub names: IndexMap<String, Json>,
    /// Its output, where that is not the last attempt's.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// What a person chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Why it failed, where that is not the last attempt's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Whether the output is the declared default and not a result.
    #[serde(default, skip_serializing_if = "is_false")]
    pub defaulted: bool,
    /// Whether the output may be shorter than the result, because a limit was reached.
    #[serde(default, skip_serializing_if = "is_false")]
    pub degraded: bool,
    /// Whether the run goes on although it failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tolerated: bool,
    /// Of an `end` step: how the workflow it stands in ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<(Outcome, Option<String>)>,
    /// What its `progress` came to.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub progress: Option<Json>,
}

impl End {
    /// Ended like this, and nothing else to say.
    pub fn plain(status: Ended) -> Self {
        Self {
            status,
            names: IndexMap::new(),
            output: None,
            choice: None,
            error: None,
            defaulted: false,
            degraded: false,
            tolerated: false,
            verdict: None,
            progress: None,
        }
    }

    /// Failed, and why.
    pub fn failed(error: Failure) -> Self {
        Self { error: Some(error), ..Self::plain(Ended::Failed) }
    }
}

/// How a step ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Succeeded,
    /// Badly.
    Failed,
    /// Left out.
    Skipped,
    /// Stopped.
    Cancelled,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
