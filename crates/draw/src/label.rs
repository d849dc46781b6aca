//! The content of a node in every format: its shape, its lines, its badges.

use crate::graph::GraphNode;
use crate::text::one_line;

/// The widest title in a box.
const TITLE_COLUMNS_MAX: usize = 34;
/// The widest line under it.
const LINE_COLUMNS_MAX: usize = 40;
/// The widest caption of a group.
const CAPTION_COLUMNS_MAX: usize = 72;
/// The widest label of an arrow in a picture.
pub(crate) const LABEL_COLUMNS_MAX: usize = 36;
/// The width of each point of a hexagon.
pub(crate) const HEXAGON_POINT: f64 = 14.0;
/// The widest condition in a badge.
const WHEN_COLUMNS_MAX: usize = 48;

/// The outline of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Any other work.
    Rounded,
    /// A command.
    Square,
    /// A person is asked.
    Hexagon,
    /// A choice.
    Rhombus,
    /// An end.
    Stadium,
    /// Another workflow.
    Double,
}

/// The outline for the kind of a node.
pub(crate) fn shape(node: &GraphNode) -> Shape {
    match node.kind.as_str() {
        _ if node.gate => Shape::Hexagon,
        "decision" => Shape::Rhombus,
        "end" => Shape::Stadium,
        "workflow" => Shape::Double,
        "run" | "http" | "tool" => Shape::Square,
        _ => Shape::Rounded,
    }
}

/// The special properties of a node, without brackets.
pub(crate) fn badges(node: &GraphNode) -> Vec<String> {
    let flags = [(node.start, "start"), (node.gate, "gate"), (node.optional, "optional")];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word.to_owned());
    let when = node.when.as_deref().map(|when| format!("when {}", one_line(when, WHEN_COLUMNS_MAX)));
    flags.chain(when).chain(node.parallel.map(|n| format!("×{n}"))).collect()
}

/// The lines in a box; the first is the title.
pub(crate) fn lines(node: &GraphNode) -> Vec<String> {
    let mut lines = vec![title(node), one_line(&about(node), LINE_COLUMNS_MAX)];
    // The kinds `approve` and `ask` always ask, so they need no badge.
    let is_asking = matches!(node.kind.as_str(), "approve" | "ask");
    let badges: Vec<String> = badges(node).into_iter().filter(|badge| !(is_asking && badge == "gate")).collect();
    if !badges.is_empty() {
        lines.push(one_line(&badges.join(" · "), LINE_COLUMNS_MAX));
    }
    lines
}

/// The line on the frame of a group.
pub(crate) fn caption(node: &GraphNode) -> String {
    let title = title(node);
    if node.kind == "branch" {
        return title;
    }
    let badges = badges(node).into_iter().map(|badge| format!(" · {badge}")).collect::<String>();
    one_line(&format!("{title} · {}{badges}", about(node)), CAPTION_COLUMNS_MAX)
}

/// The title. It is never empty, because a box without text is not valid Mermaid.
fn title(node: &GraphNode) -> String {
    let names = [&node.title, &node.id, &node.kind].map(|name| one_line(name, TITLE_COLUMNS_MAX));
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "?".to_owned())
}

/// The text of the tooltip.
pub(crate) fn tooltip(node: &GraphNode) -> String {
    let mut parts = vec![one_line(&node.key, 200), about(node)];
    parts.extend(badges(node));
    one_line(&parts.join(" · "), 400)
}

/// The kind and the action. The title of a sub-workflow is its name, so this shows its id.
fn about(node: &GraphNode) -> String {
    let kind = if node.kind == "unit" { "workflow" } else { node.kind.as_str() };
    let news = if node.kind == "workflow" { Some(node.id.as_str()) } else { node.detail.as_deref() };
    news.map_or_else(|| kind.to_owned(), |news| format!("{kind} · {news}"))
}
