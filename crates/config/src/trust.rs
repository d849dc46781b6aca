//! The files of a workspace that tell agents what to run: settings, hooks, servers. They take effect only if a person
//! trusts exactly this content.
//!
//! **Invariant:** the decision is about a folder and its content: the files that say what to run, and the scripts in
//! the workspace that they name. A changed, new or missing file makes another content. The same content in another
//! folder needs another decision. A folder that cannot be read completely is not trusted. Scripts that a script loads
//! are not followed.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Files by which a workspace can tell agents what to run. A folder counts with all its files.
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
/// The most such files in a workspace. With more, it is not trusted.
const FILES_MAX: usize = 10_000;
const BYTES_MAX: u64 = 64 << 20;
/// The largest file in which names of other files are searched.
const NAMING_BYTES_MAX: usize = 1 << 20;

/// The most parts of a path at which a match may start.
const DEPTH_MAX: usize = 32;

/// Programs that run a file without naming it.
const IMPLIED: &[(&[&str], &str)] = &[
    (&["npm", "npx", "pnpm", "yarn", "bun", "bunx"], "package.json"),
    (&["make"], "Makefile"),
    (&["just"], "justfile"),
    (&["uv", "uvx"], "pyproject.toml"),
];
/// The files that run if a folder is named instead of a file.
const ENTRIES: &[&str] = &["__main__.py", "index.js", "index.mjs", "package.json"];

/// The files of a workspace that tell agents what to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensitiveFiles {
    /// These files, and the files that they name.
    pub files: Vec<PathBuf>,
    /// The hash of the folder, and of the names and contents of the files.
    pub hash: String,
}

/// The files of a workspace that tell agents what to run; `None` if there are none, an error if they cannot be read
/// completely.
pub fn sensitive_files(workspace: &Path) -> Result<Option<SensitiveFiles>, String> {
    sensitive_files_as(workspace, workspace)
}

/// Whether a person has trusted the current content of a workspace.
pub fn is_trusted(workspace: &Path, trusted: &HashSet<String>) -> bool {
    matches!(sensitive_files(workspace), Ok(Some(told)) if trusted.contains(&told.hash))
}

/// The same, for a workspace that stands for another folder, such as the restored files of a run.
pub fn sensitive_files_as(workspace: &Path, folder: &Path) -> Result<Option<SensitiveFiles>, String> {
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
    Ok(Some(SensitiveFiles { files: contents.into_iter().map(|(file, _)| file).collect(), hash }))
}

fn too_many() -> String {
    format!(
        "it has more than {FILES_MAX} files or {} MiB that tell agents what to run, too much for a person to check, so nothing of it is \
         trusted; remove unneeded files from {}",
        BYTES_MAX >> 20,
        FILES.join(", ")
    )
}

/// The files that say what to run. Links are followed, because agents follow them.
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

/// The contents of files. Anything but a plain file counts as empty.
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

/// The files of a workspace that a text names: every word that is the path of one.
fn named(workspace: &Path, file: &Path, content: &[u8]) -> Result<BTreeSet<PathBuf>, String> {
    // Installed packages are part of the content, but are not searched for names.
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

/// The files that run if a path is named: the file, an entry in the folder, or a module.
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

/// All words of a text that could be a path.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    split(text, &mut words);
    split(&unescaped(text), &mut words);
    words
}

/// A text with the escaped characters of JSON and TOML decoded.
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
        // The part before may be a variable, or the path of the workspace.
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
        sensitive_files(root).unwrap().map(|told| told.hash)
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
        assert_eq!(sensitive_files_as(other.path(), one.path()).unwrap().unwrap().hash, hash_of(one.path()).unwrap());
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
            let before = sensitive_files(folder.path()).unwrap().unwrap();
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
        assert_eq!(sensitive_files(&root).unwrap().unwrap().files, [root.join(".mcp.json")]);
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
        assert!(sensitive_files(root).unwrap_err().contains("more than 10000 files"));
        let large = tempfile::tempdir().unwrap();
        write(large.path(), ".mcp.json", "{}");
        std::fs::File::options()
            .write(true)
            .open(large.path().join(".mcp.json"))
            .unwrap()
            .set_len(BYTES_MAX + 1)
            .unwrap();
        assert!(sensitive_files(large.path()).unwrap_err().contains("64 MiB"));
    }
}
