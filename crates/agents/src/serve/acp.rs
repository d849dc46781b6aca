//! Runs any agent that speaks the Agent Client Protocol (version 1), over the pipes of a process that we start.
//!
//! The protocol's own crate changes often; only this module uses it.
//!
//! **Invariant:** the turn alone answers everything that an agent asks us, because no person is there. The agent has
//! ended when the turn is over.

mod child;
mod permission;
mod reports;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ClientCapabilities, FileSystemCapabilities, Implementation,
    InitializeRequest, LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, PromptRequest,
    ReadTextFileRequest, ReadTextFileResponse, RequestPermissionRequest, ResumeSessionRequest, SessionConfigKind,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOptions, SessionNotification,
    SetSessionConfigOptionRequest, WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, UntypedMessage};
use longhaul_core::Json;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use tokio_util::sync::CancellationToken;

use super::ask::Program;
use super::lines::Lines;
use super::workspace::Workspace;
use crate::contract::{AgentTrouble, Ending, Errand, Permission, TranscriptEntry, Turn, TurnSession};
use crate::tool::ToolTransport;
use child::Child;
use reports::Reports;

/// How long an agent may take to end a stopped turn: less than our own stopper waits for us.
const GRACE: Duration = Duration::from_secs(2);

/// A turn and everything that it needs.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) program: &'a Program,
    pub(crate) lines: &'a Arc<Lines>,
    pub(crate) cancel: &'a CancellationToken,
}

/// Does one turn of a conversation.
pub(crate) async fn take_turn(job: Job<'_>) -> Ending {
    if job.turn.errand == Errand::Compact {
        let trouble = AgentTrouble::named("no_compact", "this protocol has no way to shorten a context");
        return Ending { trouble: AgentTrouble { compacted: Some(false), ..trouble }, ..Ending::default() };
    }
    let (mut child, pipes) = match Child::spawn(job.program, &job.turn.cwd) {
        Ok(spawned) => spawned,
        Err(message) => return Ending::failed("no_program", message),
    };
    let reports = Arc::new(Reports::new(job.turn, Arc::clone(job.lines)));
    let trouble = match Box::pin(converse(job, pipes, &reports)).await {
        Ok(()) => AgentTrouble::default(),
        Err(trouble) => trouble,
    };
    let is_stopped = job.cancel.is_cancelled();
    child.end(is_stopped).await;
    reports.ending(trouble)
}

/// Connects, does the turn, and disconnects.
async fn converse(job: Job<'_>, pipes: child::Pipes, reports: &Arc<Reports>) -> Result<(), AgentTrouble> {
    let transport = ByteStreams::new(pipes.stdin.compat_write(), pipes.stdout.compat());
    let workspace = Arc::new(Workspace::new(job.turn));
    let (told, asked) = (Arc::clone(reports), Arc::clone(reports));
    let (reads, writes) = (Arc::clone(&workspace), Arc::clone(&workspace));
    let cancel = job.cancel.clone();
    let named = job.turn.mcp.clone();
    let connected = Client
        .v1()
        .name("longhaul")
        .on_receive_notification(
            async move |update: SessionNotification, _| {
                told.update(update.update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let asked = permission::Asked { request: &request, servers: &named, reports: &asked };
                responder.respond(permission::answer(asked, &workspace, cancel.is_cancelled()))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _| {
                responder.respond_with_result(read(&reads, &request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _| {
                responder.respond_with_result(write(&writes, &request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async |agent: ConnectionTo<Agent>| {
            Ok(Conversation { job, agent, reports }.take().await)
        })
        .await;
    connected.unwrap_or_else(|error| Err(told_by(&error)))
}

/// One turn with a connected agent.
struct Conversation<'a> {
    job: Job<'a>,
    agent: ConnectionTo<Agent>,
    reports: &'a Reports,
}

impl Conversation<'_> {
    async fn take(self) -> Result<(), AgentTrouble> {
        let opened = tokio::select! {
            biased;
            () = self.job.cancel.cancelled() => return Err(AgentTrouble::stopped()),
            opened = self.open() => opened,
        };
        let id = opened.map_err(|trouble| self.or_gone(trouble))?;
        self.prompt(id).await.map_err(|trouble| self.or_gone(trouble))
    }

    /// Starts or resumes the session; returns its id.
    async fn open(&self) -> Result<String, AgentTrouble> {
        let request = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities(self.job.turn.permission))
            .client_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")));
        let hello = self.agent.send_request(request).block_task().await.map_err(|error| told_by(&error))?;
        let (id, options) = self.session(&hello.agent_capabilities).await?;
        self.job.lines.entry(TranscriptEntry::Session { id: id.clone(), model: self.job.turn.model.clone() });
        self.reports.opened(&id);
        self.choose(&id, &options, &SessionConfigOptionCategory::Model, self.job.turn.model.as_deref()).await;
        self.choose(&id, &options, &SessionConfigOptionCategory::ThoughtLevel, self.job.turn.effort.as_deref()).await;
        Ok(id)
    }

    async fn session(&self, able: &AgentCapabilities) -> Result<(String, Vec<SessionConfigOption>), AgentTrouble> {
        let turn = self.job.turn;
        let more = able.session_capabilities.additional_directories.is_some();
        let dirs: Vec<PathBuf> = if more { turn.dirs.clone() } else { Vec::new() };
        let id = match &turn.session {
            TurnSession::New(_) => {
                let request = NewSessionRequest::new(&turn.cwd).additional_directories(dirs).mcp_servers(servers(turn));
                let begun = self.agent.send_request(request).block_task().await.map_err(|error| told_by(&error))?;
                return Ok((begun.session_id.to_string(), begun.config_options.unwrap_or_default()));
            }
            TurnSession::Resume { id, .. } => id,
        };
        let options = if able.session_capabilities.resume.is_some() {
            let request = ResumeSessionRequest::new(id.clone(), &turn.cwd)
                .additional_directories(dirs)
                .mcp_servers(servers(turn));
            self.agent.send_request(request).block_task().await.map(|resumed| resumed.config_options)
        } else if able.load_session {
            let request =
                LoadSessionRequest::new(id.clone(), &turn.cwd).additional_directories(dirs).mcp_servers(servers(turn));
            self.agent.send_request(request).block_task().await.map(|loaded| loaded.config_options)
        } else {
            return Err(AgentTrouble::named(
                "session_not_found",
                "this agent cannot take up a session; begin a new one",
            ));
        };
        let options = options.map_err(|error| lost(id, &error))?;
        Ok((id.clone(), options.unwrap_or_default()))
    }

    /// Sets one of the options that the agent offers. If the agent does not offer it, a notice says so and nothing
    /// changes.
    async fn choose(
        &self,
        id: &str,
        options: &[SessionConfigOption],
        category: &SessionConfigOptionCategory,
        wanted: Option<&str>,
    ) {
        let Some(wanted) = wanted else { return };
        let option = options.iter().find(|option| option.category.as_ref() == Some(category));
        let value = option.and_then(|option| Some((option.id.clone(), value(option, wanted)?)));
        let is_set = match value {
            Some((option, value)) => {
                let request = SetSessionConfigOptionRequest::new(id.to_owned(), option, value.as_str());
                self.agent.send_request(request).block_task().await.is_ok()
            }
            None => false,
        };
        if !is_set {
            self.job.lines.notice(format!("this agent does not let us choose `{wanted}`"));
        }
    }

    async fn prompt(&self, id: String) -> Result<(), AgentTrouble> {
        self.reports.begin();
        let request = PromptRequest::new(id.clone(), vec![self.job.turn.prompt.clone().into()]);
        // Untyped, because the types do not include the usage yet.
        let request = UntypedMessage::new("session/prompt", request).map_err(|error| told_by(&error))?;
        let answer = self.agent.send_request(request).block_task();
        let mut answer = std::pin::pin!(answer);
        let answered = tokio::select! {
            answered = &mut answer => answered,
            () = self.job.cancel.cancelled() => {
                // If the notification fails, the agent is ended anyway.
                let _ = self.agent.send_notification(CancelNotification::new(id));
                drop(tokio::time::timeout(GRACE, answer).await);
                return Err(AgentTrouble::stopped());
            }
        };
        let answer = answered.map_err(|error| told_by(&error))?;
        self.reports.used(&answer["usage"]);
        stopped(answer["stopReason"].as_str().unwrap_or_default())
    }

    /// Requests fail in many ways when the agent is gone; one clear message replaces them.
    fn or_gone(&self, trouble: AgentTrouble) -> AgentTrouble {
        if self.agent.is_incoming_closed() && trouble.code.as_deref() != Some("stopped") {
            return AgentTrouble::named("agent_ended", "the agent ended before its answer");
        }
        trouble
    }
}

/// The MCP servers of the turn. The driver has made programs of all of them.
fn servers(turn: &Turn) -> Vec<McpServer> {
    let program = |server: &crate::mcp::McpServer| match &server.transport {
        ToolTransport::Program { command, args, .. } => {
            Some(McpServer::Stdio(McpServerStdio::new(server.name.clone(), command.as_str()).args(args.clone())))
        }
        ToolTransport::Address { .. } => None,
    };
    turn.mcp.iter().filter_map(program).collect()
}

fn capabilities(permission: Permission) -> ClientCapabilities {
    let files = FileSystemCapabilities::new().read_text_file(true).write_text_file(permission != Permission::ReadOnly);
    ClientCapabilities::new().fs(files)
}

/// The value of an option with this id or name.
fn value(option: &SessionConfigOption, wanted: &str) -> Option<String> {
    let SessionConfigKind::Select(select) = &option.kind else { return None };
    let all: Vec<_> = match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect(),
        SessionConfigSelectOptions::Grouped(groups) => groups.iter().flat_map(|group| &group.options).collect(),
        _ => Vec::new(),
    };
    let is_it = |id: &str, name: &str| id == wanted || name.eq_ignore_ascii_case(wanted);
    all.into_iter().map(|it| (it.value.to_string(), &it.name)).find(|(id, name)| is_it(id, name)).map(|(id, _)| id)
}

fn read(workspace: &Workspace, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
    let bytes = workspace.read(&request.path.to_string_lossy()).map_err(declined)?;
    let text = String::from_utf8(bytes).map_err(|_| declined("it is no text".to_owned()))?;
    let skipped = request.line.map_or(0, |line| line.saturating_sub(1)) as usize;
    let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(ReadTextFileResponse::new(text.split_inclusive('\n').skip(skipped).take(limit).collect::<String>()))
}

fn write(workspace: &Workspace, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Error> {
    workspace.write(&request.path.to_string_lossy(), request.content.as_bytes()).map_err(declined)?;
    Ok(WriteTextFileResponse::new())
}

fn declined(why: String) -> Error {
    Error::invalid_params().data(Json::String(why))
}

fn lost(id: &str, error: &Error) -> AgentTrouble {
    let told = told_by(error);
    if told.code.as_deref() == Some("auth_required") {
        return told;
    }
    AgentTrouble::named("session_not_found", format!("session `{id}` cannot be taken up: {}", told.message))
}

/// The error that an agent reports. Its details hold the real reason.
fn told_by(error: &Error) -> AgentTrouble {
    let number = i32::from(error.code);
    let details = match &error.data {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => format!(": {text}"),
        Some(data) => format!(": {data}"),
    };
    let message = format!("{}{details}", error.message);
    match number {
        -32000 => AgentTrouble { status: Some(401), ..AgentTrouble::named("auth_required", message) },
        _ => AgentTrouble::named(&number.to_string(), message),
    }
}

fn stopped(reason: &str) -> Result<(), AgentTrouble> {
    let trouble = match reason {
        "refusal" => AgentTrouble::named("refusal", "the agent refused to continue"),
        "max_tokens" => AgentTrouble::named("max_tokens", "the agent wrote as much as it may, and was not done"),
        "max_turn_requests" => AgentTrouble::named("max_rounds", "the agent asked its model as often as it may"),
        "cancelled" => AgentTrouble::stopped(),
        _ => return Ok(()),
    };
    Err(AgentTrouble { stop: Some(reason.to_owned()), ..trouble })
}
