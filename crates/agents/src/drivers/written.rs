//! Files that a program is pointed at.

use std::path::Path;

use crate::contract::Refusal;

/// Leaves a file for the program, and says where. One that is there with the same text is left alone.
pub(super) fn file(folder: &Path, name: &str, text: &str) -> Result<String, Refusal> {
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path.to_string_lossy().into_owned());
    }
    let failed = |error| Refusal(format!("can not write `{}`: {error}; see that the disk has room", path.display()));
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    // By another name first: of two turns that write it at once, each reads it whole.
    let passing = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&passing, text).map_err(failed)?;
    std::fs::rename(&passing, &path).map_err(failed)?;
    Ok(path.to_string_lossy().into_owned())
}
