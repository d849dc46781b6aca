//! Sends a request, and follows redirects.
//!
//! **Invariant:** another origin (scheme, host or port) gets nothing that was meant for the first one: only harmless
//! headers of the step, no address in `Referer`, no body with a secret in it. Error messages contain no address.

use std::error::Error as _;
use std::time::Instant;

use longhaul_agents::machine::{Shortage, ShortageBackoff};
use longhaul_agents::redact::Redaction;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use reqwest::header::{
    ACCEPT, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
    TRANSFER_ENCODING, USER_AGENT,
};
use reqwest::{Method, Request, Response, StatusCode, Url};

use super::CLIENT;

/// The most redirects to follow.
const HOPS_MAX: usize = 10;
/// Headers that every server may see.
const HARMLESS: [HeaderName; 4] = [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT];
/// Headers that describe the body.
const OF_THE_BODY: [HeaderName; 4] = [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, TRANSFER_ENCODING];

/// Sends a request. The response is never a redirect, except one without a target. Waits while the machine is short of
/// something, and reports it.
pub(crate) async fn send(
    mut request: Request,
    secrets: &Redaction,
    told: impl Fn(Option<Shortage>),
) -> Result<Response, Failure> {
    let deadline = request.timeout().map(|timeout| Instant::now() + *timeout);
    for _ in 0..=HOPS_MAX {
        let again = request.try_clone();
        let response = execute(request, &told).await?;
        let Some(to) = target(&response) else { return Ok(response) };
        let Some(mut next) = again else { return Ok(response) };
        send_on(&mut next, to, response.status(), secrets)?;
        *next.timeout_mut() = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        request = next;
    }
    Err(Failure::new(ErrorClass::Failed, format!("the server redirects more than {HOPS_MAX} times")))
}

/// Sends a request to one address. Repeats it while files or memory for a connection are short.
async fn execute(mut request: Request, told: impl Fn(Option<Shortage>)) -> Result<Response, Failure> {
    let (host, mut backoff) = (host(request.url()), ShortageBackoff::default());
    loop {
        let again = request.try_clone();
        let answer = CLIENT.execute(request).await;
        let shortage = answer.as_ref().err().and_then(shortage);
        told(shortage);
        match (again, shortage) {
            (Some(again), Some(_)) => request = again,
            _ => return answer.map_err(|error| failed(&host, error)),
        }
        tokio::time::sleep(backoff.pause()).await;
    }
}

/// The shortage that prevented a connection. Nothing was sent.
fn shortage(error: &reqwest::Error) -> Option<Shortage> {
    let mut source = error.source().filter(|_| error.is_connect());
    while let Some(reason) = source {
        if let Some(shortage) = reason.downcast_ref().and_then(Shortage::of) {
            return Some(shortage);
        }
        source = reason.source();
    }
    None
}

/// The target of a redirect, if there is one.
fn target(response: &Response) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let to = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    let url = response.url().join(to.to_str().ok()?).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Changes a request for another address.
fn send_on(request: &mut Request, to: Url, status: StatusCode, secrets: &Redaction) -> Result<(), Failure> {
    let becomes_get = match status.as_u16() {
        303 => *request.method() != Method::HEAD,
        301 | 302 => *request.method() == Method::POST,
        _ => false,
    };
    if becomes_get {
        *request.method_mut() = Method::GET;
        *request.body_mut() = None;
        OF_THE_BODY.iter().for_each(|name| drop(request.headers_mut().remove(name)));
    }
    if !is_same_origin(request.url(), &to) {
        let body = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
        if secrets.finds(&String::from_utf8_lossy(body)) {
            let message = format!("the server redirects to {}, and the body has a secret in it", host(&to));
            return Err(Failure::new(ErrorClass::Failed, format!("{message}; set `url` to the final address")));
        }
        keep_harmless(request.headers_mut(), secrets);
    }
    *request.url_mut() = to;
    Ok(())
}

fn is_same_origin(one: &Url, other: &Url) -> bool {
    let origin = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default());
    origin(one) == origin(other)
}

fn keep_harmless(headers: &mut HeaderMap, secrets: &Redaction) {
    let kept = HARMLESS.iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone())));
    *headers = kept.filter(|(_, value)| value.to_str().is_ok_and(|value| !secrets.finds(value))).collect();
}

/// The host of a request, without its path and query, which may hold a key.
fn host(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}{port}", url.host_str().unwrap_or_default())
}

fn failed(host: &str, error: reqwest::Error) -> Failure {
    if error.is_timeout() {
        return Failure::new(ErrorClass::Timeout, "the server did not answer in time");
    }
    let class = if error.is_builder() { ErrorClass::Invalid } else { ErrorClass::Transient };
    Failure::new(class, format!("the request to {host} failed: {}", reason(error)))
}

/// Why a request failed, without its address.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut last: &dyn std::error::Error = &error;
    while let Some(source) = last.source() {
        last = source;
    }
    if error.source().is_none() { error.to_string() } else { format!("{error}: {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, body: &str) -> Request {
        let request = CLIENT.request(method, "https://one.example/a?key=1").header("x-api-key", "canary-1");
        let request = request.header("accept", "text/plain").header("content-type", "a/b").header("cookie", "c");
        request.body(body.to_owned()).build().unwrap()
    }

    fn sent_on(method: Method, to: &str, status: u16) -> String {
        let mut next = request(method, "text");
        let status = StatusCode::from_u16(status).unwrap();
        let secrets = Redaction::new(["canary-1".to_owned()]);
        send_on(&mut next, to.parse().unwrap(), status, &secrets).unwrap();
        let names: Vec<&str> = next.headers().keys().map(HeaderName::as_str).collect();
        let body = next.body().and_then(|body| body.as_bytes()).map_or(0, <[u8]>::len);
        format!("{} {} {} {body}", next.method(), next.url(), names.join(","))
    }

    #[test]
    fn another_origin_is_told_nothing_that_was_meant_for_the_first() {
        let all = "x-api-key,accept,content-type,cookie";
        let same = sent_on(Method::GET, "https://one.example/b", 302);
        assert_eq!(same, format!("GET https://one.example/b {all} 4"));
        for to in ["https://two.example/b", "https://one.example:8443/b", "http://one.example/b"] {
            assert_eq!(sent_on(Method::GET, to, 307), format!("GET {to} accept,content-type 4"));
        }
    }

    #[test]
    fn a_post_becomes_a_get_where_the_server_says_so() {
        let to = "https://one.example/b";
        assert_eq!(sent_on(Method::POST, to, 303), "GET https://one.example/b x-api-key,accept,cookie 0");
        assert_eq!(sent_on(Method::POST, to, 302), "GET https://one.example/b x-api-key,accept,cookie 0");
        assert!(sent_on(Method::POST, to, 308).starts_with("POST "));
    }

    #[test]
    fn a_body_with_a_secret_goes_nowhere_else() {
        let mut next = request(Method::POST, r#"{"token": "canary-1"}"#);
        let secrets = Redaction::new(["canary-1".to_owned()]);
        let to = "https://two.example/".parse().unwrap();
        let failure = send_on(&mut next, to, StatusCode::TEMPORARY_REDIRECT, &secrets).unwrap_err();
        assert!(failure.message.starts_with("the server redirects to two.example, and the body has a secret"));
    }
}
