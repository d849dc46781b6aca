//! Finds workflows: by path, by name, or all of them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::builtin;
use crate::disk;
use crate::project::Project;
use crate::registry::RegistryReader;

/// The extensions of workflow files, in the order in which they are tried.
const ENDINGS: &[&str] = &["yaml", "yml", "json", "toml"];

/// The place where a workflow was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkflowOrigin {
    /// A path that was given.
    Path,
    /// `.longhaul/workflows` or `.agents/workflows` of the project.
    Project,
    /// The registry of the project's store.
    #[serde(rename = "registry")]
    Shelf,
    /// `~/.longhaul/workflows`.
    User,
    /// The binary.
    Builtin,
}

impl WorkflowOrigin {
    /// The word in lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Project => "project",
            Self::Shelf => "registry",
            Self::User => "user",
            Self::Builtin => "built in",
        }
    }
}

/// A workflow that was found.
#[derive(Debug, Clone)]
pub struct WorkflowEntry {
    /// The name of the workflow.
    pub name: String,
    /// The place where it was found.
    pub origin: WorkflowOrigin,
    /// The file; for a built-in one, the name in diagnostics.
    pub file: PathBuf,
    /// The folder of its prompts and scripts.
    pub dir: PathBuf,
}

impl WorkflowEntry {
    /// Whether it exists only for other built-in workflows. Lists leave it out.
    pub fn is_part(&self) -> bool {
        self.origin == WorkflowOrigin::Builtin && self.name.starts_with("part-")
    }
}

/// All places of workflows; the first match wins.
pub struct Library {
    /// The places of the project, then those of the user.
    places: [Vec<(WorkflowOrigin, PathBuf)>; 2],
    /// The registry, searched between the two.
    shelves: RegistryReader,
}

impl Library {
    /// The places of a project.
    pub fn of(project: &Project) -> Self {
        let own = [".longhaul/workflows", ".agents/workflows"]
            .map(|folder| (WorkflowOrigin::Project, project.root.join(folder)));
        let users = project.user.iter().map(|user| (WorkflowOrigin::User, user.join("workflows")));
        Self { places: [own.to_vec(), users.collect()], shelves: RegistryReader::default() }
    }

    /// Adds the workflows of a registry.
    #[must_use]
    pub fn with_registry(self, shelves: RegistryReader) -> Self {
        Self { shelves, ..self }
    }

    /// The text of a workflow in the registry.
    pub(crate) fn shelved(&self, name: &str) -> Option<&str> {
        self.shelves.find(name).map(|shelved| shelved.text.as_str())
    }

    /// All workflows of all places, including those that an earlier one hides.
    pub fn all(&self) -> Vec<WorkflowEntry> {
        let [own, users] = &self.places;
        let on_disk = |places: &[(WorkflowOrigin, PathBuf)]| {
            places.iter().flat_map(|(origin, folder)| in_folder(*origin, folder)).collect::<Vec<_>>()
        };
        let mut all = on_disk(own);
        all.extend(self.shelves.all().iter().map(|shelved| shelved_entry(&shelved.name)));
        all.extend(on_disk(users));
        all.extend(builtin::WORKFLOWS.iter().map(|(name, _)| builtin_entry(name)));
        all
    }

    /// The first workflow with a name.
    pub fn find(&self, name: &str) -> Option<WorkflowEntry> {
        let [own, users] = &self.places;
        let on_disk = |places: &[(WorkflowOrigin, PathBuf)]| {
            places.iter().find_map(|(origin, folder)| named(*origin, folder, name))
        };
        let shelved = || self.shelves.find(name).map(|shelved| shelved_entry(&shelved.name));
        let builtin =
            || builtin::WORKFLOWS.iter().find(|(known, _)| *known == name).map(|(name, _)| builtin_entry(name));
        on_disk(own).or_else(shelved).or_else(|| on_disk(users)).or_else(builtin)
    }
}

/// The workflow with a name in a folder.
pub fn named(origin: WorkflowOrigin, folder: &Path, name: &str) -> Option<WorkflowEntry> {
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return None;
    }
    let mut files = ENDINGS.iter().map(|ending| folder.join(format!("{name}.{ending}")));
    let file = files.find(|file| file.is_file()).or_else(|| file_in(&folder.join(name)))?;
    Some(at_path(origin, &file))
}

/// Whether a path can be the name of a workflow: it has no folder, and no extension of a workflow file.
pub(crate) fn is_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    path.components().count() == 1
        && path.file_name().is_some_and(|name| name == path.as_os_str())
        && ending.is_none_or(|ending| ending != "md" && !ENDINGS.contains(&ending))
}

/// The file of a workflow that has a folder of its own.
pub fn file_in(folder: &Path) -> Option<PathBuf> {
    ["workflow.yaml", "workflow.yml"].into_iter().map(|file| folder.join(file)).find(|file| file.is_file())
}

/// The workflows of a folder, by name.
pub fn in_folder(origin: WorkflowOrigin, folder: &Path) -> Vec<WorkflowEntry> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = read.filter_map(Result::ok).map(|entry| entry.path()).filter_map(|path| {
        if path.is_dir() {
            return file_in(&path);
        }
        is_workflow_file(&path).then_some(path)
    });
    let mut entries: Vec<WorkflowEntry> = files.map(|file| at_path(origin, &file)).collect();
    entries.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    entries
}

/// Whether a file can be a workflow, by its extension; Markdown only if its front matter says so.
fn is_workflow_file(path: &Path) -> bool {
    // Test files lie beside their workflows.
    if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(".test")) {
        return false;
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md") => {
            let head = disk::text_if_any(path);
            head.starts_with("---")
                && head.lines().skip(1).take_while(|line| *line != "---").any(|line| line.starts_with("workflow_name:"))
        }
        Some(ending) => ENDINGS.contains(&ending),
        None => false,
    }
}

/// The workflow in a file.
pub fn at_path(origin: WorkflowOrigin, file: &Path) -> WorkflowEntry {
    let stem = |path: &Path| path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let dir = file.parent().unwrap_or(Path::new("")).to_owned();
    let own_folder = stem(file) == "workflow" && dir.file_name().is_some();
    let name = if own_folder {
        dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    } else {
        stem(file)
    };
    WorkflowEntry { name, origin, file: file.to_owned(), dir }
}

fn shelved_entry(name: &str) -> WorkflowEntry {
    WorkflowEntry {
        name: name.to_owned(),
        origin: WorkflowOrigin::Shelf,
        file: PathBuf::from(format!("<shelf>/{name}.yaml")),
        // Not a real folder: a workflow of the registry has no files beside it.
        dir: PathBuf::from("<shelf>"),
    }
}

fn builtin_entry(name: &str) -> WorkflowEntry {
    WorkflowEntry {
        name: name.to_owned(),
        origin: WorkflowOrigin::Builtin,
        file: PathBuf::from(format!("<built in>/{name}.yaml")),
        // Not a real folder: a built-in workflow has no files beside it.
        dir: PathBuf::from("<built in>"),
    }
}
