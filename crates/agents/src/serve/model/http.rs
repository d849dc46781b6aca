//! One request to a model, and its answer as it streams in.
//!
//! **Invariant:** the key goes to the address that was configured and to no other: redirects are not followed.

use std::time::Duration;

use longhaul_core::Json;
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response, Url};

use super::message::Reply;
use super::sse::Events;
use super::trouble;
use super::wire::{self, Piece, Reading, Wire};
use crate::contract::Trouble;
use crate::serve::ask::Endpoint;

const CONNECT: Duration = Duration::from_secs(30);
/// How long nothing may come. A small machine thinks for minutes over a long prompt.
const SILENCE: Duration = Duration::from_secs(900);
const ERROR_BYTES_MAX: usize = 64 << 10;
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Asks one endpoint.
pub(super) struct Client {
    http: reqwest::Client,
    address: String,
    wire: Wire,
    key: Option<String>,
}

impl Client {
    pub(super) fn new(endpoint: &Endpoint, key: Option<&str>) -> Result<Self, Trouble> {
        // Already installed is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().user_agent("longhaul").redirect(Policy::none());
        let builder = builder.connect_timeout(CONNECT).read_timeout(SILENCE);
        // What is on this machine is not reached through a proxy.
        let builder = if is_near(&endpoint.base_url) { builder.no_proxy() } else { builder };
        let http = builder.build().map_err(|error| Trouble::named("no_client", error.to_string()))?;
        let address = endpoint.wire.address(&endpoint.base_url);
        Ok(Self { http, address, wire: endpoint.wire, key: key.map(str::to_owned) })
    }

    /// Sends a request and reads its answer to the end.
    pub(super) async fn ask(
        &self,
        body: &Json,
        mut reading: Box<dyn Reading>,
        say: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Reply, Trouble> {
        let request = self.authorised(self.http.post(&self.address)).json(body);
        let mut response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        let mut events = Events::default();
        while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
            for data in events.push(&bytes).ok_or_else(malformed)? {
                take(&data, reading.as_mut(), say)?;
            }
        }
        if let Some(data) = events.finish() {
            take(&data, reading.as_mut(), say)?;
        }
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

    fn unreachable(&self, error: &reqwest::Error) -> Trouble {
        let code = if error.is_timeout() { "timeout" } else { "unreachable" };
        Trouble::named(code, format!("`{}` cannot be reached: {}", self.address, chain(error)))
    }
}

fn take(data: &str, reading: &mut dyn Reading, say: &mut dyn FnMut(Piece<'_>)) -> Result<(), Trouble> {
    if data.trim() == "[DONE]" {
        return Ok(());
    }
    let event: Json = serde_json::from_str(data).map_err(|_| malformed())?;
    reading.event(&event, say)
}

async fn refused(mut response: Response) -> Trouble {
    let status = response.status();
    let headers = response.headers().clone();
    if status.is_redirection() {
        let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another place").to_owned();
        let message = format!("the endpoint sends us on to {to}; set `base_url` to where it really is");
        return Trouble { status: Some(status.as_u16()), ..Trouble::named("redirected", message) };
    }
    let mut body = Vec::new();
    // What has come so far says enough, if the rest does not.
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() > ERROR_BYTES_MAX {
            break;
        }
    }
    let told = trouble::told(Some(status.as_u16()), &String::from_utf8_lossy(&body));
    trouble::with_pause(told, &headers)
}

fn broken(error: &reqwest::Error) -> Trouble {
    if error.is_timeout() {
        return Trouble::named("timeout", format!("nothing came for {} s", SILENCE.as_secs()));
    }
    Trouble { message: format!("the answer broke off: {}", chain(error)), ..wire::cut() }
}

fn malformed() -> Trouble {
    Trouble::named("malformed_stream", "the endpoint sent something that is no answer")
}

/// An error and all its reasons: the first alone says nothing.
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
