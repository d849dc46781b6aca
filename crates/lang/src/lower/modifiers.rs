//! What a step carries beside its action.

use longhaul_core::id::Name;
use longhaul_core::plan::{
    Backoff, Budget, Cache, Consent, ErrorClass, OnError, OnExhausted, OnInterrupt, Output, Parse, Retry, Rewind, Risk,
    RunIf, Show, Text, Timeout,
};

use super::{Lowering, values};
use crate::model::Step;
use crate::schema;
use crate::source::Node;

impl Lowering<'_, '_> {
    pub(super) fn rewind(&self, step: &Step<'_>) -> Option<Rewind> {
        let rewind = step.node.get("rewind")?;
        let to = rewind.get("to")?.as_text()?;
        Some(Rewind {
            to: *self.model.body(step.body).by_id.get(to)?,
            until: values::expr(rewind.get("until")?),
            max: values::small(rewind.get("max"))?,
            on_exhausted: on_exhausted(rewind.get("on_exhausted")),
        })
    }

    pub(super) fn on_error(&self, step: &Step<'_>) -> OnError {
        let Some(node) = step.node.get("on_error") else { return OnError::Kind };
        let goto = node.get("goto").and_then(Node::as_text).and_then(|id| self.model.body(step.body).by_id.get(id));
        match (node.as_text(), goto) {
            (_, Some(target)) => OnError::Goto(*target),
            (Some("continue"), _) => OnError::Continue,
            (Some("skip"), _) => OnError::Skip,
            (Some("ask"), _) => OnError::Ask,
            _ => OnError::Fail,
        }
    }
}

/// Only agents are interrupted in something that can continue.
pub(super) fn on_interrupt(step: &Step<'_>, defaults: Option<&Node>) -> OnInterrupt {
    let said = step.node.get("on_interrupt").or_else(|| defaults?.get("on_interrupt"));
    match said.filter(|_| step.action.key() == "prompt").and_then(Node::as_text) {
        Some("restore") => OnInterrupt::Restore,
        _ => OnInterrupt::Continue,
    }
}

pub(super) fn on_exhausted(node: Option<&Node>) -> OnExhausted {
    match node.and_then(Node::as_text) {
        Some("ask") => OnExhausted::Ask,
        Some("continue") => OnExhausted::Continue,
        _ => OnExhausted::Fail,
    }
}

pub(super) fn run_if(node: &Node) -> RunIf {
    match node.get("run_if").and_then(Node::as_text) {
        Some("succeeded") => RunIf::Succeeded,
        Some("failed") => RunIf::Failed,
        Some("always") => RunIf::Always,
        _ => RunIf::Settled,
    }
}

pub(super) fn timeout(node: Option<&Node>) -> Timeout {
    match node.and_then(Node::as_text) {
        None => Timeout::Kind,
        Some("none") => Timeout::None,
        Some(_) => values::span_ms(node).map_or(Timeout::Kind, Timeout::After),
    }
}

pub(super) fn retry(node: &Node) -> Retry {
    let max = values::small(Some(node)).or_else(|| values::small(node.get("max"))).unwrap_or(3);
    let on = values::texts(node.get("on")).iter().filter_map(|word| ErrorClass::from_word(word)).collect();
    Retry { max, on, backoff: backoff(node.get("backoff")) }
}

pub(super) fn budget(node: &Node) -> Budget {
    Budget {
        usd: node.get("usd").and_then(Node::scalar_json).and_then(|value| value.as_f64()),
        tokens: values::count(node.get("tokens")),
        attempts: values::small(node.get("attempts")),
    }
}

fn backoff(node: Option<&Node>) -> Backoff {
    let standard = Backoff::default();
    let Some(node) = node else { return standard };
    let first_ms =
        values::span_ms(Some(node)).or_else(|| values::span_ms(node.get("first"))).unwrap_or(standard.first_ms);
    let factor =
        node.get("factor").and_then(Node::scalar_json).and_then(|value| value.as_f64()).unwrap_or(standard.factor);
    let max_ms = values::span_ms(node.get("max")).unwrap_or(standard.max_ms.max(first_ms));
    Backoff { first_ms, factor, max_ms }
}

pub(super) fn output(node: Option<&Node>) -> Output {
    let Some(node) = node else { return Output::default() };
    if let Some(alias) = node.as_text() {
        return Output { alias: Name::new(alias), ..Output::default() };
    }
    let schema = node.get("schema").map(schema::to_json);
    let parse = match node.get("parse").and_then(Node::as_text) {
        Some("json") => Parse::Json,
        Some("lines") => Parse::Lines,
        Some("text") => Parse::Text,
        _ if schema.is_some() => Parse::Json,
        _ => Parse::Text,
    };
    Output {
        alias: node.get("as").and_then(Node::as_text).and_then(Name::new),
        spread: node.get("spread").and_then(Node::as_bool).unwrap_or_default(),
        schema,
        parse,
        default: node.get("default").map(Node::to_json),
        show: show(node.get("show")),
        keys: values::texts(node.get("keys")),
        max_chars: values::count(node.get("max_chars")),
    }
}

fn show(node: Option<&Node>) -> Show {
    match node.and_then(Node::as_text) {
        Some("full") => Show::Full,
        Some("summary") => Show::Summary,
        Some("none") => Show::None,
        _ => Show::Auto,
    }
}

pub(super) fn review(node: Option<&Node>, id: &str) -> Option<Text> {
    let node = node?;
    match node.as_bool() {
        Some(true) => Some(Text(format!("Accept the output of {id}?"))),
        Some(false) => None,
        None => Some(values::text(node)),
    }
}

pub(super) fn consent(node: &Node) -> Consent {
    match node.get("consent").and_then(Node::as_text) {
        Some("individual") => Consent::Individual,
        _ => Consent::Inherit,
    }
}

pub(super) fn risk(node: Option<&Node>) -> Option<Risk> {
    Risk::read(node.and_then(Node::as_text)?)
}

pub(super) fn cache(node: Option<&Node>) -> Option<Cache> {
    let node = node?;
    match node.as_bool() {
        Some(true) => Some(Cache::default()),
        Some(false) => None,
        None => Some(Cache {
            inputs: node.get("inputs").and_then(Node::items).unwrap_or_default().iter().map(values::expr).collect(),
            files: values::texts(node.get("files")),
            ttl_ms: values::span_ms(node.get("ttl")),
        }),
    }
}
