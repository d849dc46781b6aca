//! Asks the person at the terminal for a yes or a no.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::Result;

/// Whether a person at the terminal could answer.
pub(crate) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question. An empty line means the usual answer; the end of the input means no.
pub(crate) fn agrees(question: &str, usual: bool) -> Result<bool> {
    let mut err = std::io::stderr().lock();
    write!(err, "{question} {} ", if usual { "[Y/n]" } else { "[y/N]" })?;
    err.flush()?;
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(false);
    }
    Ok(meant(&line, usual))
}

fn meant(line: &str, usual: bool) -> bool {
    match line.trim().to_lowercase().as_str() {
        "" => usual,
        word => matches!(word, "y" | "yes"),
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(meant("y\n", false) && meant(" YES ", false) && meant("\n", true));
        assert!(!meant("\n", false) && !meant("n", true) && !meant("yep", true));
    }
}
