//! Reads TOML into a tree.
//!
//! **Invariant:** the limits on size, depth and number of values are the same as for YAML.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value as Toml};

use super::weight::{Weight, check_depth};
use super::{FileId, Node, Sources, Span, Style, Value, yaml};
use crate::diagnostic::Diagnostic;

/// See [`super::read`].
pub(super) fn read(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = sources.file(file).text.as_str();
    let result = match yaml::unreadable(file, text) {
        Some(problem) => Err(Box::new(problem)),
        None => parse(file, text),
    };
    result.map_err(|problem| out.push(*problem)).ok()
}

fn parse(file: FileId, text: &str) -> Result<Node, Box<Diagnostic>> {
    // The parser would read the byte order mark as part of the first key.
    let base = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let document = Document::parse(&text[base..]).map_err(|error| Box::new(mistake(file, base, &error)))?;
    let mut reader = Reader { file, base, text, weight: Weight::default() };
    let whole = Some(0..text.len() - base);
    reader.table(document.as_table(), whole, Place { depth: 1, flow: false })
}

fn mistake(file: FileId, base: usize, error: &toml_edit::TomlError) -> Diagnostic {
    let at = error.span().unwrap_or_default();
    let message = error.message().lines().next().unwrap_or_default();
    Diagnostic::error("LH0101", Span::new(file, base + at.start, base + at.end), "this is not valid TOML")
        .label(message)
        .help("check quotes, brackets and the `=` around this place")
}

struct Reader<'s> {
    file: FileId,
    base: usize,
    text: &'s str,
    weight: Weight,
}

/// The depth of a table, and whether it is written on one line.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    flow: bool,
}

impl Reader<'_> {
    fn span(&self, range: Option<Range<usize>>) -> Span {
        let range = range.unwrap_or_default();
        Span::new(self.file, self.base + range.start, self.base + range.end)
    }

    fn count(&mut self, depth: usize, bytes: usize, span: Span) -> Result<(), Box<Diagnostic>> {
        check_depth(depth, span)?;
        self.weight.add(Weight::node(bytes), span)
    }

    fn table(
        &mut self,
        table: &dyn TableLike,
        at: Option<Range<usize>>,
        place: Place,
    ) -> Result<Node, Box<Diagnostic>> {
        let span = self.span(at);
        self.count(place.depth, 0, span)?;
        let mut entries = Vec::new();
        for (name, item) in table.iter() {
            let key_span = self.span(table.key(name).and_then(toml_edit::Key::span));
            self.count(place.depth, name.len(), key_span)?;
            let key = Node::new(key_span, Value::Scalar(name.to_owned(), Style::Plain));
            entries.push((key, self.item(item, key_span, place.depth + 1)?));
        }
        Ok(Node::new(span, Value::Map(entries, place.flow)))
    }

    /// `key` is the place of a table that a dotted name implied.
    fn item(&mut self, item: &Item, key: Span, depth: usize) -> Result<Node, Box<Diagnostic>> {
        match item {
            Item::None => Ok(Node::plain(key, "null")),
            Item::Value(value) => self.value(value, depth),
            Item::Table(table) => {
                let implied = (key.start as usize - self.base)..(key.end as usize - self.base);
                self.table(table, table.span().or(Some(implied)), Place { depth, flow: false })
            }
            Item::ArrayOfTables(tables) => {
                let span = self.span(tables.span().or_else(|| tables.iter().next().and_then(toml_edit::Table::span)));
                self.count(depth, 0, span)?;
                let place = Place { depth: depth + 1, flow: false };
                let items: Result<Vec<Node>, _> =
                    tables.iter().map(|table| self.table(table, table.span(), place)).collect();
                Ok(Node::new(span, Value::Seq(items?, false)))
            }
        }
    }

    fn value(&mut self, value: &Toml, depth: usize) -> Result<Node, Box<Diagnostic>> {
        let span = self.span(value.span());
        let plain = |text: String| Ok(Node::plain(span, text));
        match value {
            Toml::InlineTable(table) => self.table(table, table.span(), Place { depth, flow: true }),
            Toml::Array(array) => {
                self.count(depth, 0, span)?;
                let items: Result<Vec<Node>, _> = array.iter().map(|item| self.value(item, depth + 1)).collect();
                Ok(Node::new(span, Value::Seq(items?, true)))
            }
            Toml::String(text) => {
                self.count(depth, text.value().len(), span)?;
                let single = self.text.get(span.start as usize..).is_some_and(|rest| rest.starts_with('\''));
                let style = if single { Style::Single } else { Style::Double };
                Ok(Node::new(span, Value::Scalar(text.value().clone(), style)))
            }
            Toml::Integer(number) => self.count(depth, 8, span).and_then(|()| plain(number.value().to_string())),
            Toml::Float(number) => self.count(depth, 8, span).and_then(|()| plain(format!("{:?}", number.value()))),
            Toml::Boolean(flag) => self.count(depth, 8, span).and_then(|()| plain(flag.value().to_string())),
            Toml::Datetime(time) => {
                self.count(depth, 32, span)?;
                Ok(Node::new(span, Value::Scalar(time.value().to_string(), Style::Double)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, place, read as read_any};
    use super::*;

    fn check(text: &str) -> String {
        let mut sources = Sources::default();
        let file = sources.add("w.toml", text);
        let mut out = Vec::new();
        let tree = read_any(&sources, file, Format::Toml, &mut out);
        let mut lines = vec![tree.map_or_else(|| "nothing".to_owned(), |node| node.to_json().to_string())];
        lines.extend(out.iter().map(|p| format!("{} {} [{}] {}", p.code, p.message, sources.slice(p.span), p.label)));
        lines.join("\n")
    }

    #[test]
    fn tables_lists_and_scalars_become_a_tree() {
        assert_eq!(
            check(
                "name = 'x'\nn = 0x10\nf = 1.0\nd = 2026-01-02\n[[steps]]\nid = \"a\"\nin = {a.b = [1, true]}\n[[steps]]\n"
            ),
            r#"{"name":"x","n":16,"f":1.0,"d":"2026-01-02","steps":[{"id":"a","in":{"a":{"b":[1,true]}}},{}]}"#
        );
    }

    #[test]
    fn a_mark_at_the_start_is_skipped_and_places_stay_right() {
        let mut sources = Sources::default();
        let file = sources.add("w.toml", "\u{feff}a = \"bc\"\r\nd = 1\r\n");
        let tree = read_any(&sources, file, Format::Toml, &mut Vec::new()).unwrap();
        let (key, value) = tree.entry("a").unwrap();
        assert_eq!((sources.slice(key.span), sources.slice(value.span)), ("a", "\"bc\""));
        assert_eq!(sources.slice(place(&sources, value, 1..2)), "c");
        assert_eq!(sources.slice(tree.get("d").unwrap().span), "1");
    }

    #[test]
    fn a_slip_is_reported_at_its_place() {
        assert_eq!(check("a = \nb = 1\n").lines().next(), Some("nothing"));
        assert!(check("a = 1\na = 2\n").contains("LH0101 this is not valid TOML [a]"), "{}", check("a = 1\na = 2\n"));
        assert!(check("a = \"\u{0}\"\n").contains("LH0103"));
    }

    #[test]
    fn deep_and_long_lists_are_refused() {
        let deep = format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(check(&deep).starts_with("nothing\nLH01"));
        let long = format!("a = [{}]", "1,".repeat(500_000));
        assert!(check(&long).contains("LH0102 the file holds more than 400000 values"));
    }
}
