//! Asking the person behind a client, where the client can do that: in the newest protocol by a reply that needs an answer before the
//! call is made again, in older ones by a request of ours while the call waits.
//!
//! **Invariant:** what a person is asked is known by a hash of what they are shown. An answer to anything else is no answer.

use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_core::Json;
use longhaul_core::event::{Answer, QuestionKind};
use longhaul_core::id::RunId;
use longhaul_core::view::Asked;
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, JsonObject, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::mcp::decision;
use crate::mcp::tool::Call;

/// How long a person may think while a call waits for them; the question stays open afterwards.
const THINKING: Duration = Duration::from_secs(600);
/// How much of what is reviewed is shown in a form.
const SHOWN_CHARS_MAX: usize = 4_000;

/// What came of asking.
pub(crate) enum Said {
    /// The client cannot ask, or nobody said anything.
    Nothing,
    /// They answered, and perhaps said something beside it.
    Answer(Answer, Option<String>),
    /// They are asked by the client, which then calls again.
    Later(InputRequiredResult),
}

/// Asks a person what a run asks.
pub(crate) async fn ask(call: &Call, run: &RunId, asked: &Asked) -> Said {
    let Call { context, responses, .. } = call;
    if !can_ask(context) {
        return Said::Nothing;
    }
    let key = key(asked);
    if let Some(response) = responses.get(&key) {
        let result: Option<ElicitResult> = serde_json::from_value(response.clone()).ok();
        return result
            .and_then(|result| said(asked, result))
            .map_or(Said::Nothing, |(answer, comment)| Said::Answer(answer, comment));
    }
    let Some(form) = form(asked) else { return Said::Nothing };
    if is_stateless(context) {
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        // The run is all that there is to remember: whoever calls again continues with it.
        let state = Some(run.to_string());
        return Said::Later(InputRequiredResult::new(Some(BTreeMap::from([(key, request)])), state));
    }
    let asking = context.peer.create_elicitation_with_timeout(form, Some(THINKING));
    let result = tokio::select! {
        result = asking => result.ok(),
        () = context.ct.cancelled() => None,
    };
    result
        .and_then(|result| said(asked, result))
        .map_or(Said::Nothing, |(answer, comment)| Said::Answer(answer, comment))
}

/// Whether the client can put a form to whoever is behind it.
pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let asks = context.client_capabilities().and_then(|can| can.elicitation);
    asks.is_some_and(|asks| asks.form.is_some() || asks.url.is_none())
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// By what an answer is known to be about this question, as it was shown.
fn key(asked: &Asked) -> String {
    format!("{}@{}#{}", asked.path, asked.asked_at, asked.shown)
}

fn form(asked: &Asked) -> Option<ElicitRequestParams> {
    let Value::Object(schema) = schema(asked) else { return None };
    let requested_schema = ElicitationSchema::from_json_schema(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message: message(asked), requested_schema })
}

fn message(asked: &Asked) -> String {
    let content = asked.output.as_ref().map_or_else(String::new, |output| {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        let more = if cut.len() < text.len() { "\n… (longer; the tool `output` shows all of it)" } else { "" };
        format!("\n\n{cut}{more}")
    });
    let error = asked.error.as_ref().map_or_else(String::new, |error| format!("\n\n{}", error.message));
    format!("{} (step `{}`){error}{content}", asked.text, asked.path)
}

/// The fields of a form; only plain ones are allowed in them.
fn schema(asked: &Asked) -> Value {
    if asked.kind == QuestionKind::Question && asked.choices.is_empty() {
        let answer = asked.schema.as_ref().filter(|schema| is_plain(schema)).cloned();
        let answer = answer.unwrap_or_else(|| json!({"type": "string", "title": "Answer"}));
        return json!({"type": "object", "properties": {"value": answer}, "required": ["value"]});
    }
    let mut words: Vec<&str> = decision::words(asked.kind).to_vec();
    words.extend(asked.choices.iter().map(String::as_str));
    let mut fields = JsonObject::new();
    fields.insert("decision".to_owned(), json!({"type": "string", "title": "Decision", "enum": words}));
    if words.contains(&"edit") {
        let about = "With `edit`: what to use instead";
        fields.insert("value".to_owned(), json!({"type": "string", "title": "Value", "description": about}));
    }
    fields.insert("comment".to_owned(), json!({"type": "string", "title": "Comment"}));
    json!({"type": "object", "properties": fields, "required": ["decision"]})
}

fn is_plain(schema: &Json) -> bool {
    matches!(schema["type"].as_str(), Some("string" | "number" | "integer" | "boolean"))
}

/// What they said; whoever declines has not decided anything.
fn said(asked: &Asked, result: ElicitResult) -> Option<(Answer, Option<String>)> {
    let content = result.content.filter(|_| result.action == ElicitationAction::Accept)?;
    let text = |key: &str| content.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let value = content.get("value").filter(|value| value.as_str() != Some("")).map(|value| meant(asked, value));
    let comment = text("comment").map(str::to_owned);
    let answer = decision::answer(asked, text("decision"), value, comment.clone()).ok()?;
    Some((answer, comment))
}

/// A text that stands for something else, where something else is asked for.
fn meant(asked: &Asked, value: &Value) -> Json {
    let wants_text = asked.schema.as_ref().is_none_or(|schema| schema["type"] == "string");
    let parsed = value.as_str().filter(|_| !wants_text).and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| value.clone())
}
