//! Reading a dialect's mappings: typed access that reports what does not fit, and never stops.

use crate::diagnostic::Diagnostic;
use crate::source::Node;

/// A mapping whose keys are known.
pub(super) struct Reader<'n, 'o> {
    /// What the mapping is, in words: "a branch node".
    pub(super) what: String,
    /// The mapping.
    pub(super) node: &'n Node,
    out: &'o mut Vec<Diagnostic>,
}

impl<'n, 'o> Reader<'n, 'o> {
    /// Opens a mapping. What is not a mapping, and keys that are not `allowed`, are reported.
    pub(super) fn open(
        node: &'n Node,
        what: impl Into<String>,
        allowed: &[&str],
        out: &'o mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let what = what.into();
        let Some(entries) = node.entries() else {
            out.push(wrong_kind(node, &what, "a mapping"));
            return None;
        };
        for (key, _) in entries {
            let word = key.scalar().unwrap_or_default();
            if !allowed.contains(&word) {
                out.push(unknown_key(key, &what, allowed));
            }
        }
        Some(Self { what, node, out })
    }

    /// The value under a key; null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.node.get(key).filter(|value| !value.is_null())
    }

    /// Reports something.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.out.push(diagnostic);
    }

    /// Where reports go, for reading what is inside.
    pub(super) fn out(&mut self) -> &mut Vec<Diagnostic> {
        self.out
    }

    /// A text.
    pub(super) fn text(&mut self, key: &str) -> Option<&'n Node> {
        self.typed(key, "text", |node| node.as_text().is_some())
    }

    /// A text that must be there.
    pub(super) fn required_text(&mut self, key: &str) -> Option<&'n Node> {
        if self.get(key).is_none() {
            self.missing(key);
        }
        self.text(key)
    }

    /// A boolean.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.typed(key, "`true` or `false`", |node| node.as_bool().is_some()).and_then(Node::as_bool)
    }

    /// A whole number that is not negative.
    pub(super) fn count(&mut self, key: &str) -> Option<u64> {
        let as_count = |node: &Node| node.scalar_json().and_then(|value| value.as_u64());
        self.typed(key, "a whole number", |node| as_count(node).is_some()).and_then(as_count)
    }

    /// A number.
    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        let as_number = |node: &Node| node.scalar_json().and_then(|value| value.as_f64());
        self.typed(key, "a number", |node| as_number(node).is_some()).and_then(as_number)
    }

    /// The items of a list.
    pub(super) fn list(&mut self, key: &str) -> &'n [Node] {
        self.typed(key, "a list", |node| node.items().is_some()).and_then(Node::items).unwrap_or_default()
    }

    /// The items of a list of texts.
    pub(super) fn texts(&mut self, key: &str) -> Vec<&'n Node> {
        let (texts, others): (Vec<_>, Vec<_>) = self.list(key).iter().partition(|item| item.as_text().is_some());
        for other in others {
            self.out.push(wrong_kind(other, &format!("an entry of `{key}`"), "text"));
        }
        texts
    }

    /// The entries of a mapping.
    pub(super) fn map(&mut self, key: &str) -> &'n [(Node, Node)] {
        self.typed(key, "a mapping", |node| node.entries().is_some()).and_then(Node::entries).unwrap_or_default()
    }

    /// Reports that a key must be there.
    pub(super) fn missing(&mut self, key: &str) {
        let message = format!("{} needs `{key}`", self.what);
        self.out.push(Diagnostic::error("LH0109", self.node.span, message).label(format!("no `{key}` here")));
    }

    /// Looks again into a mapping whose keys were reported, or may be any.
    pub(super) fn again(node: &'n Node, what: impl Into<String>, out: &'o mut Vec<Diagnostic>) -> Self {
        Self { what: what.into(), node, out }
    }

    /// A text that says something: blank counts as absent.
    pub(super) fn said(&mut self, key: &str) -> Option<&'n Node> {
        self.text(key).filter(|node| node.scalar().is_some_and(|text| !text.trim().is_empty()))
    }

    /// A text that must be there and say something.
    pub(super) fn required_said(&mut self, key: &str) -> Option<&'n Node> {
        let blank = self.get(key).is_none_or(|node| node.as_text().is_some_and(|text| text.trim().is_empty()));
        if blank {
            self.missing(key);
            return None;
        }
        self.text(key)
    }

    fn typed(&mut self, key: &str, wanted: &str, fits: impl Fn(&Node) -> bool) -> Option<&'n Node> {
        let node = self.get(key)?;
        if fits(node) {
            return Some(node);
        }
        self.out.push(wrong_kind(node, &format!("`{key}`"), wanted));
        None
    }

    /// A text that must be there and say something.
    pub(super) fn filled_text(&mut self, key: &str) -> Option<&'n Node> {
        let text = self.required_text(key)?;
        if text.as_text().is_some_and(|text| !text.trim().is_empty()) {
            return Some(text);
        }
        let message = format!("`{key}` of {} is blank", self.what);
        self.out.push(Diagnostic::error("LH0109", text.span, message).label("nothing here"));
        None
    }

    /// One of these words.
    pub(super) fn word(&mut self, key: &str, words: &[&str]) -> Option<&'n Node> {
        let node = self.text(key)?;
        let word = node.as_text().unwrap_or_default();
        if words.contains(&word) {
            return Some(node);
        }
        let list = |known: &[&str]| Some(format!("it can be: {}", known.join(", ")));
        let diagnostic = Diagnostic::error("LH0107", node.span, format!("`{key}` cannot be `{word}`"))
            .label("unknown word")
            .did_you_mean(word, words.iter().copied(), list);
        self.out.push(diagnostic);
        None
    }

    /// Warns that a key, if it is there, changes nothing.
    pub(super) fn without_effect(&mut self, key: &str, why: &str) {
        if let Some((key_node, _)) = self.node.entry(key).filter(|(_, value)| !value.is_null()) {
            let message = format!("`{key}` has no effect here: {why}");
            self.out.push(Diagnostic::warning("LH0602", key_node.span, message).label("left out"));
        }
    }
}

/// "`cases` must be a mapping, but this is text".
pub(super) fn wrong_kind(node: &Node, what: &str, wanted: &str) -> Diagnostic {
    let message = format!("{what} must be {wanted}, but this is {}", node.kind_words());
    let diagnostic = Diagnostic::error("LH0107", node.span, message).label(format!("expected {wanted}"));
    match (wanted, node.scalar()) {
        ("text", Some(text)) if !text.is_empty() => diagnostic.help(format!("put it in quotes: \"{text}\"")),
        _ => diagnostic,
    }
}

/// "a branch node has no key `defualt`".
pub(super) fn unknown_key(key: &Node, what: &str, allowed: &[&str]) -> Diagnostic {
    let word = key.scalar().unwrap_or_default();
    let diagnostic = Diagnostic::error("LH0108", key.span, format!("{what} has no key `{word}`"));
    diagnostic.label("unknown key").which_key(word, allowed.to_vec())
}
