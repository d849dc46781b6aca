//! Gives the checker access to the disk: files, other workflows, and the names that a project defines.
//!
//! **Invariant:** it only reads, and only on demand. Files of a workflow stay inside its folder.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use indexmap::IndexMap;
use longhaul_agents::contract::Abilities;
use longhaul_agents::drivers;
use longhaul_config::Profile;
use longhaul_core::catalog::names;
use longhaul_lang::source::FILE_BYTES_MAX;
use longhaul_lang::world::{Able, Described, FoundWorkflow, NameKind, Player, Unavailable, World};
use longhaul_lang::{CheckReport, CheckRequest};

use crate::builtin;
use crate::cards;
use crate::library::{self, Library, WorkflowEntry, WorkflowOrigin};
use crate::place;
use crate::project::Project;
use crate::registry::{ReadRegistry, RegistryReader};
use crate::settings::Settings;

/// A project and its library, read on demand.
pub struct Disk {
    /// The project.
    pub project: Project,
    /// The places of its workflows.
    pub library: Library,
    names: HashMap<NameKind, OnceCell<Vec<String>>>,
    profiles: OnceCell<IndexMap<String, Profile>>,
}

impl Disk {
    /// The environment of a project.
    pub fn new(project: Project) -> Self {
        let kinds = [
            NameKind::Persona,
            NameKind::Profile,
            NameKind::Backend,
            NameKind::Channel,
            NameKind::ToolServer,
            NameKind::Skill,
            NameKind::Workflow,
        ];
        let library = Library::of(&project);
        let names = kinds.into_iter().map(|kind| (kind, OnceCell::new())).collect();
        Self { project, library, names, profiles: OnceCell::new() }
    }

    /// The environment of the current folder, with the registry of its store.
    pub fn current(read: ReadRegistry) -> Result<Self> {
        let project = Project::current()?;
        // An unusable address has no registry. The code that needs the store reports the error.
        let store = place::of(&project, std::env::var("LONGHAUL_STORE").ok().as_deref()).ok();
        Ok(Self::new(project).with_registry(RegistryReader::of(store, read)))
    }

    /// Adds the workflows of a registry.
    #[must_use]
    pub fn with_registry(mut self, shelves: RegistryReader) -> Self {
        self.library = self.library.with_registry(shelves);
        self
    }

    /// Finds a workflow by path or name.
    pub fn find(&self, what: &str) -> Result<WorkflowEntry> {
        let path = Path::new(what);
        if path.is_file() {
            // A script may have the name of a workflow; `./name` always means the file.
            let named = Some(what).filter(|_| library::is_name(path)).and_then(|name| self.library.find(name));
            return Ok(named.unwrap_or_else(|| library::at_path(WorkflowOrigin::Path, path)));
        }
        if let Some(file) = library::file_in(path) {
            return Ok(library::at_path(WorkflowOrigin::Path, &file));
        }
        if let Some(entry) = self.library.find(what) {
            return Ok(entry);
        }
        if let Some(beside) = library::named(WorkflowOrigin::Path, Path::new(""), what) {
            bail!("there is no workflow `{what}`, but a file: did you mean `{}`?", beside.file.display());
        }
        let known: Vec<String> = self.library.all().into_iter().map(|entry| entry.name).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        match longhaul_lang::diagnostic::closest(what, &known) {
            Some(best) => bail!("there is no workflow `{what}`; did you mean `{best}`?"),
            None => bail!("there is no workflow `{what}`; `longhaul list` shows what can be found"),
        }
    }

    /// The text of a workflow.
    pub fn text(&self, entry: &WorkflowEntry) -> Result<String> {
        let builtin =
            builtin::WORKFLOWS.iter().find(|(name, _)| entry.origin == WorkflowOrigin::Builtin && *name == entry.name);
        let shelved = || self.library.shelved(&entry.name).filter(|_| entry.origin == WorkflowOrigin::Shelf);
        match builtin.map(|(_, text)| *text).or_else(shelved) {
            Some(text) => Ok(text.to_owned()),
            None => text_of(&entry.file),
        }
    }

    /// Reads and checks a workflow.
    pub fn check(
        &self,
        entry: &WorkflowEntry,
        dialect: Option<longhaul_lang::dialect::Dialect>,
    ) -> Result<CheckReport> {
        let text = match self.text(entry) {
            Ok(text) => text,
            Err(error) => match unreadable(&entry.file) {
                Some(report) => return Ok(report),
                None => return Err(error),
            },
        };
        let request = CheckRequest {
            file: shown(&entry.file),
            name: entry.name.clone(),
            dir: entry.dir.to_string_lossy().into_owned(),
            text,
            dialect,
        };
        Ok(longhaul_lang::check(request, self))
    }

    /// Whether a workflow in a folder may use a file. The file must belong to its own project, to the current one, or
    /// to the user.
    fn may_use(&self, beside: &Path, file: &Path) -> bool {
        let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
        let own = beside.canonicalize().map(|folder| Project::around(&folder).root).ok();
        let roots = [own, Some(self.project.root.clone()), self.project.user.clone()];
        let mut roots = roots.into_iter().flatten().filter_map(|root| root.canonicalize().ok());
        file.canonicalize().is_ok_and(|file| roots.any(|root| file.starts_with(root)))
    }

    /// The agent profiles of the settings; empty if the settings have errors.
    fn profiles(&self) -> &IndexMap<String, Profile> {
        let read = || Settings::of(&self.project).map(|settings| settings.backends.profiles).unwrap_or_default();
        self.profiles.get_or_init(read)
    }

    fn collect(&self, kind: NameKind) -> Vec<String> {
        let shipped = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut names = match kind {
            NameKind::Persona | NameKind::Skill => {
                cards::all(&self.project, kind).into_iter().map(|card| card.name).collect()
            }
            NameKind::Profile => self.project.configured("agents"),
            NameKind::Backend => [shipped(names::BACKENDS), self.project.configured("backends")].concat(),
            NameKind::Channel => [shipped(names::CHANNELS), self.project.configured("channels")].concat(),
            NameKind::ToolServer => {
                [shipped(names::TOOL_SERVERS), self.project.configured("mcp.servers"), self.project.mcp_servers()]
                    .concat()
            }
            NameKind::Workflow => self.library.all().into_iter().map(|entry| entry.name).collect(),
        };
        names.sort();
        names.dedup();
        names
    }
}

impl World for Disk {
    fn read(&self, dir: &str, path: &str) -> Result<String, Unavailable> {
        read_text(&inside(dir, path)?)
    }

    fn exists(&self, dir: &str, path: &str) -> Result<(), Unavailable> {
        inside(dir, path).map(|_| ())
    }

    fn workflow(&self, dir: &str, name: &str) -> Result<FoundWorkflow, Unavailable> {
        let beside = Path::new(dir);
        let is_path =
            name.contains('/') || Path::new(name).extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let entry = if is_path {
            let file = beside.join(name);
            if file.is_file() && !self.may_use(beside, &file) {
                return Err(Unavailable::Outside);
            }
            file.is_file().then(|| library::at_path(WorkflowOrigin::Path, &file))
        } else {
            let around = [beside.to_owned(), beside.join("..")];
            let near = around.iter().find_map(|folder| library::named(WorkflowOrigin::Path, folder, name));
            near.filter(|entry| self.may_use(beside, &entry.file)).or_else(|| self.library.find(name))
        };
        let entry = entry.ok_or(Unavailable::NotFound)?;
        let text = self.text(&entry).map_err(|error| Unavailable::Unreadable(format!("{error:#}")))?;
        Ok(FoundWorkflow { name: shown(&entry.file), dir: entry.dir.to_string_lossy().into_owned(), text })
    }

    fn names(&self, kind: NameKind) -> &[String] {
        self.names.get(&kind).map_or(&[], |cell| cell.get_or_init(|| self.collect(kind)))
    }

    fn described(&self, kind: NameKind, name: &str) -> Option<Described> {
        cards::find(&self.project, kind, name)?.described()
    }

    fn own_persona(&self, name: &str) -> Option<Described> {
        cards::own(&self.project, name)?.described()
    }

    fn player(&self, role: &str) -> Option<Player> {
        let card = cards::player(&self.project, role)?;
        let file = shown(card.file.strip_prefix(&self.project.root).unwrap_or(&card.file));
        Some(Player { file, described: card.described()? })
    }

    fn able(&self, agent: &str) -> Option<Able> {
        let backend = self.profiles().get(agent).and_then(|profile| profile.backend.as_deref());
        let can = drivers::by_name(backend.unwrap_or(agent))?.abilities();
        let Abilities { tools, read_only, mcp, mcp_only, .. } = can;
        Some(Able { tools, read_only, mcp, mcp_only })
    }
}

/// A path as people write it: without a leading `./`.
pub fn shown(path: &Path) -> String {
    path.strip_prefix("./").unwrap_or(path).display().to_string()
}

/// The path of a file that must be inside a folder.
fn inside(dir: &str, path: &str) -> Result<PathBuf, Unavailable> {
    let dir = if dir.is_empty() { Path::new(".") } else { Path::new(dir) };
    let file = dir.join(path);
    let real = file.canonicalize().map_err(|error| missing(&error))?;
    let root = dir.canonicalize().map_err(|error| missing(&error))?;
    if !real.starts_with(root) {
        return Err(Unavailable::Outside);
    }
    if real.is_file() { Ok(file) } else { Err(Unavailable::NotFound) }
}

fn missing(error: &std::io::Error) -> Unavailable {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Unavailable::NotFound,
        _ => Unavailable::Unreadable(error.to_string()),
    }
}

/// The text of a file, or an error.
pub fn text_of(path: &Path) -> Result<String> {
    read_text(path).map_err(|why| anyhow::anyhow!("{}: {}", path.display(), in_words(&why)))
}

/// The text of a file, up to the largest size of a workflow.
fn read_text(path: &Path) -> Result<String, Unavailable> {
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes).map_err(|_| Unavailable::NotText)
}

/// The text of a file, or nothing if it is missing or unreadable.
pub fn text_if_any(path: &Path) -> String {
    read_text(path).unwrap_or_default()
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Unavailable> {
    // Opening a pipe would wait for a writer.
    let about = std::fs::metadata(path).map_err(|error| missing(&error))?;
    if !about.is_file() {
        return Err(Unavailable::Unreadable("it is not a regular file".to_owned()));
    }
    if about.len() > FILE_BYTES_MAX as u64 {
        return Err(Unavailable::TooLarge);
    }
    let file = File::open(path).map_err(|error| missing(&error))?;
    let mut bytes = Vec::new();
    let limit = FILE_BYTES_MAX as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| missing(&error))?;
    if bytes.len() > FILE_BYTES_MAX { Err(Unavailable::TooLarge) } else { Ok(bytes) }
}

/// A report on a file whose content is not readable text.
fn unreadable(path: &Path) -> Option<CheckReport> {
    match read_bytes(path) {
        Err(Unavailable::TooLarge) => Some(longhaul_lang::too_large(shown(path))),
        Ok(bytes) => {
            let error = std::str::from_utf8(&bytes).err()?;
            Some(longhaul_lang::not_utf8(shown(path), &String::from_utf8_lossy(&bytes), error.valid_up_to()))
        }
        Err(_) => None,
    }
}

fn in_words(why: &Unavailable) -> String {
    match why {
        Unavailable::NotFound => "no such file".to_owned(),
        Unavailable::Outside => "outside the workflow's folder".to_owned(),
        Unavailable::TooLarge => "larger than 4 MiB".to_owned(),
        Unavailable::NotText => "not UTF-8 text".to_owned(),
        Unavailable::Unreadable(error) => error.clone(),
    }
}

/// Reads a workflow from standard input.
pub fn from_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(FILE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    String::from_utf8(bytes).context("standard input is not UTF-8 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_of_the_settings_can_do_is_what_its_driver_can() {
        let folder = tempfile::tempdir().unwrap();
        let user = folder.path().join("user");
        std::fs::create_dir_all(&user).unwrap();
        let settings = "[agents.editor]\nbackend = 'acp'\nprogram = 'x'\n[agents.local]\nbackend = 'openai'\n[agents.odd]\nbackend = 'no'\n";
        std::fs::write(user.join("config.toml"), settings).unwrap();
        let disk = Disk::new(Project { root: folder.path().to_owned(), user: Some(user) });
        assert_eq!(disk.able("editor"), Some(Able { tools: false, read_only: false, mcp: true, mcp_only: false }));
        assert_eq!(disk.able("local"), Some(Able { tools: true, read_only: true, mcp: false, mcp_only: false }));
        assert_eq!(disk.able("codex"), Some(Able { tools: false, read_only: true, mcp: true, mcp_only: false }));
        assert_eq!((disk.able("odd"), disk.able("nobody")), (None, None));
    }
}
