//! The rounds of a turn: the model is asked, its tools are run, and it is asked again.

use longhaul_core::Json;

use super::message::{self, Answered, Call, Message, Part, Reply, Stop};
use super::{Talk, trouble};
use crate::contract::{Entry, Trouble};
use crate::drivers::summary;
use crate::serve::model::wire::ANSWER;
use crate::serve::tools::Said;

/// How often a model that wrote as much as it may is asked to continue.
const CUTS_MAX: usize = 3;
const GO_ON: &str = "You were cut off. Continue exactly where you stopped.";
const BY_TOOL: &str = "Give your result with the tool `answer` now.";
const AS_JSON: &str = "Give your result now, as JSON in the form that is asked for, and nothing else.";

/// What follows from a reply.
enum Next {
    /// The turn is over.
    Over,
    /// The model is asked again.
    Again,
    /// The model is asked for nothing but its answer.
    Last,
}

impl Talk<'_> {
    /// Works on the prompt until there is an answer.
    pub(super) async fn work(&mut self) -> Result<(), Trouble> {
        self.session.ask(&self.job.turn.prompt)?;
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
        Err(Trouble::named("max_rounds", format!("there was no answer after {rounds} rounds; take it up to continue")))
    }

    async fn take(&mut self, reply: Reply, is_last: bool, cuts: usize) -> Result<Next, Trouble> {
        match reply.stop {
            Stop::Refused(why) => return Err(trouble::refused(&why)),
            Stop::Full => return Err(trouble::overflow("the answer did not fit into the context of the model")),
            Stop::Done | Stop::Cut | Stop::Paused => {}
        }
        let parts = self.tidied(reply.parts, reply.stop == Stop::Cut);
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

    /// A call that was cut off never was; one without a name of its own gets one.
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

    fn go_on(&mut self, text: &str, cuts: usize) -> Result<Next, Trouble> {
        if self.shape.is_some() || text.is_empty() || cuts > CUTS_MAX {
            return Err(trouble::too_long());
        }
        self.session.push(Message::user(GO_ON))?;
        Ok(Next::Again)
    }

    /// There is an answer; it must also look as it should.
    fn finished(&mut self, is_last: bool) -> Result<Next, Trouble> {
        let Some(shape) = &self.shape else { return Ok(Next::Over) };
        let by_tool = self.job.endpoint.wire.answers_by_tool();
        if !by_tool && let Ok(value @ Json::Object(_)) = serde_json::from_str(&self.text) {
            self.structured = Some(shape.unwrapped(value));
            return Ok(Next::Over);
        }
        if is_last {
            return Ok(Next::Over);
        }
        self.text.clear();
        self.session.push(Message::user(if by_tool { BY_TOOL } else { AS_JSON }))?;
        Ok(Next::Last)
    }

    async fn run(&mut self, calls: &[Call], text: String) -> Result<Next, Trouble> {
        for call in calls {
            let said = match &call.broken {
                Some(_) => Said::Failed("the input is not a JSON object; send it again".to_owned()),
                None if call.name == ANSWER && self.shape.is_some() => self.answered(call),
                None => self.used_tool(call).await,
            };
            let (ok, text) = match said {
                Said::Done(text) => (true, text),
                Said::Failed(text) | Said::Denied(text) => (false, text),
                Said::Stopped => return Err(Trouble::stopped()),
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

    fn answered(&mut self, call: &Call) -> Said {
        self.structured = self.shape.as_ref().map(|shape| shape.unwrapped(call.input.clone()));
        Said::Done("accepted".to_owned())
    }

    async fn used_tool(&mut self, call: &Call) -> Said {
        let lines = self.job.lines;
        lines.entry(Entry::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            summary: summary::of(&call.input),
            input: call.input.clone(),
        });
        let said = self.tools.call(&call.name, &call.input).await;
        let result = |ok, text: &String| Entry::ToolResult { id: call.id.clone(), ok, text: text.clone() };
        match &said {
            Said::Done(text) => lines.entry(result(true, text)),
            Said::Failed(text) => lines.entry(result(false, text)),
            Said::Denied(text) => {
                lines.entry(Entry::Denied { name: call.name.clone() });
                lines.entry(result(false, text));
                self.denied.push(call.name.clone());
            }
            Said::Stopped => {}
        }
        said
    }
}
