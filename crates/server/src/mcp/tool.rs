//! What a tool is: a name, a description, a schema, and a function from a call to a reply.

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::event::Answer;
use longhaul_core::origin::{self, Auth, Face, Origin};
use longhaul_core::view::Asked;
use longhaul_lang::diagnostic::closest;
use longhaul_runtime::{Error, Message};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses, JsonObject, ToolAnnotations,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::desk::Desk;
use crate::mcp::arguments;

/// What a call comes to, some time.
pub(crate) type Replying = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What a model reads.
    pub about: &'static str,
    /// What it does to the world.
    pub nature: Nature,
    pub(crate) schema: fn() -> JsonObject,
    pub(crate) call: fn(Call) -> Replying,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Changes nothing.
    Looks,
    /// Changes something, and nothing more when called again.
    Takes,
    /// Adds something each time.
    Adds,
    /// Ends or replaces something.
    Ends,
}

impl Nature {
    pub(crate) fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Looks)
            .destructive(self == Self::Ends)
            .idempotent(matches!(self, Self::Looks | Self::Takes))
            .open_world(false)
    }
}

impl Tool {
    /// As clients are told of it.
    pub(crate) fn described(&self) -> rmcp::model::Tool {
        rmcp::model::Tool::new(self.name, self.about, Arc::new((self.schema)()))
            .with_title(self.title)
            .with_annotations(self.nature.annotations(self.title))
    }
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the program. A server that was started again knows its clients again by it.
    pub(crate) client: String,
    /// Its session, which grants can be for. A run does not ask for it: a client whose session broke off continues with its runs.
    pub(crate) session: Option<String>,
    /// For whom, and out of which runs.
    pub(crate) who: Origin,
}

impl Caller {
    /// A client of a server that somebody started.
    pub(crate) fn new(client: String, session: Option<String>, server: &Origin) -> Self {
        Self { session, who: Origin { face: Face::Mcp, client: Some(client.clone()), ..server.clone() }, client }
    }

    /// What they say to a question, with what they were shown.
    pub(crate) fn says(&self, asked: &Asked, answer: Answer, said: Option<String>) -> Message {
        let caller = origin::Caller { who: self.who.clone(), auth: Auth::McpSession, ..origin::Caller::default() };
        let mut message = Message::answer(asked.path.clone(), answer, caller);
        if let Message::Answer { shown, comment, .. } = &mut message {
            *shown = Some(asked.shown.clone());
            *comment = said;
        }
        message
    }
}

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
    pub(crate) arguments: JsonObject,
    /// What a person said to the questions of the reply before.
    pub(crate) responses: InputResponses,
    pub(crate) context: RequestContext<RoleServer>,
}

impl Call {
    /// The arguments, held to what the tool takes.
    pub(crate) fn arguments<T: DeserializeOwned + schemars::JsonSchema>(&mut self) -> Result<T, Problem> {
        arguments::read(std::mem::take(&mut self.arguments))
    }
}

/// What a tool replies.
pub(crate) enum Reply {
    /// What there is to say, for models and people, and as data.
    Done(String, Value),
    /// A person has to say something first; the call is made again with what they said.
    Asks(InputRequiredResult),
}

/// Why a call came to nothing, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A name that nothing has.
    pub(crate) fn unknown(what: &str, name: &str, known: &[String]) -> Self {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Self(match closest(name, &known) {
            Some(best) => format!("there is no {what} `{name}`; did you mean `{best}`?"),
            None if known.is_empty() => format!("there is no {what} `{name}`, and no other one"),
            None => format!("there is no {what} `{name}`; there are: {}", known.join(", ")),
        })
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self(match error {
            Error::UnknownRun(id) => format!("there is no run `{id}`; the tool `runs` lists those there are"),
            Error::Input(why) => {
                why.split("; give it with").next().unwrap_or_default().to_owned() + " (argument `inputs`)"
            }
            other => other.to_string(),
        })
    }
}

/// As the protocol says it. A problem is a result, too: a model that reads it can do better.
pub(crate) fn response(reply: Result<Reply, Problem>) -> CallToolResponse {
    match reply {
        Ok(Reply::Done(text, data)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(data);
            result.into()
        }
        Ok(Reply::Asks(questions)) => questions.into(),
        Err(Problem(text)) => {
            // Data would have to be what the tool answers when it goes well.
            CallToolResult::error(vec![ContentBlock::text(text)]).into()
        }
    }
}
