//! Adds comments to the tree: before an entry, after it on its line, or at the end of a collection.
//!
//! **Invariant:** every comment belongs to exactly one node, in order. When the printed text is read again, it
//! belongs to the same node.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::super::{Node, Style, Value};

/// A comment in the text.
pub(super) struct Comment {
    text: String,
    start: usize,
}

impl Comment {
    pub(super) fn new(text: &str, start: usize) -> Self {
        Self { text: text.trim_end().to_owned(), start }
    }
}

/// Adds each comment to its node.
pub(super) fn attach(root: &mut Node, text: &str, comments: Vec<Comment>) {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
    let mut attacher = Attacher { text, lines, comments: comments.into_iter().peekable(), keeps: false, end: 0 };
    let end = Next { start: text.len(), column: None };
    if !is_block(root) {
        let before = attacher.before(root.span.start as usize, false);
        add_before(root, before);
    }
    attacher.node(root, end);
    let rest = attacher.before(usize::MAX, true);
    if !rest.is_empty() {
        root.comments_mut().end.extend(rest);
    }
}

/// The place of the next entry outside of a collection, and its column; no column at the end of the file.
#[derive(Clone, Copy)]
struct Next {
    start: usize,
    column: Option<usize>,
}

struct Attacher<'s> {
    text: &'s str,
    /// The start of each line. It is used for every node, so a long line must not be searched again.
    lines: Vec<usize>,
    comments: Peekable<IntoIter<Comment>>,
    /// Whether blank lines here belong to a block scalar that keeps them.
    keeps: bool,
    /// The end of the last value or comment.
    end: usize,
}

impl Attacher<'_> {
    fn node(&mut self, node: &mut Node, next: Next) {
        let column = self.column(node.span.start as usize);
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        let flow = matches!(node.value, Value::Seq(_, true) | Value::Map(_, true));
        let next = if flow { Next { start: end, column: None } } else { next };
        match &mut node.value {
            Value::Scalar(text, style) => {
                let block = matches!(style, Style::Literal | Style::Folded);
                self.keeps = block && ends_blank(text);
                self.scalar_comment(node, start, end);
            }
            Value::Alias(_) => self.scalar_comment(node, start, end),
            Value::Seq(items, _) => self.items(items, column, next),
            Value::Map(entries, _) => self.entries(entries, column, next),
        }
        if flow {
            let inside = self.before(end, true);
            self.extend_end(node, inside);
            self.end = end;
            self.after(node);
        } else if is_block(node) {
            node.comments_mut();
            let at_end = self.ending(column, next);
            self.extend_end(node, at_end);
        }
    }

    fn extend_end(&self, node: &mut Node, mut comments: Vec<String>) {
        // A blank line before a closing bracket is removed.
        if comments.last().is_some_and(String::is_empty) {
            comments.pop();
        }
        if !comments.is_empty() {
            node.comments_mut().end.extend(comments);
        }
    }

    /// A block scalar has its comment on the line of its `|`, anything else at its end.
    fn scalar_comment(&mut self, node: &mut Node, start: usize, end: usize) {
        let header = self.text.get(start..).is_some_and(|rest| rest.starts_with(['|', '>']));
        self.end = if header { start } else { end };
        self.after(node);
        self.end = self.end.max(end);
    }

    fn items(&mut self, items: &mut [Node], column: usize, next: Next) {
        let starts: Vec<usize> = items.iter().skip(1).map(|item| item.span.start as usize).collect();
        for (index, item) in items.iter_mut().enumerate() {
            let before = self.before(item.span.start as usize, index > 0);
            add_before(item, before);
            let following = starts.get(index).map_or(next, |start| Next { start: *start, column: Some(column) });
            self.node(item, following);
        }
    }

    fn entries(&mut self, entries: &mut [(Node, Node)], column: usize, next: Next) {
        let starts: Vec<usize> = entries.iter().skip(1).map(|(key, _)| key.span.start as usize).collect();
        for (index, (key, value)) in entries.iter_mut().enumerate() {
            let before = self.before(key.span.start as usize, index > 0);
            add_before(key, before);
            self.end = key.span.end as usize;
            self.keeps = false;
            self.after(key);
            if !is_block(value) {
                let between = self.before(value.span.start as usize, false);
                add_before(key, between);
            }
            let following = starts.get(index).map_or(next, |start| Next { start: *start, column: Some(column) });
            self.node(value, following);
        }
    }

    /// The comments up to a place, with blank lines among them and before it. The first entry of a collection has no
    /// blank line before it.
    fn before(&mut self, place: usize, blank_first: bool) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(comment) = self.comments.next_if(|comment| comment.start < place) {
            if self.blank_above(comment.start) && (blank_first || !lines.is_empty()) {
                lines.push(String::new());
            }
            self.take(&comment);
            lines.push(comment.text);
        }
        if place < self.text.len() && self.blank_above(place) && (blank_first || !lines.is_empty()) {
            lines.push(String::new());
        }
        lines
    }

    fn take(&mut self, comment: &Comment) {
        self.end = comment.start + 1 + comment.text.len();
        self.keeps = false;
    }

    /// A comment on the line where the last token ended.
    fn after(&mut self, node: &mut Node) {
        let (text, end) = (self.text, self.end);
        let same_line = |comment: &Comment| text.get(end..comment.start).is_some_and(is_between_tokens);
        if let Some(comment) = self.comments.next_if(same_line) {
            self.take(&comment);
            node.comments_mut().after = Some(comment.text);
        }
    }

    /// The comments after the last entry of a block collection, with its indentation.
    fn ending(&mut self, column: usize, next: Next) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(start) = self.comments.peek().map(|comment| comment.start).filter(|start| *start < next.start) {
            let at = self.column(start);
            // The outermost collection takes the rest.
            let inside = at >= column && next.column.is_none_or(|outer| at > outer);
            if !inside || (next.column.is_none() && column > 0 && at < column) {
                break;
            }
            let blank = self.blank_above(start);
            let Some(comment) = self.comments.next() else { break };
            if blank {
                lines.push(String::new());
            }
            self.take(&comment);
            lines.push(comment.text);
        }
        lines
    }

    fn blank_above(&self, place: usize) -> bool {
        if self.keeps {
            return false;
        }
        let line = self.line_start(place);
        let above = self.text.get(self.end.min(line)..line).unwrap_or_default();
        above.matches('\n').count() > 1 && above.lines().skip(1).any(|line| line.trim().is_empty())
    }

    fn column(&self, place: usize) -> usize {
        place - self.line_start(place)
    }

    fn line_start(&self, place: usize) -> usize {
        let line = self.lines.partition_point(|start| *start <= place);
        line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or_default()
    }
}

/// Whether the last line of a text is blank.
fn ends_blank(text: &str) -> bool {
    let tail = text.get(text.trim_end().len()..).unwrap_or_default().trim_start_matches([' ', '\t']);
    !matches!(tail, "" | "\n")
}

/// Whether a text is only punctuation, an anchor or the `|` of a block.
fn is_between_tokens(text: &str) -> bool {
    let word = |word: &str| word.starts_with(['&', '!', '|', '>']) || matches!(word, ":" | "," | ":," | "|" | ">");
    !text.contains('\n') && text.split_whitespace().all(word)
}

fn is_block(node: &Node) -> bool {
    matches!(node.value, Value::Seq(_, false) | Value::Map(_, false))
}

fn add_before(node: &mut Node, lines: Vec<String>) {
    if !lines.is_empty() {
        node.comments_mut().before.extend(lines);
    }
}
