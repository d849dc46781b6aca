//! The project around the current folder, and what its configuration names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etcetera::BaseStrategy;

use crate::{disk, owner};

/// What the root of a project has.
const MARKS: &[&str] = &[".longhaul", ".agents", ".git"];

/// A project: the nearest folder upwards with `.longhaul`, `.agents` or `.git`.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// The user's own `~/.longhaul`, if there is a home.
    pub user: Option<PathBuf>,
}

impl Project {
    /// The project that a folder belongs to; the folder itself if there is none.
    pub fn around(folder: &Path) -> Self {
        let root = folder.ancestors().find(|folder| Self::is_marked(folder)).unwrap_or(folder).to_owned();
        Self { root, user: user() }
    }

    /// The project around the current folder. One of another user is refused.
    pub fn current() -> Result<Self> {
        let folder = std::env::current_dir().context("the current folder cannot be found")?;
        let project = Self::around(&folder);
        owner::verify(&project)?;
        Ok(project)
    }

    /// Whether a folder is the root of a project.
    pub(crate) fn is_marked(folder: &Path) -> bool {
        // The user's own folder does not make the home directory a project.
        let user = user();
        MARKS.iter().map(|mark| folder.join(mark)).any(|path| path.exists() && Some(&path) != user.as_ref())
    }

    /// Names that the configuration defines in a table such as `agents` or `channels`.
    pub fn configured(&self, table: &str) -> Vec<String> {
        let user = self.user.iter().map(|user| user.join("config.toml"));
        let files = std::iter::once(self.root.join(".longhaul/config.toml")).chain(user);
        files.flat_map(|file| names_in_table(&file, table)).collect()
    }

    /// Names of the MCP servers in `.mcp.json`.
    pub fn mcp_servers(&self) -> Vec<String> {
        let text = disk::text_if_any(&self.root.join(".mcp.json"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let servers = value.get("mcpServers").and_then(|servers| servers.as_object());
        servers.map(|servers| servers.keys().cloned().collect()).unwrap_or_default()
    }
}

fn user() -> Option<PathBuf> {
    etcetera::choose_base_strategy().ok().map(|base| base.home_dir().join(".longhaul"))
}

fn names_in_table(file: &Path, table: &str) -> Vec<String> {
    let text = disk::text_if_any(file);
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let root = Some(document.as_item());
    let inner = table.split('.').fold(root, |item, key| item?.as_table_like()?.get(key));
    let entries = inner.and_then(|item| item.as_table_like());
    entries.map(|entries| entries.iter().map(|(name, _)| name.to_owned()).collect()).unwrap_or_default()
}
