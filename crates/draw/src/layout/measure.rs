//! Estimates the size of text.
//!
//! No font is read. The estimates are generous, so that a wide fallback font still fits.

use crate::graph::GraphNode;
use crate::label::{Shape, lines, shape};
use crate::text::columns;

/// The height of the title above the picture.
pub(crate) const TITLE_HEIGHT: f64 = 30.0;
/// The height of the caption of a frame.
pub(crate) const CAPTION_HEIGHT: f64 = 34.0;
/// The distance between two lines of a box.
pub(crate) const LINE_HEIGHT: f64 = 17.0;

const TITLE_COLUMN: f64 = 8.6;
const LINE_COLUMN: f64 = 7.0;
const LABEL_COLUMN: f64 = 6.9;

/// Width and height.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The size of a node without inner nodes.
pub(super) fn box_size(node: &GraphNode) -> Size {
    let lines = lines(node);
    let widths = lines.iter().enumerate().map(|(n, line)| {
        let column = if n == 0 { TITLE_COLUMN } else { LINE_COLUMN };
        column * columns(line) as f64
    });
    let width = widths.fold(60.0, f64::max) + 28.0;
    let height = LINE_HEIGHT * lines.len() as f64 + 18.0;
    match shape(node) {
        Shape::Rounded | Shape::Square => Size { width, height },
        Shape::Hexagon => Size { width: width + 20.0, height },
        Shape::Stadium | Shape::Double => Size { width: width + 14.0, height },
        Shape::Rhombus => Size { width: width * 1.4 + 30.0, height: height * 1.7 },
    }
}

/// The width of the caption of a frame.
pub(super) fn caption_width(text: &str) -> f64 {
    LINE_COLUMN * columns(text) as f64 + 8.0
}

/// The size of the label of an arrow.
pub(super) fn label_size(text: &str) -> Size {
    Size { width: LABEL_COLUMN * columns(text) as f64 + 10.0, height: 18.0 }
}
