//! The report as Markdown. Text of runs and people becomes no markup.

use super::sections::{Entry, Sections};

pub(super) fn render(report: &Sections) -> String {
    let mut text = format!("# {}\n\n{}\n", plain(&report.title), plain(&report.headline));
    for section in &report.sections {
        text.push_str(&format!("\n## {}\n\n", plain(&section.title)));
        section.entries.iter().for_each(|entry| add(&mut text, entry));
        if section.more > 0 {
            text.push_str(&format!("- and {} more\n", section.more));
        }
    }
    text
}

fn add(text: &mut String, entry: &Entry) {
    text.push_str(&format!("- {}\n", plain(&entry.head)));
    entry.lines.iter().for_each(|line| text.push_str(&format!("  - {}\n", plain(line))));
    if let Some(command) = &entry.command {
        // A command has no backtick: ids and paths cannot contain one.
        text.push_str(&format!("  - `{}`\n", command.replace('`', "'")));
    }
}

/// Escapes every character that Markdown could read.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '$' => plain.extend(['\\', c]),
            // Without `://` and `@`, no reader makes a link of it.
            _ => plain.push(c),
        }
    }
    plain.replace("://", ":\\/\\/").replace("www.", "www\\.")
}
