//! What a workspace says about agents: settings, hooks, servers. It takes no effect unless a person has trusted exactly that.
//!
//! **Invariant:** the decision is about a folder and its content: the files that say what is run, and the scripts in the workspace that
//! they name. A file that changes, comes or goes makes another content; the same content elsewhere is another folder. What cannot be
//! read whole is not trusted. Scripts that a script loads are not followed.

use std::collections::{BTreeSet, HashSet};
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
const FILES_MAX: usize = 10_000;
const BYTES_MAX: u64 = 64 << 20;
/// Names are looked for in files up to this size.
const NAMING_BYTES_MAX: usize = 1 << 20;

/// Deeper paths are looked at from their beginning alone.
const DEPTH_MAX: usize = 32;

/// Programs that run what a file says which nobody names.
const IMPLIED: &[(&[&str], &str)] = &[
    (&["npm", "npx", "pnpm", "yarn", "bun", "bunx"], "package.json"),
    (&["make"], "Makefile"),
    (&["just"], "justfile"),
    (&["uv", "uvx"], "pyproject.toml"),
];
/// What is run of a folder that is named in the place of a file.
const ENTRIES: &[&str] = &["__main__.py", "index.js", "index.mjs", "package.json"];

/// What a workspace tells agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The files that say it, and those that they name.
    pub files: Vec<PathBuf>,
    /// The hash of the folder, the names of the files and what is in them.
    pub hash: String,
}

/// What a workspace tells agents; `None` if that is nothing, and why not if it cannot be read whole.
pub fn told(workspace: &Path) -> Result<Option<Told>, String> {
    told_as(workspace, workspace)
}

/// Whether what a workspace says now is among what people have trusted.
pub fn is_trusted(workspace: &Path, trusted: &HashSet<String>) -> bool {
    matches!(told(workspace), Ok(Some(told)) if trusted.contains(&told.hash))
}

/// What a workspace tells that stands for another folder, as the files of a run do that were made again elsewhere.
pub(crate) fn told_as(workspace: &Path, folder: &Path) -> Result<Option<Told>, String> {
    let said = files(workspace)?;
    if said.is_empty() {
        return Ok(None);
    }
    let mut room = BYTES_MAX;
    let mut contents = read(said, &mut room)?;
    let seen: BTreeSet<PathBuf> = contents.iter().map(|(file, _)| file.clone()).collect();
    let mut scripts = BTreeSet::new();
    for (file, content) in &contents {
        scripts.extend(named(workspace, file, content)?);
    }
    contents.extend(read(scripts.into_iter().filter(|file| !seen.contains(file)), &mut room)?);
    if contents.len() > FILES_MAX {
        return Err(too_many());
    }
    let hash = hash(workspace, folder, &contents);
    Ok(Some(Told { files: contents.into_iter().map(|(file, _)| file).collect(), hash }))
}

fn too_many() -> String {
    format!(
        "it says more than {FILES_MAX} files or {} MiB to agents, too much for anybody to have looked at, so nothing of it is trusted; \
         remove what is not needed from {}",
        BYTES_MAX >> 20,
        FILES.join(", ")
    )
}

/// The files that say what is run. Links are followed: what they lead to is what an agent reads.
fn files(workspace: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for name in FILES.iter().filter(|name| workspace.join(name).symlink_metadata().is_ok()) {
        for entry in walkdir::WalkDir::new(workspace.join(name)).follow_links(true).sort_by_file_name() {
            let entry =
                entry.map_err(|error| format!("it cannot be read whole ({error}), so nothing of it is trusted"))?;
            if !entry.file_type().is_dir() {
                files.push(entry.into_path());
            }
            if files.len() > FILES_MAX {
                return Err(too_many());
            }
        }
    }
    Ok(files)
}

/// What is in files. One that is no plain file has nothing in it.
fn read(files: impl IntoIterator<Item = PathBuf>, room: &mut u64) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut contents = Vec::new();
    for file in files {
        let bytes = file.metadata().map_or(0, |about| if about.is_file() { about.len() } else { 0 });
        *room = room.checked_sub(bytes).ok_or_else(too_many)?;
        let content = if bytes == 0 { Ok(Vec::new()) } else { std::fs::read(&file) };
        let unread = |error| format!("{} cannot be read ({error}), so nothing of it is trusted", file.display());
        contents.push((file.clone(), content.map_err(unread)?));
    }
    Ok(contents)
}

fn hash(workspace: &Path, folder: &Path, contents: &[(PathBuf, Vec<u8>)]) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut hash = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    add(folder.as_os_str().as_encoded_bytes());
    for (file, content) in contents {
        add(file.strip_prefix(workspace).unwrap_or(file).as_os_str().as_encoded_bytes());
        add(content);
    }
    hash.finalize().to_hex().to_string()
}

/// The files of a workspace that a text names: whatever in it is the path of one.
fn named(workspace: &Path, file: &Path, content: &[u8]) -> Result<BTreeSet<PathBuf>, String> {
    // What is installed there is part of the content, and names only itself.
    let is_installed = file.components().any(|part| part.as_os_str() == "node_modules");
    let Some(text) = std::str::from_utf8(content).ok().filter(|_| !is_installed) else { return Ok(BTreeSet::new()) };
    if text.len() > NAMING_BYTES_MAX {
        return Err(format!("{} is too large to look for scripts in, so nothing of it is trusted", file.display()));
    }
    let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let words = words(text);
    let implied = IMPLIED.iter().filter(|(programs, _)| programs.iter().any(|program| words.contains(*program)));
    let folders = [workspace, file.parent().unwrap_or(workspace)];
    let paths = words.iter().flat_map(|word| folders.map(|folder| folder.join(word)));
    let found = paths.flat_map(|path| run_at(&root, &path)).chain(implied.map(|(_, file)| workspace.join(file)));
    Ok(found.filter(|file| file.is_file() && file.canonicalize().is_ok_and(|file| file.starts_with(&root))).collect())
}

/// What is run where a path is named: the file, something in the folder, or a module.
fn run_at(root: &Path, path: &Path) -> Vec<PathBuf> {
    match path.metadata() {
        Ok(about) if about.is_file() => vec![path.to_owned()],
        Ok(_) if path.canonicalize().is_ok_and(|path| path == root) => Vec::new(),
        Ok(_) => ENTRIES.iter().map(|entry| path.join(entry)).collect(),
        Err(_) => {
            let module = path.file_name().and_then(|name| name.to_str()).map(|name| name.replace('.', "/"));
            let files = module.into_iter().flat_map(|name| [format!("{name}.py"), format!("{name}/__main__.py")]);
            files.map(|file| path.with_file_name(file)).collect()
        }
    }
}

/// Everything in a text that could be a path, however it is written.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    split(text, &mut words);
    split(&unescaped(text), &mut words);
    words
}

/// A text with the signs in it that JSON and TOML write as numbers.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let digits = match after.as_bytes().first() {
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b'x') => 2,
            _ => 0,
        };
        let number = after.get(1..=digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match number.and_then(char::from_u32) {
            Some(sign) => plain.push(sign),
            None => plain.extend(after.chars().next()),
        }
        let taken = if number.is_some() { 1 + digits } else { after.chars().next().map_or(0, char::len_utf8) };
        rest = after.get(taken..).unwrap_or_default();
    }
    plain + rest
}

fn split(text: &str, words: &mut BTreeSet<String>) {
    let ends = |sign: char| sign.is_whitespace() || "\"'`,:=[]{}()<>;|&$\\".contains(sign);
    // A path with spaces stands between quotes.
    let found = text.split(ends).chain(text.split(['"', '\''])).filter(|word| is_path(word));
    for word in found {
        words.insert(word.trim_start_matches('/').to_owned());
        // What comes before may be a variable, or where the workspace is.
        words.extend(
            word.match_indices('/').take(DEPTH_MAX).map(|(at, _)| word[at..].trim_start_matches('/').to_owned()),
        );
    }
}

fn is_path(word: &str) -> bool {
    (1..=1024).contains(&word.len()) && !word.contains(['\n', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }

    fn hash_of(root: &Path) -> Option<String> {
        told(root).unwrap().map(|told| told.hash)
    }

    #[test]
    fn any_change_of_what_is_told_is_another_content() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(hash_of(root), None);
        write(root, ".claude/settings.json", "{}");
        let first = hash_of(root);
        assert!(first.is_some());
        write(root, "README.md", "hello");
        assert_eq!(hash_of(root), first);
        write(root, ".claude/hooks/x.sh", "true");
        let second = hash_of(root);
        assert_ne!(second, first);
        std::fs::rename(root.join(".claude/hooks/x.sh"), root.join(".claude/hooks/y.sh")).unwrap();
        assert_ne!(hash_of(root), second);
        std::fs::remove_file(root.join(".claude/hooks/y.sh")).unwrap();
        assert_eq!(hash_of(root), first);
    }

    #[test]
    fn the_same_content_elsewhere_is_not_the_same() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for root in [one.path(), other.path()] {
            write(root, ".mcp.json", "{}");
        }
        assert_ne!(hash_of(one.path()), hash_of(other.path()));
        assert_eq!(told_as(other.path(), one.path()).unwrap().unwrap().hash, hash_of(one.path()).unwrap());
    }

    #[test]
    fn scripts_that_the_content_names_are_part_of_it() {
        for (file, text, script) in [
            (
                ".mcp.json",
                r#"{"mcpServers": {"x": {"command": "python3", "args": ["tools/server.py"]}}}"#,
                "tools/server.py",
            ),
            (
                ".mcp.json",
                r#"{"mcpServers": {"x": {"command": "sh", "args": ["-c", "cd . && ./my-run.sh"]}}}"#,
                "my-run.sh",
            ),
            (
                ".mcp.json",
                r#"{"mcpServers": {"x": {"command": "python3", "args": ["t\u006fols/server.py"]}}}"#,
                "tools/server.py",
            ),
            (
                ".mcp.json",
                r#"{"mcpServers": {"x": {"command": "python3", "args": ["-m", "tools.server"]}}}"#,
                "tools/server.py",
            ),
            (".mcp.json", r#"{"mcpServers": {"x": {"command": "node", "args": ["my tools/x.js"]}}}"#, "my tools/x.js"),
            (".mcp.json", r#"{"mcpServers": {"x": {"command": "node", "args": ["tools"]}}}"#, "tools/index.js"),
            (".mcp.json", r#"{"mcpServers": {"x": {"command": "npm", "args": ["start"]}}}"#, "package.json"),
            (
                ".claude/settings.json",
                r#"{"hooks": [{"command": "$CLAUDE_PROJECT_DIR/ci/hook.sh --now"}]}"#,
                "ci/hook.sh",
            ),
            (".longhaul/config.toml", "[channels.x]\nkind = 'command'\ncommand = ['./page.sh']", "page.sh"),
            (
                ".longhaul/config.toml",
                r#"[agents.x]
program = "\u002e\U0000002Fevil""#,
                "evil",
            ),
            (".longhaul/config.toml", "[agents.x]\nprogram = 'agent'", ".longhaul/agent"),
            (".claude/hooks/x.sh", "exec ./other.sh", "other.sh"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), file, text);
            write(folder.path(), script, "good");
            let before = told(folder.path()).unwrap().unwrap();
            assert!(before.files.contains(&folder.path().join(script)) || before.files.len() > 1, "{text}: {before:?}");
            write(folder.path(), script, "evil");
            assert_ne!(hash_of(folder.path()), Some(before.hash), "{text}");
        }
    }

    #[test]
    fn what_is_outside_of_the_workspace_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "other.sh", "x");
        let root = folder.path().join("root");
        write(&root, ".mcp.json", r#"{"a": ["../other.sh", "/etc/passwd", ".", "..", "/"]}"#);
        assert_eq!(told(&root).unwrap().unwrap().files, [root.join(".mcp.json")]);
    }

    #[test]
    fn what_a_link_leads_to_is_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        write(folder.path(), "elsewhere/x.sh", "good");
        write(&root, ".claude/hooks/a.sh", "true");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), root.join(".claude/hooks/more")).unwrap();
        let before = hash_of(&root);
        write(folder.path(), "elsewhere/x.sh", "evil");
        assert_ne!(hash_of(&root), before);
    }

    #[test]
    fn too_much_is_refused_and_not_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join(".claude/hooks")).unwrap();
        for number in 0..=FILES_MAX {
            std::fs::File::create(root.join(format!(".claude/hooks/{number}"))).unwrap();
        }
        assert!(told(root).unwrap_err().contains("more than 10000 files"));
        let large = tempfile::tempdir().unwrap();
        write(large.path(), ".mcp.json", "{}");
        std::fs::File::options()
            .write(true)
            .open(large.path().join(".mcp.json"))
            .unwrap()
            .set_len(BYTES_MAX + 1)
            .unwrap();
        assert!(told(large.path()).unwrap_err().contains("64 MiB"));
    }
}
