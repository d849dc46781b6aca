//! The comparison of two plans, as people and programs see it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a changed workflow means for a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Every step of the new plan, and every step that only the old plan has.
    pub rows: Vec<ComparedStep>,
    /// Steps that keep their results.
    pub kept: Vec<String>,
    /// Steps that had a result and run again.
    pub again: Vec<String>,
    /// Steps that had run and that the new plan does not have.
    pub dropped: Vec<String>,
    /// Steps about which a person has to decide: keep a result that may be theirs, or run them.
    pub asks: Vec<String>,
    /// Inputs whose values differ.
    pub inputs: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// A hash of all this and of the state of the run. Send it back to apply exactly this.
    pub hash: String,
}

/// One step of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedStep {
    /// The ids of the step and of what it is in.
    pub step: String,
    /// How it differs.
    pub change: StepChange,
    /// The parts that differ.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parts: Vec<String>,
    /// The step of the old plan that it comes from, or may come from, if that has another path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub was: Option<String>,
    /// What follows.
    pub fate: Fate,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// How many results are kept.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub kept: usize,
    /// How many results are made again.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub again: usize,
    /// How many results are not used any more.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub unused: usize,
}

/// How a step differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepChange {
    /// It does not.
    Same,
    /// It means something else.
    Changed,
    /// It means the same; what follows from it, or how it is tried, differs.
    Adjusted,
    /// Only the new plan has it.
    New,
    /// Only the old plan has it.
    Gone,
    /// It has another id.
    Renamed,
    /// It may be a step of the old plan.
    Unclear,
}

/// What follows for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Its result is kept; of several results, all.
    Kept,
    /// It runs again; of several results, at least one.
    Again,
    /// It has no result yet, and runs in its turn.
    Runs,
    /// It decides again, without work: a loop, a choice, a name.
    Decides,
    /// Its results stay in the history and are not used.
    Dropped,
    /// A person has to say.
    Asks,
    /// Nothing: it has not run, and it is gone.
    Nothing,
}

impl StepChange {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Adjusted => "adjusted",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Renamed => "renamed",
            Self::Unclear => "unclear",
        }
    }
}

impl Fate {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Again => "runs again",
            Self::Runs => "runs",
            Self::Decides => "decides again",
            Self::Dropped => "dropped",
            Self::Asks => "asks you",
            Self::Nothing => "nothing",
        }
    }
}

impl ComparedStep {
    pub(super) fn new(step: String, change: StepChange, fate: Fate) -> Self {
        Self { step, change, parts: Vec::new(), was: None, fate, why: None, kept: 0, again: 0, unused: 0 }
    }

    /// How many results its fate is about, in words; `None` if there is only one.
    pub fn counts(&self) -> Option<String> {
        let all = self.kept + self.again + self.unused;
        match self.counted() {
            _ if all < 2 => None,
            some if some < all => Some(format!("{some} of {all} results")),
            _ => Some(format!("{all} results")),
        }
    }

    /// How many results its fate is about.
    fn counted(&self) -> usize {
        match self.fate {
            Fate::Kept => self.kept,
            Fate::Again => self.again,
            _ => self.kept + self.again + self.unused,
        }
    }

    /// The row as one line, without colours.
    pub fn line(&self) -> String {
        let parts = if self.parts.is_empty() { String::new() } else { format!(" ({})", self.parts.join(", ")) };
        let was = self.was.as_ref().map_or_else(String::new, |was| format!(" (was {was})"));
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let counts = self.counts().map_or_else(String::new, |counts| format!(" ({counts})"));
        let change = self.change.word();
        format!("{}: {change}{parts}{was} -> {}{counts}{why}", self.step, self.fate.words())
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
