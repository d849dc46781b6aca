//! Reads Markdown with front matter into a tree.
//!
//! **Invariant:** every node points into the Markdown file, so a message about a section shows that section.

use std::ops::Range;

use super::{FileId, Node, Sources, Span, Style, Value, yaml};
use crate::diagnostic::Diagnostic;

/// See [`super::read`].
pub(super) fn read(sources: &Sources, file: FileId, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = sources.file(file).text.as_str();
    if let Some(problem) = yaml::unreadable(file, text) {
        out.push(problem);
        return None;
    }
    let front = match front_matter(file, text) {
        Ok(front) => front,
        Err(problem) => {
            out.push(*problem);
            return None;
        }
    };
    let mut root = yaml::read_range(sources, file, front.yaml, out)?;
    if let Value::Map(entries, _) = &mut root.value {
        Body { file, text, at: front.body }.add_to(entries, out);
    }
    Some(root)
}

struct Front {
    yaml: Range<usize>,
    body: usize,
}

fn front_matter(file: FileId, text: &str) -> Result<Front, Box<Diagnostic>> {
    let mut lines = lines(text, if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
    let first = lines.next().unwrap_or(0..0);
    if text[first.clone()].trim_end() != "---" {
        let problem = Diagnostic::error("LH0101", Span::new(file, first.start, first.end), "there is no front matter");
        let help = "start the file with a line `---`, the keys of the workflow, and another line `---`";
        return Err(Box::new(problem.label("the first line is not `---`").help(help)));
    }
    let start = lines.at;
    match lines.find(|line| text[line.clone()].trim_end() == "---") {
        Some(end) => Ok(Front { yaml: start..end.start, body: after_line(text, end.end) }),
        None => {
            let span = Span::new(file, first.start, first.end);
            let problem = Diagnostic::error("LH0101", span, "the front matter does not end").label("it starts here");
            Err(Box::new(problem.help("add a line `---` after the last key")))
        }
    }
}

/// The Markdown below the front matter.
struct Body<'s> {
    file: FileId,
    text: &'s str,
    at: usize,
}

/// A `## heading` and the text below it.
struct Section {
    heading: Range<usize>,
    text: Range<usize>,
}

impl Body<'_> {
    fn add_to(&self, entries: &mut Vec<(Node, Node)>, out: &mut Vec<Diagnostic>) {
        let (intro, sections) = self.sections();
        let has = |entries: &[(Node, Node)], name: &str| entries.iter().any(|(key, _)| key.scalar() == Some(name));
        if !sections.is_empty() && !has(entries, "step_instructions") {
            let instructions = self.instructions(&sections, out);
            entries.push((Node::plain(instructions.span, "step_instructions"), instructions));
        }
        let intro = self.trimmed(self.without_title(intro));
        if !intro.is_empty() && !has(entries, "content") {
            let full = self.literal(intro);
            let content = Node::map(full.span, [("full", full)]);
            entries.push((Node::plain(content.span, "content"), content));
        }
    }

    fn instructions(&self, sections: &[Section], out: &mut Vec<Diagnostic>) -> Node {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        for section in sections {
            let name = &self.text[section.heading.clone()];
            let span = Span::new(self.file, section.heading.start, section.heading.end);
            if let Some((first, _)) = entries.iter().find(|(key, _)| key.scalar() == Some(name)) {
                let problem = Diagnostic::error("LH0104", span, format!("the heading `{name}` is here twice"));
                let problem = problem.label("this section is ignored").related(first.span, "the first one");
                out.push(problem.help("remove or rename one of them"));
                continue;
            }
            let key = Node::new(span, Value::Scalar(name.to_owned(), Style::Double));
            entries.push((key, self.literal(self.trimmed(section.text.clone()))));
        }
        let start = sections.first().map_or(self.at, |section| section.heading.start);
        Node::new(Span::new(self.file, start, self.text.trim_end().len()), Value::Map(entries, false))
    }

    /// The text before the first heading, and the sections.
    fn sections(&self) -> (Range<usize>, Vec<Section>) {
        let mut fence: Option<&str> = None;
        let mut intro = self.at..self.text.len();
        let mut sections: Vec<Section> = Vec::new();
        for line in lines(self.text, self.at) {
            let words = &self.text[line.clone()];
            let outside = fence.is_none();
            fence = fence_after(fence, words);
            let Some(heading) = heading(words).filter(|_| outside && fence.is_none()) else { continue };
            match sections.last_mut() {
                Some(last) => last.text.end = line.start,
                None => intro.end = line.start,
            }
            let below = after_line(self.text, line.end)..self.text.len();
            sections.push(Section { heading: line.start + heading.start..line.start + heading.end, text: below });
        }
        (intro, sections)
    }

    fn without_title(&self, intro: Range<usize>) -> Range<usize> {
        let trimmed = self.trimmed(intro);
        let first = lines(self.text, trimmed.start).next().unwrap_or(trimmed.clone());
        let is_title = self.text[first.clone()].starts_with("# ") && first.end <= trimmed.end;
        if is_title { first.end..trimmed.end } else { trimmed }
    }

    /// The range without blank lines at both ends; the first line keeps its indentation.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.text[range.clone()];
        let solid = text.len() - text.trim_start().len();
        let start = text[..solid].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text.trim_end().len();
        range.start + start.min(end)..range.start + end
    }

    fn literal(&self, range: Range<usize>) -> Node {
        let text = self.text[range.clone()].replace("\r\n", "\n");
        Node::new(Span::new(self.file, range.start, range.end), Value::Scalar(text, Style::Literal))
    }
}

/// The code fence that is open after a line.
fn fence_after<'s>(open: Option<&'s str>, line: &'s str) -> Option<&'s str> {
    let words = line.trim_start();
    let mark = words.chars().next().filter(|c| matches!(c, '`' | '~'));
    let fence = mark.map(|mark| &words[..words.len() - words.trim_start_matches(mark).len()]);
    match (open, fence.filter(|fence| fence.len() >= 3)) {
        (Some(open), Some(fence)) if fence.starts_with(open) && words.trim_end() == fence => None,
        (Some(open), _) => Some(open),
        (None, fence) => fence,
    }
}

/// The part of a `## heading` line that is its name.
fn heading(line: &str) -> Option<Range<usize>> {
    let rest = line.strip_prefix("##").filter(|rest| rest.starts_with([' ', '\t']))?;
    let name = rest.trim().trim_end_matches('#').trim_end();
    let name = name.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')).unwrap_or(name).trim();
    let start = line.find(name).filter(|_| !name.is_empty())?;
    Some(start..start + name.len())
}

fn after_line(text: &str, end: usize) -> usize {
    text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1)
}

/// The lines from a position on, without their line ends.
fn lines(text: &str, at: usize) -> Lines<'_> {
    Lines { text, at }
}

struct Lines<'s> {
    text: &'s str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.lines().next().unwrap_or_default();
        let start = self.at;
        self.at = after_line(self.text, start + line.len());
        Some(start..start + line.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, place, read as read_any};
    use super::*;

    fn tree(text: &str) -> (Sources, Option<Node>, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let file = sources.add("w.md", text);
        let mut out = Vec::new();
        let tree = read_any(&sources, file, Format::Markdown, &mut out);
        (sources, tree, out)
    }

    fn check(text: &str) -> String {
        let (sources, tree, out) = tree(text);
        let mut lines = vec![tree.map_or_else(|| "nothing".to_owned(), |node| node.to_json().to_string())];
        lines.extend(out.iter().map(|p| format!("{} {} [{}]", p.code, p.message, sources.slice(p.span))));
        lines.join("\n")
    }

    #[test]
    fn sections_become_instructions_and_the_rest_is_content() {
        assert_eq!(
            check(
                "---\nname: x\n---\n# Title\n\nIntro\nmore\n\n## `plan`\n\nDo *it*.\n\n\n## Check it ##\n- a\n### sub\nb\n"
            ),
            r#"{"name":"x","step_instructions":{"plan":"Do *it*.","Check it":"- a\n### sub\nb"},"content":{"full":"Intro\nmore"}}"#
        );
    }

    #[test]
    fn a_heading_inside_a_fence_is_text() {
        assert_eq!(
            check("---\na: 1\n---\n## one\n````sh\n## not\n```\n## nor this\n````\n## two\nx\n"),
            r#"{"a":1,"step_instructions":{"one":"````sh\n## not\n```\n## nor this\n````","two":"x"}}"#
        );
    }

    #[test]
    fn what_the_front_matter_says_itself_is_kept() {
        assert_eq!(
            check("---\nstep_instructions: {a: b}\ncontent: c\n---\nintro\n## a\nx\n"),
            r#"{"step_instructions":{"a":"b"},"content":"c"}"#
        );
    }

    #[test]
    fn missing_or_open_front_matter_is_reported() {
        assert_eq!(check("# Title\n"), "nothing\nLH0101 there is no front matter [# Title]");
        assert_eq!(check(""), "nothing\nLH0101 there is no front matter []");
        assert_eq!(check("---\na: 1\n"), "nothing\nLH0101 the front matter does not end [---]");
    }

    #[test]
    fn a_second_heading_of_one_name_is_dropped() {
        assert_eq!(
            check("---\na: 1\n---\n## x\n1\n## x\n2\n"),
            "{\"a\":1,\"step_instructions\":{\"x\":\"1\"}}\nLH0104 the heading `x` is here twice [x]"
        );
    }

    #[test]
    fn places_point_into_the_markdown_file() {
        let (sources, root, out) = tree("\u{feff}---\r\nname: é x\r\nbad: [\r\n---\r\n## s\r\nx\r\n");
        assert!(root.is_none());
        assert_eq!(sources.slice(out[0].span), "[");
        let (sources, root, _) = tree("\u{feff}---\r\nname: é x\r\n---\r\n## s\r\nfirst\r\n| {{ a }}\r\n");
        let root = root.unwrap();
        assert_eq!(sources.slice(root.get("name").unwrap().span), "é x");
        let section = root.get("step_instructions").unwrap().get("s").unwrap();
        let at = section.scalar().unwrap().find("{{").unwrap();
        assert_eq!(sources.slice(place(&sources, section, at..at + 7)), "{{ a }}");
    }
}
