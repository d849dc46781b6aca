//! Sends one request to a model, and reads its answer as a stream.
//!
//! **Invariant:** the key goes only to the configured address: redirects are not followed.

use std::time::Duration;

use longhaul_core::Json;
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};

use super::message::Reply;
use super::sse::Events;
use super::trouble;
use super::wire::{self, Piece, Reading, Wire};
use crate::contract::AgentTrouble;
use crate::serve::ask::Endpoint;

const CONNECT: Duration = Duration::from_secs(30);
/// The longest silence. A small machine may think for minutes about a long prompt.
const SILENCE: Duration = Duration::from_secs(900);
const ERROR_BYTES_MAX: usize = 64 << 10;
const ANSWER_BYTES_MAX: usize = 64 << 20;
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Asks one endpoint.
pub(super) struct Client {
    http: reqwest::Client,
    address: String,
    wire: Wire,
    key: Option<String>,
}

impl Client {
    pub(super) fn new(endpoint: &Endpoint, key: Option<&str>) -> Result<Self, AgentTrouble> {
        // It may be installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().user_agent("longhaul").redirect(Policy::none());
        let builder = builder.connect_timeout(CONNECT).read_timeout(SILENCE);
        // An address on this machine is not reached through a proxy.
        let builder = if is_near(&endpoint.base_url) { builder.no_proxy() } else { builder };
        let http = builder.build().map_err(|error| AgentTrouble::named("no_client", error.to_string()))?;
        let address = endpoint.wire.address(&endpoint.base_url);
        Ok(Self { http, address, wire: endpoint.wire, key: key.map(str::to_owned) })
    }

    /// Sends a request and reads its answer to the end.
    pub(super) async fn ask(
        &self,
        body: &Json,
        mut reading: Box<dyn Reading>,
        say: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, AgentTrouble> {
        let request = self.authorised(self.http.post(&self.address)).json(body);
        let mut response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        let mut events = Events::default();
        let mut start = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
            // Some servers send an error, or the whole answer, in one piece.
            if start.iter().all(u8::is_ascii_whitespace) {
                start.extend_from_slice(&bytes);
                if is_whole(&start) {
                    return self.whole(start, response, reading, say).await;
                }
            }
            for data in events.push(&bytes).ok_or_else(malformed)? {
                take(&data, reading.as_mut(), say)?;
            }
        }
        if let Some(data) = events.finish() {
            take(&data, reading.as_mut(), say)?;
        }
        reading.finish()
    }

    /// Reads an answer that is not a stream.
    async fn whole(
        &self,
        mut body: Vec<u8>,
        mut response: Response,
        mut reading: Box<dyn Reading>,
        say: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, AgentTrouble> {
        while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
            body.extend_from_slice(&bytes);
            if body.len() > ANSWER_BYTES_MAX {
                return Err(malformed());
            }
        }
        let text = String::from_utf8_lossy(&body);
        let answer: Json = serde_json::from_str(&text).unwrap_or_default();
        let events = self.wire.events_of(&answer);
        if events.is_empty() {
            let told = trouble::told(None, &text);
            // Without a class of its own it may work later.
            return Err(if told.status.is_some() {
                told
            } else {
                AgentTrouble { message: told.message, ..malformed() }
            });
        }
        events.iter().try_for_each(|event| reading.event(event, say))?;
        reading.finish()
    }

    fn authorised(&self, request: RequestBuilder) -> RequestBuilder {
        match (&self.key, self.wire) {
            (None, Wire::Messages) => request.header("anthropic-version", ANTHROPIC_VERSION),
            (Some(key), Wire::Messages) => {
                request.header("anthropic-version", ANTHROPIC_VERSION).header("x-api-key", key)
            }
            (None, Wire::Chat | Wire::Responses) => request,
            (Some(key), Wire::Chat | Wire::Responses) => request.bearer_auth(key),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> AgentTrouble {
        let code = if error.is_timeout() { "timeout" } else { "unreachable" };
        AgentTrouble::named(code, format!("`{}` cannot be reached: {}", self.address, chain(error)))
    }
}

/// Whether a body starts like JSON or a page, and not like a stream of events.
fn is_whole(start: &[u8]) -> bool {
    matches!(start.trim_ascii_start().first(), Some(b'{' | b'[' | b'<'))
}

fn take(data: &str, reading: &mut dyn Reading, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), AgentTrouble> {
    if data.trim() == "[DONE]" {
        return Ok(());
    }
    let event: Json = serde_json::from_str(data).map_err(|_| malformed())?;
    reading.event(&event, say)
}

async fn refused(mut response: Response) -> AgentTrouble {
    let status = response.status();
    let headers = response.headers().clone();
    if status.is_redirection() {
        let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another place").to_owned();
        let message = format!("the endpoint sends us on to {to}; set `base_url` to where it really is");
        return AgentTrouble { status: Some(status.as_u16()), ..AgentTrouble::named("redirected", message) };
    }
    let mut body = Vec::new();
    // If the rest cannot be read, the part so far is enough.
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() > ERROR_BYTES_MAX {
            break;
        }
    }
    let told = trouble::told(Some(status.as_u16()), &String::from_utf8_lossy(&body));
    trouble::with_pause(told, &headers)
}

fn broken(error: &reqwest::Error) -> AgentTrouble {
    if error.is_timeout() {
        return AgentTrouble::named("timeout", format!("the endpoint sent nothing for {} s", SILENCE.as_secs()));
    }
    AgentTrouble { message: format!("the answer broke off: {}", chain(error)), ..wire::cut() }
}

fn malformed() -> AgentTrouble {
    AgentTrouble::named("malformed_stream", "the endpoint sent something that is not an answer")
}

/// An error with all its causes: the first one alone says nothing.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(reason) = source {
        text = format!("{text}: {reason}");
        source = reason.source();
    }
    text
}

/// Whether an address is on this machine.
pub(crate) fn is_near(base_url: &str) -> bool {
    let url = Url::parse(base_url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_is_what_is_on_this_machine() {
        for near in ["http://127.0.0.1:8080/v1", "http://localhost", "http://[::1]:1", "http://127.9.9.9"] {
            assert!(is_near(near), "{near}");
        }
        for far in ["https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.evil.org", "nonsense", ""] {
            assert!(!is_near(far), "{far}");
        }
    }
}
