//! Figures, and the table that shows them.

use serde::Serialize;

/// A measured or counted value.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    workload: &'static str,
    what: String,
    value: f64,
    unit: &'static str,
    /// The limit of the machine, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Target {
    AtLeast(f64),
    AtMost(f64),
    Exactly(f64),
}

impl Figure {
    /// A figure: the `value` of `what`, in a unit.
    pub(crate) fn new(workload: &'static str, what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { workload, what: what.into(), value, unit, machine: None, target: None, met: None }
    }

    /// The figure with the limit of the machine.
    pub(crate) fn beside(mut self, machine: f64) -> Self {
        self.machine = Some(machine);
        self
    }

    pub(crate) fn at_least(mut self, target: f64) -> Self {
        (self.target, self.met) = (Some(Target::AtLeast(target)), Some(self.value >= target));
        self
    }

    pub(crate) fn at_most(mut self, target: f64) -> Self {
        (self.target, self.met) = (Some(Target::AtMost(target)), Some(self.value <= target));
        self
    }

    /// The figure with the count that it must have, however fast the machine is.
    pub(crate) fn exactly(mut self, count: usize) -> Self {
        let count = count as f64;
        (self.target, self.met) = (Some(Target::Exactly(count)), Some((self.value - count).abs() < 0.5));
        self
    }

    /// Whether work is missing, or was done twice.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self.target, Some(Target::Exactly(_))) && self.met == Some(false)
    }

    fn cells(&self) -> [String; 6] {
        let ratio = self.machine.filter(|machine| *machine > 0.0).map(|machine| self.value / machine);
        let target = match self.target {
            Some(Target::AtLeast(target)) => format!("≥ {}", short(target)),
            Some(Target::AtMost(target)) => format!("≤ {}", short(target)),
            Some(Target::Exactly(target)) => format!("= {}", short(target)),
            None => String::new(),
        };
        let verdict = self.met.map_or("", |met| if met { " ✓" } else { " ✗" });
        [
            self.workload.to_owned(),
            self.what.clone(),
            format!("{} {}", short(self.value), self.unit),
            self.machine.map(short).unwrap_or_default(),
            ratio.map(|ratio| format!("{ratio:.2}×")).unwrap_or_default(),
            format!("{target}{verdict}"),
        ]
    }
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Figures as a table for people.
pub(crate) fn table(figures: &[Figure]) -> String {
    let head = ["workload", "what", "measured", "machine", "ratio", "target"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(figures.iter().map(Figure::cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
