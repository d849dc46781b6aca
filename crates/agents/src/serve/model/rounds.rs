//! Runs the rounds of a turn: asks the model, runs its tools, and asks again.

use longhaul_core::Json;

use super::message::{self, Answered, Call, Message, Part, Reply, Stop};
use super::written::{self, Written};
use super::{Talk, trouble};
use crate::answer;
use crate::contract::{AgentTrouble, TranscriptEntry};
use crate::drivers::summary;
use crate::serve::model::wire::ANSWER;
use crate::serve::tools::Said;

/// How often a model that reached the limit of a reply is asked to continue.
const CUTS_MAX: usize = 3;
const GO_ON: &str = "You were cut off. Continue exactly where you stopped.";
const BY_TOOL: &str = "Give your result with the tool `answer` now.";
/// How often a call may be unreadable.
const MISREAD_MAX: u32 = 2;
const AS_CALL: &str = "You wrote a tool call as text, and it cannot be read. Call the tool in the way that your tools \
are called, or answer without it.";
const AS_JSON: &str = "Give your result now, as JSON in the form that is asked for, and nothing else.";

/// What to do after a reply.
enum Next {
    /// The turn is over.
    Over,
    /// The model is asked again.
    Again,
    /// The model is asked for its answer only.
    Last,
}

impl Talk<'_> {
    /// Works on the prompt until there is an answer.
    pub(super) async fn work(&mut self) -> Result<(), AgentTrouble> {
        self.session.ask(&self.prompt())?;
        let mut is_last = false;
        let mut cuts = 0;
        for _ in 0..self.job.endpoint.rounds_max {
            let reply = self.ask(is_last).await?;
            cuts += usize::from(reply.stop == Stop::Cut);
            match self.take(reply, is_last, cuts).await? {
                Next::Over => return self.session.close(),
                Next::Again => {}
                Next::Last => is_last = true,
            }
        }
        let rounds = self.job.endpoint.rounds_max;
        Err(AgentTrouble::named(
            "max_rounds",
            format!("there was no answer after {rounds} rounds; take it up to continue"),
        ))
    }

    /// The prompt, with the schema if no part of the first request has it.
    fn prompt(&self) -> String {
        let prompt = &self.job.turn.prompt;
        let is_told = self.job.endpoint.wire.answers_by_tool() || self.job.endpoint.is_usual;
        match self.job.turn.schema.as_ref().filter(|_| !is_told).map(answer::instructions) {
            Some(told) => format!("{prompt}\n\n{told}"),
            None => prompt.clone(),
        }
    }

    async fn take(&mut self, reply: Reply, is_last: bool, cuts: usize) -> Result<Next, AgentTrouble> {
        match reply.stop {
            Stop::Refused(why) => return Err(trouble::refused(&why)),
            Stop::Full => return Err(trouble::overflow("the answer did not fit into the context of the model")),
            Stop::Done | Stop::Cut | Stop::Paused => {}
        }
        self.announce();
        let parts = match self.written(&reply.parts, is_last) {
            Written::Nothing => reply.parts,
            Written::Unreadable => return self.unreadable(reply.parts),
            Written::Calls(calls, before) => with_calls(calls, before),
        };
        let parts = self.tidied(parts, reply.stop == Stop::Cut);
        let calls: Vec<Call> = message::calls(&parts).into_iter().cloned().collect();
        let text = message::text(&parts);
        if !parts.is_empty() {
            self.session.push(Message::Assistant { parts })?;
        }
        if !calls.is_empty() {
            self.text.clear();
            return self.run(&calls, text).await;
        }
        self.text.push_str(&text);
        match reply.stop {
            Stop::Cut => self.go_on(&text, cuts),
            Stop::Paused => Ok(Next::Again),
            _ => self.finished(is_last),
        }
    }

    /// The calls that the model wrote as text, if it made no real ones.
    fn written(&self, parts: &[Part], is_last: bool) -> Written {
        let offered = self.tools.offered();
        if is_last || offered.is_empty() || !message::calls(parts).is_empty() {
            return Written::Nothing;
        }
        written::calls(&message::text(parts), |name| offered.iter().any(|tool| tool.name == name))
    }

    /// Asks again for a call that cannot be read.
    fn unreadable(&mut self, parts: Vec<Part>) -> Result<Next, AgentTrouble> {
        self.misread += 1;
        if self.misread > MISREAD_MAX {
            return Err(trouble::misread());
        }
        self.job.lines.notice("it wrote a tool call as text that cannot be read, and is asked again");
        self.session.push(Message::Assistant { parts })?;
        self.session.push(Message::user(AS_CALL))?;
        Ok(Next::Again)
    }

    /// Drops a call that was cut off, and gives an id to a call without one.
    fn tidied(&self, parts: Vec<Part>, is_cut: bool) -> Vec<Part> {
        let is_whole = |part: &Part| !matches!(part, Part::Call(call) if is_cut && call.broken.is_some());
        let mut parts: Vec<Part> = parts.into_iter().filter(is_whole).collect();
        for (at, part) in parts.iter_mut().enumerate() {
            if let Part::Call(call) = part
                && call.id.is_empty()
            {
                call.id = format!("call_{}_{at}", self.session.messages().len());
            }
        }
        parts
    }

    fn go_on(&mut self, text: &str, cuts: usize) -> Result<Next, AgentTrouble> {
        if self.shape.is_some() {
            return Err(trouble::cut_value());
        }
        if text.is_empty() || cuts > CUTS_MAX {
            return Err(trouble::too_long());
        }
        self.session.push(Message::user(GO_ON))?;
        Ok(Next::Again)
    }

    /// Ends the turn; the answer must also match the schema.
    fn finished(&mut self, is_last: bool) -> Result<Next, AgentTrouble> {
        let Some(shape) = &self.shape else { return Ok(Next::Over) };
        let by_tool = self.job.endpoint.wire.answers_by_tool();
        if !by_tool && let Ok(value @ Json::Object(_)) = serde_json::from_str(&self.text) {
            self.structured = Some(shape.unwrapped(value));
            return Ok(Next::Over);
        }
        if is_last || (!by_tool && shape.is_in(&self.text)) {
            return Ok(Next::Over);
        }
        self.text.clear();
        self.session.push(Message::user(if by_tool { BY_TOOL } else { AS_JSON }))?;
        Ok(Next::Last)
    }

    async fn run(&mut self, calls: &[Call], text: String) -> Result<Next, AgentTrouble> {
        for call in calls {
            let said = match &call.broken {
                Some(input) => self.broken(call, input),
                None if call.name == ANSWER && self.shape.is_some() => self.answered(call),
                None => self.used_tool(call).await,
            };
            let (ok, text) = match said {
                Said::Done(text) => (true, text),
                Said::Failed(text) | Said::Denied(text) => (false, text),
                Said::Stopped => return Err(AgentTrouble::stopped()),
            };
            self.session.answer(Answered { id: call.id.clone(), ok, text })?;
        }
        match &self.structured {
            None => Ok(Next::Again),
            Some(value) => {
                self.text = if text.is_empty() { value.to_string() } else { text };
                Ok(Next::Over)
            }
        }
    }

    /// A call whose input cannot be read is in the transcript too.
    fn broken(&self, call: &Call, input: &str) -> Said {
        let (id, name) = (call.id.clone(), call.name.clone());
        let input = Json::String(input.to_owned());
        let summary = summary::of(&input);
        self.job.lines.entry(TranscriptEntry::ToolCall { id: id.clone(), name, summary, input });
        let text = "the input is not a JSON object; send it again".to_owned();
        self.job.lines.entry(TranscriptEntry::ToolResult { id, ok: false, text: text.clone() });
        Said::Failed(text)
    }

    fn answered(&mut self, call: &Call) -> Said {
        self.structured = self.shape.as_ref().map(|shape| shape.unwrapped(call.input.clone()));
        Said::Done("accepted".to_owned())
    }

    async fn used_tool(&mut self, call: &Call) -> Said {
        let lines = self.job.lines;
        lines.entry(TranscriptEntry::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            summary: summary::of(&call.input),
            input: call.input.clone(),
        });
        let said = self.tools.call(&call.name, &call.input).await;
        let result = |ok, text: &String| TranscriptEntry::ToolResult { id: call.id.clone(), ok, text: text.clone() };
        match &said {
            Said::Done(text) => lines.entry(result(true, text)),
            Said::Failed(text) => lines.entry(result(false, text)),
            Said::Denied(text) => {
                lines.entry(TranscriptEntry::Denied { name: call.name.clone() });
                lines.entry(result(false, text));
                self.denied.push(call.name.clone());
            }
            Said::Stopped => {}
        }
        said
    }
}

/// A reply with calls that were read from its text.
fn with_calls(calls: Vec<Call>, before: String) -> Vec<Part> {
    let text = (!before.is_empty()).then_some(Part::Text { text: before });
    text.into_iter().chain(calls.into_iter().map(Part::Call)).collect()
}
