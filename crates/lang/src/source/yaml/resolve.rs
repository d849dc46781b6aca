//! Replaces aliases and merge keys by their content.
//!
//! **Invariant:** it runs only on trees whose size was checked with every alias counted as a copy.

use std::collections::{HashMap, HashSet};

use super::super::{Node, Value};
use super::build::{is_merge, null};
use crate::diagnostic::Diagnostic;

/// Replaces all of them; `shared` says whether there are any.
pub(super) fn resolve(root: &mut Node, shared: bool, out: &mut Vec<Diagnostic>) {
    if shared {
        let mut anchors = HashMap::new();
        collect(root, &mut anchors);
        *root = Resolver { anchors: &anchors, out }.node(root);
    }
}

fn collect<'n>(node: &'n Node, anchors: &mut HashMap<&'n str, &'n Node>) {
    if let Some(name) = &node.anchor {
        anchors.insert(name, node);
    }
    match &node.value {
        Value::Scalar(..) | Value::Alias(_) => {}
        Value::Seq(items, _) => items.iter().for_each(|item| collect(item, anchors)),
        Value::Map(entries, _) => entries.iter().for_each(|(_, value)| collect(value, anchors)),
    }
}

struct Resolver<'n, 'o> {
    anchors: &'o HashMap<&'n str, &'n Node>,
    out: &'o mut Vec<Diagnostic>,
}

impl Resolver<'_, '_> {
    fn node(&mut self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Scalar(text, style) => Value::Scalar(text.clone(), *style),
            Value::Seq(items, flow) => Value::Seq(items.iter().map(|item| self.node(item)).collect(), *flow),
            Value::Map(entries, flow) => Value::Map(self.entries(entries), *flow),
            // The anchor is missing only if its mapping was dropped with a message.
            Value::Alias(name) => {
                return self.anchors.get(name.as_ref()).map_or_else(|| null(node.span), |target| self.node(target));
            }
        };
        Node::new(node.span, value)
    }

    fn entries(&mut self, entries: &[(Node, Node)]) -> Vec<(Node, Node)> {
        let explicit = entries.iter().filter(|(key, _)| !is_merge(key));
        let mut taken: HashSet<String> = explicit.filter_map(|(key, _)| key.scalar()).map(str::to_owned).collect();
        let mut all = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if is_merge(key) {
                let merged = self.merged(value);
                all.extend(
                    merged.into_iter().filter(|(key, _)| taken.insert(key.scalar().unwrap_or_default().to_owned())),
                );
            } else {
                all.push((self.node(key), self.node(value)));
            }
        }
        all
    }

    /// The entries of a merge key, the earlier mappings first.
    fn merged(&mut self, value: &Node) -> Vec<(Node, Node)> {
        match self.node(value).value {
            Value::Map(entries, _) => entries,
            Value::Seq(items, _) => {
                let places = value.items().unwrap_or_default();
                let place = |index: usize| places.get(index).unwrap_or(value);
                let items: Vec<Node> = items;
                items.into_iter().enumerate().flat_map(|(index, item)| self.mapping(item, place(index))).collect()
            }
            Value::Scalar(..) | Value::Alias(_) => self.not_a_mapping(value),
        }
    }

    fn mapping(&mut self, item: Node, place: &Node) -> Vec<(Node, Node)> {
        match item.value {
            Value::Map(entries, _) => entries,
            Value::Scalar(..) | Value::Seq(..) | Value::Alias(_) => self.not_a_mapping(place),
        }
    }

    fn not_a_mapping(&mut self, place: &Node) -> Vec<(Node, Node)> {
        let problem = Diagnostic::error("LH0106", place.span, "a merge key needs a mapping");
        let problem = problem.label("this is no mapping");
        self.out.push(problem.help("give `<<` a mapping, an alias of one, or a list of those"));
        Vec::new()
    }
}
