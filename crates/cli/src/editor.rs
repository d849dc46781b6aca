//! Lets a person edit a text in their editor.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The text after editing; `None` if it is as before.
pub(crate) fn edit(text: &str, file: Option<&str>) -> Result<Option<String>> {
    let extension = file.and_then(|file| Path::new(file).extension()?.to_str().map(str::to_owned));
    let suffix = format!(".{}", extension.as_deref().unwrap_or("yaml"));
    let mut kept = tempfile::Builder::new().prefix("longhaul-").suffix(&suffix).tempfile()?;
    kept.write_all(text.as_bytes())?;
    kept.flush()?;
    run(&chosen()?, kept.path())?;
    let now = std::fs::read_to_string(kept.path()).context("the edited text cannot be read")?;
    Ok(Some(now).filter(|now| now != text))
}

/// The editor of the environment: a command, perhaps with arguments.
fn chosen() -> Result<String> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    match named.into_iter().find(|editor| !editor.trim().is_empty()) {
        Some(editor) => Ok(editor),
        None => bail!("no editor is set; set EDITOR, or use: longhaul retry RUN --with FILE"),
    }
}

/// As other programs do it: a shell splits the command, so it may have arguments.
fn run(editor: &str, file: &Path) -> Result<()> {
    let status = Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file).status();
    let status = status.with_context(|| format!("the editor `{editor}` cannot be started"))?;
    if !status.success() {
        bail!("the editor `{editor}` ended with an error; nothing was done");
    }
    Ok(())
}
