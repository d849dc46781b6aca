//! One step: an answer, a failure, or something that holds for the steps after it.

use serde_json::{Map, Value};

use crate::model_server::words;

/// One line of a script.
#[derive(Debug, Clone)]
pub(in crate::model_server) struct Step {
    /// As it was written, for the log.
    pub(in crate::model_server) shown: String,
    /// For how many requests; `None` for all that are left.
    pub(in crate::model_server) times: Option<u32>,
    /// What is done.
    pub(in crate::model_server) act: Act,
}

/// What a step does.
#[derive(Debug, Clone)]
pub(in crate::model_server) enum Act {
    /// A whole answer.
    Answer(Vec<Part>),
    /// An error, in the shape of the API.
    Fail(Problem),
    /// The same, after the stream has begun.
    FailInStream(Problem),
    /// No proper answer at all.
    Break(Break),
    /// Takes no request.
    Set(Setting),
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub(in crate::model_server) enum Part {
    Text(String),
    Think(String),
    Run(String),
    Write { path: String, text: String },
    Tool { name: String, input: Map<String, Value> },
    RawTool { name: String, text: String },
    Structured(Map<String, Value>),
    Echo,
    MaxTokens(String),
    Refuse(String),
    Empty,
}

/// An error and how it is told.
#[derive(Debug, Clone)]
pub(in crate::model_server) struct Problem {
    pub(in crate::model_server) kind: Kind,
    pub(in crate::model_server) status: Option<u16>,
    pub(in crate::model_server) retry_after: Option<String>,
    pub(in crate::model_server) reset: Option<Reset>,
    pub(in crate::model_server) message: Option<String>,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model_server) enum Kind {
    RateLimit,
    Overloaded,
    ServerError,
    ContextOverflow,
    UsageLimit(Limit),
    Billing,
    Auth,
    Forbidden,
    NoModel,
    BadRequest,
}

/// Which limit that a short wait does not lift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model_server) enum Limit {
    /// Of a plan, for some hours.
    Window,
    /// Of money, set by the user.
    Spend,
    /// Of requests, for a day.
    Quota,
}

/// When a limit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model_server) enum Reset {
    /// Seconds since 1970.
    At(u64),
    /// Seconds from the request.
    In(u64),
}

/// Ways not to answer. Seconds where it is held; for as long as the client stays, without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::model_server) enum Break {
    Hang(Option<f64>),
    Stall(Option<f64>),
    Cut,
    Drop,
    Malformed,
    Garbage,
}

/// What holds for the steps after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::model_server) enum Setting {
    /// Seconds before each answer.
    Delay(f64),
    /// What answers say they used.
    Usage(Usage),
}

/// Tokens that the script names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::model_server) struct Usage {
    pub(in crate::model_server) input: Option<u64>,
    pub(in crate::model_server) output: Option<u64>,
    pub(in crate::model_server) cached: Option<u64>,
}

/// Reads one step.
pub(super) fn read(text: &str) -> Result<Step, String> {
    let (times, text_of_act) = times(text);
    let act = act(text_of_act)?;
    if matches!(act, Act::Set(_)) && times != Some(1) {
        return Err("this holds for all steps after it and cannot be repeated".to_owned());
    }
    Ok(Step { shown: text.to_owned(), times, act })
}

fn times(text: &str) -> (Option<u32>, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = word.strip_suffix('x').and_then(|number| number.parse().ok());
    match (word, number) {
        ("always", _) => (None, rest.trim_start()),
        (_, Some(number)) => (Some(number), rest.trim_start()),
        _ => (Some(1), text),
    }
}

fn act(text: &str) -> Result<Act, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    if let Some(kind) = kind(word) {
        return problem(kind, rest).map(Act::Fail);
    }
    match word {
        "stream-error" => in_stream(rest).map(Act::FailInStream),
        "hang" => Ok(Act::Break(Break::Hang(seconds(rest)?))),
        "stall" => Ok(Act::Break(Break::Stall(seconds(rest)?))),
        "cut" => Ok(Act::Break(Break::Cut)),
        "drop" => Ok(Act::Break(Break::Drop)),
        "malformed" => Ok(Act::Break(Break::Malformed)),
        "garbage" => Ok(Act::Break(Break::Garbage)),
        "delay" => seconds(rest)?.map(|held| Act::Set(Setting::Delay(held))).ok_or_else(|| "how long?".to_owned()),
        "usage" => usage(rest).map(|usage| Act::Set(Setting::Usage(usage))),
        _ => part(text).map(|part| Act::Answer(vec![part])),
    }
}

/// Reads a part of an answer.
pub(super) fn part(text: &str) -> Result<Part, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let words = rest.to_owned();
    match word {
        "text" => Ok(Part::Text(words)),
        "think" => Ok(Part::Think(words)),
        "run" => Ok(Part::Run(words)),
        "write" => Ok(named(rest, |path, text| Part::Write { path, text })),
        "raw-tool" => Ok(named(rest, |name, text| Part::RawTool { name, text })),
        "tool" => {
            let (name, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            Ok(Part::Tool { name: name.to_owned(), input: words::object(input)? })
        }
        "structured" => words::object(rest).map(Part::Structured),
        "echo" => Ok(Part::Echo),
        "max-tokens" => Ok(Part::MaxTokens(words)),
        "refuse" => Ok(Part::Refuse(words)),
        "empty" => Ok(Part::Empty),
        _ => Err(format!("there is no step `{word}`")),
    }
}

fn named(rest: &str, make: impl Fn(String, String) -> Part) -> Part {
    let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
    make(name.to_owned(), text.to_owned())
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "rate-limit" => Kind::RateLimit,
        "overloaded" => Kind::Overloaded,
        "server-error" => Kind::ServerError,
        "context-overflow" => Kind::ContextOverflow,
        "usage-limit" => Kind::UsageLimit(Limit::Window),
        "billing" => Kind::Billing,
        "auth" => Kind::Auth,
        "forbidden" => Kind::Forbidden,
        "no-model" => Kind::NoModel,
        "bad-request" => Kind::BadRequest,
        _ => return None,
    })
}

fn in_stream(text: &str) -> Result<Problem, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let kind = kind(word).ok_or_else(|| format!("there is no failure `{word}`"))?;
    problem(kind, rest)
}

fn problem(kind: Kind, text: &str) -> Result<Problem, String> {
    let mut problem = Problem { kind, status: None, retry_after: None, reset: None, message: None };
    let (options, message) = match text.split_once("message=") {
        Some((options, message)) => (options, Some(message.to_owned())),
        None => (text, None),
    };
    problem.message = message;
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, not `{option}`"))?;
        problem.set(name, value).ok_or_else(|| format!("`{option}` makes no sense here"))?;
    }
    Ok(problem)
}

impl Problem {
    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "status" => self.status = Some(value.parse().ok()?),
            "retry-after" => self.retry_after = Some(value.to_owned()),
            "reset" => self.reset = Some(reset(value)?),
            "kind" => self.kind = Kind::UsageLimit(matches!(self.kind, Kind::UsageLimit(_)).then(|| limit(value))??),
            _ => return None,
        }
        Some(())
    }
}

fn reset(value: &str) -> Option<Reset> {
    match value.strip_prefix('+') {
        Some(seconds) => seconds.parse().ok().map(Reset::In),
        None => value.parse().ok().map(Reset::At),
    }
}

fn limit(value: &str) -> Option<Limit> {
    match value {
        "window" => Some(Limit::Window),
        "spend" => Some(Limit::Spend),
        "quota" => Some(Limit::Quota),
        _ => None,
    }
}

fn seconds(text: &str) -> Result<Option<f64>, String> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(Some(seconds)),
            _ => Err(format!("`{text}` is no number of seconds")),
        },
    }
}

fn usage(text: &str) -> Result<Usage, String> {
    let mut usage = Usage::default();
    for word in text.split_whitespace() {
        let (name, count) = word.split_once('=').unwrap_or((word, ""));
        let count = count.parse().map_err(|_| format!("`{word}` is no number of tokens"))?;
        match name {
            "in" => usage.input = Some(count),
            "out" => usage.output = Some(count),
            "cached" => usage.cached = Some(count),
            _ => return Err(format!("there are no `{name}` tokens")),
        }
    }
    Ok(usage)
}
