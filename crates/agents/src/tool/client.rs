//! Talks to an MCP server: connects, finds the tool, calls it, and disconnects.
//!
//! **Invariant:** whatever ends the wait, a sent call is answered or cancelled before the client disconnects.

use std::collections::HashMap;
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest,
    ContentBlock, Implementation, ServerResult,
};
use rmcp::service::{ClientInitializeError, Peer, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use super::{ToolAnswer, ToolCall, ToolTransport, pipes};

/// How long the cancellation and the disconnection may take.
const FAREWELL: Duration = Duration::from_secs(2);

type Client = RunningService<RoleClient, ClientConfig>;

/// Why the wait ended before the server answered.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Cancelled,
    TooLong(u64),
}

impl Stop {
    fn failure(self) -> Failure {
        match self {
            Self::Cancelled => Failure::new(ErrorClass::Failed, "stopped"),
            Self::TooLong(ms) => {
                Failure::new(ErrorClass::Timeout, format!("the tool did not answer within {}", span(ms)))
            }
        }
    }
}

fn span(ms: u64) -> String {
    longhaul_core::duration::format_ms(ms)
}

/// Makes a call, until its timeout or its cancellation.
pub(super) async fn made(ask: ToolCall, cancel: CancellationToken) -> ToolAnswer {
    let stop = stopped(ask.timeout_ms, cancel);
    tokio::pin!(stop);
    let greeting = greet(&ask.server);
    let (client, process) = tokio::select! {
        greeted = greeting => match greeted {
            Ok(greeted) => greeted,
            Err(failure) => return ToolAnswer { failure: Some(failure), unreached: true, ..ToolAnswer::default() },
        },
        why = &mut stop => return ToolAnswer { failure: Some(why.failure()), ..ToolAnswer::default() },
    };
    let answer = talk(client.peer(), ask, &mut stop).await;
    // A server that does not disconnect in time ends with this process.
    let _ = tokio::time::timeout(FAREWELL, client.cancel()).await;
    if let Some(process) = process {
        pipes::leave(process).await;
    }
    answer
}

async fn stopped(timeout_ms: Option<u64>, cancel: CancellationToken) -> Stop {
    let Some(ms) = timeout_ms else {
        cancel.cancelled().await;
        return Stop::Cancelled;
    };
    tokio::select! {
        () = cancel.cancelled() => Stop::Cancelled,
        () = tokio::time::sleep(Duration::from_millis(ms)) => Stop::TooLong(ms),
    }
}

async fn greet(server: &ToolTransport) -> Result<(Client, Option<Child>), Failure> {
    let who =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("longhaul", env!("CARGO_PKG_VERSION")));
    match server {
        ToolTransport::Program { command, args, env } => {
            let started =
                pipes::start(command, args, env).map_err(|message| Failure::new(ErrorClass::Failed, message))?;
            let served = who.serve((started.stdout, started.stdin)).await;
            let client = served.map_err(|error| unfriendly(ErrorClass::Failed, &error))?;
            Ok((client, Some(started.process)))
        }
        ToolTransport::Address { url, headers } => {
            // It may be installed already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let headers = headers_of(headers).map_err(|message| Failure::new(ErrorClass::Failed, message))?;
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(headers);
            let served = who.serve(StreamableHttpClientTransport::from_config(config)).await;
            Ok((served.map_err(|error| unfriendly(ErrorClass::Transient, &error))?, None))
        }
    }
}

fn unfriendly(class: ErrorClass, error: &ClientInitializeError) -> Failure {
    let class = if error.is_authorization_required() { ErrorClass::Auth } else { class };
    Failure::new(class, format!("the tool server cannot be talked to: {error}"))
}

pub(crate) fn headers_of(headers: &IndexMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let read = |(name, value): (&String, &String)| {
        let key: HeaderName = name.parse().map_err(|_| format!("`{name}` cannot be the name of a header"))?;
        let value =
            HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` has a character too many"))?;
        Ok((key, value))
    };
    headers.iter().map(read).collect()
}

async fn talk(peer: &Peer<RoleClient>, ask: ToolCall, stop: &mut (impl Future<Output = Stop> + Unpin)) -> ToolAnswer {
    let listed = tokio::select! {
        listed = peer.list_all_tools() => listed,
        why = &mut *stop => return ToolAnswer { failure: Some(why.failure()), ..ToolAnswer::default() },
    };
    let names: Vec<String> = match listed {
        Ok(tools) => tools.into_iter().map(|tool| tool.name.into_owned()).collect(),
        Err(error) => return ToolAnswer::failed(class(&error), format!("the server does not list its tools: {error}")),
    };
    if !names.contains(&ask.tool) {
        return ToolAnswer::failed(ErrorClass::Failed, unknown(&ask.tool, &names));
    }
    call(peer, ask, stop).await
}

async fn call(peer: &Peer<RoleClient>, ask: ToolCall, stop: &mut (impl Future<Output = Stop> + Unpin)) -> ToolAnswer {
    let params = CallToolRequestParams::new(ask.tool).with_arguments(ask.arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let mut handle = match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
        Ok(handle) => handle,
        Err(error) => return ToolAnswer::failed(class(&error), error.to_string()),
    };
    tokio::select! {
        response = &mut handle.rx => match response.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => judged(result),
            Err(error) => ToolAnswer::failed(class(&error), complaint(&error)),
        },
        why = &mut *stop => {
            let failure = why.failure();
            // A server that does not listen any more is ended anyway.
            let _ = tokio::time::timeout(FAREWELL, handle.cancel(Some(failure.message.clone()))).await;
            ToolAnswer { failure: Some(failure), ..ToolAnswer::default() }
        }
    }
}

fn class(error: &ServiceError) -> ErrorClass {
    match error {
        ServiceError::TransportSend(_) | ServiceError::TransportClosed => ErrorClass::Transient,
        _ => ErrorClass::Failed,
    }
}

fn complaint(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("the server refused: {}", error.message),
        ServiceError::TransportClosed => "the server left before it answered".to_owned(),
        error => error.to_string(),
    }
}

fn unknown(tool: &str, names: &[String]) -> String {
    let nearest = names.iter().map(|name| (strsim::damerau_levenshtein(tool, name), name)).min();
    match nearest.filter(|(far, name)| *far <= name.len() / 3) {
        Some((_, name)) => format!("the server has no tool `{tool}`; did you mean `{name}`?"),
        None if names.is_empty() => format!("the server has no tool `{tool}`, and no other one"),
        None => format!("the server has no tool `{tool}`; it has: {}", names.join(", ")),
    }
}

fn judged(result: ServerResult) -> ToolAnswer {
    let result = match result {
        ServerResult::CallToolResult(result) => result,
        ServerResult::InputRequiredResult(_) => {
            return ToolAnswer::failed(
                ErrorClass::Question,
                "the tool asks a person something, and a step has no person to ask",
            );
        }
        _ => return ToolAnswer::failed(ErrorClass::Failed, "the server answered with something else than a result"),
    };
    let is_error = result.is_error == Some(true);
    let output = said(result);
    let failure = is_error.then(|| Failure::new(ErrorClass::Failed, told(&output)));
    ToolAnswer { output, failure, unreached: false }
}

/// The error message of a failed tool, in a sentence.
fn told(output: &Json) -> String {
    let text =
        output.as_str().or_else(|| output.get("error")?.as_str()).map_or_else(|| output.to_string(), str::to_owned);
    let text: String = text.chars().take(1000).collect();
    if text.trim().is_empty() { "the tool failed and does not say why".to_owned() } else { text }
}

/// The structured data of the result, if there is any; else its text, as JSON if it is valid JSON; else the whole
/// result in the form of the protocol.
fn said(result: CallToolResult) -> Json {
    if let Some(data) = result.structured_content {
        return data;
    }
    let texts: Option<Vec<&str>> = result.content.iter().map(text).collect();
    match texts {
        Some(texts) => {
            let text = texts.join("\n");
            serde_json::from_str(&text).unwrap_or(Json::String(text))
        }
        None => serde_json::to_value(&result.content).unwrap_or_default(),
    }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}
