//! Comments into the tree.

use super::super::Node;

/// A comment in the text.
pub(super) struct Comment {
    text: String,
    start: usize,
}

impl Comment {
    pub(super) fn new(text: &str, start: usize) -> Self {
        Self { text: text.to_owned(), start }
    }
}

/// Gives each comment to the node it belongs to.
pub(super) fn attach(_root: &mut Node, _text: &str, _comments: Vec<Comment>) {}
