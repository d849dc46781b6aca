//! The conversation with a server: greet, look for the tool, call it, leave.
//!
//! **Invariant:** whatever ends the waiting, a call that was sent is answered or taken back before the server is left.

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

use super::{Answer, Ask, Server, pipes};

/// How long a server may take to be told that its answer is not wanted, and to be left.
const FAREWELL: Duration = Duration::from_secs(2);

type Client = RunningService<RoleClient, ClientConfig>;

/// Why the waiting ended before the server answered.
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

/// Makes a call, within its time and until it is cancelled.
pub(super) async fn made(ask: Ask, cancel: CancellationToken) -> Answer {
    let stop = stopped(ask.timeout_ms, cancel);
    tokio::pin!(stop);
    let greeting = greet(&ask.server);
    let (client, process) = tokio::select! {
        greeted = greeting => match greeted {
            Ok(greeted) => greeted,
            Err(failure) => return Answer { output: Json::Null, failure: Some(failure) },
        },
        why = &mut stop => return Answer { output: Json::Null, failure: Some(why.failure()) },
    };
    let answer = talk(client.peer(), ask, &mut stop).await;
    // A server that cannot be left in time is ended with us.
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

async fn greet(server: &Server) -> Result<(Client, Option<Child>), Failure> {
    let who =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("longhaul", env!("CARGO_PKG_VERSION")));
    match server {
        Server::Program { command, args, env } => {
            let started =
                pipes::start(command, args, env).map_err(|message| Failure::new(ErrorClass::Failed, message))?;
            let served = who.serve((started.stdout, started.stdin)).await;
            let client = served.map_err(|error| unfriendly(ErrorClass::Failed, &error))?;
            Ok((client, Some(started.process)))
        }
        Server::Address { url, headers } => {
            // Already installed is as good.
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

fn headers_of(headers: &IndexMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let read = |(name, value): (&String, &String)| {
        let key: HeaderName = name.parse().map_err(|_| format!("`{name}` cannot be the name of a header"))?;
        let value =
            HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` has a character too many"))?;
        Ok((key, value))
    };
    headers.iter().map(read).collect()
}

async fn talk(peer: &Peer<RoleClient>, ask: Ask, stop: &mut (impl Future<Output = Stop> + Unpin)) -> Answer {
    let listed = tokio::select! {
        listed = peer.list_all_tools() => listed,
        why = &mut *stop => return Answer { output: Json::Null, failure: Some(why.failure()) },
    };
    let names: Vec<String> = match listed {
        Ok(tools) => tools.into_iter().map(|tool| tool.name.into_owned()).collect(),
        Err(error) => return Answer::failed(class(&error), format!("the server does not list its tools: {error}")),
    };
    if !names.contains(&ask.tool) {
        return Answer::failed(ErrorClass::Failed, unknown(&ask.tool, &names));
    }
    call(peer, ask, stop).await
}

async fn call(peer: &Peer<RoleClient>, ask: Ask, stop: &mut (impl Future<Output = Stop> + Unpin)) -> Answer {
    let params = CallToolRequestParams::new(ask.tool).with_arguments(ask.arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let mut handle = match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
        Ok(handle) => handle,
        Err(error) => return Answer::failed(class(&error), error.to_string()),
    };
    tokio::select! {
        response = &mut handle.rx => match response.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(result) => judged(result),
            Err(error) => Answer::failed(class(&error), complaint(&error)),
        },
        why = &mut *stop => {
            let failure = why.failure();
            // A server that does not listen any more is ended all the same.
            let _ = tokio::time::timeout(FAREWELL, handle.cancel(Some(failure.message.clone()))).await;
            Answer { output: Json::Null, failure: Some(failure) }
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

fn judged(result: ServerResult) -> Answer {
    let result = match result {
        ServerResult::CallToolResult(result) => result,
        ServerResult::InputRequiredResult(_) => {
            return Answer::failed(
                ErrorClass::Question,
                "the tool asks a person something, and a step has nobody to ask",
            );
        }
        _ => return Answer::failed(ErrorClass::Failed, "the server answered with something else than a result"),
    };
    let is_error = result.is_error == Some(true);
    let output = said(result);
    let failure = is_error.then(|| Failure::new(ErrorClass::Failed, told(&output)));
    Answer { output, failure }
}

/// What a failed tool says of itself, in a sentence.
fn told(output: &Json) -> String {
    let text =
        output.as_str().or_else(|| output.get("error")?.as_str()).map_or_else(|| output.to_string(), str::to_owned);
    let text: String = text.chars().take(1000).collect();
    if text.trim().is_empty() { "the tool failed and does not say why".to_owned() } else { text }
}

/// Data where the tool gives any; else its text, read as JSON where it is that; else everything it gave, as the protocol has it.
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
