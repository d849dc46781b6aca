//! Translates `agent_prompt`: one turn of an agent.

use super::leaves::{clamp, held};
use super::{StepPlace, Writing};
use crate::dialect::reader::Reader;
use crate::dialect::spelling::{broken_rule, no_effect, on_one_line, respelled, time_span};
use crate::dialect::valet::schema::output_schema;
use crate::source::Node;

const KEYS: &[&str] = &[
    "id",
    "name",
    "type",
    "outputVariable",
    "prompt",
    "content",
    "message",
    "goal",
    "thread",
    "persona",
    "interrupt",
    "await_timeout_ms",
    "awaitTimeoutMs",
    "await_response",
    "outputSchema",
    "context",
];
const TEXT_KEYS: [&str; 4] = ["prompt", "content", "message", "goal"];
const AWAIT_MS: u64 = 300_000;
const AWAIT_MS_MIN: u64 = 1_000;
const AWAIT_MS_MAX: u64 = 900_000;
/// The conversation that prompts without a thread share.
const SHARED_THREAD: &str = "default";

const WHAT: &str = "an `agent_prompt` step";

impl Writing<'_> {
    pub(super) fn agent_prompt(&mut self, place: &StepPlace<'_>) -> Option<Vec<(&'static str, Node)>> {
        let mut reader = Reader::open(place.step, WHAT, KEYS, &mut self.out)?;
        let text = chosen_text(&mut reader);
        let context = reader.said("context");
        let agent = agent(&mut reader);
        let timeout = await_timeout(&mut reader);
        unkept(&mut reader);
        let schema = reader.get("outputSchema").and_then(|schema| output_schema(schema, reader.out()));
        let text = self.with_context(text?, context);
        let mut entries = vec![("prompt", text), ("agent", agent), ("timeout", timeout)];
        entries.extend(self.output(place, schema.map(|schema| ("schema", schema)).into_iter().collect()));
        Some(entries)
    }

    /// The prompt, with the context as a separate paragraph.
    fn with_context(&mut self, text: &Node, context: Option<&Node>) -> Node {
        let text = self.template(text);
        let Some(context) = context.map(|context| self.template(context)) else { return text };
        let whole = [&text, &context].map(|node| node.scalar().unwrap_or_default().trim_end()).join("\n\n");
        Node::text(text.span, whole)
    }
}

/// The first text that is not blank.
fn chosen_text<'n>(reader: &mut Reader<'n, '_>) -> Option<&'n Node> {
    let written: Vec<(&str, &Node)> = TEXT_KEYS.into_iter().filter_map(|key| Some((key, reader.said(key)?))).collect();
    let Some((chosen, text)) = written.first().copied() else {
        reader.missing("prompt");
        return None;
    };
    for (key, node) in written.into_iter().skip(1) {
        reader.report(no_effect(node.span, key, &format!("`{chosen}` comes first")));
    }
    Some(text)
}

fn agent(reader: &mut Reader<'_, '_>) -> Node {
    let span = reader.node.span;
    let persona = reader.said("persona").map(|persona| ("persona", persona.clone()));
    let thread = match reader.text("thread").map(|node| (node.span, node.scalar().unwrap_or_default().trim())) {
        None => Node::plain(span, SHARED_THREAD),
        Some((span, "")) => Node::plain(span, SHARED_THREAD),
        Some((span, "@new")) => Node::plain(span, "new"),
        Some((span, "new")) => {
            // Natively this word means a separate conversation.
            reader.report(respelled(span, "the thread", "new", "new-"));
            Node::plain(span, "new-")
        }
        Some((span, name)) => Node::text(span, name),
    };
    on_one_line(Node::map(span, persona.into_iter().chain([("thread", thread)])))
}

fn await_timeout(reader: &mut Reader<'_, '_>) -> Node {
    let key = if reader.get("await_timeout_ms").is_some() { "await_timeout_ms" } else { "awaitTimeoutMs" };
    let span = reader.get(key).map_or(reader.node.span, |node| node.span);
    let written = reader.count(key).unwrap_or(AWAIT_MS);
    let (ms, clamped) = clamp(written, (AWAIT_MS_MIN, AWAIT_MS_MAX));
    if written < AWAIT_MS_MIN {
        reader.report(broken_rule(span, format!("`{key}` must be at least {AWAIT_MS_MIN}"), "too short"));
    } else if clamped {
        reader.report(held(span, key, ms));
    }
    Node::plain(span, time_span(ms))
}

fn unkept(reader: &mut Reader<'_, '_>) {
    for (key, why) in [
        ("interrupt", "a turn is never interrupted by the next one"),
        ("await_response", "a step is over when the answer is there"),
    ] {
        if reader.flag(key).is_some()
            && let Some((node, _)) = reader.node.entry(key)
        {
            reader.report(no_effect(node.span, key, why));
        }
    }
}
