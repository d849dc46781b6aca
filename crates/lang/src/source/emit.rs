//! Prints a tree as canonical YAML.
//!
//! **Invariant:** the printed text reads as the same tree, values and types, and prints the same again.

mod scalar;
#[cfg(test)]
mod tests;

use super::{Comments, Node, Style, Value};
use scalar::{Form, form, inline};

/// The longest line of a list or mapping on one line.
const COLUMNS: usize = 100;

/// Prints a tree in the canonical layout, comments, anchors and aliases included.
pub fn emit(node: &Node) -> String {
    let mut printer = Printer { out: String::new() };
    printer.root(node);
    printer.out
}

struct Printer {
    out: String,
}

impl Printer {
    fn root(&mut self, node: &Node) {
        let comments = node.comments.as_deref();
        self.before(comments, 0);
        match &node.value {
            Value::Map(entries, _) if !fits(node, 0) => {
                self.open_root(node);
                self.entries(entries, 0);
                self.end(comments, 0);
            }
            Value::Seq(items, _) if !fits(node, 0) => {
                self.open_root(node);
                self.items(items, 0);
                self.end(comments, 0);
            }
            Value::Scalar(..) | Value::Alias(_) => {
                self.value(node, None, 0);
                self.end(comments, 0);
            }
            Value::Map(..) | Value::Seq(..) => {
                self.inside_empty(node, 0);
                self.value(node, None, 0);
            }
        }
        let solid = self.out.trim_start_matches('\n').len();
        self.out.drain(..self.out.len() - solid);
    }

    /// A comment after the closing bracket moves above, because there is no bracket any more.
    fn open_root(&mut self, node: &Node) {
        self.displaced(node, 0);
        if let Some(name) = &node.anchor {
            self.out.push_str(&format!("&{name}\n"));
        }
    }

    /// Comments between empty brackets need a line of their own.
    fn inside_empty(&mut self, node: &Node, indent: usize) {
        if is_empty(node) {
            self.end(node.comments.as_deref(), indent);
        }
    }

    fn displaced(&mut self, node: &Node, indent: usize) {
        if let Some(comment) = node.comments.as_deref().and_then(|comments| comments.after.as_deref()) {
            self.comment_line(comment, indent);
        }
    }

    fn entries(&mut self, entries: &[(Node, Node)], indent: usize) {
        for entry in entries {
            self.entry_comments(entry, indent);
            self.pad(indent);
            self.entry(entry, indent);
        }
    }

    fn entry(&mut self, (key, value): &(Node, Node), indent: usize) {
        self.out.push_str(&key_text(key));
        self.out.push(':');
        self.value(value, key.comments.as_deref().and_then(|c| c.after.as_deref()), indent + 2);
    }

    fn entry_comments(&mut self, (key, value): &(Node, Node), indent: usize) {
        self.before(key.comments.as_deref(), indent);
        // A comment above the value itself has no other place.
        self.before(value.comments.as_deref(), indent);
        self.inside_empty(value, indent);
        let after = |node: &Node| node.comments.as_deref().and_then(|comments| comments.after.clone());
        // The same for a comment after the key, if the value on the same line has one too.
        if let (Some(comment), Some(_)) = (after(key), after(value)) {
            self.comment_line(&comment, indent);
        }
    }

    fn items(&mut self, items: &[Node], indent: usize) {
        for item in items {
            self.item_comments(item, indent);
            self.pad(indent);
            self.item(item, indent);
        }
    }

    /// The comments of an item and of everything that starts with it. They stand above its dash, because below it
    /// they would move up when they are read again.
    fn item_comments(&mut self, item: &Node, indent: usize) {
        self.before(item.comments.as_deref(), indent);
        self.inside_empty(item, indent);
        match &item.value {
            Value::Map(entries, _) if !fits(item, indent + 2) => {
                self.displaced(item, indent);
                entries.iter().take(1).for_each(|entry| self.entry_comments(entry, indent));
            }
            Value::Seq(items, _) if !fits(item, indent + 2) => {
                self.displaced(item, indent);
                items.iter().take(1).for_each(|first| self.item_comments(first, indent));
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Node, indent: usize) {
        self.out.push('-');
        match &item.value {
            Value::Map(entries, _) if !fits(item, indent + 2) => {
                self.begin(item, indent + 2);
                if let Some((first, rest)) = entries.split_first() {
                    self.entry(first, indent + 2);
                    self.entries(rest, indent + 2);
                }
                self.end(item.comments.as_deref(), indent + 2);
            }
            Value::Seq(items, _) if !fits(item, indent + 2) => {
                self.begin(item, indent + 2);
                if let Some((first, rest)) = items.split_first() {
                    self.item(first, indent + 2);
                    self.items(rest, indent + 2);
                }
                self.end(item.comments.as_deref(), indent + 2);
            }
            _ => self.value(item, None, indent + 2),
        }
    }

    /// The collection of an item starts on the dash's line, unless its anchor would then belong to its first key.
    fn begin(&mut self, item: &Node, indent: usize) {
        match &item.anchor {
            Some(name) => {
                self.out.push_str(&format!(" &{name}\n"));
                self.pad(indent);
            }
            None => self.out.push(' '),
        }
    }

    /// Writes the value after `key:` or `-`, with the end of the line.
    fn value(&mut self, node: &Node, key_comment: Option<&str>, indent: usize) {
        let comments = node.comments.as_deref();
        let own = comments.and_then(|comments| comments.after.as_deref());
        let comment = own.or(key_comment).map(|comment| format!(" #{comment}")).unwrap_or_default();
        if let Some(name) = &node.anchor {
            self.word(&format!("&{name}"));
        }
        match &node.value {
            Value::Scalar(text, style) => match form(text, *style) {
                Form::Inline(text) => {
                    self.word(&text);
                    self.out.push_str(&comment);
                    self.out.push('\n');
                }
                Form::Block(header) => {
                    self.word(&header);
                    self.out.push_str(&comment);
                    self.out.push('\n');
                    self.block(text, indent.max(2));
                }
            },
            Value::Alias(name) => {
                self.word(&format!("*{name}{comment}\n"));
            }
            Value::Seq(..) | Value::Map(..) if fits(node, indent) => {
                self.word(&flow(node));
                self.out.push_str(&comment);
                self.out.push('\n');
            }
            Value::Seq(items, _) => {
                self.out.push_str(&comment);
                self.out.push('\n');
                self.items(items, indent);
                self.end(comments, indent);
            }
            Value::Map(entries, _) => {
                self.out.push_str(&comment);
                self.out.push('\n');
                self.entries(entries, indent);
                self.end(comments, indent);
            }
        }
    }

    /// Adds a word, after a space if the line is not empty.
    fn word(&mut self, word: &str) {
        if !word.is_empty() {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push(' ');
            }
            self.out.push_str(word);
        }
    }

    fn block(&mut self, text: &str, indent: usize) {
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.pad(indent);
            }
            self.out.push_str(line);
        }
        if !text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn before(&mut self, comments: Option<&Comments>, indent: usize) {
        for line in comments.map(|comments| comments.before.as_slice()).unwrap_or_default() {
            self.comment_line(line, indent);
        }
    }

    fn end(&mut self, comments: Option<&Comments>, indent: usize) {
        for line in comments.map(|comments| comments.end.as_slice()).unwrap_or_default() {
            self.comment_line(line, indent);
        }
    }

    /// An empty text is a blank line, and never two of them.
    fn comment_line(&mut self, line: &str, indent: usize) {
        if !line.is_empty() {
            self.pad(indent);
            self.out.push_str(&format!("#{line}\n"));
        } else if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn key_text(key: &Node) -> String {
    let anchor = key.anchor.as_deref().map(|name| format!("&{name} ")).unwrap_or_default();
    match &key.value {
        // Without the space the colon would become part of the name.
        Value::Alias(name) => format!("*{name} "),
        // `<<` in quotes is an ordinary key.
        Value::Scalar(text, style) if text == "<<" && *style != Style::Plain => format!("{anchor}\"<<\""),
        Value::Scalar(text, style) => format!("{anchor}{}", scalar::key(text, *style)),
        Value::Seq(..) | Value::Map(..) => format!("{anchor}{}", inline("", Style::Double)),
    }
}

/// Whether a collection is printed on one line: it is empty, or it is flat and short and was written so, or it is a
/// new list. Comments inside need lines of their own.
fn fits(node: &Node, indent: usize) -> bool {
    let flat = match &node.value {
        Value::Seq(items, written) => (*written || node.comments.is_none()) && items.iter().all(is_flat),
        Value::Map(entries, written) => {
            (*written || entries.is_empty()) && entries.iter().all(|(key, value)| is_flat(key) && is_flat(value))
        }
        Value::Scalar(..) | Value::Alias(_) => false,
    };
    let ends = node.comments.as_deref().is_some_and(|comments| !comments.end.is_empty());
    is_empty(node) || (flat && !ends && indent + flow(node).chars().count() <= COLUMNS)
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Seq(items, _) => items.is_empty(),
        Value::Map(entries, _) => entries.is_empty(),
        Value::Scalar(..) | Value::Alias(_) => false,
    }
}

fn is_flat(node: &Node) -> bool {
    let bare = node.comments.as_deref().is_none_or(|comments| *comments == Comments::default());
    let short = match &node.value {
        Value::Scalar(text, style) => matches!(form(text, *style), Form::Inline(_)),
        Value::Alias(_) => true,
        Value::Seq(..) | Value::Map(..) => false,
    };
    bare && short
}

/// A flat collection on one line.
fn flow(node: &Node) -> String {
    match &node.value {
        Value::Seq(items, _) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries, _) => {
            let entry =
                |(key, value): &(Node, Node)| format!("{}: {}", key_text(key), flow(value)).trim_end().to_owned();
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Alias(name) => format!("*{name} ").trim_end().to_owned(),
        Value::Scalar(text, style) => {
            let anchor = node.anchor.as_deref().map(|name| format!("&{name} ")).unwrap_or_default();
            format!("{anchor}{}", scalar::in_flow(text, *style))
        }
    }
}
