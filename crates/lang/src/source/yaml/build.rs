//! Turns the parser's events into a tree in which aliases are leaves.
//!
//! **Invariant:** the size of an anchored node counts its aliases as copies, so an alias can be refused before
//! anything is copied.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StrInput, StructureStyle};

use super::super::weight::{Weight, check_depth};
use super::super::{Node, Span, Style, Value};
use super::comments::Comment;
use super::{Part, mistake, tag};
use crate::diagnostic::Diagnostic;

type Read<T> = Result<T, Box<Diagnostic>>;

/// A document, as written.
pub(super) struct Tree {
    pub(super) root: Node,
    /// Whether it has anchors or merge keys.
    pub(super) shared: bool,
    pub(super) comments: Vec<Comment>,
}

/// Reads one document.
pub(super) struct Builder<'s, 'o> {
    part: Part<'s>,
    parser: Parser<'s, StrInput<'s>>,
    out: &'o mut Vec<Diagnostic>,
    /// Whether aliases keep their names, in order to be printed again; otherwise they have the number of their
    /// anchor.
    verbatim: bool,
    anchors: HashMap<usize, Anchor>,
    weight: Weight,
    shared: bool,
    comments: Vec<Comment>,
    /// The end of the last token.
    cursor: usize,
}

struct Anchor {
    name: Box<str>,
    /// `None` while the anchored node is still being read.
    whole: Option<Whole>,
}

struct Whole {
    weight: Weight,
    height: usize,
    /// A copy if it is a scalar. A scalar can be a key, so it is replaced at once.
    scalar: Option<Node>,
}

/// A node and its depth.
struct Built {
    node: Node,
    height: usize,
}

/// An event that starts a node, with its place and depth.
struct Start<'s> {
    event: Event<'s>,
    range: Range<usize>,
    tag: Option<Range<usize>>,
    depth: usize,
}

impl<'s, 'o> Builder<'s, 'o> {
    pub(super) fn new(part: Part<'s>, verbatim: bool, out: &'o mut Vec<Diagnostic>) -> Self {
        let options = granit_parser::options! {
            emit_unresolved_aliases: true,
            emit_anchor_events: true,
            emit_comments: verbatim,
            // The size of the file limits them already.
            max_buffered_comment_events: usize::MAX,
        };
        Self {
            parser: Parser::new_from_str_with_options(part.text, options),
            part,
            out,
            verbatim,
            anchors: HashMap::new(),
            weight: Weight::default(),
            shared: false,
            comments: Vec::new(),
            cursor: 0,
        }
    }

    /// The first document, if the whole file is valid.
    pub(super) fn document(mut self) -> Option<Tree> {
        match self.first_document() {
            Ok(root) => Some(Tree { root: root?, shared: self.shared, comments: self.comments }),
            Err(problem) => {
                if !self.follows_from_last(&problem) {
                    self.out.push(*problem);
                }
                None
            }
        }
    }

    /// Text after an unquoted template is not a second mistake.
    fn follows_from_last(&self, problem: &Diagnostic) -> bool {
        let Some(last) = self.out.last().filter(|last| last.code == "LH0107" && problem.code == "LH0101") else {
            return false;
        };
        let place = |at: u32| (at as usize).saturating_sub(self.part.base);
        let between = self.part.text.get(place(last.span.end)..place(problem.span.start));
        between.is_some_and(|between| !between.contains('\n'))
    }

    fn first_document(&mut self) -> Read<Option<Node>> {
        loop {
            let start = self.next(1)?;
            match start.event {
                Event::StreamStart | Event::DocumentStart(..) => {}
                Event::StreamEnd => return Ok(self.empty()),
                _ => {
                    let root = self.node(start)?.node;
                    self.rest()?;
                    let nothing = root.span.start == root.span.end && root.is_null();
                    return Ok(if nothing { self.empty() } else { Some(root) });
                }
            }
        }
    }

    fn empty(&mut self) -> Option<Node> {
        let problem = Diagnostic::error("LH0110", self.part.span(0..0), "the file is empty");
        self.out
            .push(problem.label("nothing but comments or blank lines").help("write a workflow, or delete the file"));
        None
    }

    /// Reads to the end: a mistake after the document still counts.
    fn rest(&mut self) -> Read<()> {
        loop {
            let Start { event, range, .. } = self.next(0)?;
            match event {
                Event::DocumentStart(..) => {
                    let problem = Diagnostic::error("LH0110", self.part.span(range), "the file has a second document");
                    let problem = problem.label("only the text before this is read");
                    self.out.push(problem.help("put each workflow into its own file"));
                    return Ok(());
                }
                Event::StreamEnd => return Ok(()),
                _ => {}
            }
        }
    }

    /// The next event that is not a comment.
    fn next(&mut self, depth: usize) -> Read<Start<'s>> {
        loop {
            let end = self.part.text.len();
            let (event, span) = match self.parser.next() {
                None => return Ok(Start { event: Event::StreamEnd, range: end..end, tag: None, depth }),
                Some(Err(error)) => return Err(Box::new(mistake::explain(&self.part, &error))),
                Some(Ok(next)) => next,
            };
            let range = span.byte_range().unwrap_or(end..end);
            if let Event::Comment(text, _) = event {
                self.comments.push(Comment::new(&text, self.part.base + range.start));
                continue;
            }
            let tag = span.tag_span().and_then(|tag| tag.byte_range());
            return Ok(Start { event, range, tag, depth });
        }
    }

    fn node(&mut self, start: Start<'s>) -> Read<Built> {
        let Start { event, range, tag: tag_range, depth } = start;
        let span = self.part.span(range.clone());
        check_depth(depth, span)?;
        let tag_span = self.part.span(tag_range.unwrap_or_else(|| range.clone()));
        let before = self.weight;
        match event {
            Event::Scalar(text, style, id, tag) => {
                self.weight.add(Weight::node(text.len()), span)?;
                let name = self.anchor_name(id)?;
                let mut node = self.scalar(&text, style, range);
                let unknown = tag::scalar(&mut node, tag.as_deref());
                self.tagged(unknown, tag_span);
                self.close(node, Open { id, name, before, height: 1 })
            }
            Event::SequenceStart(style, id, tag) => {
                self.weight.add(Weight::node(0), span)?;
                let name = self.anchor_name(id)?;
                self.tagged(tag::collection(tag.as_deref(), "seq"), tag_span);
                let (node, height) = self.list(style == StructureStyle::Flow, range, depth)?;
                self.close(node, Open { id, name, before, height })
            }
            Event::MappingStart(style, id, tag) => {
                self.weight.add(Weight::node(0), span)?;
                let name = self.anchor_name(id)?;
                self.tagged(tag::collection(tag.as_deref(), "map"), tag_span);
                let (node, height) = self.mapping(style == StructureStyle::Flow, range, depth)?;
                self.close(node, Open { id, name, before, height })
            }
            Event::Alias(id) => self.alias(id, range, depth),
            Event::UnresolvedAlias(name) => Ok(self.unknown_alias(&name, range)),
            _ => Ok(Built { node: null(span), height: 1 }),
        }
    }

    fn tagged(&mut self, unknown: bool, at: Span) {
        if unknown {
            let place = |at: u32| (at as usize).saturating_sub(self.part.base);
            let text = self.part.text.get(place(at.start)..place(at.end)).unwrap_or_default();
            self.out.push(tag::unknown(text, at));
        }
    }

    /// Reads the event with the name of an anchor, which follows the start of the node.
    fn anchor_name(&mut self, id: usize) -> Read<Option<Box<str>>> {
        if id == 0 {
            return Ok(None);
        }
        self.shared = true;
        let name: Box<str> = match self.next(0)?.event {
            Event::Anchor(_, name) => name.as_ref().into(),
            _ => return Ok(None),
        };
        self.anchors.insert(id, Anchor { name: name.clone(), whole: None });
        Ok(Some(if self.verbatim { name } else { id.to_string().into() }))
    }

    /// Ends a node. From here on aliases may refer to it.
    fn close(&mut self, mut node: Node, open: Open) -> Read<Built> {
        let Open { id, name, before, height } = open;
        if let Some(anchor) = self.anchors.get_mut(&id).filter(|_| id != 0) {
            let scalar = node.scalar().is_some().then(|| node.clone());
            anchor.whole = Some(Whole { weight: self.weight.since(before), height, scalar });
            node.anchor = name;
        }
        Ok(Built { node, height })
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, range: Range<usize>) -> Node {
        let (range, style) = match style {
            ScalarStyle::Plain => (range, Style::Plain),
            ScalarStyle::SingleQuoted => (range, Style::Single),
            ScalarStyle::DoubleQuoted => (range, Style::Double),
            ScalarStyle::Literal => (self.block_range(range), Style::Literal),
            ScalarStyle::Folded => (self.block_range(range), Style::Folded),
        };
        // The parser writes `~` for a missing value.
        let text = if range.is_empty() && style == Style::Plain { "" } else { text };
        self.cursor = range.end;
        Node::new(self.part.span(range), Value::Scalar(text.to_owned(), style))
    }

    /// From the `|` to the last line that is not blank. The parser's range includes everything after it.
    fn block_range(&self, content: Range<usize>) -> Range<usize> {
        let text = self.part.text;
        let start = indicator(text, self.cursor).unwrap_or(content.start);
        let solid = text.get(content.clone()).unwrap_or_default().trim_end().len();
        let from = if solid == 0 { start } else { content.start + solid };
        let rest = text.get(from..).unwrap_or_default();
        let end = from + rest.find(['\n', '\r']).unwrap_or(rest.len());
        start..end
    }

    fn list(&mut self, flow: bool, open: Range<usize>, depth: usize) -> Read<(Node, usize)> {
        self.cursor = open.end;
        let (mut items, mut height) = (Vec::new(), 0);
        let end = loop {
            let start = self.next(depth + 1)?;
            if matches!(start.event, Event::SequenceEnd) {
                break start.range.end;
            }
            let item = self.node(start)?;
            height = height.max(item.height);
            items.push(item.node);
        };
        let span = self.collection_span(flow, open.start..end);
        Ok((Node::new(span, Value::Seq(items, flow)), height + 1))
    }

    fn mapping(&mut self, flow: bool, open: Range<usize>, depth: usize) -> Read<(Node, usize)> {
        self.cursor = open.end;
        let (mut entries, mut height) = (Vec::new(), 0);
        let mut keys: HashMap<Box<str>, Span> = HashMap::new();
        let end = loop {
            let start = self.next(depth + 1)?;
            if matches!(start.event, Event::MappingEnd) {
                break start.range.end;
            }
            let key = self.node(start)?.node;
            let value_start = self.next(depth + 1)?;
            let value = self.node(value_start)?;
            height = height.max(value.height);
            if self.key_is_new(&key, &mut keys) {
                entries.push((key, value.node));
            }
        };
        let span = self.collection_span(flow, open.start..end);
        Ok((Node::new(span, Value::Map(entries, flow)), height + 1))
    }

    fn key_is_new(&mut self, key: &Node, keys: &mut HashMap<Box<str>, Span>) -> bool {
        let Some(text) = self.key_text(key) else {
            self.out.push(self.not_text(key));
            return false;
        };
        self.shared |= is_merge(key);
        match keys.get(&text) {
            Some(first) => {
                let problem = Diagnostic::error("LH0104", key.span, format!("the key `{text}` is here twice"));
                let problem = problem.label("this one is ignored").related(*first, "the first one");
                self.out.push(problem.help("remove or rename one of them"));
                false
            }
            None => {
                keys.insert(text, key.span);
                true
            }
        }
    }

    fn not_text(&self, key: &Node) -> Diagnostic {
        let range = (key.span.start as usize - self.part.base)..(key.span.end as usize - self.part.base);
        let text = self.part.text;
        let around = range.start.checked_sub(1).map(|start| start..range.end + 1);
        let template = around.and_then(|around| Some((text.get(around.clone())?, around)));
        if let Some((template, around)) = template.filter(|(text, _)| text.starts_with("{{") && text.ends_with("}}")) {
            let message = "a template that starts a value needs quotes";
            let problem = Diagnostic::error("LH0107", self.part.span(around), message).label("read as a mapping");
            return problem.help(format!("put the whole value in quotes: `\"{template}\"`"));
        }
        Diagnostic::error("LH0107", key.span, "a key must be text")
            .label(format!("this is {}", key.kind_words()))
            .help("if the braces or brackets belong to the text, put it in quotes")
    }

    fn key_text(&self, key: &Node) -> Option<Box<str>> {
        match &key.value {
            Value::Scalar(text, _) => Some(text.as_str().into()),
            // Only in verbatim reading: a key stays an alias, and two of them differ by name.
            Value::Alias(name) if self.verbatim => Some(format!("*{name}").into()),
            Value::Seq(..) | Value::Map(..) | Value::Alias(_) => None,
        }
    }

    /// A flow collection ends at its bracket, a block collection at its last token: the parser closes it only at the
    /// next token.
    fn collection_span(&mut self, flow: bool, whole: Range<usize>) -> Span {
        if flow {
            self.cursor = whole.end;
        }
        self.part.span(whole.start..self.cursor)
    }

    fn alias(&mut self, id: usize, range: Range<usize>, depth: usize) -> Read<Built> {
        let span = self.part.span(range.clone());
        self.cursor = range.end;
        let Some(anchor) = self.anchors.get(&id) else { return Ok(Built { node: null(span), height: 1 }) };
        let Some(whole) = &anchor.whole else {
            let message = format!("`*{}` is inside the value that it names", anchor.name);
            let problem = Diagnostic::error("LH0106", span, message).label("this would never end");
            self.out.push(problem.help("name a value that ends before the alias"));
            return Ok(Built { node: null(span), height: 1 });
        };
        if self.verbatim {
            self.weight.add(Weight::node(0), span)?;
            return Ok(Built { node: Node::new(span, Value::Alias(anchor.name.clone())), height: 1 });
        }
        self.weight.add(whole.weight, span)?;
        check_depth(depth + whole.height - 1, span)?;
        let label = || Node::new(span, Value::Alias(id.to_string().into()));
        Ok(Built { node: whole.scalar.clone().unwrap_or_else(label), height: whole.height })
    }

    fn unknown_alias(&mut self, name: &str, range: Range<usize>) -> Built {
        let span = self.part.span(range.clone());
        self.cursor = range.end;
        let known: Vec<String> = self.anchors.values().map(|anchor| anchor.name.to_string()).collect();
        let problem = Diagnostic::error("LH0106", span, format!("the alias `*{name}` names nothing"));
        let otherwise =
            |_: &[&str]| Some(format!("write `&{name}` at the value that it names, or put the text in quotes"));
        let problem = problem.label("no anchor of this name above");
        self.out.push(problem.did_you_mean(name, known.iter().map(String::as_str), otherwise));
        Built { node: null(span), height: 1 }
    }
}

/// A node that is being read.
struct Open {
    id: usize,
    name: Option<Box<str>>,
    before: Weight,
    height: usize,
}

/// Whether a key merges other mappings.
pub(super) fn is_merge(key: &Node) -> bool {
    matches!(&key.value, Value::Scalar(text, Style::Plain) if text == "<<")
}

/// A null at a place.
pub(super) fn null(span: Span) -> Node {
    Node::plain(span, "")
}

/// The place of the `|` or `>` of a block scalar, after an anchor, a tag or a comment.
fn indicator(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let first = rest.chars().next()?;
        at += match first {
            '|' | '>' => return Some(at),
            '&' | '!' => rest.find(char::is_whitespace)?,
            '#' => rest.find('\n')?,
            other => other.len_utf8(),
        };
    }
}
