//! Reports on a turn: to the journal, to the transcript, to watchers. At the end it makes the result.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use longhaul_agents::contract::{Agent, Ending, Errand, Exit, Meter, Stopped, TranscriptEntry, Turn};
use longhaul_agents::notice::{self, Fault};
use longhaul_agents::private;
use longhaul_core::Json;
use longhaul_core::decide::thread_of;
use longhaul_core::event::{Event, Failure, Session, Usage};
use longhaul_core::plan::ErrorClass;

use crate::engine::EngineEvent;
use crate::execute::kinds::{Attempt, Done};
use longhaul_config::Choice;

/// Reports on one turn.
pub(super) struct Teller<'a> {
    attempt: &'a Attempt,
    agent: &'static dyn Agent,
    choice: &'a Choice,
    compacting: bool,
    transcript: File,
    /// Entries that are not yet written to the transcript.
    unwritten: Vec<u8>,
    /// How many entries the transcript has.
    kept: u64,
    /// The conversation that the journal has.
    known: Option<String>,
    model: Option<String>,
    /// The last message about its silence.
    said: String,
    /// The background tasks, as the journal has them.
    waits_for: Option<String>,
    /// How long it was silent when it was asked to stop.
    silence: Option<String>,
    /// Whether its answer was complete.
    is_answered: bool,
    /// The denied tools that the journal has.
    denied: HashSet<String>,
}

/// How many denied tools of a turn the journal gets; the transcript has all.
const DENIED_MAX: usize = 20;
const DENIED_CHARS_MAX: usize = 200;

impl<'a> Teller<'a> {
    pub(super) fn new(
        attempt: &'a Attempt,
        agent: &'static dyn Agent,
        choice: &'a Choice,
        turn: &Turn,
        folder: &Path,
    ) -> io::Result<Self> {
        // After a restart the whole output is read again, and the transcript written again.
        let transcript = private::create(&folder.join("transcript.jsonl"))?;
        let (model, compacting) = (choice.model.clone(), turn.errand == Errand::Compact);
        let known = attempt.session.clone();
        let (unwritten, kept) = (Vec::new(), 0);
        let (said, waits_for, silence, is_answered) = (String::new(), None, None, false);
        Ok(Self {
            attempt,
            agent,
            choice,
            compacting,
            transcript,
            unwritten,
            kept,
            known,
            model,
            said,
            waits_for,
            silence,
            is_answered,
            denied: attempt.denied.iter().cloned().collect(),
        })
    }

    /// Reports the entries of one line of the stream.
    pub(super) fn entries(&mut self, entries: Vec<TranscriptEntry>) {
        for entry in entries {
            if let TranscriptEntry::Session { id, model } = &entry {
                self.session(id, model.as_deref());
            }
            self.is_answered |= entry == TranscriptEntry::Result;
            let entry = self.attempt.cleaned(entry);
            if let TranscriptEntry::Denied { name } = &entry {
                self.denied(name);
            }
            // A sign of life is not in the transcript, and would take the number of the next entry.
            if entry == TranscriptEntry::Alive {
                continue;
            }
            let number = self.kept;
            self.keep(&entry);
            self.attempt.show(number, entry);
        }
    }

    /// Records a denied tool, once for each tool of the turn.
    fn denied(&mut self, name: &str) {
        let tool: String = name.chars().take(DENIED_CHARS_MAX).collect();
        if self.denied.len() < DENIED_MAX && self.denied.insert(tool.clone()) {
            let (path, attempt) = (self.attempt.start.path.clone(), self.attempt.start.attempt);
            self.attempt.news.tell(Event::ToolDenied { path, attempt, tool });
        }
    }

    /// Writes all reported entries to the transcript.
    pub(super) async fn written(&mut self) {
        // The transcript is for people; the shim has the whole output. If the disk is full, try again later.
        while !self.unwritten.is_empty()
            && let Ok(written) = self.transcript.write(&self.unwritten)
        {
            self.unwritten.drain(..written);
        }
        // An agent that prints faster than this loop reads would block the thread for others.
        tokio::task::yield_now().await;
    }

    /// Reports once that the agent has answered and has tasks in the background, or no longer has.
    pub(super) fn waits(&mut self, tasks: Option<String>) {
        if tasks != self.waits_for {
            let why = tasks.as_ref().map(|tasks| format!("it has answered, and {tasks} continues in the background"));
            let (path, attempt) = (self.attempt.start.path.clone(), self.attempt.start.attempt);
            self.attempt.news.tell(Event::AttemptDelayed { path, attempt, why });
            self.waits_for = tasks;
        }
    }

    /// Reports that the background tasks are stopped, because they show no sign of life.
    pub(super) fn gives_up(&mut self) {
        if let Some(tasks) = self.waits_for.take() {
            let text = format!("{tasks} showed no sign of life in the background and was ended; the answer stands");
            self.entries(vec![TranscriptEntry::Notice { text }]);
        }
    }

    /// Reports once how the agent is doing.
    pub(super) fn alive(&mut self, words: &str) {
        if words != self.said {
            words.clone_into(&mut self.said);
            let (run, path) = (self.attempt.run.clone(), self.attempt.start.path.clone());
            let _ = self.attempt.shared.pulse.send(EngineEvent::Alive(run, path, words.into()));
        }
    }

    /// Notes how long the agent was silent before it was asked to stop.
    pub(super) fn interrupted(&mut self, words: String) {
        self.silence = Some(words);
    }

    /// Whether an agent that was asked to stop had already finished.
    fn finished(&self, ending: &Ending, exit: &Exit) -> bool {
        exit.ended == Some(Stopped::Hung) && exit.code == Some(0) && self.is_answered && !ending.trouble.is_error
    }

    /// Records the conversation before anything else of it happens.
    fn session(&mut self, id: &str, model: Option<&str>) {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        if self.known.as_deref() == Some(id) {
            return;
        }
        self.known = Some(id.to_owned());
        let abilities = self.agent.abilities();
        let session = Session {
            id: id.to_owned(),
            agent: self.choice.name.clone(),
            resumes: abilities.resume,
            compacts: abilities.compact,
            total: None,
        };
        self.seen(session);
    }

    fn seen(&self, session: Session) {
        let thread = thread_of(self.attempt.param("agent")).map(str::to_owned);
        let (path, attempt) = (self.attempt.start.path.clone(), self.attempt.start.attempt);
        self.attempt.news.tell(Event::SessionSeen { path, attempt, session, thread });
    }

    /// Records that the agent no longer knows the conversation. The work starts again in a new one.
    fn forget(&self, session: &Session) {
        let session = Session { resumes: false, compacts: false, ..session.clone() };
        self.seen(session);
    }

    fn keep(&mut self, entry: &TranscriptEntry) {
        if let Ok(line) = serde_json::to_vec(entry) {
            self.unwritten.extend(line);
            self.unwritten.push(b'\n');
            self.kept += 1;
        }
    }

    /// The result of the turn.
    pub(super) fn conclude(&self, ending: Ending, exit: &Exit) -> Done {
        let mut done = Done::with(answer(&ending));
        done.result.exit_code = exit.code;
        done.result.usage = self.spent(&ending, exit);
        done.result.session_total = ending.session_total.map(|meter| self.usage(meter));
        if exit.ended == Some(Stopped::Cancelled) {
            // An adopted agent that was found stopped was not stopped by this engine.
            let is_ours = self.attempt.cancel.is_cancelled() && !self.attempt.adopted;
            let class = if is_ours { ErrorClass::Failed } else { ErrorClass::Lost };
            done.failure = Some(Failure::new(class, "stopped"));
            return done;
        }
        let now = self.attempt.shared.clock.now_ms();
        let zone = self.attempt.shared.clock.zone();
        let finished = self.finished(&ending, exit).then(|| Exit { ended: None, ..exit.clone() });
        let over =
            notice::EndedTurn { agent: self.agent.name(), ending: &ending, exit: finished.as_ref().unwrap_or(exit) };
        let mut fault =
            self.attempt.shared.options.backends.signatures().judge(over, notice::Now { ms: now, zone: &zone });
        if let (Some(fault), Some(silence)) = (&mut fault, &self.silence)
            && fault.is_silence()
        {
            fault.message.clone_from(silence);
        }
        if self.compacting {
            fault = fault.and_then(|fault| not_compacted(&ending, fault));
        }
        let resumed = self.attempt.start.turn.session.as_ref();
        if let (Some(fault), Some(session)) = (&fault, resumed)
            && fault.is_unknown_session()
        {
            self.forget(session);
            done.failure = Some(Failure::new(ErrorClass::Lost, fault.message.clone()));
            return done;
        }
        done.failure = fault.map(|fault| Failure {
            retry_after_ms: fault.retry_at_ms.map(|at| u64::try_from(at.saturating_sub(now)).unwrap_or(0)),
            ..Failure::new(fault.class, named(self.agent.name(), fault.class, fault.message))
        });
        done
    }

    /// The usage of the turn. If it was stopped before it reported, the usage seen so far.
    fn spent(&self, ending: &Ending, exit: &Exit) -> Option<Usage> {
        let is_cut = exit.ended.is_some_and(|why| why != Stopped::AfterResult) || exit.signal.is_some();
        let meter = ending.used.or(is_cut.then(Meter::default))?;
        if !ending.at_least && ending.used.is_some() {
            return Some(self.usage(meter));
        }
        let seen = self.usage(Meter { usd: None, ..meter });
        let usd = seen.usd.max(meter.usd.unwrap_or_default());
        let usd_unknown = seen.usd_unknown && meter.usd.is_none();
        Some(Usage { usd, usd_unknown, at_least: true, ..seen })
    }

    /// The usage with its cost: from the agent, from its model's price, or unknown.
    fn usage(&self, meter: Meter) -> Usage {
        let prices = self.attempt.shared.options.backends.prices();
        let priced = || prices.cost(self.model.as_deref()?, &meter);
        let usd = meter.usd.or_else(priced);
        Usage {
            input_tokens: meter.input_tokens,
            cached_tokens: meter.cached_tokens,
            output_tokens: meter.output_tokens,
            usd: usd.unwrap_or_default(),
            usd_unknown: usd.is_none(),
            at_least: false,
        }
    }
}

/// Adds the agent's name to a message that a person must act on: "Please run /login" could mean any agent.
fn named(agent: &str, class: ErrorClass, message: String) -> String {
    let is_theirs = matches!(class, ErrorClass::Auth | ErrorClass::Billing | ErrorClass::UnknownModel);
    if is_theirs && !message.to_lowercase().contains(agent) { format!("{agent}: {message}") } else { message }
}

fn answer(ending: &Ending) -> Json {
    ending.structured.clone().unwrap_or_else(|| Json::String(ending.text.clone()))
}

/// Why a conversation could not be compacted: a temporary problem, or the conversation itself. Not all agents confirm
/// it, but none has to give an answer.
fn not_compacted(ending: &Ending, fault: Fault) -> Option<Fault> {
    use ErrorClass::{Auth, Billing, Empty, Hung, Killed, Lost, Overload, RateLimit, Timeout, Transient, UsageLimit};
    match (ending.trouble.compacted, fault.class) {
        (Some(true), _) | (None, Empty) => None,
        (_, RateLimit | UsageLimit | Overload | Transient | Hung | Killed | Lost | Timeout | Auth | Billing) => {
            Some(fault)
        }
        _ => {
            let message = format!("the session could not be compacted: {}", fault.message);
            Some(Fault { class: ErrorClass::Overflow, message, ..fault })
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_agents::contract::AgentTrouble;

    use super::*;

    fn compacting(compacted: Option<bool>, class: ErrorClass) -> Option<String> {
        let ending = Ending { trouble: AgentTrouble { compacted, ..AgentTrouble::default() }, ..Ending::default() };
        let fault = Fault { class, message: "no".to_owned(), retry_at_ms: None, signature: String::new() };
        not_compacted(&ending, fault).map(|fault| format!("{:?}: {}", fault.class, fault.message))
    }

    #[test]
    fn a_conversation_that_is_not_shorter_is_too_long_unless_the_reason_passes() {
        assert_eq!(compacting(Some(true), ErrorClass::Empty), None);
        assert_eq!(compacting(None, ErrorClass::Empty), None);
        assert_eq!(compacting(None, ErrorClass::Hung).as_deref(), Some("Hung: no"));
        assert_eq!(compacting(Some(false), ErrorClass::UsageLimit).as_deref(), Some("UsageLimit: no"));
        let too_long = "Overflow: the session could not be compacted: no";
        assert_eq!(compacting(Some(false), ErrorClass::Failed).as_deref(), Some(too_long));
        assert_eq!(compacting(None, ErrorClass::Failed).as_deref(), Some(too_long));
    }

    #[test]
    fn what_a_person_has_to_mend_names_the_agent_once() {
        let said = |class, message: &str| named("claude", class, message.to_owned());
        assert_eq!(said(ErrorClass::Auth, "Please run /login"), "claude: Please run /login");
        assert_eq!(said(ErrorClass::Auth, "log in to Claude first"), "log in to Claude first");
        assert_eq!(said(ErrorClass::Failed, "no"), "no");
    }
}
