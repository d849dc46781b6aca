//! Tells an agent that works from one that hangs.
//!
//! Silence is normal while a tool runs or a compiler uses the processor, and signs of life are not progress: an agent that only
//! says that it is alive, or the same notice again and again, gets nowhere. So what counts is progress, tools in flight, and
//! processor time, each on its own.
//!
//! **Invariant:** silence alone never ends a turn while a tool is in flight or its processes are busy, unless a limit for tools was
//! set. Nothing is ended that was not asked to stop first. An answer is not the last one as long as something runs in the
//! background; only when that is as silent as an agent may be, the answer is taken and the rest is ended.

use std::fmt;

use indexmap::IndexMap;

use crate::contract::{Entry, Meter};

/// How long is too long; `None` is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Without progress, while no tool is in flight.
    pub silent_ms: Option<i64>,
    /// Without progress, while a tool is in flight.
    pub tool_ms: Option<i64>,
    /// Between asking it to stop and ending it.
    pub grace_ms: i64,
    /// Between its answer and its end.
    pub linger_ms: Option<i64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { silent_ms: Some(10 * MINUTE_MS), tool_ms: None, grace_ms: 30_000, linger_ms: Some(20_000) }
    }
}

/// What is to be thought of an agent, and done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// What it does, for people: ``silent for 4 min, tool running (`cargo test`)``.
    pub words: String,
    /// What to do.
    pub advice: Advice,
}

/// What to do about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Wait,
    /// Ask it to stop, and say so by [`Watcher::interrupted`].
    Interrupt,
    /// End it.
    Kill,
    /// Take its answer and end it: it has answered and does not go.
    Collect,
}

/// Watches one turn.
#[derive(Debug, Clone)]
pub struct Watcher {
    limits: Limits,
    /// The last thing that got it further; at first, its start.
    progress_ms: i64,
    doing: Doing,
    tools: IndexMap<String, String>,
    /// What it does beside its answer.
    background: Vec<String>,
    meter: Meter,
    notice: String,
    processor: Option<Sample>,
    /// When its processes were last seen busy.
    busy_ms: Option<i64>,
    interrupted_ms: Option<i64>,
    /// When it was last asked about.
    asked_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Starting,
    Writing,
    Thinking,
    Working,
    /// It has answered, and something still runs in the background.
    Waiting,
    /// It has answered, then.
    Answered(i64),
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    ticks: u64,
    at_ms: i64,
}

const MINUTE_MS: i64 = 60_000;
/// Whoever does not ask for so long has slept.
const PAUSE_MS: i64 = 30_000;
/// Of processor time, as the system counts it.
const TICK_MS: u64 = 10;
/// Less of one core is the ticking of an idle program.
const BUSY_PERCENT: u64 = 5;
/// How long people are told about it.
const BUSY_SHOWN_MS: i64 = 20_000;

impl Watcher {
    /// Begins to watch a turn that starts now.
    pub fn new(limits: Limits, now_ms: i64) -> Self {
        Self {
            limits,
            progress_ms: now_ms,
            doing: Doing::Starting,
            tools: IndexMap::new(),
            background: Vec::new(),
            meter: Meter::default(),
            notice: String::new(),
            processor: None,
            busy_ms: None,
            interrupted_ms: None,
            asked_ms: now_ms,
        }
    }

    /// The agent said this.
    pub fn saw(&mut self, entry: &Entry, at_ms: i64) {
        let doing = match entry {
            Entry::Text { text, .. } if !text.is_empty() => Some(Doing::Writing),
            Entry::Thinking { text } if !text.is_empty() => Some(self.unless_waiting(Doing::Thinking)),
            Entry::Denied { .. } => Some(self.unless_waiting(Doing::Working)),
            Entry::GoesOn => Some(Doing::Working),
            Entry::Background { tasks } => {
                self.background.clone_from(tasks);
                Some(self.beside(at_ms))
            }
            Entry::Session { .. } => Some(self.still()),
            Entry::ToolCall { id, name, summary, .. } => {
                let shown = if summary.is_empty() { name } else { summary };
                self.tools.insert(id.clone(), shown.clone());
                Some(self.unless_waiting(Doing::Working))
            }
            Entry::ToolResult { id, .. } => {
                self.tools.shift_remove(id);
                Some(self.still())
            }
            Entry::Notice { text } => self.is_new_notice(text).then_some(self.doing),
            Entry::Usage { meter } => {
                let more = std::mem::replace(&mut self.meter, *meter) != *meter;
                more.then_some(self.doing)
            }
            Entry::Result => {
                self.tools.clear();
                self.doing = Doing::Answered(at_ms);
                Some(self.beside(at_ms))
            }
            Entry::Text { .. } | Entry::Thinking { .. } | Entry::Alive => None,
        };
        if let Some(doing) = doing {
            self.doing = doing;
            self.progress_ms = at_ms;
            self.interrupted_ms = None;
        }
    }

    /// So much processor time have its processes used by now, all of them together.
    pub fn activity(&mut self, cpu_ticks: u64, at_ms: i64) {
        let now = Sample { ticks: cpu_ticks, at_ms };
        if self.processor.replace(now).is_some_and(|before| is_busy(before, now)) {
            self.busy_ms = Some(at_ms);
        }
    }

    /// It was asked to stop.
    pub fn interrupted(&mut self, at_ms: i64) {
        self.interrupted_ms = Some(at_ms);
    }

    /// How long it has been silent, for people: `silent for 10 min`.
    pub fn silence(&self, now_ms: i64) -> String {
        format!("silent for {}", Span(now_ms.saturating_sub(self.progress_ms).max(0)))
    }

    /// What is to be thought of it now. Whoever asks does so every few seconds. A longer pause is one of this process or of the
    /// machine, and nobody knows what the agent did meanwhile: that time does not count.
    pub fn what(&mut self, now_ms: i64) -> Watch {
        let pause_ms = now_ms.saturating_sub(self.asked_ms);
        if pause_ms > PAUSE_MS {
            self.passed_over(pause_ms);
        }
        self.asked_ms = now_ms;
        let advice = match self.deadline_ms() {
            Some((deadline_ms, advice)) if now_ms >= deadline_ms => advice,
            _ => Advice::Wait,
        };
        Watch { words: self.words(now_ms), advice }
    }

    /// Continues as if no time had passed.
    fn passed_over(&mut self, pause_ms: i64) {
        let until_ms = self.asked_ms.saturating_add(pause_ms);
        let later = |at_ms: i64| at_ms.saturating_add(pause_ms).min(until_ms);
        self.progress_ms = later(self.progress_ms);
        self.busy_ms = self.busy_ms.map(later);
        self.interrupted_ms = self.interrupted_ms.map(later);
        if let Doing::Answered(at_ms) = self.doing {
            self.doing = Doing::Answered(later(at_ms));
        }
    }

    /// When the advice will change if nothing happens until then. Later than that it is worth asking again.
    pub fn due_ms(&self) -> Option<i64> {
        self.deadline_ms().map(|(deadline_ms, _)| deadline_ms)
    }

    fn deadline_ms(&self) -> Option<(i64, Advice)> {
        let limit_ms = if self.tools.is_empty() { self.limits.silent_ms } else { self.limits.tool_ms };
        match self.doing {
            Doing::Answered(at_ms) => return Some((at_ms.saturating_add(self.limits.linger_ms?), Advice::Collect)),
            Doing::Waiting => return Some((self.quiet_since_ms().saturating_add(limit_ms?), Advice::Collect)),
            Doing::Starting | Doing::Writing | Doing::Thinking | Doing::Working => {}
        }
        if let Some(asked_ms) = self.interrupted_ms {
            // One that has begun to clear up is left to it.
            let quiet_ms = asked_ms.max(self.busy_ms.unwrap_or(asked_ms));
            return Some((quiet_ms.saturating_add(self.limits.grace_ms), Advice::Kill));
        }
        Some((self.quiet_since_ms().saturating_add(limit_ms?), Advice::Interrupt))
    }

    fn quiet_since_ms(&self) -> i64 {
        self.progress_ms.max(self.busy_ms.unwrap_or(self.progress_ms))
    }

    /// What it does after something that it need not have done itself: an answer stays one.
    fn still(&self) -> Doing {
        if matches!(self.doing, Doing::Answered(_) | Doing::Waiting) { self.doing } else { Doing::Working }
    }

    /// What is done in the background takes no answer back.
    fn unless_waiting(&self, doing: Doing) -> Doing {
        if self.doing == Doing::Waiting { self.doing } else { doing }
    }

    /// What an answer is worth now: the last one, or one while something runs in the background.
    fn beside(&self, at_ms: i64) -> Doing {
        match self.doing {
            Doing::Answered(_) if !self.background.is_empty() => Doing::Waiting,
            Doing::Waiting if self.background.is_empty() => Doing::Answered(at_ms),
            doing => doing,
        }
    }

    /// What runs in the background although the agent has answered, in words; `None` if nobody waits for such a thing.
    pub fn waits_for(&self) -> Option<String> {
        let first = self.background.first().filter(|_| self.doing == Doing::Waiting)?;
        let more = self.background.len() - 1;
        Some(if more > 0 { format!("`{first}` and {more} more") } else { format!("`{first}`") })
    }

    fn is_new_notice(&mut self, text: &str) -> bool {
        let without_numbers: String = text.chars().filter(|next| !next.is_ascii_digit()).collect();
        std::mem::replace(&mut self.notice, without_numbers.clone()) != without_numbers
    }

    fn words(&self, now_ms: i64) -> String {
        let silent_ms = now_ms.saturating_sub(self.progress_ms);
        if let Doing::Answered(at_ms) = self.doing {
            return format!("answered {} ago, has not ended", Span(now_ms.saturating_sub(at_ms)));
        }
        if let Some(tasks) = self.waits_for() {
            return format!("answered, waits for {tasks} in the background, silent for {}", Span(silent_ms));
        }
        let mut words = if silent_ms < 10_000 { self.doing_word().to_owned() } else { self.silence(now_ms) };
        if let Some(tool) = self.tools.values().last() {
            words += &format!(", tool running (`{tool}`)");
        }
        if self.tools.len() > 1 {
            words += &format!(" and {} more", self.tools.len() - 1);
        }
        if self.busy_ms.is_some_and(|at_ms| at_ms > self.progress_ms && now_ms.saturating_sub(at_ms) < BUSY_SHOWN_MS) {
            words += ", busy";
        }
        if let Some(asked_ms) = self.interrupted_ms {
            words += &format!(", asked to stop {} ago", Span(now_ms.saturating_sub(asked_ms)));
        }
        words
    }

    fn doing_word(&self) -> &'static str {
        match self.doing {
            Doing::Starting => "starting",
            Doing::Writing => "writing",
            Doing::Thinking => "thinking",
            Doing::Working | Doing::Waiting | Doing::Answered(_) => "working",
        }
    }
}

/// Fewer ticks than before mean that a process has ended: something happened.
fn is_busy(before: Sample, now: Sample) -> bool {
    let passed_ms = u64::try_from(now.at_ms.saturating_sub(before.at_ms)).unwrap_or(0);
    match now.ticks.checked_sub(before.ticks) {
        None => true,
        Some(used) => used > 0 && used.saturating_mul(TICK_MS * 100) >= passed_ms.saturating_mul(BUSY_PERCENT),
    }
}

/// A span for people: `35 s`, `4 min`, `2 h 5 min`.
struct Span(i64);

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.max(0) / 1000;
        match (seconds / 3600, seconds / 60 % 60) {
            (0, 0) => write!(out, "{seconds} s"),
            (0, minutes) => write!(out, "{minutes} min"),
            (hours, 0) => write!(out, "{hours} h"),
            (hours, minutes) => write!(out, "{hours} h {minutes} min"),
        }
    }
}
