//! The comparison of two workflows as a table.

use longhaul_core::replan::{ComparedStep, Comparison, Fate, StepChange};
use longhaul_lang::diagnostic::plain;

use crate::ui;

/// The table, and below it what it comes to.
pub(crate) fn table(comparison: &Comparison) -> String {
    let rows: Vec<[String; 3]> = comparison.rows.iter().map(cells).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = String::new();
    for (row, cells) in comparison.rows.iter().zip(&rows) {
        let fate = coloured(row.fate, &cells[2]);
        text.push_str(&format!("  {:first$}  {:second$}  {fate}\n", cells[0], cells[1]));
    }
    if !comparison.inputs.is_empty() {
        text.push_str(&format!("  inputs that differ: {}\n", plain(&comparison.inputs.join(", "))));
    }
    for note in &comparison.notes {
        text.push_str(&format!("  note: {}\n", plain(note)));
    }
    text.push_str(&summary(comparison));
    text
}

fn cells(row: &ComparedStep) -> [String; 3] {
    let parts = if row.parts.is_empty() { String::new() } else { format!(": {}", row.parts.join(", ")) };
    let was = row.was.as_ref().map_or_else(String::new, |was| format!(" (was {was})"));
    let change = match row.change {
        StepChange::Same => String::new(),
        StepChange::Adjusted => format!("same result{parts}"),
        other => format!("{}{parts}", other.word()),
    };
    let counts = row.counts().map_or_else(String::new, |counts| format!(" ({counts})"));
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let cells = [row.step.clone(), format!("{change}{was}"), format!("{}{counts}{why}", row.fate.words())];
    cells.map(|cell| plain(&cell))
}

fn coloured(fate: Fate, text: &str) -> String {
    match fate {
        Fate::Kept => ui::good(text),
        Fate::Again | Fate::Runs => text.to_owned(),
        Fate::Asks | Fate::Dropped => ui::bad(text),
        Fate::Decides | Fate::Nothing => ui::dim(text),
    }
}

fn summary(comparison: &Comparison) -> String {
    let count = |fate: Fate| comparison.rows.iter().filter(|row| row.fate == fate).count();
    let parts = [
        format!("{} kept", ui::count(count(Fate::Kept), "step")),
        format!("{} again", ui::count(count(Fate::Again), "step")),
        format!("{} to run", ui::count(count(Fate::Runs), "step")),
    ];
    let mut text = parts.join(", ");
    let dropped = count(Fate::Dropped);
    if dropped > 0 {
        text.push_str(&format!(", {dropped} dropped (what they did is not undone)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_and_adds_up() {
        let row = |step: &str, change, fate| {
            serde_json::from_value::<ComparedStep>(serde_json::json!({"step": step, "change": change, "fate": fate}))
                .unwrap()
        };
        let mut fixed = row("ship", "changed", "runs");
        fixed.parts = vec!["command".to_owned()];
        let comparison = Comparison { rows: vec![row("make-it", "same", "kept"), fixed], ..Comparison::default() };
        let table = table(&comparison);
        let lines: Vec<String> = table.lines().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(
            lines,
            [
                "  make-it                    kept",
                "  ship     changed: command  runs",
                "1 step kept, 0 steps again, 1 step to run"
            ]
        );
    }
}
