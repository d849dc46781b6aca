//! Lowers leaf work: a kind and its parameters.

use indexmap::IndexMap;
use longhaul_core::plan::{Arg, Expr, Text, Work, WorkKind};
use serde_json::json;

use super::{Lowering, values};
use crate::model::Step;
use crate::shell;
use crate::source::Node;
use crate::world::NameKind;

impl<'n> Lowering<'_, 'n> {
    pub(super) fn work(&self, step: &Step<'n>, kind: WorkKind, value: &'n Node) -> Option<Work> {
        let params = match kind {
            WorkKind::Prompt => self.prompt(step, value)?,
            WorkKind::Run => self.run(value)?,
            WorkKind::Tool => {
                let mut params = IndexMap::from([("tool".to_owned(), Arg::text(value.as_text()?))]);
                params.extend(step.node.get("args").map(|args| ("args".to_owned(), values::any(args))));
                params
            }
            WorkKind::Notify => notify(step.node, value),
            WorkKind::Http | WorkKind::Glob | WorkKind::Noop | WorkKind::Other(_) => {
                values::map_of(Some(value), values::any)
            }
        };
        Some(Work { kind, params })
    }

    fn prompt(&self, step: &Step<'n>, value: &'n Node) -> Option<IndexMap<String, Arg>> {
        let mut params = IndexMap::new();
        if value.scalar().is_some() {
            params.insert("text".to_owned(), Arg::Text(values::text(value)));
        }
        if let Some(file) = value.get("file").and_then(Node::as_text) {
            let unit = self.model.body(step.body).unit;
            let text = self.texts.prompts.get(&(unit, file.to_owned()))?;
            params.insert("file".to_owned(), Arg::text(file));
            params.insert("text".to_owned(), Arg::Text(Text(text.clone())));
        }
        if let Some(skill) = value.get("skill") {
            params.insert("skill".to_owned(), values::any(skill));
            let told = skill.as_text().and_then(|name| self.world.described(NameKind::Skill, name));
            params.extend(told.map(|told| ("text".to_owned(), Arg::text(told.text))));
        }
        params.extend(
            value.get("with").map(|with| ("with".to_owned(), Arg::Map(values::map_of(Some(with), values::any)))),
        );
        let agent = self.agent(step);
        if agent.as_json() != Some(&json!({})) {
            params.insert("agent".to_owned(), agent);
        }
        Some(params)
    }

    fn run(&self, value: &'n Node) -> Option<IndexMap<String, Arg>> {
        let mut params = IndexMap::new();
        let command = if value.scalar().is_some() { Some(value) } else { value.get("command") };
        if let Some(command) = command {
            let (script, bindings) = self.command(command)?;
            params.insert("command".to_owned(), Arg::text(script));
            if !bindings.is_empty() {
                params.insert("bindings".to_owned(), Arg::Map(bindings));
            }
        }
        for key in ["script", "args", "shell", "stdin"] {
            params.extend(value.get(key).map(|node| (key.to_owned(), values::any(node))));
        }
        Some(params)
    }

    /// The script for the shell, and the variables with the values.
    fn command(&self, node: &'n Node) -> Option<(String, IndexMap<String, Arg>)> {
        let text = self.texts.of_node(node)?;
        let analysis = text.outcome.as_ref().ok()?;
        let lowered = shell::lower(&text.source, &analysis.emits, &analysis.tags);
        let bindings = lowered.bindings.into_iter().map(|(name, source)| (name, Arg::Expr(Expr(source)))).collect();
        Some((lowered.script, bindings))
    }
}

fn notify(step: &Node, value: &Node) -> IndexMap<String, Arg> {
    let mut params = IndexMap::from([("channels".to_owned(), Arg::Json(json!(values::texts(Some(value)))))]);
    for key in ["text", "title", "to"] {
        params.extend(step.get(key).map(|node| (key.to_owned(), Arg::Text(values::text(node)))));
    }
    params
}

/// The work that runs if a run fails.
pub(super) fn on_failure(node: &Node) -> Option<Work> {
    let channels = node.get("notify")?;
    Some(Work { kind: WorkKind::Notify, params: notify(node, channels) })
}
