//! `list`: what is in a folder, or which files fit a pattern.

use std::fs;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use serde::Deserialize;

use super::Tool;
use crate::serve::workspace::Workspace;

const ENTRIES_MAX: usize = 500;

pub(super) const TOOL: Tool = Tool {
    name: "list",
    aliases: &["ls", "glob", "find"],
    about: "List a folder, or with `glob` all files below it that fit. Files that git ignores are left out of a search.",
    parameters: &[
        ("path?", "string", "The folder, relative to the workspace; the workspace itself if it is left out."),
        ("glob?", "string", "A pattern such as `**/*.rs`, relative to the folder."),
    ],
    is_harmless: true,
};

#[derive(Deserialize)]
pub(super) struct Input {
    path: Option<String>,
    glob: Option<String>,
}

pub(super) fn list(workspace: &Workspace, input: &Input) -> Result<String, String> {
    let path = input.path.as_deref().unwrap_or(".");
    let folder = workspace.existing(path)?;
    let mut names = match &input.glob {
        Some(pattern) => fitting(&folder, &glob(pattern)?),
        None => inside(&folder).map_err(|error| format!("`{path}` cannot be listed: {error}"))?,
    };
    names.sort();
    let count = names.len();
    if count == 0 {
        return Ok("(nothing)".to_owned());
    }
    names.truncate(ENTRIES_MAX);
    if count > ENTRIES_MAX {
        names.push(format!("({} more; look closer)", count - ENTRIES_MAX));
    }
    Ok(names.join("\n"))
}

fn inside(folder: &Path) -> std::io::Result<Vec<String>> {
    let named = |entry: fs::DirEntry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        format!("{}{}", entry.file_name().to_string_lossy(), if is_folder { "/" } else { "" })
    };
    Ok(fs::read_dir(folder)?.flatten().map(named).collect())
}

fn fitting(folder: &Path, glob: &GlobMatcher) -> Vec<String> {
    let below = files(folder).filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_owned()));
    below.filter(|path| glob.is_match(path)).map(|path| path.display().to_string()).collect()
}

/// A pattern in which `*` stays within a folder.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern.trim_start_matches("./")).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("the glob does not fit: {error}"))
}

/// Every file below a folder that is worth a look. Links are not followed.
pub(super) fn files(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let walk =
        WalkBuilder::new(folder).hidden(false).require_git(false).filter_entry(|it| it.file_name() != ".git").build();
    walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file())).map(ignore::DirEntry::into_path)
}
