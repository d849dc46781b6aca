//! Distinguishes an agent that works from one that hangs.
//!
//! Silence is normal while a tool runs or a compiler uses the processor. Signs of life are not progress: an agent that
//! only says that it is alive, or repeats the same notice, makes none. So the watcher tracks progress, running tools
//! and processor time separately.
//!
//! **Invariant:** silence alone never ends a turn while a tool is running or its processes are busy, unless a limit for
//! tools is set. The watcher asks an agent to stop before it ends it. While something runs in the background, an answer
//! is not final. If the background work stays silent for as long as an agent may, Longhaul takes the answer and ends
//! the rest.

use std::fmt;

use indexmap::IndexMap;

use crate::contract::{Meter, TranscriptEntry};

/// Time limits; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilenceLimits {
    /// Without progress, while no tool is running.
    pub silent_ms: Option<i64>,
    /// Without progress, while a tool is running.
    pub tool_ms: Option<i64>,
    /// Between the request to stop and the kill.
    pub grace_ms: i64,
    /// Between the answer and the exit.
    pub linger_ms: Option<i64>,
}

impl Default for SilenceLimits {
    fn default() -> Self {
        Self { silent_ms: Some(10 * MINUTE_MS), tool_ms: None, grace_ms: 30_000, linger_ms: Some(20_000) }
    }
}

/// The state of an agent, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// The state for people: ``silent for 4 min, tool running (`cargo test`)``.
    pub words: String,
    /// What to do.
    pub advice: Advice,
}

/// What to do about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Wait,
    /// Ask the agent to stop, and report that with [`Watcher::interrupted`].
    Interrupt,
    /// Kill the agent.
    Kill,
    /// Take the answer and end the agent: it has answered but does not exit.
    Collect,
}

/// Watches one turn.
#[derive(Debug, Clone)]
pub struct Watcher {
    limits: SilenceLimits,
    /// The time of the last progress; at first, of the start.
    progress_ms: i64,
    doing: Doing,
    tools: IndexMap<String, String>,
    /// The tasks that run in the background.
    background: Vec<String>,
    meter: Meter,
    notice: String,
    processor: Option<Sample>,
    /// When its processes were last busy.
    busy_ms: Option<i64>,
    interrupted_ms: Option<i64>,
    /// When [`Watcher::what`] was last called.
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
    /// It answered at this time.
    Answered(i64),
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    ticks: u64,
    at_ms: i64,
}

const MINUTE_MS: i64 = 60_000;
/// After a longer gap between two calls, this process or the machine has slept.
const PAUSE_MS: i64 = 30_000;
/// One tick of processor time, as the system counts it.
const TICK_MS: u64 = 10;
/// Less than this share of one core is the background activity of an idle program.
const BUSY_PERCENT: u64 = 5;
/// How long the state for people mentions that the processes are busy.
const BUSY_SHOWN_MS: i64 = 20_000;

impl Watcher {
    /// Starts to watch a turn that begins now.
    pub fn new(limits: SilenceLimits, now_ms: i64) -> Self {
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

    /// Notes an entry of the agent.
    pub fn saw(&mut self, entry: &TranscriptEntry, at_ms: i64) {
        let doing = match entry {
            TranscriptEntry::Text { text, .. } if !text.is_empty() => Some(Doing::Writing),
            TranscriptEntry::Thinking { text } if !text.is_empty() => Some(self.unless_waiting(Doing::Thinking)),
            TranscriptEntry::Denied { .. } => Some(self.unless_waiting(Doing::Working)),
            TranscriptEntry::GoesOn => Some(Doing::Working),
            TranscriptEntry::Background { tasks } => {
                self.background.clone_from(tasks);
                Some(self.beside(at_ms))
            }
            TranscriptEntry::Session { .. } => Some(self.still()),
            TranscriptEntry::ToolCall { id, name, summary, .. } => {
                let shown = if summary.is_empty() { name } else { summary };
                self.tools.insert(id.clone(), shown.clone());
                Some(self.unless_waiting(Doing::Working))
            }
            TranscriptEntry::ToolResult { id, .. } => {
                self.tools.shift_remove(id);
                Some(self.still())
            }
            TranscriptEntry::Notice { text } => self.is_new_notice(text).then_some(self.doing),
            TranscriptEntry::Usage { meter } => {
                let more = std::mem::replace(&mut self.meter, *meter) != *meter;
                more.then_some(self.doing)
            }
            TranscriptEntry::Result => {
                self.tools.clear();
                self.doing = Doing::Answered(at_ms);
                Some(self.beside(at_ms))
            }
            TranscriptEntry::Text { .. } | TranscriptEntry::Thinking { .. } | TranscriptEntry::Alive => None,
        };
        if let Some(doing) = doing {
            self.doing = doing;
            self.progress_ms = at_ms;
            self.interrupted_ms = None;
        }
    }

    /// Notes the processor time that all its processes have used so far.
    pub fn activity(&mut self, cpu_ticks: u64, at_ms: i64) {
        let now = Sample { ticks: cpu_ticks, at_ms };
        if self.processor.replace(now).is_some_and(|before| is_busy(before, now)) {
            self.busy_ms = Some(at_ms);
        }
    }

    /// Notes that the agent was asked to stop.
    pub fn interrupted(&mut self, at_ms: i64) {
        self.interrupted_ms = Some(at_ms);
    }

    /// How long it has been silent, for people: `silent for 10 min`.
    pub fn silence(&self, now_ms: i64) -> String {
        format!("silent for {}", Span(now_ms.saturating_sub(self.progress_ms).max(0)))
    }

    /// The current state of the agent. Call it every few seconds. After a longer gap, this process or the machine was
    /// asleep, and the state of the agent in that time is unknown: that time does not count.
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

    /// Shifts all times, as if no time had passed.
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

    /// When the advice will change if nothing happens. Call [`Watcher::what`] again then.
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
            // An agent that has started to clean up may finish.
            let quiet_ms = asked_ms.max(self.busy_ms.unwrap_or(asked_ms));
            return Some((quiet_ms.saturating_add(self.limits.grace_ms), Advice::Kill));
        }
        Some((self.quiet_since_ms().saturating_add(limit_ms?), Advice::Interrupt))
    }

    fn quiet_since_ms(&self) -> i64 {
        self.progress_ms.max(self.busy_ms.unwrap_or(self.progress_ms))
    }

    /// The state after an event that may not come from the agent itself: an answer stays an answer.
    fn still(&self) -> Doing {
        if matches!(self.doing, Doing::Answered(_) | Doing::Waiting) { self.doing } else { Doing::Working }
    }

    /// Background activity does not withdraw an answer.
    fn unless_waiting(&self, doing: Doing) -> Doing {
        if self.doing == Doing::Waiting { self.doing } else { doing }
    }

    /// The state after an answer: final, or waiting for background tasks.
    fn beside(&self, at_ms: i64) -> Doing {
        match self.doing {
            Doing::Answered(_) if !self.background.is_empty() => Doing::Waiting,
            Doing::Waiting if self.background.is_empty() => Doing::Answered(at_ms),
            doing => doing,
        }
    }

    /// The background tasks that Longhaul waits for although the agent has answered, in words; `None` if there are
    /// none.
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

/// Fewer ticks than before mean that a process has ended, so something happened.
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
