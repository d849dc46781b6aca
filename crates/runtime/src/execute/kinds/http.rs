//! `http`: sends one request.

pub(crate) mod follow;

use std::sync::LazyLock;
use std::time::Duration;

use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use longhaul_core::value::{self, Unread};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Request, Response, StatusCode};

use super::{Attempt, Done, as_text};

/// The default time limit of a request.
const USUAL: Duration = Duration::from_secs(60);

pub(crate) static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    // It is fine if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // `follow` handles redirects, because it knows what may go to another server.
    let builder = Client::builder().user_agent("longhaul").redirect(Policy::none()).referer(false);
    builder.build().unwrap_or_default()
});

pub(super) async fn make(attempt: &Attempt) -> Done {
    let request = match request(attempt) {
        Ok(request) => request,
        Err(message) => return Done::unusable(ErrorClass::Invalid, message),
    };
    tokio::select! {
        answer = follow::send(request, attempt.secrets.known(), |shortage| attempt.delayed(shortage)) => match answer {
            Ok(response) => read(attempt, response).await,
            Err(failure) => Done { failure: Some(failure), ..Done::default() },
        },
        () = attempt.cancel.cancelled() => Done::failed(ErrorClass::Failed, "stopped"),
    }
}

fn request(attempt: &Attempt) -> Result<Request, String> {
    let method = attempt.text("method").unwrap_or("GET").parse::<Method>().map_err(|error| error.to_string())?;
    let url = attempt.text("url").ok_or("there is no url")?;
    let mut request = CLIENT.request(method, url);
    if let Some(timeout) = attempt.timeout(Some(USUAL)) {
        request = request.timeout(timeout);
    }
    let entries = |name: &str| attempt.param(name).and_then(Json::as_object).into_iter().flatten();
    for (name, value) in entries("headers") {
        request = request.header(name, as_text(value));
    }
    let query: Vec<(&String, String)> = entries("query").map(|(name, value)| (name, as_text(value))).collect();
    if !query.is_empty() {
        request = request.query(&query);
    }
    let request = match attempt.param("body") {
        None => request,
        Some(Json::String(text)) => request.body(text.clone()),
        Some(value) => request.json(value),
    };
    request.build().map_err(|error| format!("the request is invalid: {}", follow::reason(error)))
}

async fn read(attempt: &Attempt, mut response: Response) -> Done {
    let status = response.status();
    let (mut bytes, most) = (Vec::new(), attempt.shared.options.values.bytes_max);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() <= most => bytes.extend_from_slice(&chunk),
            Ok(Some(_)) => return Done::failed(ErrorClass::Failed, super::too_large("the answer is", most)),
            Ok(None) => break,
            Err(error) => {
                let message = format!("the answer broke off: {}", follow::reason(error));
                return Done::failed(ErrorClass::Transient, message);
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut done = match value::read(&text) {
        Ok(value) => Done::with(value),
        Err(Unread::NotJson(_)) => Done::with(Json::String(text)),
        Err(Unread::Lossy(why)) => {
            return Done::failed(ErrorClass::Invalid, format!("the response cannot be stored: {why}"));
        }
    };
    done.result.exit_code = Some(i32::from(status.as_u16()));
    done.failure =
        (!expected(attempt, status)).then(|| Failure::new(class(status), format!("the server answered {status}")));
    done
}

fn expected(attempt: &Attempt, status: StatusCode) -> bool {
    let code = Json::from(status.as_u16());
    match attempt.param("expect") {
        Some(Json::Array(codes)) => codes.contains(&code),
        Some(one) => *one == code,
        None => status.is_success(),
    }
}

pub(super) fn class(status: StatusCode) -> ErrorClass {
    match status.as_u16() {
        429 => ErrorClass::RateLimit,
        408 | 500..=599 => ErrorClass::Transient,
        _ => ErrorClass::Failed,
    }
}
