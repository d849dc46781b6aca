//! A tool: a name, a description, a schema, and a function from a call to a reply.

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::event::Answer;
use longhaul_core::origin::{self, Auth, Face, Origin};
use longhaul_core::rejection::{Rejection, RejectionKind, Remedy};
use longhaul_core::view::Asked;
use longhaul_lang::diagnostic::closest;
use longhaul_runtime::{Error, Message};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses, JsonObject, MetaObject,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app_state::AppState;
use crate::mcp::arguments;

/// The future of a tool's reply.
pub(crate) type Replying = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// The name in calls.
    pub name: &'static str,
    /// The title for people.
    pub title: &'static str,
    /// The description for models.
    pub about: &'static str,
    /// The effect of the tool.
    pub nature: Nature,
    pub(crate) schema: fn() -> JsonObject,
    pub(crate) call: fn(Call) -> Replying,
}

/// The effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Changes nothing.
    Looks,
    /// Changes something. A repeated call changes nothing more.
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
    /// The tool as clients see it.
    pub(crate) fn described(&self) -> rmcp::model::Tool {
        rmcp::model::Tool::new(self.name, self.about, Arc::new((self.schema)()))
            .with_title(self.title)
            .with_annotations(self.nature.annotations(self.title))
    }
}

/// The caller of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the client program. A restarted server recognises its clients by it.
    pub(crate) client: String,
    /// Its session, which grants can refer to. A run is not tied to it: a client with a new session continues its runs.
    pub(crate) session: Option<String>,
    /// The user, and the runs that the call comes from.
    pub(crate) who: Origin,
    /// How the user was verified.
    pub(crate) auth: Auth,
}

/// The person who owns the token of a request, if it names one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenOf(pub(crate) Option<String>);

impl Caller {
    /// A client of a server. It acts for the user who started the server, unless its token names another person.
    pub(crate) fn new(client: String, session: Option<String>, server: &Origin, token: Option<&TokenOf>) -> Self {
        let auth = match token {
            None => Auth::McpSession,
            Some(TokenOf(None)) => Auth::SharedToken,
            Some(TokenOf(Some(_))) => Auth::Token,
        };
        let user = token.and_then(|TokenOf(person)| person.clone()).or_else(|| server.user.clone());
        let who = Origin { face: Face::Mcp, client: Some(client.clone()), user, ..server.clone() };
        Self { session, who, client, auth }
    }

    /// The caller for the application.
    pub(crate) fn known(&self) -> origin::Caller {
        origin::Caller { who: self.who.clone(), auth: self.auth, ..origin::Caller::default() }
    }

    /// The message with an answer to a question, with the hash of the text that they saw.
    pub(crate) fn says(&self, asked: &Asked, answer: Answer, said: Option<String>) -> Message {
        let mut message = Message::answer(asked.path.clone(), answer, self.known());
        if let Message::Answer { shown, comment, .. } = &mut message {
            *shown = Some(asked.shown.clone());
            *comment = said;
        }
        message
    }
}

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) state: AppState,
    pub(crate) caller: Caller,
    pub(crate) arguments: JsonObject,
    /// The person's answers to the questions in the previous reply.
    pub(crate) responses: InputResponses,
    pub(crate) context: RequestContext<RoleServer>,
}

impl Call {
    /// The arguments, checked against the schema.
    pub(crate) fn arguments<T: DeserializeOwned + schemars::JsonSchema>(&mut self) -> Result<T, Problem> {
        arguments::read(std::mem::take(&mut self.arguments))
    }
}

/// The reply of a tool.
pub(crate) enum Reply {
    /// The result, as text for models and people, and as data.
    Done(String, Value),
    /// A person has to answer first. The client then calls again with the answer.
    Asks(InputRequiredResult),
}

/// Why a call failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The error, with what to do next.
    pub(crate) text: String,
    /// The kind of rejection, if a command was rejected.
    pub(crate) kind: Option<RejectionKind>,
}

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: None }
    }

    /// An unknown name.
    pub(crate) fn unknown(what: &str, name: &str, known: &[String]) -> Self {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let text = match closest(name, &known) {
            Some(best) => format!("there is no {what} `{name}`; did you mean `{best}`?"),
            None if known.is_empty() => format!("there is no {what} `{name}`, and no other one"),
            None => format!("there is no {what} `{name}`; there are: {}", known.join(", ")),
        };
        Self { text, kind: Some(RejectionKind::NotFound) }
    }
}

/// A remedy, in terms of the tools.
fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::GiveInput(_) => "give it in the argument `inputs`".to_owned(),
        Remedy::ListRuns => "the tool `runs` lists those there are".to_owned(),
        _ => remedy.plain(),
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        Self { text: rejection.in_words(remedy), kind: Some(rejection.kind) }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        error.rejection().into()
    }
}

/// The reply for the protocol. An error is a result, too, so that a model can read it and do better.
pub(crate) fn response(reply: Result<Reply, Problem>) -> CallToolResponse {
    match reply {
        Ok(Reply::Done(text, data)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(data);
            result.into()
        }
        Ok(Reply::Asks(questions)) => questions.into(),
        Err(problem) => failed(problem).into(),
    }
}

/// A failure has only text and its kind, because data would have to fit the schema of the tool.
fn failed(problem: Problem) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(problem.text)]);
    result.meta = problem.kind.map(meta);
    result
}

/// The kind of a rejection and its page, for clients that use it.
fn meta(kind: RejectionKind) -> MetaObject {
    let said = [("longhaul/kind", kind.word()), ("longhaul/code", kind.code())];
    MetaObject(said.into_iter().map(|(name, word)| (name.to_owned(), word.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_rejection_is_an_error_that_says_its_kind() {
        for kind in RejectionKind::ALL {
            let problem = Problem::from(Rejection::new(kind, "no"));
            let said = serde_json::to_value(failed(problem)).unwrap();
            assert_eq!((&said["isError"], &said["content"][0]["text"]), (&true.into(), &"no".into()), "{said}");
            assert_eq!(said["_meta"]["longhaul/kind"], kind.word(), "{said}");
        }
        let missing = Rejection::invalid("the input `a` is missing").with(Remedy::GiveInput("a".to_owned()));
        assert_eq!(Problem::from(missing).text, "the input `a` is missing; give it in the argument `inputs`");
    }
}
