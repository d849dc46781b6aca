//! What a workspace says about agents: settings, hooks, servers. It takes no effect unless a person has trusted exactly that.
//!
//! **Invariant:** the decision is about content. A file that changes, comes or goes makes another content.

use std::path::{Path, PathBuf};

/// Files by which a workspace can tell agents what to run. A folder counts with everything in it.
const FILES: &[&str] = &[
    ".longhaul/config.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks",
    ".codex/hooks.json",
    ".copilot/config.json",
    ".github/copilot/settings.json",
    ".github/hooks",
    ".vscode/mcp.json",
    ".gemini/settings.json",
    ".gemini/extensions",
    "opencode.json",
    "opencode.jsonc",
    ".opencode",
];
/// A workspace that says more than this says too much to be read before a turn.
const FILES_MAX: usize = 1000;

/// The files of a workspace that tell agents what to run.
pub fn told_files(workspace: &Path) -> Vec<PathBuf> {
    let walk = |name: &str| walkdir::WalkDir::new(workspace.join(name)).sort_by_file_name();
    let entries = FILES.iter().flat_map(|name| walk(name)).filter_map(Result::ok);
    entries.filter(|entry| !entry.file_type().is_dir()).map(|entry| entry.into_path()).take(FILES_MAX).collect()
}

/// The hash of what a workspace tells agents; `None` if it tells nothing.
pub fn told_hash(workspace: &Path) -> Option<String> {
    let files = told_files(workspace);
    let mut hash = blake3::Hasher::new();
    for file in &files {
        let name = file.strip_prefix(workspace).unwrap_or(file).to_string_lossy();
        let content = std::fs::read(file).unwrap_or_default();
        hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hash.update(&(content.len() as u64).to_le_bytes()).update(&content);
    }
    (!files.is_empty()).then(|| hash.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_what_is_told_is_another_content() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(told_hash(root), None);
        std::fs::create_dir_all(root.join(".claude/hooks")).unwrap();
        std::fs::write(root.join(".claude/settings.json"), "{}").unwrap();
        let first = told_hash(root);
        assert!(first.is_some());
        std::fs::write(root.join("README.md"), "hello").unwrap();
        assert_eq!(told_hash(root), first);
        std::fs::write(root.join(".claude/hooks/x.sh"), "true").unwrap();
        let second = told_hash(root);
        assert_ne!(second, first);
        std::fs::rename(root.join(".claude/hooks/x.sh"), root.join(".claude/hooks/y.sh")).unwrap();
        assert_ne!(told_hash(root), second);
        std::fs::remove_file(root.join(".claude/hooks/y.sh")).unwrap();
        assert_eq!(told_hash(root), first);
    }
}
