//! Reads a script file.
//!
//! **Invariant:** what is misspelt, contradictory or out of place is an error with its line, never passed over: a test
//! whose script is not what its author thinks proves nothing.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::duration::parse_ms;
use longhaul_core::plan::ErrorClass;
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::pattern::Pattern;
use super::{Answer, Command, Entry, Error, Failure, Kind, Script, Usage, writes};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<Spanned<RawAnswer>>,
    #[serde(default)]
    replies: Vec<Spanned<RawEntry>>,
    #[serde(default)]
    commands: Vec<Spanned<RawCommand>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCommand {
    step: String,
    attempt: Option<u32>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
    #[serde(default)]
    exit_code: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    reply: Option<Json>,
    sequence: Option<Vec<Json>>,
    fail: Option<ErrorClass>,
    message: Option<String>,
    retry_after: Option<String>,
    after: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    writes: IndexMap<String, String>,
}

/// The same once more: serde cannot both flatten and refuse what it does not know.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    step: String,
    attempt: Option<u32>,
    contains: Option<String>,
    reply: Option<Json>,
    sequence: Option<Vec<Json>>,
    fail: Option<ErrorClass>,
    message: Option<String>,
    retry_after: Option<String>,
    after: Option<String>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    usage: Usage,
    #[serde(default)]
    writes: IndexMap<String, String>,
}

pub(super) fn read(text: &str) -> Result<Script, Error> {
    let file: File = serde_saphyr::from_str(text).map_err(|error| explain(error.without_snippet()))?;
    let default = file.default.map(|answer| at(answer, RawAnswer::checked)).transpose()?;
    let replies = file.replies.into_iter().map(|entry| at(entry, RawEntry::checked)).collect::<Result<_, _>>()?;
    let commands = file.commands.into_iter().map(|entry| at(entry, RawCommand::checked)).collect::<Result<_, _>>()?;
    Ok(Script { replies, default, commands, instant: false })
}

fn at<T, U>(spanned: Spanned<T>, checked: impl FnOnce(T) -> Result<U, String>) -> Result<U, Error> {
    let line = line_of(spanned.referenced);
    checked(spanned.value).map_err(|message| Error { line, message })
}

fn line_of(location: Location) -> Option<u64> {
    Some(location.line()).filter(|line| *line > 0)
}

fn explain(error: &serde_saphyr::Error) -> Error {
    let line = error.location().and_then(line_of);
    let message = match error {
        serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => unknown("key", field, expected),
        serde_saphyr::Error::SerdeUnknownVariant { variant, expected, .. } => unknown("value", variant, expected),
        other => without_place(other),
    };
    Error { line, message }
}

fn unknown(what: &str, found: &str, expected: &[&str]) -> String {
    let near = expected.iter().map(|name| (strsim::damerau_levenshtein(found, name), *name)).min();
    match near {
        Some((distance, name)) if distance <= 1 + name.len() / 4 => {
            format!("there is no {what} `{found}` here: did you mean `{name}`?")
        }
        _ => format!("there is no {what} `{found}` here: it can be `{}`", expected.join("`, `")),
    }
}

/// The place is told apart from the message.
fn without_place(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let place = error.location().map(|location| format!(" at line {}, column {}", location.line(), location.column()));
    place.map_or(text.clone(), |place| text.replace(&place, ""))
}

impl RawCommand {
    fn checked(self) -> Result<Command, String> {
        step_and_attempt(&self.step, self.attempt)?;
        let Self { step, attempt, stdout, stderr, exit_code } = self;
        Ok(Command { step: Pattern::new(&step), attempt, stdout, stderr, exit_code })
    }
}

fn step_and_attempt(step: &str, attempt: Option<u32>) -> Result<(), String> {
    if step.is_empty() {
        return Err("`step` is empty: write `*` for every step".to_owned());
    }
    if attempt == Some(0) {
        return Err("`attempt` counts from 1".to_owned());
    }
    Ok(())
}

impl RawEntry {
    fn checked(self) -> Result<Entry, String> {
        step_and_attempt(&self.step, self.attempt)?;
        let step = Pattern::new(&self.step);
        let (attempt, contains) = (self.attempt, self.contains.clone());
        Ok(Entry { step, attempt, contains, answer: self.into_answer().checked()? })
    }

    fn into_answer(self) -> RawAnswer {
        let Self { reply, sequence, fail, message, retry_after, after, says, usage, writes, .. } = self;
        RawAnswer { reply, sequence, fail, message, retry_after, after, says, usage, writes }
    }
}

impl RawAnswer {
    fn checked(self) -> Result<Answer, String> {
        if !(self.usage.usd.is_finite() && self.usage.usd >= 0.0) {
            return Err("`usd` is an amount of money, 0 or more".to_owned());
        }
        if let Some(path) = self.writes.keys().find(|path| !writes::is_inside(path)) {
            return Err(format!("`{path}` does not name a file inside the workspace: write it relative, without `..`"));
        }
        let after_ms = self.after.as_deref().map(|text| span("after", text)).transpose()?.unwrap_or_default();
        Ok(Answer { kind: self.kind()?, after_ms, says: self.says, usage: self.usage, writes: self.writes })
    }

    fn kind(&self) -> Result<Kind, String> {
        if self.fail.is_none() && (self.message.is_some() || self.retry_after.is_some()) {
            return Err("`message` and `retry_after` say more about `fail`, which is missing".to_owned());
        }
        match (&self.reply, &self.sequence, self.fail) {
            (Some(reply), None, None) => Ok(Kind::Texts(vec![as_text(reply)])),
            (None, Some(sequence), None) if sequence.is_empty() => Err("`sequence` is empty".to_owned()),
            (None, Some(sequence), None) => Ok(Kind::Texts(sequence.iter().map(as_text).collect())),
            (None, None, Some(class)) => Ok(Kind::Fails(self.failure(class)?)),
            (None, None, None) => Err("what is answered? Write `reply`, `sequence` or `fail`".to_owned()),
            _ => Err("only one of `reply`, `sequence` and `fail` can be the answer".to_owned()),
        }
    }

    fn failure(&self, class: ErrorClass) -> Result<Failure, String> {
        if matches!(class, ErrorClass::Lost | ErrorClass::Any) {
            return Err(format!("no agent fails with `{}` by itself", class.word()));
        }
        let message = self.message.clone().unwrap_or_else(|| "the script says that this call fails".to_owned());
        let retry_after_ms = self.retry_after.as_deref().map(|text| span("retry_after", text)).transpose()?;
        Ok(Failure { class, message, retry_after_ms })
    }
}

fn span(key: &str, text: &str) -> Result<u64, String> {
    parse_ms(text).ok_or_else(|| format!("`{key}: {text}` is not a time span: write one such as `200ms` or `1m30s`"))
}

fn as_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
