//! Lowers the top level of a workflow: inputs, outputs, limits and the rest.

use indexmap::IndexMap;
use longhaul_core::id::Name;
use longhaul_core::plan::{Concurrency, Degrade, Input, Limits, OnExceed, Unit, UnitIx, WhenFull};

use super::{Lowering, text_of, values, work};
use crate::scope::schema_of_input;
use crate::source::Node;

impl Lowering<'_, '_> {
    pub(super) fn unit(&self, at: usize) -> Option<Unit> {
        let unit = &self.model.units[at];
        let node = unit.node;
        let ix = UnitIx(u32::try_from(at).ok()?);
        let gates = node.get("gates").and_then(Node::entries).unwrap_or_default();
        let outputs = node.get("outputs").and_then(Node::entries).unwrap_or_default();
        Some(Unit {
            name: unit.name.clone(),
            description: text_of(node.get("description")),
            inputs: inputs(node),
            outputs: outputs
                .iter()
                .filter_map(|(key, value)| Some((Name::new(key.scalar()?)?, values::computed(value))))
                .collect(),
            context: node.get("context").map(values::text),
            limits: node.get("limits").map(limits).unwrap_or_default(),
            concurrency: node.get("concurrency").and_then(concurrency),
            gates: gates.iter().filter_map(|(key, value)| Some((key.scalar()?.to_owned(), value.to_json()))).collect(),
            triggers: node
                .get("triggers")
                .and_then(Node::items)
                .unwrap_or_default()
                .iter()
                .map(Node::to_json)
                .collect(),
            on_failure: node.get("on_failure").and_then(work::on_failure),
            compat: unit.compat.clone(),
            templates: self.texts.included.get(&ix).cloned().unwrap_or_default(),
            body: unit.body?,
        })
    }
}

fn inputs(node: &Node) -> IndexMap<Name, Input> {
    let entries = node.get("inputs").and_then(Node::entries).unwrap_or_default();
    let input = |node: &Node| Input {
        schema: schema_of_input(node),
        default: node.get("default").map(Node::to_json),
        optional: node.get("required").and_then(Node::as_bool) == Some(false),
        description: text_of(node.get("description")),
    };
    entries.iter().filter_map(|(key, value)| Some((Name::new(key.scalar()?)?, input(value)))).collect()
}

fn limits(node: &Node) -> Limits {
    let on_exceed = match node.get("on_exceed").and_then(Node::as_text) {
        Some("ask") => OnExceed::Ask,
        Some("warn") => OnExceed::Warn,
        Some("degrade") => OnExceed::Degrade,
        _ => OnExceed::Fail,
    };
    let usual = Degrade::default();
    let degrade = node.get("degrade").map(|node| Degrade {
        chars: values::count(node.get("chars")).unwrap_or(usual.chars),
        max: values::small(node.get("max")).unwrap_or(usual.max),
    });
    Limits {
        tokens: values::count(node.get("tokens")),
        usd: node.get("usd").and_then(Node::scalar_json).and_then(|value| value.as_f64()),
        duration_ms: values::span_ms(node.get("duration")),
        steps: values::count(node.get("steps")),
        idle_steps: values::count(node.get("idle_steps")),
        visits: values::count(node.get("visits")),
        parallel: values::small(node.get("parallel")),
        alert_at: values::small(node.get("alert_at")).and_then(|percent| u8::try_from(percent).ok()),
        on_exceed,
        degrade,
    }
}

fn concurrency(node: &Node) -> Option<Concurrency> {
    let when_full = match node.get("when_full").and_then(Node::as_text) {
        Some("skip") => WhenFull::Skip,
        Some("cancel_oldest") => WhenFull::CancelOldest,
        _ => WhenFull::Queue,
    };
    Some(Concurrency {
        group: values::text(node.get("group")?),
        max: values::small(node.get("max")).unwrap_or(1),
        when_full,
    })
}
