//! Lowers scalars, lists and mappings of the tree to values of the plan.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::plan::{Arg, Expr, Text};

use crate::expr;
use crate::model::build::one_or_many;
use crate::source::{Node, Value};

/// An expression, without braces around it.
pub(super) fn expr(node: &Node) -> Expr {
    let text = node.scalar().unwrap_or_default();
    Expr(expr::whole_expression(text).map_or(text, |(inner, _)| inner).trim().to_owned())
}

/// A template.
pub(super) fn text(node: &Node) -> Text {
    Text(node.scalar().unwrap_or_default().to_owned())
}

/// A value whose texts may be templates.
pub(super) fn any(node: &Node) -> Arg {
    convert(node, &|text| match expr::whole_expression(text) {
        Some((inner, _)) => Some(Arg::Expr(Expr(inner.to_owned()))),
        None => expr::is_template(text).then(|| Arg::Text(Text(text.to_owned()))),
    })
}

/// A value whose texts are expressions, or templates if they contain braces.
pub(super) fn computed(node: &Node) -> Arg {
    convert(node, &|text| {
        Some(match expr::whole_expression(text) {
            Some((inner, _)) => Arg::Expr(Expr(inner.to_owned())),
            None if expr::is_template(text) => Arg::Text(Text(text.to_owned())),
            None => Arg::Expr(Expr(text.trim().to_owned())),
        })
    })
}

fn convert(node: &Node, of_text: &dyn Fn(&str) -> Option<Arg>) -> Arg {
    match &node.value {
        Value::Scalar(..) => {
            let computed = node.as_text().and_then(of_text);
            computed.unwrap_or_else(|| Arg::Json(node.scalar_json().unwrap_or_default()))
        }
        Value::Seq(items, _) => {
            let items: Vec<Arg> = items.iter().map(|item| convert(item, of_text)).collect();
            written_list(&items).unwrap_or(Arg::List(items))
        }
        Value::Map(entries, _) => {
            let entry =
                |(key, value): &(Node, Node)| (key.scalar().unwrap_or_default().to_owned(), convert(value, of_text));
            let entries: IndexMap<String, Arg> = entries.iter().map(entry).collect();
            written_map(&entries).unwrap_or(Arg::Map(entries))
        }
        Value::Alias(_) => Arg::Json(Json::Null),
    }
}

fn written_list(items: &[Arg]) -> Option<Arg> {
    let values: Option<Vec<Json>> = items.iter().map(|item| item.as_json().cloned()).collect();
    values.map(|values| Arg::Json(Json::Array(values)))
}

fn written_map(entries: &IndexMap<String, Arg>) -> Option<Arg> {
    let written = |(key, value): (&String, &Arg)| Some((key.clone(), value.as_json()?.clone()));
    let values: Option<serde_json::Map<String, Json>> = entries.iter().map(written).collect();
    values.map(|values| Arg::Json(Json::Object(values)))
}

/// The entries of a mapping, each as a value.
pub(super) fn map_of(node: Option<&Node>, convert: fn(&Node) -> Arg) -> IndexMap<String, Arg> {
    let entries = node.and_then(Node::entries).unwrap_or_default();
    entries.iter().filter_map(|(key, value)| Some((key.scalar()?.to_owned(), convert(value)))).collect()
}

/// Two mappings; the second one's entries win.
pub(super) fn merged(first: Option<&Node>, second: Option<&Node>) -> IndexMap<String, Arg> {
    let mut entries = map_of(first, any);
    entries.extend(map_of(second, any));
    entries
}

/// One text or a list of them.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    let nodes = node.map(one_or_many).unwrap_or_default();
    nodes.into_iter().filter_map(Node::as_text).map(str::to_owned).collect()
}

/// A whole number.
pub(super) fn count(node: Option<&Node>) -> Option<u64> {
    node?.scalar_json()?.as_u64()
}

/// A whole number that fits 32 bits.
pub(super) fn small(node: Option<&Node>) -> Option<u32> {
    count(node).and_then(|count| u32::try_from(count).ok())
}

/// A time span in milliseconds.
pub(super) fn span_ms(node: Option<&Node>) -> Option<u64> {
    longhaul_core::duration::parse_ms(node?.as_text()?)
}
