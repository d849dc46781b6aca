//! Source files with places: files, spans, and the tree for YAML, JSON, TOML and Markdown.

mod emit;
mod frontmatter;
mod lines;
mod node;
mod place;
mod toml;
mod weight;
mod yaml;

use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;

pub use emit::emit;
pub(crate) use lines::boundary;

/// The largest file that is read, in bytes.
pub const FILE_BYTES_MAX: usize = 4 << 20;
/// The most nodes a file may expand to.
pub const NODES_MAX: usize = 400_000;
/// The deepest nesting of a file.
pub const DEPTH_MAX: usize = 100;

/// A file among [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A range in a file.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end.max(start)) }
    }
}

/// One file: its name and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The name in diagnostics.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Computed at the first use.
    lines: OnceLock<lines::Lines>,
}

impl SourceFile {
    /// Line and column of a byte, both from 1, the column in characters.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        self.lines().find(&self.text, at)
    }

    /// The range of the line that contains a byte, without its line break.
    pub(crate) fn line_around(&self, at: usize) -> std::ops::Range<usize> {
        self.lines().line_around(&self.text, at)
    }

    fn lines(&self) -> &lines::Lines {
        self.lines.get_or_init(|| lines::Lines::of(&self.text))
    }
}

/// The files that diagnostics can point into.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// The text of the file that was read first; the others are used by it.
    pub fn first(&self) -> &str {
        self.files.first().map_or("", |file| &file.text)
    }

    /// Adds a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into(), lines: OnceLock::new() });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// A file that was added before.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Removes all files but the first ones; no span may point into the others.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.files.truncate(len);
    }

    /// The text a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `word`: may be a number, a boolean or null.
    Plain,
    /// `'…'`.
    Single,
    /// `"…"`.
    Double,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its place in the file.
    pub span: Span,
    /// Its content.
    pub value: Value,
    /// The name of its anchor (`&name`), if it has one.
    pub anchor: Option<Box<str>>,
    /// The comments around it. A block collection from [`read_verbatim`] always has them, even empty: its author gave
    /// each item a line, and the printer keeps that.
    pub comments: Option<Box<Comments>>,
}

/// Comments that belong to a node, each without its `#`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comments {
    /// Comments on lines of their own before it; an empty text is a blank line.
    pub before: Vec<String>,
    /// A comment at the end of its line.
    pub after: Option<String>,
    /// Comments on lines of their own at the end of a collection or of the file.
    pub end: Vec<String>,
}

/// The content of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A scalar.
    Scalar(String, Style),
    /// A list; whether it was written in flow style.
    Seq(Vec<Node>, bool),
    /// A mapping, in written order; whether it was written in flow style. Keys are unique.
    Map(Vec<(Node, Node)>, bool),
    /// `*name`. Only trees from [`read_verbatim`] have it.
    Alias(Box<str>),
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// YAML 1.2 or JSON.
    Yaml,
    /// TOML.
    Toml,
    /// Markdown with YAML front matter.
    Markdown,
}

impl Format {
    /// The format for the extension of a file's name.
    pub fn of(name: &str) -> Self {
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("toml") => Self::Toml,
            Some("md" | "markdown") => Self::Markdown,
            _ => Self::Yaml,
        }
    }
}

/// Reads a file into a tree with aliases and merge keys resolved. `None` means that it could not be read at all; the
/// diagnostics say why.
///
/// Markdown gives the front matter's mapping with two further entries: `step_instructions`, a mapping
/// from each `## heading` to the text below it, and `content`, a mapping whose `full` is the text
/// before the first such heading (each only if there is any, and not if the front matter has the key).
pub fn read(sources: &Sources, file: FileId, format: Format, out: &mut Vec<Diagnostic>) -> Option<Node> {
    match format {
        Format::Yaml => yaml::read(sources, file, out),
        Format::Toml => toml::read(sources, file, out),
        Format::Markdown => frontmatter::read(sources, file, out),
    }
}

/// Reads YAML in order to print it again: comments, anchors and aliases stay.
pub fn read_verbatim(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<Node> {
    yaml::read_verbatim(sources, file, out)
}

/// The place in the file of a range of a scalar's text, so that a message can point into a block scalar.
pub fn place(sources: &Sources, scalar: &Node, range: std::ops::Range<usize>) -> Span {
    place::place(sources, scalar, range)
}

/// The finding for a file that is not UTF-8 text after the first `valid` bytes. Such a file is added to [`Sources`]
/// with its text up to there, or with replacement characters.
pub fn not_utf8(sources: &Sources, file: FileId, valid: usize) -> Diagnostic {
    let at = valid.min(sources.file(file).text.len());
    Diagnostic::error("LH0103", Span::new(file, at, at), "the file is not UTF-8 text")
        .label("the first byte that does not fit")
        .help("save it as UTF-8")
}
