//! `foreach`: a body for each item.

use longhaul_core::id::is_name;

use super::super::Writing;
use super::super::edges::Edges;
use super::{Action, one_of, open};
use crate::dialect::reader::{Reader, wrong_kind};
use crate::dialect::spelling::{broken_rule, no_effect, value_name};
use crate::source::Node;

const AT_ONCE: &str = "5";
const AT_ONCE_MAX: u64 = 20;
const ITEMS_MAX: u64 = 5000;

impl Writing<'_> {
    pub(super) fn foreach(&mut self, node: &Node) -> Action {
        const KEYS: &[&str] = &[
            "items",
            "body",
            "maxItems",
            "max_items",
            "concurrency",
            "itemAlias",
            "item_alias",
            "indexAlias",
            "index_alias",
            "onItemError",
            "on_item_error",
        ];
        let mut reader = open(node, "a `foreach` node", KEYS, &mut self.out)?;
        let item = alias(&mut reader, ["itemAlias", "item_alias"], "item");
        let index = alias(&mut reader, ["indexAlias", "index_alias"], "index");
        let on_error = one_of(&mut reader, ["onItemError", "on_item_error"], &["fail", "skip", "collect"]);
        let at_once = at_once(&mut reader);
        items_max(&mut reader);
        for key in ["items", "body"] {
            if reader.get(key).is_none() {
                reader.missing(key);
            }
        }
        let (items, body) = (reader.get("items"), reader.get("body"));
        let items = items.and_then(|items| self.items(items));
        self.scope.enter([&item, &index].map(|name| name.scalar().unwrap_or_default().to_owned()));
        let body = body.and_then(|body| self.loop_body(body));
        self.scope.leave();
        let natively = |name: &Node| Node::plain(name.span, value_name(name.scalar().unwrap_or_default()));
        let mut entries = vec![("for_each", items?), ("as", natively(&item)), ("index", natively(&index))];
        entries.push(("parallel", at_once));
        entries.extend(on_error.map(|word| ("on_item_error", word.clone())));
        entries.push(body?);
        Some(entries)
    }

    fn items(&mut self, items: &Node) -> Option<Node> {
        match (items.items(), items.as_text()) {
            (Some(_), _) => Some(self.value(items)),
            (None, Some(_)) => Some(Node::text(items.span, self.path(items))),
            (None, None) => {
                self.out.push(wrong_kind(items, "`items`", "a list or a path"));
                None
            }
        }
    }

    /// A graph, a list of nodes that follow each other, or a single node.
    fn loop_body(&mut self, body: &Node) -> Option<(&'static str, Node)> {
        if body.get("nodes").is_some() {
            return Some(("steps", self.graph(body)));
        }
        let nodes = match body.items() {
            Some(nodes) => nodes,
            None if body.get("type").is_some() => std::slice::from_ref(body),
            None => {
                self.out.push(wrong_kind(body, "`body`", "a node, a list of nodes, or `nodes` and `edges`"));
                return None;
            }
        };
        self.declare(nodes);
        let edges = Edges::default();
        let steps: Vec<Node> = nodes.iter().flat_map(|node| self.node(node, &edges)).collect();
        Some(("do", Node::seq(body.span, steps)))
    }
}

fn alias(reader: &mut Reader<'_, '_>, keys: [&str; 2], default: &str) -> Node {
    let span = reader.node.span;
    let written = keys.into_iter().find_map(|key| reader.said(key));
    let Some(written) = written else { return Node::plain(span, default) };
    let word = written.scalar().unwrap_or_default();
    if is_name(word) {
        return written.clone();
    }
    reader.report(broken_rule(written.span, format!("`{word}` cannot be a name"), "not a name"));
    Node::plain(span, default)
}

fn at_once(reader: &mut Reader<'_, '_>) -> Node {
    let count = reader.count("concurrency");
    let Some((count, node)) = count.and_then(|count| Some((count, reader.get("concurrency")?))) else {
        return Node::plain(reader.node.span, AT_ONCE);
    };
    if !(1..=AT_ONCE_MAX).contains(&count) {
        let message = format!("`concurrency` must be from 1 to {AT_ONCE_MAX}");
        reader.report(broken_rule(node.span, message, "out of bounds"));
    }
    node.clone()
}

fn items_max(reader: &mut Reader<'_, '_>) {
    for key in ["maxItems", "max_items"] {
        let Some(count) = reader.count(key) else { continue };
        let span = reader.get(key).map_or(reader.node.span, |node| node.span);
        if count > ITEMS_MAX {
            reader.report(broken_rule(span, format!("`{key}` can be at most {ITEMS_MAX}"), "too many"));
        } else {
            reader.report(no_effect(span, key, "every item is done"));
        }
    }
}
