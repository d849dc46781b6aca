//! Sends runs that are over to a collector of traces, as OpenTelemetry's JSON over HTTP.
//!
//! A trace follows from the journal, so it is made when the run is over, and not while it continues.
//!
//! **Invariant:** no run waits for a collector. What cannot be sent is told and left; the journal has it all.

use std::time::Duration;

use longhaul_core::Json;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::view::{Trace, Traced, trace};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, Error, Pulse};
use crate::execute::kinds::http::CLIENT;

/// How often it is tried.
const TRIES: u32 = 4;
/// How long a collector may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Events that are read at once.
const PAGE: usize = 2000;

/// Where traces go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    url: String,
    headers: Vec<(String, String)>,
}

impl Collector {
    /// What the usual variables of OpenTelemetry say; `None` if nobody wants traces.
    pub fn of(var: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let base = || Some(format!("{}/v1/traces", var("OTEL_EXPORTER_OTLP_ENDPOINT")?.trim_end_matches('/')));
        let url = var("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(base).filter(|url| !url.is_empty())?;
        let headers = var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let pair =
            |pair: &str| pair.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        Some(Self { url, headers: headers.split(',').filter_map(pair).collect() })
    }
}

impl Engine {
    /// Sends every run that ends in this process, until `stop`; `told` hears what could not be sent.
    pub async fn send_traces(&self, to: Collector, stop: CancellationToken, told: &(dyn Fn(&str) + Sync)) {
        let mut pulse = self.pulse();
        loop {
            let news = tokio::select! {
                () = stop.cancelled() => return,
                news = pulse.recv() => news,
            };
            match news {
                Ok(Pulse::Events(run, events)) if ends(&events) => {
                    if let Err(why) = self.send_trace(&to, &run).await {
                        told(&format!("the trace of {run} was not sent: {why}"));
                    }
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => told("traces of runs that ended just now may be missing"),
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn send_trace(&self, to: &Collector, run: &RunId) -> Result<(), String> {
        let history = self.whole(run).await.map_err(|error| error.to_string())?;
        let Some(trace) = trace(run, &history) else { return Ok(()) };
        let body = as_json(&trace);
        let mut why = String::new();
        for attempt in 0..TRIES {
            tokio::time::sleep(Duration::from_millis(500) * attempt.pow(2)).await;
            match post(to, &body).await {
                Ok(()) => return Ok(()),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    async fn whole(&self, run: &RunId) -> Result<Vec<Envelope>, Error> {
        let mut history: Vec<Envelope> = Vec::new();
        loop {
            let page = self.events(run, history.last().map_or(0, |last| last.seq), PAGE).await?;
            let is_last = page.len() < PAGE;
            history.extend(page);
            if is_last {
                return Ok(history);
            }
        }
    }
}

fn ends(events: &[Envelope]) -> bool {
    events.iter().any(|envelope| matches!(envelope.event, Event::RunFinished { .. }))
}

async fn post(to: &Collector, body: &Json) -> Result<(), String> {
    let mut request = CLIENT.post(&to.url).timeout(PATIENCE).json(body);
    for (name, value) in &to.headers {
        request = request.header(name, value);
    }
    let answer = request.send().await.map_err(|error| error.to_string())?;
    answer.error_for_status().map(drop).map_err(|error| error.to_string())
}

/// A trace as collectors read it.
fn as_json(trace: &Trace) -> Json {
    let service = json!([
        attribute("service.name", &json!("longhaul")),
        attribute("service.version", &json!(env!("CARGO_PKG_VERSION")))
    ]);
    let spans: Vec<Json> = trace.spans.iter().map(|span| span_json(trace, span)).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": service},
        "scopeSpans": [{"scope": {"name": "longhaul"}, "spans": spans}],
    }]})
}

fn span_json(trace: &Trace, span: &Traced) -> Json {
    let known = span.attributes.iter().filter(|(_, value)| !value.is_null());
    let mut value = json!({
        "traceId": trace.id, "spanId": span.id, "name": span.name, "kind": 1,
        "startTimeUnixNano": nanoseconds(span.from), "endTimeUnixNano": nanoseconds(span.to.max(span.from)),
        "attributes": known.map(|(key, value)| attribute(key, value)).collect::<Vec<_>>(),
    });
    if let Some(parent) = &span.parent {
        value["parentSpanId"] = json!(parent);
    }
    if let Some(error) = &span.error {
        value["status"] = json!({"code": 2, "message": error});
    }
    value
}

/// Whole numbers are texts, as JSON of protocol buffers wants it.
fn attribute(key: &str, value: &Json) -> Json {
    let value = match value {
        Json::Bool(value) => json!({"boolValue": value}),
        Json::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Json::Number(number) => json!({"intValue": number.to_string()}),
        Json::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": key, "value": value})
}

fn nanoseconds(ms: i64) -> String {
    format!("{}", i128::from(ms) * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_variables_say_where_traces_go() {
        let of = |pairs: &[(&str, &str)]| {
            Collector::of(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")]), None);
        let base =
            of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://box:4318/"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=b, c = d")]);
        let base = base.unwrap();
        assert_eq!(base.url, "http://box:4318/v1/traces");
        assert_eq!(base.headers, [("a".to_owned(), "b".to_owned()), ("c".to_owned(), "d".to_owned())]);
        let own = of(&[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://box/x"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other"),
        ]);
        assert_eq!(own.unwrap().url, "http://box/x");
    }
}
