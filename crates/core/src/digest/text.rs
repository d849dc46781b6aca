//! The report for a terminal and for messages.

use super::sections::{Entry, Sections};

pub(super) fn render(report: &Sections) -> String {
    let mut text = format!("{}\n{}\n", report.title, report.headline);
    for section in &report.sections {
        text.push_str(&format!("\n{}\n", section.title));
        section.entries.iter().for_each(|entry| add(&mut text, entry));
        if section.more > 0 {
            text.push_str(&format!("  and {} more\n", section.more));
        }
    }
    text
}

fn add(text: &mut String, entry: &Entry) {
    text.push_str(&format!("  {}\n", entry.head));
    for line in entry.lines.iter().chain(&entry.command) {
        text.push_str(&format!("      {line}\n"));
    }
}
