//! Texts that are kept in files and compared with what the code makes today.
//!
//! `UPDATE_SNAPSHOTS=1` writes them again; read what changed before you commit it.

use std::path::Path;

/// Compares a text with a file; the difference in words if there is one.
pub(crate) fn compare(file: &Path, text: &str) -> Option<String> {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        return None;
    }
    match std::fs::read_to_string(file) {
        Ok(kept) if kept == text => None,
        Ok(kept) => Some(format!("{} is different\n{}", file.display(), difference(&kept, text))),
        Err(_) => Some(format!("{} is missing; it would be\n{text}", file.display())),
    }
}

/// The lines that differ, between those that are the same at both ends.
fn difference(kept: &str, made: &str) -> String {
    let (kept, made): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), made.lines().collect());
    let head = kept.iter().zip(&made).take_while(|(a, b)| a == b).count();
    let most = kept.len().min(made.len()) - head;
    let tail = kept.iter().rev().zip(made.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let shown = |sign: char, lines: &[&str]| lines.iter().map(|line| format!("{sign} {line}\n")).collect::<String>();
    let (old, new) = (&kept[head..kept.len() - tail], &made[head..made.len() - tail]);
    format!("from line {}, - kept, + made now:\n{}{}", head + 1, shown('-', old), shown('+', new))
}

#[test]
fn a_difference_shows_only_the_lines_that_differ() {
    assert_eq!(difference("a\nb\nc\n", "a\nx\ny\nc\n"), "from line 2, - kept, + made now:\n- b\n+ x\n+ y\n");
    assert_eq!(difference("a\n", "a\na\n"), "from line 2, - kept, + made now:\n+ a\n");
}
