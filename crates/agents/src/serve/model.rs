//! Turns a model behind an address into an agent: asks it, runs its tools, and asks again, until it has an answer.
//!
//! This code does not retry: it reports the problem, the conversation is on disk, and the recovery of the run continues
//! it.
//!
//! **Invariant:** a call is recorded before its tool runs, and its result before anything else happens.

mod compact;
mod facts;
mod http;
mod message;
mod prompt;
mod rounds;
mod schema;
mod session;
mod sse;
mod trouble;
mod wire;
mod written;

use std::path::Path;

use longhaul_core::Json;
use tokio_util::sync::CancellationToken;

use super::ask::Endpoint;
use super::lines::Lines;
use super::tools::{self, Toolbox};
use crate::contract::{self, AgentTrouble, Ending, Errand, Meter, TranscriptEntry, Turn};
use facts::Sent;
pub use facts::{Facts, KnownEndpoint, LimitName, known_endpoints};
use http::Client;
pub(crate) use http::is_near;
use message::Reply;
use schema::Shape;
use session::Session;
pub(crate) use wire::Wire;
use wire::{Piece, Request};

/// A turn and everything that it needs.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) home: &'a Path,
    pub(crate) lines: &'a Lines,
    pub(crate) cancel: &'a CancellationToken,
}

/// Does one turn of a conversation.
pub(crate) async fn take_turn(job: Job<'_>) -> Ending {
    let mut talk = match Talk::open(job) {
        Ok(talk) => talk,
        Err(trouble) => return Ending { trouble, ..Ending::default() },
    };
    let taken = match job.turn.errand {
        Errand::Work => talk.work().await.map(|()| None),
        Errand::Compact => talk.compact().await.map(Some),
    };
    talk.ending(taken)
}

/// A conversation during one turn.
struct Talk<'a> {
    job: Job<'a>,
    client: Client,
    tools: Toolbox<'a>,
    session: Session,
    system: String,
    shape: Option<Shape>,
    used: Meter,
    denied: Vec<String>,
    /// The answer so far.
    text: String,
    structured: Option<Json>,
    facts: Facts,
    /// Whether the session is known outside: nothing was done before the first reply.
    is_announced: bool,
    /// How often a call could not be read.
    misread: u32,
}

/// How many requests of a round may be refused before one is understood.
const REFUSALS_MAX: u32 = 3;

impl<'a> Talk<'a> {
    fn open(job: Job<'a>) -> Result<Self, AgentTrouble> {
        let key = key(job.endpoint)?;
        if let Some((_, value)) = &key {
            job.lines.hide(value);
        }
        let client = Client::new(job.endpoint, key.as_ref().map(|(_, value)| value.as_str()))?;
        let session = Session::open(job.home, &job.turn.session)?;
        for name in tools::unknown(job.turn) {
            job.lines.notice(format!("there is no tool `{name}` here"));
        }
        let tools = Toolbox::new(job.turn, key, job.lines, job.cancel);
        let facts = Facts::of(job.home, job.endpoint);
        let mut talk = Self {
            job,
            client,
            facts,
            is_announced: false,
            misread: 0,
            session,
            system: prompt::system(job.turn, !tools.offered().is_empty()),
            tools,
            shape: job.turn.schema.as_ref().map(Shape::new),
            used: Meter::default(),
            denied: Vec::new(),
            text: String::new(),
            structured: None,
        };
        if matches!(job.turn.session, contract::TurnSession::Resume { .. }) {
            talk.announce();
        }
        Ok(talk)
    }

    /// Sends the conversation to the model. If the server does not understand a part of the request, it is sent again
    /// without that part, and the server's limits are remembered.
    async fn ask(&mut self, is_last: bool) -> Result<Reply, AgentTrouble> {
        let known = self.facts;
        let mut first = None;
        for _ in 0..REFUSALS_MAX {
            let (body, sent) = self.request(is_last);
            let trouble = match self.send(&body).await {
                Ok(reply) => {
                    if self.facts != known {
                        self.facts.keep(self.job.home, self.job.endpoint);
                    }
                    return Ok(reply);
                }
                Err(trouble) => trouble,
            };
            let Some(facts) = self.facts.after(&trouble, sent) else {
                first.get_or_insert(trouble);
                break;
            };
            self.job.lines.notice(format!("the endpoint does not understand the request: {}", trouble.message));
            self.facts = facts;
            first.get_or_insert(trouble);
        }
        self.facts = known;
        Err(first.unwrap_or_else(trouble::empty))
    }

    /// The body of a request, and its parts that not every server understands.
    ///
    /// A schema makes many servers answer with JSON at once, without tools. So there are no tools in a request with a
    /// schema, unless the service can do both; the schema comes with the last request.
    fn request(&self, is_last: bool) -> (Json, Sent) {
        let endpoint = self.job.endpoint;
        let by_tool = endpoint.wire.answers_by_tool();
        let (tools, facts) = (self.tools.offered(), self.facts);
        let with_format = !by_tool && facts.json_schema != Some(false) && (is_last || self.is_together());
        let schema = self.shape.as_ref().filter(|_| by_tool || with_format).map(Shape::schema);
        let (limit, is_alone) = (facts.limit(endpoint), schema.is_some() && !by_tool && !endpoint.is_usual);
        let body = endpoint.wire.body(&Request {
            model: &endpoint.model,
            system: &self.system,
            effort: self.job.turn.effort.as_deref(),
            messages: self.session.messages(),
            tools: if is_alone { &[] } else { tools },
            schema,
            is_last,
            limit,
        });
        let own_limit = limit.is_some() && endpoint.output_tokens_max.is_none();
        (body, Sent { format: schema.is_some() && !by_tool, own_limit })
    }

    /// Whether a request may have tools and a schema: the service can do both, or there are no tools.
    fn is_together(&self) -> bool {
        self.job.endpoint.is_usual || self.tools.offered().is_empty()
    }

    /// Reports the session, before something of it is worth continuing.
    fn announce(&mut self) {
        if !std::mem::replace(&mut self.is_announced, true) {
            let model = Some(self.job.endpoint.model.clone());
            self.job.lines.entry(TranscriptEntry::Session { id: id(self.job.turn).to_owned(), model });
        }
    }

    async fn send(&mut self, body: &Json) -> Result<Reply, AgentTrouble> {
        let lines = self.job.lines;
        let mut say = |piece: Piece<'_>| match piece {
            Piece::Text(text) => lines.text(text),
            Piece::TextEnd => lines.end_text(),
            Piece::Thought(text) => lines.thought(text),
            Piece::Thinking(text) if !text.is_empty() => {
                lines.entry(TranscriptEntry::Thinking { text: text.to_owned() })
            }
            Piece::Thinking(_) | Piece::Alive => lines.alive(),
        };
        let reading = self.job.endpoint.wire.reading(&self.job.endpoint.model);
        let reply = tokio::select! {
            biased;
            () = self.job.cancel.cancelled() => return Err(AgentTrouble::stopped()),
            reply = self.client.ask(body, reading, &mut say) => reply?,
        };
        self.used.add(&reply.used);
        lines.entry(TranscriptEntry::Usage { meter: self.used });
        Ok(reply)
    }

    fn ending(self, taken: Result<Option<bool>, AgentTrouble>) -> Ending {
        let trouble = match taken {
            Ok(compacted) => AgentTrouble { compacted, ..AgentTrouble::default() },
            Err(trouble) => trouble,
        };
        Ending {
            text: self.text,
            structured: self.structured,
            session: self.is_announced.then(|| id(self.job.turn).to_owned()),
            used: Some(self.used),
            denied: self.denied,
            trouble,
            ..Ending::default()
        }
    }
}

fn id(turn: &Turn) -> &str {
    match &turn.session {
        contract::TurnSession::New(id) | contract::TurnSession::Resume { id, .. } => id,
    }
}

/// The name of the key's variable, and the key.
fn key(endpoint: &Endpoint) -> Result<Option<(String, String)>, AgentTrouble> {
    let Some(name) = &endpoint.key_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(value) if !value.trim().is_empty() => Ok(Some((name.clone(), value.trim().to_owned()))),
        _ if is_near(&endpoint.base_url) => Ok(None),
        _ => Err(AgentTrouble {
            status: Some(401),
            ..AgentTrouble::named("no_key", format!("the variable `{name}`, which holds the key, is not set; set it"))
        }),
    }
}
