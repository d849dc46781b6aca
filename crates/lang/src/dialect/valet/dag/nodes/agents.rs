//! Nodes that ask an agent: `llm`, `session`, `orchestrator`.

use longhaul_core::id::is_step_id;

use super::super::Writing;
use super::{Action, first_said, not_kept, one_of, open};
use crate::dialect::spelling::on_one_line;
use crate::dialect::valet::schema::output_schema;
use crate::source::Node;

const SAID: &[&str] = &["prompt", "message", "content", "text"];

impl Writing<'_> {
    pub(super) fn llm(&mut self, node: &Node) -> Action {
        const KEYS: &[&str] = &[
            "prompt",
            "message",
            "content",
            "text",
            "system",
            "model",
            "temperature",
            "maxTokens",
            "max_tokens",
            "outputSchema",
            "output_schema",
        ];
        let mut reader = open(node, "an `llm` node", KEYS, &mut self.out)?;
        let prompt = first_said(&mut reader, SAID);
        if prompt.is_none() {
            reader.missing("prompt");
        }
        let (system, model) = (reader.said("system"), reader.said("model"));
        let why = "the agent's own settings decide it";
        not_kept(&mut reader, &[("temperature", why), ("maxTokens", why), ("max_tokens", why)]);
        let schema = reader.get("outputSchema").or_else(|| reader.get("output_schema"));
        let schema = schema.and_then(|schema| output_schema(schema, reader.out()));
        let mut entries = vec![("prompt", self.paragraphs(&[system, prompt])?)];
        prompt?;
        entries.extend(model.map(|model| ("agent", on_one_line(Node::map(model.span, [("model", model.clone())])))));
        entries.extend(schema.map(output));
        Some(entries)
    }

    pub(super) fn session(&mut self, node: &Node) -> Action {
        const KEYS: &[&str] = &[
            "operation",
            "mode",
            "action",
            "prompt",
            "message",
            "content",
            "text",
            "session",
            "sessionId",
            "session_id",
            "thread",
            "persona",
            "model",
            "wait",
            "outputSchema",
            "output_schema",
            "resultMode",
            "result_mode",
        ];
        let mut reader = open(node, "a `session` node", KEYS, &mut self.out)?;
        let words = &["start", "prompt"];
        let mode = one_of(&mut reader, ["operation", "mode"], words)
            .or_else(|| one_of(&mut reader, ["action", "action"], words));
        let prompt = first_said(&mut reader, SAID);
        if prompt.is_none() {
            reader.missing("prompt");
        }
        let other = first_said(&mut reader, &["session", "sessionId", "session_id", "thread"]);
        let wait = one_of(&mut reader, ["wait", "wait"], &["none", "until_idle"]);
        if let Some(wait) = wait.filter(|wait| wait.scalar() == Some("none")) {
            reader.report(super::no_effect(wait.span, "wait", "the step is over when the answer is there"));
        }
        let why = "the answer is the result";
        not_kept(&mut reader, &[("resultMode", why), ("result_mode", why)]);
        let agent = ["persona", "model"].map(|key| Some((key, reader.said(key)?.clone())));
        let schema = reader.get("outputSchema").or_else(|| reader.get("output_schema"));
        let schema = schema.and_then(|schema| output_schema(schema, reader.out()));
        let starts = mode.is_none_or(|mode| mode.scalar() == Some("start"));
        if !starts && other.is_none() {
            reader.missing("session");
        }
        let own = node.get("id").filter(|_| starts);
        let thread = other.or(own).map(|thread| ("thread", Node::plain(thread.span, self.thread(thread))));
        let agent = on_one_line(Node::map(node.span, agent.into_iter().flatten().chain(thread)));
        let mut entries = vec![("prompt", self.template(prompt?)), ("agent", agent)];
        entries.extend(schema.map(output));
        Some(entries)
    }

    /// The thread of a session. A session has the name of the node that started it, so `{{
    /// nodes.start.output.sessionId }}` is the thread `start`.
    fn thread(&self, written: &Node) -> String {
        let text = written.scalar().unwrap_or_default().trim();
        let path = text.trim_start_matches("{{").trim_end_matches("}}").trim();
        let mut parts = path.split('.').filter(|part| !["nodes", "outputs", "steps"].contains(part));
        let first = parts.next().unwrap_or_default();
        if is_step_id(first) { first.to_owned() } else { text.to_owned() }
    }

    pub(super) fn orchestrator(&mut self, node: &Node) -> Action {
        let mut keys = SAID.to_vec();
        keys.push("wait");
        let mut reader = open(node, "an `orchestrator` node", &keys, &mut self.out)?;
        let text = first_said(&mut reader, SAID);
        if text.is_none() {
            reader.missing("prompt");
        }
        not_kept(&mut reader, &[("wait", "a notification does not wait for an answer")]);
        Some(vec![("notify", Node::plain(node.span, "orchestrator")), ("text", self.template(text?))])
    }

    /// Joins texts as paragraphs.
    pub(super) fn paragraphs(&mut self, texts: &[Option<&Node>]) -> Option<Node> {
        let written: Vec<Node> = texts.iter().flatten().map(|text| self.template(text)).collect();
        match written.as_slice() {
            [one] => Some(one.clone()),
            [first, ..] => {
                let parts: Vec<&str> =
                    written.iter().map(|text| text.scalar().unwrap_or_default().trim_end()).collect();
                Some(Node::text(first.span, parts.join("\n\n")))
            }
            [] => None,
        }
    }
}

fn output(schema: Node) -> (&'static str, Node) {
    ("output", Node::map(schema.span, [("schema", schema)]))
}
