//! Answers one request, as its step says.

use std::sync::Arc;
use std::time::SystemTime;

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::answer::{Answer, Situation};
use super::body::{Body, End, Hangup, Seal, held, let_leave};
use super::failure::{self, Failure};
use super::log::RequestOutcome;
use super::request::Request;
use super::script::{Act, Break, Part, Problem};
use super::state::{Desk, Taken};
use super::wire::{self, Event};

/// The answer to a request, or no answer at all.
pub(super) async fn play(desk: Arc<Desk>, request: Request) -> Result<Response<Body>, Hangup> {
    let taken = desk.take(&request);
    let seal = Seal::new(desk, taken.ticket);
    if taken.delay > 0.0 {
        held(Some(taken.delay)).await;
    }
    match &taken.act {
        None => {
            let failure = failure::ours(request.api, &format!("script exhausted (section `{}`)", taken.section));
            Ok(told(seal, &failure, RequestOutcome::Exhausted))
        }
        Some(Act::Answer(parts)) => Ok(answered(seal, &request, &answer(&request, &taken, parts))),
        Some(Act::Fail(problem)) => Ok(failed(seal, &request, problem)),
        Some(Act::FailInStream(problem)) => Ok(failed_in_stream(seal, &request, &taken, problem)),
        Some(Act::Break(way)) => broken(seal, &request, &taken, *way).await,
        // settings take no request: the desk steps over them
        Some(Act::Set(_)) => Err(Hangup),
    }
}

fn answer(request: &Request, taken: &Taken, parts: &[Part]) -> Answer {
    let id = match taken.number {
        0 => format!("{}side", request.lane),
        number => format!("{}{number:04}m{}", request.lane, request.messages.len()),
    };
    Situation { request, number: taken.number, id, usage: taken.usage }.answer(parts)
}

fn unfinished(request: &Request, taken: &Taken) -> Answer {
    let words = "This answer will not be finished, because the script says so.";
    answer(request, taken, &[Part::Text(words.to_owned())])
}

fn answered(seal: Seal, request: &Request, answer: &Answer) -> Response<Body> {
    if request.stream {
        streamed(seal, texts(wire::events(request, answer)), End::Proper(RequestOutcome::Sent))
    } else {
        sent(seal, 200, JSON, wire::body(request, answer).to_string())
    }
}

fn failed(seal: Seal, request: &Request, problem: &Problem) -> Response<Body> {
    told(seal, &failure::failure(problem, request, now()), RequestOutcome::Sent)
}

fn failed_in_stream(seal: Seal, request: &Request, taken: &Taken, problem: &Problem) -> Response<Body> {
    if !request.stream {
        return failed(seal, request, problem);
    }
    let error = failure::failure(problem, request, now()).body;
    let events = wire::failing(request, &unfinished(request, taken), &error);
    streamed(seal, texts(events), End::Proper(RequestOutcome::Sent))
}

async fn broken(mut seal: Seal, request: &Request, taken: &Taken, way: Break) -> Result<Response<Body>, Hangup> {
    match way {
        Break::Hang(seconds) => {
            held(seconds).await;
            seal.outcome = RequestOutcome::Broken;
            Err(Hangup)
        }
        Break::Drop => {
            seal.outcome = RequestOutcome::Broken;
            Err(Hangup)
        }
        Break::Garbage => Ok(sent(seal, 200, "text/html", PAGE.to_owned())),
        Break::Malformed => Ok(malformed(seal, request, taken)),
        Break::Cut => Ok(half(seal, request, taken, End::Hangup(let_leave()))),
        Break::Stall(seconds) => Ok(half(seal, request, taken, End::Hangup(held(seconds)))),
    }
}

/// The sign-in page of a network.
const PAGE: &str = "<html><body>Sign in to the network</body></html>";
const JSON: &str = "application/json";

fn malformed(seal: Seal, request: &Request, taken: &Taken) -> Response<Body> {
    if request.stream {
        let nonsense = ["data: {\"type\": \"mess\n\n", "data: this is no JSON\n\n"].map(str::to_owned);
        return streamed(seal, nonsense.to_vec(), End::Proper(RequestOutcome::Sent));
    }
    let body = wire::body(request, &unfinished(request, taken)).to_string();
    sent(seal, 200, JSON, body[..body.len() / 2].to_owned())
}

/// The first half of an answer.
fn half(seal: Seal, request: &Request, taken: &Taken, end: End) -> Response<Body> {
    let answer = unfinished(request, taken);
    let mut pieces = if request.stream {
        texts(wire::events(request, &answer))
    } else {
        wire::body(request, &answer).to_string().split_inclusive(',').map(str::to_owned).collect()
    };
    pieces.truncate(pieces.len().div_ceil(2));
    streamed(seal, pieces, end)
}

fn texts(events: Vec<Event>) -> Vec<String> {
    events.iter().map(Event::text).collect()
}

fn streamed(mut seal: Seal, pieces: Vec<String>, end: End) -> Response<Body> {
    seal.status = 200;
    with_type(Response::new(Body::stream(pieces, end, seal)), "text/event-stream; charset=utf-8")
}

fn sent(mut seal: Seal, status: u16, kind: &'static str, text: String) -> Response<Body> {
    seal.status = status;
    of_status(status, kind, Body::whole(text, Some(seal), RequestOutcome::Sent))
}

fn told(mut seal: Seal, failure: &Failure, outcome: RequestOutcome) -> Response<Body> {
    seal.status = failure.status;
    let body = Body::whole(failure.body.to_string(), Some(seal), outcome);
    let mut response = of_status(failure.status, JSON, body);
    for (name, value) in &failure.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(*name, value);
        }
    }
    response
}

/// A response of a status; 500 if there is no such.
pub(super) fn of_status(status: u16, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = with_type(Response::new(body), kind);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

fn with_type(mut response: Response<Body>, kind: &'static str) -> Response<Body> {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Seconds since 1970. Vendors say when a limit ends, so the endpoint needs to know what time it is.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
