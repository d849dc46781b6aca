//! A change of a file: shown as a difference first, made with what was there kept beside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use similar::TextDiff;

use crate::ui;

/// What is to become of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) file: PathBuf,
    /// Nothing if it is to be made.
    #[serde(skip)]
    pub(crate) before: Option<String>,
    /// Nothing if it is to go.
    #[serde(skip)]
    pub(crate) after: Option<String>,
    pub(crate) what: What,
}

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Create,
    Edit,
    Delete,
}

impl Change {
    pub(crate) fn new(file: PathBuf, before: Option<String>, after: Option<String>) -> Self {
        let what = match (&before, &after) {
            (_, None) => What::Delete,
            (None, _) => What::Create,
            (Some(_), Some(_)) => What::Edit,
        };
        Self { file, before, after, what }
    }

    /// As people read changes.
    pub(crate) fn diff(&self, shown: &str) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let name = |there: bool| if there { shown } else { "/dev/null" };
        let diff = TextDiff::from_lines(before, after);
        let names = (name(self.before.is_some()), name(self.after.is_some()));
        let text = diff.unified_diff().context_radius(2).header(names.0, names.1).to_string();
        text.lines().map(coloured).collect::<Vec<_>>().join("\n")
    }

    /// Makes it. What is there is kept beside the file, unless an earlier change has kept it already.
    pub(crate) fn make(&self) -> Result<()> {
        let context = || format!("{} cannot be changed", self.file.display());
        let Some(after) = &self.after else { return std::fs::remove_file(&self.file).with_context(context) };
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).with_context(context)?;
        }
        let backup = backup_of(&self.file);
        if let Some(before) = self.before.as_ref().filter(|_| !backup.exists()) {
            std::fs::write(&backup, before).with_context(context)?;
        }
        replace(&self.file, after).with_context(context)
    }
}

fn coloured(line: &str) -> String {
    match line.as_bytes().first() {
        Some(b'+') => ui::good(line),
        Some(b'-') => ui::bad(line),
        Some(b'@') => ui::dim(line),
        _ => line.to_owned(),
    }
}

/// Where what was there before is kept.
pub(crate) fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".longhaul.bak");
    file.with_file_name(name)
}

/// Wholly or not at all: an editor may be reading it. A link stays a link.
fn replace(file: &Path, text: &str) -> Result<()> {
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".longhaul.new");
    let new = file.with_file_name(name);
    let mut to = std::fs::File::create(&new)?;
    to.write_all(text.as_bytes())?;
    if let Ok(meta) = std::fs::metadata(&file) {
        to.set_permissions(meta.permissions())?;
    }
    to.sync_all()?;
    Ok(std::fs::rename(&new, &file)?)
}
