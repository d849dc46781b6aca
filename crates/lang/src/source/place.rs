//! From a range of a scalar's text to the place in the file.

use super::{Node, Sources, Span};

/// See [`super::place`].
pub(super) fn place(_sources: &Sources, scalar: &Node, _range: std::ops::Range<usize>) -> Span {
    scalar.span
}
