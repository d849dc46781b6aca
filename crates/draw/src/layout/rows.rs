//! Arranges a body in plain rows, one level after the other, in linear time.

use super::arrange::{Arrangement, Link, Route, Task};
use super::measure::Size;
use super::{Area, Point};

/// The most boxes in a row; a wider level takes several rows.
const ROW_BOXES_MAX: usize = 24;
const GAP: f64 = 30.0;
const LEVEL_GAP: f64 = 60.0;
/// How far an upward arrow bends to the side.
const SWING: f64 = 24.0;

/// Levels from top to bottom, members of a level as written.
pub(super) fn arrange(task: &Task<'_>, links: &[Link], levels: &[usize]) -> Arrangement {
    let mut areas = vec![Area::default(); task.members.len()];
    let mut size = Size::default();
    let mut y = 0.0;
    for level in by_level(levels) {
        for row in level.chunks(ROW_BOXES_MAX) {
            let row_size = put_row(task, row, y, &mut areas);
            size = Size { width: size.width.max(row_size.width), height: y + row_size.height };
            y += row_size.height + GAP;
        }
        y += LEVEL_GAP - GAP;
    }
    centre_rows(&mut areas, levels, size.width);
    let routes: Vec<Route> = links.iter().map(|link| route(task, link, &areas)).collect();
    let corners = areas.iter().zip(task.members).map(|(area, at)| (*at, Point { x: area.x, y: area.y }));
    let reach = routes.iter().flat_map(|route| &route.points).map(|point| point.x);
    let width = reach.fold(size.width, f64::max);
    Arrangement { size: Size { width, ..size }, corners: corners.collect(), routes }
}

fn by_level(levels: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); levels.iter().max().map_or(0, |max| max + 1)];
    for (member, level) in levels.iter().enumerate() {
        rows[*level].push(member);
    }
    rows
}

fn put_row(task: &Task<'_>, row: &[usize], y: f64, areas: &mut [Area]) -> Size {
    let mut x = 0.0;
    let mut tallest: f64 = 0.0;
    for &member in row {
        let Size { width, height } = task.size(member);
        areas[member] = Area { x, y, width, height };
        x += width + GAP;
        tallest = tallest.max(height);
    }
    Size { width: x - GAP, height: tallest }
}

/// Centres a level of one box, because fans of arrows start and end there.
fn centre_rows(areas: &mut [Area], levels: &[usize], width: f64) {
    let rows = by_level(levels);
    for member in rows.iter().filter(|row| row.len() == 1).flatten() {
        let area = &mut areas[*member];
        area.x = (width - area.width) / 2.0;
    }
}

fn route(task: &Task<'_>, link: &Link, areas: &[Area]) -> Route {
    let (from, to) = (areas[link.from], areas[link.to]);
    let points = if from.y + from.height <= to.y { down(from, to) } else { up(from, to) };
    let label = task.label(link.edge).zip(middle(&points)).map(|(Size { width, height }, at)| Area {
        x: at.x - width / 2.0,
        y: at.y - height / 2.0,
        width,
        height,
    });
    Route { edge: link.edge, points, label }
}

fn down(from: Area, to: Area) -> Vec<Point> {
    let start = Point { x: from.centre().x, y: from.y + from.height };
    vec![start, Point { x: to.centre().x, y: to.y }]
}

fn up(from: Area, to: Area) -> Vec<Point> {
    let side = (from.x + from.width).max(to.x + to.width) + SWING;
    let (start, end) = (from.centre().y, to.centre().y);
    // For an arrow from a box to itself the two ends would meet.
    let end = if start == end { end - from.height / 4.0 } else { end };
    vec![
        Point { x: from.x + from.width, y: start },
        Point { x: side, y: start },
        Point { x: side, y: end },
        Point { x: to.x + to.width, y: end },
    ]
}

fn middle(points: &[Point]) -> Option<Point> {
    let half = points.len() / 2;
    let (a, b) = (points.get(half.checked_sub(1)?)?, points.get(half)?);
    Some(Point { x: (a.x + b.x) / 2.0, y: (a.y + b.y) / 2.0 })
}
