//! Why a command was not carried out: the same value for every interface.
//!
//! **Invariant:** nobody reads a sentence to find out what to do. What follows from a rejection (a status, an exit code, another
//! try) follows from its kind alone; each interface has one table for that.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::explain::moment;
use crate::schema::Violation;

/// The sort of reason for which a command was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionKind {
    /// There is no such run, step, workflow, version, proposal or grant.
    NotFound,
    /// A value, a name or an input does not fit.
    Invalid,
    /// The caller may not do this.
    Forbidden,
    /// Somebody else was first, or what the caller saw has changed.
    Conflict,
    /// The run is over, or not over yet, or not in the state that the command is for.
    Untimely,
    /// Too many others write at this moment. The same command may succeed later.
    Busy,
    /// The store, a file or the machine fails, or a history cannot be read.
    Unavailable,
}

impl RejectionKind {
    /// Every kind, for tables and their tests.
    pub const ALL: [Self; 7] =
        [Self::NotFound, Self::Invalid, Self::Forbidden, Self::Conflict, Self::Untimely, Self::Busy, Self::Unavailable];

    /// The kind as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Forbidden => "forbidden",
            Self::Conflict => "conflict",
            Self::Untimely => "untimely",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
        }
    }

    /// The page of the manual about it.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "LH0703",
            Self::Invalid => "LH0708",
            Self::Forbidden => "LH0706",
            Self::Conflict | Self::Untimely => "LH0705",
            Self::Busy | Self::Unavailable => "LH0709",
        }
    }
}

/// What the caller can do next. Interfaces put it in their own words: a command, a field of a request, a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// A sentence that holds everywhere.
    Say(String),
    /// Give an input a value.
    GiveInput(String),
    /// Answer in place of the person who started the run.
    AnswerInstead,
    /// Look at what is asked now, then answer.
    LookAgain,
    /// Try again.
    TryAgain,
    /// Cancel the run first.
    CancelFirst,
    /// List the runs.
    ListRuns,
    /// List the versions of a workflow.
    ListVersions(String),
    /// List the proposals.
    ListProposals,
    /// List the grants and what waits for one.
    ListGrants,
    /// Give a value that follows this JSON Schema.
    Follow(String),
}

impl Remedy {
    /// The remedy without a word about any interface.
    pub fn plain(&self) -> String {
        match self {
            Self::Say(text) => text.clone(),
            Self::GiveInput(name) => format!("give the input `{name}`"),
            Self::AnswerInstead => "or answer in its place".to_owned(),
            Self::LookAgain => "look at it again, then answer".to_owned(),
            Self::TryAgain => "try again".to_owned(),
            Self::CancelFirst => "cancel it first".to_owned(),
            Self::ListRuns => "list the runs".to_owned(),
            Self::ListVersions(workflow) => format!("list the versions of `{workflow}`"),
            Self::ListProposals => "list the proposals".to_owned(),
            Self::ListGrants => "list the grants".to_owned(),
            Self::Follow(schema) => format!("it must follow {schema}"),
        }
    }
}

/// What somebody else did before the command came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstCommand {
    /// What they did, in a word: `approved`, `denied`, `cancelled`.
    pub what: String,
    /// Who, as far as the history says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When: milliseconds since 1970, UTC.
    pub at: i64,
}

impl fmt::Display for FirstCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.by.as_deref().unwrap_or("somebody");
        write!(f, "{by} {} it at {}", self.what, moment(self.at))
    }
}

/// Why a command was rejected, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The sort of reason: all that programs decide by.
    pub kind: RejectionKind,
    /// The page of the manual about it.
    pub code: &'static str,
    /// What is wrong, without what to do about it. A sentence without a capital and a stop.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<Remedy>,
    /// Who was first, where somebody was.
    pub first: Option<Box<FirstCommand>>,
    /// The places of a value that do not fit, where a value was given.
    pub fields: Vec<Violation>,
}

impl Rejection {
    /// A rejection of a kind.
    pub fn new(kind: RejectionKind, message: impl Into<String>) -> Self {
        Self { kind, code: kind.code(), message: message.into(), remedy: None, first: None, fields: Vec::new() }
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::NotFound, message)
    }

    /// Something does not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Invalid, message)
    }

    /// The caller may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Forbidden, message)
    }

    /// Somebody else was first.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Conflict, message)
    }

    /// The run is not in the state for this.
    pub fn untimely(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Untimely, message)
    }

    /// Too many others write. The remedy is to try again.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Busy, message).with(Remedy::TryAgain)
    }

    /// The machine fails.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(RejectionKind::Unavailable, message)
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// The same with a sentence about what to do.
    #[must_use]
    pub fn say(self, remedy: impl Into<String>) -> Self {
        self.with(Remedy::Say(remedy.into()))
    }

    /// The same with something before the message.
    #[must_use]
    pub fn about(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The same with who was first.
    #[must_use]
    pub fn after(mut self, first: FirstCommand) -> Self {
        self.message = format!("{}: {first}", self.message);
        self.first = Some(Box::new(first));
        self
    }

    /// The same with the places of a value that do not fit.
    #[must_use]
    pub fn at(mut self, fields: Vec<Violation>) -> Self {
        self.fields = fields;
        self
    }

    /// The message, and the remedy as an interface words it.
    pub fn in_words(&self, remedy: impl FnOnce(&Remedy) -> String) -> String {
        match &self.remedy {
            Some(known) => format!("{}; {}", self.message, remedy(known)),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(Remedy::plain))
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_says_what_is_wrong_and_then_what_to_do() {
        let rejection = Rejection::not_found("there is no version 1").with(Remedy::ListVersions("tdd".to_owned()));
        assert_eq!(rejection.to_string(), "there is no version 1; list the versions of `tdd`");
        assert_eq!(rejection.in_words(|_| "see page 3".to_owned()), "there is no version 1; see page 3");
        assert_eq!(Rejection::untimely("the run is over").to_string(), "the run is over");
    }

    #[test]
    fn who_was_first_is_part_of_the_message_and_a_value_of_its_own() {
        let first = FirstCommand { what: "approved".to_owned(), by: Some("kim".to_owned()), at: 43_380_000 };
        let rejection = Rejection::conflict("`gate` has been answered").after(first);
        assert_eq!(rejection.to_string(), "`gate` has been answered: kim approved it at 1970-01-01T12:03:00Z");
        assert_eq!(rejection.first.unwrap().by.as_deref(), Some("kim"));
    }

    #[test]
    fn every_kind_has_a_word_and_a_page() {
        for kind in RejectionKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
            assert!(kind.code().starts_with("LH07"), "{kind:?}");
        }
    }
}
