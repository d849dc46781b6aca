//! Reads a script: the actions of the outside world, as text.
//!
//! ```text
//! task fix the bug                     what the run is started with
//! input depth 3
//! work                                 show what is to be done when an attempt starts
//! build -> ok "done"                   every attempt of `build`; one second later
//! build@2 -> fail transient no network with {"exit_code": 1}
//! build#2 -> lost                      on its second visit
//! each[*]/review -> slow 10s ok 3      of every item
//! build@1 -> stopped                   the engine stops, and it continues with another attempt
//! build -> hang                        never answers
//! host ed                              a client does the turns of agents, and takes them at once; without a name, no client takes them
//! session build@1 s1 compacts           the agent's conversation; also: thread NAME
//! go <- approve                        an answer, one second after the question
//! go <- after 5m deny not today        or: skip, edit <json>, value <json>, no answer: silence
//! at 10s signal ready {"n": 1}         also: cancel, pause, unpause, late build@1
//! at 10s tell build use the cache      a person tells the agent of a step something; comment build retry use the cache: beside an answer
//! at 10s budget usd +5                 also: tokens, steps, duration; without + the limit itself
//! at 10s submit a@2 "text"             by the client of the run; also: heartbeat a@1 half done, take a@1 bob
//! then reopen                          when nothing else happens; also: reopen from build, fork before build
//! ```

use longhaul_core::Json;
use longhaul_core::duration::parse_ms;
use longhaul_core::event::{Amount, Answer, BudgetChange, Failure, OnHostLost, Result as Left, Session};
use longhaul_core::plan::ErrorClass;
use longhaul_core::replan::Choices;

/// The default time that work and people take.
const SECOND: i64 = 1_000;

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Ok(Left),
    Fail(Failure, Left),
    /// The engine stops, and the attempt with it.
    Stopped,
    Hang,
}

/// An action from outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Signal(String, Json),
    Cancel,
    Pause,
    Unpause,
    /// Somebody stops the run.
    Stop,
    /// Somebody resumes it.
    Resume,
    /// The result of an attempt, delivered again.
    Late(String),
    Reopen(Option<String>),
    /// A new run with the history before the first attempt of a step.
    Fork(String),
    Answer(String, Answer, Option<String>),
    /// A person tells the agent of a step something.
    Tell(String, String),
    Budget(BudgetChange),
    /// A result from the client of the run.
    Submit(String, Json),
    Heartbeat(String, String),
    /// A client claims a step, or tries to.
    Take(String, String),
    /// From now on a worker on this machine drives the run.
    Machine(String),
    /// A machine is silent, and the settings decide what happens.
    Missed(String, OnHostLost),
    /// A worker on a machine claims a waiting attempt.
    Claim(String, String),
    Leave(String),
}

/// The actions of the outside world.
#[derive(Debug, Clone, Default)]
pub struct OutsideScript {
    pub(crate) task: String,
    /// The client of the run, if there is one.
    pub(crate) host: Option<String>,
    /// The machine of the first worker that drives the run, if there are several machines.
    pub(crate) machine: Option<String>,
    pub(crate) inputs: Vec<(String, Json)>,
    pub(crate) shows_work: bool,
    pub(crate) replies: Vec<(String, i64, Reply)>,
    pub(crate) answers: Vec<(String, i64, Answer)>,
    pub(crate) sessions: Vec<(String, Session, Option<String>)>,
    pub(crate) at: Vec<(i64, Act)>,
    pub(crate) then: Vec<Act>,
    /// Steps that keep their results, and steps that run again, when the plan is replaced.
    pub(crate) choices: Choices,
}

impl OutsideScript {
    /// Reads a script, or returns the line with the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut script = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            script.line(line).ok_or_else(|| format!("not a line of a script: {line}"))?;
        }
        Ok(script)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        if let Some((step, reply)) = line.split_once(" -> ") {
            let (ms, reply) = delayed(reply, "slow ");
            self.replies.push((step.trim().to_owned(), ms, parse_reply(reply)?));
            return Some(());
        }
        if let Some((step, answer)) = line.split_once(" <- ") {
            let (ms, answer) = delayed(answer, "after ");
            self.answers.push((step.trim().to_owned(), ms, parse_answer(answer)?));
            return Some(());
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "task" => self.task = rest.to_owned(),
            "host" => self.host = Some(rest.to_owned()),
            "machine" => self.machine = Some(rest.to_owned()),
            "input" => {
                let (name, value) = rest.split_once(' ')?;
                self.inputs.push((name.to_owned(), serde_json::from_str(value).ok()?));
            }
            "session" => self.sessions.push(parse_session(rest)?),
            "work" => self.shows_work = true,
            "at" => {
                let (time, act) = rest.split_once(' ')?;
                self.at.push((i64::try_from(parse_ms(time)?).ok()?, parse_act(act)?));
            }
            "then" => self.then.push(parse_act(rest)?),
            "keep" => self.choices.keep.push(rest.to_owned()),
            "again" => self.choices.redo.push(rest.to_owned()),
            _ => return None,
        }
        Some(())
    }

    /// The result of an attempt, and its delay: the most specific line wins, then the first one.
    pub(crate) fn reply(&self, path: &str, attempt: u32) -> (i64, Reply) {
        let exact = format!("{path}@{attempt}");
        let any = anywhere(path);
        let patterns = [exact, format!("{any}@{attempt}"), path.to_owned(), any];
        let found = patterns.iter().find_map(|pattern| self.replies.iter().find(|(step, ..)| step == pattern));
        let silent = Left { output: Json::from("ok"), ..Left::default() };
        found.map_or((SECOND, Reply::Ok(silent)), |(_, ms, reply)| (*ms, reply.clone()))
    }

    /// The conversation of an attempt, and the name under which it is shared.
    pub(crate) fn session(&self, path: &str, attempt: u32) -> Option<(Session, Option<String>)> {
        let patterns = [format!("{path}@{attempt}"), path.to_owned()];
        let found = patterns.iter().find_map(|pattern| self.sessions.iter().find(|(step, ..)| step == pattern));
        found.map(|(_, session, thread)| (session.clone(), thread.clone()))
    }

    /// The answer of a person, and its delay.
    pub(crate) fn answer(&self, path: &str) -> Option<(i64, Answer)> {
        let patterns = [path.to_owned(), anywhere(path)];
        let found = patterns.iter().find_map(|pattern| self.answers.iter().find(|(step, ..)| step == pattern));
        found.map(|(_, ms, answer)| (*ms, answer.clone()))
    }
}

/// A path with every index as `[*]` and without visits.
fn anywhere(path: &str) -> String {
    let segment = |text: &str| {
        let (rest, index) = text.split_once('[').map_or((text, ""), |(rest, _)| (rest, "[*]"));
        let id = rest.split_once('#').map_or(rest, |(id, _)| id);
        format!("{id}{index}")
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn delayed<'t>(text: &'t str, word: &str) -> (i64, &'t str) {
    let found = text.trim().strip_prefix(word).and_then(|rest| {
        let (time, rest) = rest.split_once(' ')?;
        Some((i64::try_from(parse_ms(time)?).ok()?, rest.trim()))
    });
    found.unwrap_or((SECOND, text.trim()))
}

fn parse_reply(text: &str) -> Option<Reply> {
    let (text, left) = match text.split_once(" with ") {
        Some((text, left)) => (text, serde_json::from_str(left).ok()?),
        None => (text, Left::default()),
    };
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "ok" if rest.is_empty() => Reply::Ok(left),
        "ok" => Reply::Ok(Left { output: serde_json::from_str(rest).ok()?, ..left }),
        "lost" => Reply::Fail(Failure::new(ErrorClass::Lost, "the worker disappeared"), left),
        "stopped" => Reply::Stopped,
        "hang" => Reply::Hang,
        "fail" => {
            let (class, message) = rest.split_once(' ').unwrap_or((rest, "no"));
            let (message, after) = match message.split_once(" retry_after ") {
                Some((message, span)) => (message, Some(parse_ms(span)?)),
                None => (message, None),
            };
            let class: ErrorClass = serde_json::from_value(Json::from(class)).ok()?;
            Reply::Fail(Failure { retry_after_ms: after, ..Failure::new(class, message) }, left)
        }
        _ => return None,
    })
}

fn parse_session(text: &str) -> Option<(String, Session, Option<String>)> {
    let mut words = text.split_whitespace();
    let (step, id) = (words.next()?.to_owned(), words.next()?.to_owned());
    let rest: Vec<&str> = words.collect();
    let after = |key: &str| rest.iter().position(|word| *word == key).and_then(|at| rest.get(at + 1));
    let (thread, agent) = (after("thread"), after("by").unwrap_or(&"claude"));
    let compacts = rest.contains(&"compacts");
    let session = Session { id, agent: (*agent).to_owned(), resumes: true, compacts, total: None };
    Some((step, session, thread.map(|thread| (*thread).to_owned())))
}

fn parse_answer(text: &str) -> Option<Answer> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "approve" => Answer::Approve,
        "deny" => Answer::Deny { reason: (!rest.is_empty()).then(|| rest.to_owned()) },
        "skip" => Answer::Skip,
        "edit" => Answer::Edit { value: serde_json::from_str(rest).ok()? },
        "value" => Answer::Value { value: serde_json::from_str(rest).ok()? },
        _ => return None,
    })
}

fn parse_budget(text: &str) -> Option<BudgetChange> {
    let (limit, amount) = text.split_once(' ')?;
    let (is_more, amount) = amount.strip_prefix('+').map_or((false, amount), |more| (true, more));
    let whole = |number: Option<u64>| number.map(|n| if is_more { Amount::By(n) } else { Amount::To(n) });
    let money = |number: f64| if is_more { Amount::By(number) } else { Amount::To(number) };
    let none = BudgetChange::default();
    Some(match limit {
        "usd" => BudgetChange { usd: Some(money(amount.parse().ok()?)), ..none },
        "tokens" => BudgetChange { tokens: whole(amount.parse().ok()), ..none },
        "steps" => BudgetChange { steps: whole(amount.parse().ok()), ..none },
        "duration" => BudgetChange { duration_ms: whole(parse_ms(amount)), ..none },
        _ => return None,
    })
}

fn parse_act(text: &str) -> Option<Act> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some(match word {
        "signal" => {
            let (name, data) = rest.split_once(' ').unwrap_or((rest, "null"));
            Act::Signal(name.to_owned(), serde_json::from_str(data).ok()?)
        }
        "cancel" => Act::Cancel,
        "pause" => Act::Pause,
        "unpause" => Act::Unpause,
        "stop" => Act::Stop,
        "resume" => Act::Resume,
        "late" => Act::Late(rest.to_owned()),
        "reopen" => Act::Reopen(rest.strip_prefix("from ").map(str::to_owned)),
        "submit" => {
            let (step, value) = rest.split_once(' ')?;
            Act::Submit(step.to_owned(), serde_json::from_str(value).ok()?)
        }
        "heartbeat" | "take" => {
            let (step, words) = rest.split_once(' ')?;
            let act = if word == "take" { Act::Take } else { Act::Heartbeat };
            act(step.to_owned(), words.to_owned())
        }
        "machine" => Act::Machine(rest.to_owned()),
        "missed" => {
            let (host, then) = rest.split_once(' ')?;
            Act::Missed(host.to_owned(), serde_json::from_value(Json::from(then)).ok()?)
        }
        "claim" => {
            let (step, host) = rest.split_once(" on ")?;
            Act::Claim(step.to_owned(), host.to_owned())
        }
        "leave" => Act::Leave(rest.to_owned()),
        "fork" => Act::Fork(rest.strip_prefix("before ")?.to_owned()),
        "answer" => {
            let (step, answer) = rest.split_once(' ')?;
            Act::Answer(step.to_owned(), parse_answer(answer)?, None)
        }
        "comment" => {
            let (step, rest) = rest.split_once(' ')?;
            let (answer, comment) = rest.split_once(' ')?;
            let answer = Answer::Value { value: Json::from(answer) };
            Act::Answer(step.to_owned(), answer, Some(comment.to_owned()))
        }
        "tell" => {
            let (step, text) = rest.split_once(' ')?;
            Act::Tell(step.to_owned(), text.to_owned())
        }
        "budget" => Act::Budget(parse_budget(rest)?),
        _ => return None,
    })
}
