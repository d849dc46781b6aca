//! What the end of an agent's turn means: an answer, or which kind of failure, and when it is worth trying again.
//!
//! Agents tell failures in many ways: by status, code, words on either stream, or with exit code 0 as an ordinary answer.
//! What each looks like is data (`notice/signatures.toml`); here is only in which order it is looked at.
//!
//! **Invariant:** a turn that did not end well is never a success, whatever it wrote. A turn that ended well is a failure
//! only if its whole answer is a notice; an answer that speaks about limits is an answer.

mod pattern;
mod plain;
mod reset;
mod signatures;

use jiff::tz::TimeZone;
use longhaul_core::plan::ErrorClass;
use plain::plain;
pub use reset::Now;
pub use signatures::Signatures;
use signatures::{Evidence, Signature};

use crate::contract::{Ending, Exit, Stopped};

/// A notice is no longer than this; an answer may be.
const NOTICE_CHARS_MAX: usize = 900;
/// How much of an error is looked at: its start, and the last lines of what a program complained about.
const SAID_CHARS_MAX: usize = 4000;
const STDERR_LINES_MAX: usize = 30;
/// What people are shown of it.
const SHOWN_CHARS_MAX: usize = 600;
/// No model writes more with one token.
const CHARS_PER_TOKEN_MAX: u64 = 8;
/// A limit that lasts longer is no matter of pace: a share is used up.
const PACE_MS_MAX: i64 = 30 * 60_000;

/// The rule about agents that show no sign of life.
const HUNG: &str = "stopped-hung";

/// Why a turn counts as failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What a retry goes by.
    pub class: ErrorClass,
    /// For people.
    pub message: String,
    /// When a limit ends, if that is known. Whoever waits adds a margin.
    pub retry_at_ms: Option<i64>,
    /// The name of the signature that matched, or of the rule that decided without one.
    pub signature: String,
}

impl Fault {
    /// Whether it was ended, or asked to stop, because it was silent.
    pub fn is_silence(&self) -> bool {
        self.signature == HUNG
    }

    /// Whether the agent does not know the conversation that it was to continue with.
    pub fn is_unknown_session(&self) -> bool {
        self.signature.starts_with("session-unknown")
    }
}

/// A turn that is over.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// Which agent, as workflows call it.
    pub agent: &'a str,
    /// What its driver made of it.
    pub ending: &'a Ending,
    /// How its program ended.
    pub exit: &'a Exit,
}

/// What the end of a turn means, by the signatures that ship. `None` is success.
pub fn judge(agent: &str, ending: &Ending, exit: &Exit, now_ms: i64, zone: &TimeZone) -> Option<Fault> {
    Signatures::builtin().judge(Turn { agent, ending, exit }, Now { ms: now_ms, zone })
}

impl Signatures {
    /// What the end of a turn means. `None` is success.
    pub fn judge(&self, turn: Turn<'_>, now: Now<'_>) -> Option<Fault> {
        let case = Case::new(turn);
        let (class, signature) = self.verdict(&case)?;
        let retry_at_ms = case.retry_at(class, now);
        let lasting = retry_at_ms.is_some_and(|at| at - now.ms > PACE_MS_MAX);
        let class = if class == ErrorClass::RateLimit && lasting { ErrorClass::UsageLimit } else { class };
        let message = case.ended().filter(|(_, name)| *name == signature).and_then(|_| case.ending_words());
        let message = message.map_or_else(|| case.message(), str::to_owned);
        Some(Fault { class, message, retry_at_ms, signature: signature.to_owned() })
    }

    fn verdict<'a>(&'a self, case: &Case<'_>) -> Option<(ErrorClass, &'a str)> {
        if let Some(ended) = case.ended() {
            return Some(self.limit(case).unwrap_or(ended));
        }
        if case.turn.ending.trouble.question.is_some() {
            return Some((ErrorClass::Question, "asked"));
        }
        if case.went_wrong() {
            return Some(self.error(case));
        }
        self.stop(case).or_else(|| self.answer(case)).or_else(|| case.nothing())
    }

    /// A limit that the agent sat out until we ended it says more than that we ended it.
    fn limit(&self, case: &Case<'_>) -> Option<(ErrorClass, &str)> {
        use ErrorClass::{Auth, Billing, Overload, RateLimit, UsageLimit};
        let ours = matches!(case.turn.exit.ended, Some(Stopped::Timeout | Stopped::Hung));
        let told = ours && !case.turn.ending.trouble.message.is_empty();
        let found = told.then(|| self.explanation(case)).flatten();
        found.filter(|(class, _)| matches!(class, RateLimit | UsageLimit | Overload | Auth | Billing))
    }

    fn error(&self, case: &Case<'_>) -> (ErrorClass, &str) {
        self.explanation(case).unwrap_or(match case.turn.exit.signal {
            Some(_) => (ErrorClass::Killed, "signal"),
            None => (ErrorClass::Failed, "unrecognised"),
        })
    }

    /// One source after the other: a stray line on stderr does not outdo what the agent calls its error.
    fn explanation(&self, case: &Case<'_>) -> Option<(ErrorClass, &str)> {
        case.said.iter().find_map(|said| self.first(&Evidence { said, ..case.evidence() }))
    }

    fn first(&self, evidence: &Evidence<'_>) -> Option<(ErrorClass, &str)> {
        self.all.iter().find(|one| one.explains(evidence)).map(named)
    }

    fn stop(&self, case: &Case<'_>) -> Option<(ErrorClass, &str)> {
        let evidence = case.evidence();
        self.all.iter().find(|one| one.is_stop(&evidence)).map(named)
    }

    /// An ordinary answer that is a notice all the same.
    fn answer(&self, case: &Case<'_>) -> Option<(ErrorClass, &str)> {
        if case.turn.ending.structured.is_some() {
            return None;
        }
        let found = self.all.iter().find(|one| case.is_notice(one))?;
        let said = case.notice.as_deref().filter(|_| found.about.wraps);
        let inside = said.and_then(|said| self.first(&Evidence { said, ..case.evidence() }));
        Some(inside.unwrap_or(named(found)))
    }
}

fn named(one: &Signature) -> (ErrorClass, &str) {
    (one.about.class, one.about.id.as_str())
}

/// A turn, with its words made plain.
struct Case<'a> {
    turn: Turn<'a>,
    /// What it calls an error, then what may be one: what counts most comes first.
    said: Vec<String>,
    /// Its answer, if that is short.
    short: Option<String>,
    /// Its answer, if that is a single short paragraph in nobody's quotes.
    notice: Option<String>,
    /// The last paragraph of its answer, if that is short and stands for itself.
    tail: Option<String>,
}

impl<'a> Case<'a> {
    fn new(turn: Turn<'a>) -> Self {
        let text = turn.ending.text.trim();
        let short = (text.chars().count() <= NOTICE_CHARS_MAX).then(|| plain(text)).filter(|text| !text.is_empty());
        let stands_alone = !text.contains("\n\n") && !is_quoted(text);
        let mut said = vec![plain(&start(&turn.ending.trouble.message, SAID_CHARS_MAX))];
        said.extend(
            turn.exit.stderr.lines().rev().take(STDERR_LINES_MAX).map(|line| plain(&start(line, SAID_CHARS_MAX))),
        );
        said.extend(short.clone());
        let notice = short.clone().filter(|_| stands_alone);
        Self { turn, said, short, notice, tail: tail(text).map(plain) }
    }

    fn evidence(&self) -> Evidence<'_> {
        let trouble = &self.turn.ending.trouble;
        Evidence {
            agent: self.turn.agent,
            status: trouble.status,
            code: trouble.code.as_deref(),
            stop: trouble.stop.as_deref(),
            exit: self.turn.exit.code,
            said: "",
        }
    }

    /// How we ended it. One that had answered before is judged by its answer.
    fn ended(&self) -> Option<(ErrorClass, &'static str)> {
        match self.turn.exit.ended? {
            Stopped::Timeout => Some((ErrorClass::Timeout, "stopped-timeout")),
            Stopped::Hung => Some((ErrorClass::Hung, HUNG)),
            Stopped::Cancelled => Some((ErrorClass::Killed, "stopped-cancelled")),
            Stopped::Abandoned => Some((ErrorClass::Lost, "stopped-abandoned")),
            Stopped::AfterResult | Stopped::Hopeless => None,
        }
    }

    fn went_wrong(&self) -> bool {
        let Turn { ending, exit, .. } = self.turn;
        let finished = ending.finished && exit.ended.is_none() && exit.signal.is_none();
        let left = finished || exit.ended == Some(Stopped::AfterResult) || exit.code == Some(0);
        self.turn.ending.trouble.is_error || !left
    }

    fn is_notice(&self, one: &Signature) -> bool {
        let whole = self.notice.as_deref().is_some_and(|text| one.is_answer(text));
        let last = || one.about.tail && self.tail.as_deref().is_some_and(|text| one.is_answer(text));
        one.about.is_for(self.turn.agent) && (whole || last()) && !(one.about.weak && self.model_wrote_it())
    }

    /// Whether the tokens that were used can have written the answer.
    fn model_wrote_it(&self) -> bool {
        let chars = self.turn.ending.text.trim().chars().count() as u64;
        self.turn.ending.used.is_some_and(|used| used.output_tokens.saturating_mul(CHARS_PER_TOKEN_MAX) >= chars)
    }

    /// A turn without an answer, unless none was asked for.
    fn nothing(&self) -> Option<(ErrorClass, &'static str)> {
        let ending = self.turn.ending;
        match ending.trouble.compacted {
            Some(true) => None,
            Some(false) => Some((ErrorClass::Failed, "not-compacted")),
            None => {
                let empty = ending.text.trim().is_empty() && ending.structured.is_none();
                empty.then_some((ErrorClass::Empty, "no-answer"))
            }
        }
    }

    fn retry_at(&self, class: ErrorClass, now: Now<'_>) -> Option<i64> {
        use ErrorClass::{Overload, RateLimit, Transient, UsageLimit};
        let trouble = &self.turn.ending.trouble;
        let limit = matches!(class, RateLimit | UsageLimit);
        let told = trouble.resets_at_ms.filter(|_| limit);
        let pause = trouble.retry_after_ms.map(|ms| now.ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let words = || self.said.iter().chain(&self.tail).find_map(|plain| reset::moment(plain, now));
        match class {
            RateLimit | UsageLimit | Overload | Transient => {
                told.or(pause).and_then(|ms| reset::believed(ms, now.ms)).or_else(words)
            }
            _ => None,
        }
    }

    /// What people are told: the agent's words, or what is known without them.
    fn message(&self) -> String {
        let (ending, exit) = (self.turn.ending, self.turn.exit);
        let complaint = exit.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let words = [ending.trouble.question.as_deref(), Some(ending.trouble.message.as_str())];
        let words = words.into_iter().flatten().map(str::trim).find(|words| !words.is_empty());
        let text = self.short.is_some().then(|| ending.text.trim());
        // What a program that was killed complained about before has nothing to do with its end.
        let words = words.or(text).or(complaint.filter(|_| self.went_wrong() && exit.signal.is_none()));
        words.map_or_else(|| self.bare_end(), |words| start(words, SHOWN_CHARS_MAX))
    }

    fn ending_words(&self) -> Option<&'static str> {
        match self.turn.exit.ended? {
            Stopped::Timeout => Some("it took too long and was ended"),
            Stopped::Hung => Some("it was silent for too long"),
            Stopped::Cancelled => Some("stopped"),
            Stopped::Abandoned => Some("nobody came back for it, and it was ended"),
            Stopped::AfterResult | Stopped::Hopeless => None,
        }
    }

    fn bare_end(&self) -> String {
        let exit = self.turn.exit;
        match (self.turn.ending.trouble.stop.as_deref(), exit.signal, exit.code) {
            (_, Some(signal), _) => format!("the agent was ended by signal {signal}"),
            (_, None, Some(code)) if code != 0 => format!("the agent ended with exit code {code}"),
            (Some(stop), ..) => format!("the model stopped: {stop}"),
            _ if self.turn.ending.trouble.compacted == Some(false) => "the context could not be shortened".to_owned(),
            _ => "the agent said nothing".to_owned(),
        }
    }
}

fn start(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

/// The last paragraph, if it is short and what comes before neither announces it nor puts it into quotes.
fn tail(text: &str) -> Option<&str> {
    let (before, last) = text.rsplit_once("\n\n")?;
    let announced = before.trim_end().ends_with([':', '"']);
    let fenced = before.matches("```").count() % 2 == 1;
    let short = last.chars().count() <= NOTICE_CHARS_MAX / 2 && last.trim().lines().count() <= 2;
    (short && !announced && !fenced && !is_quoted(last)).then_some(last)
}

/// Whether a paragraph is a quotation, code, or part of a list or table.
fn is_quoted(paragraph: &str) -> bool {
    paragraph.starts_with(['>', '`', '"', '“', '-', '*', '#', '|', ' ', '\t'])
}
