//! Writes files that a program reads.

use std::path::Path;

use crate::contract::UnsupportedTurn;
use crate::private;

/// Writes a file for the program, and returns its path. A file with the same text stays unchanged.
pub(super) fn file(folder: &Path, name: &str, text: &str) -> Result<String, UnsupportedTurn> {
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path.to_string_lossy().into_owned());
    }
    let failed =
        |error| UnsupportedTurn(format!("cannot write `{}`: {error}; see that the disk has room", path.display()));
    path.parent().map_or(Ok(()), private::create_dir_all).map_err(failed)?;
    // If two turns write it at once, each reads a whole file.
    private::replace(&path, text.as_bytes()).map_err(failed)?;
    Ok(path.to_string_lossy().into_owned())
}
