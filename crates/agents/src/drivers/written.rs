//! Files that a program is pointed at.

use std::path::Path;

use crate::contract::Refusal;
use crate::private;

/// Leaves a file for the program, and says where. One that is there with the same text is left alone.
pub(super) fn file(folder: &Path, name: &str, text: &str) -> Result<String, Refusal> {
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path.to_string_lossy().into_owned());
    }
    let failed = |error| Refusal(format!("cannot write `{}`: {error}; see that the disk has room", path.display()));
    path.parent().map_or(Ok(()), private::create_dir_all).map_err(failed)?;
    // Of two turns that write it at once, each reads it whole.
    private::replace(&path, text.as_bytes()).map_err(failed)?;
    Ok(path.to_string_lossy().into_owned())
}
