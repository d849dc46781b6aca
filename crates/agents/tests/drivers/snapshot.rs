//! Texts that are kept in files and compared with what the code makes today.
//!
//! `UPDATE_SNAPSHOTS=1` writes them again; read what changed before you commit it.

use std::path::Path;

/// Compares a text with a file; both if they differ.
pub(crate) fn compare(file: &Path, text: &str) -> Option<String> {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        return None;
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    (kept != text).then(|| format!("{} is different\n--- kept\n{kept}\n--- made now\n{text}", file.display()))
}
