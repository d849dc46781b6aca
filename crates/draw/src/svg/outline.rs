//! The outlines of steps.

use super::tenth;
use crate::label::{HEXAGON_POINT, Shape};
use crate::layout::Area;

/// The outline as one or more elements.
pub(super) fn of(shape: Shape, area: Area) -> String {
    let Area { width, height, .. } = area;
    match shape {
        Shape::Rounded => rect(area, 9.0),
        Shape::Square => rect(area, 2.0),
        Shape::Stadium => rect(area, tenth(height / 2.0)),
        Shape::Hexagon => hexagon(area),
        Shape::Rhombus => polygon(area, &[(0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)]),
        Shape::Double => {
            let inner = Area { x: tenth(area.x + 6.0), width: tenth(width - 12.0), ..area };
            format!("{}{}", rect(area, 4.0), rect(inner, 0.0))
        }
    }
}

fn rect(area: Area, radius: f64) -> String {
    let Area { x, y, width, height } = area;
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>")
}

fn hexagon(area: Area) -> String {
    let cut = HEXAGON_POINT / area.width;
    polygon(area, &[(cut, 0.0), (1.0 - cut, 0.0), (1.0, 0.5), (1.0 - cut, 1.0), (cut, 1.0), (0.0, 0.5)])
}

/// Corners as shares of the width and the height.
fn polygon(area: Area, corners: &[(f64, f64)]) -> String {
    let corner =
        |(x, y): &(f64, f64)| format!("{},{}", tenth(area.x + x * area.width), tenth(area.y + y * area.height));
    format!("<polygon points=\"{}\"/>", corners.iter().map(corner).collect::<Vec<_>>().join(" "))
}
