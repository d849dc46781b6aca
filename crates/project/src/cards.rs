//! Finds personas and skills: those of the project, of the user, and the built-in ones.
//!
//! It reads files of other tools as they are: Markdown with front matter, TOML, folders with a `SKILL.md`.
//!
//! **Invariant:** it only reads. Of two files with the same name the first place wins.

use std::path::{Path, PathBuf};

use longhaul_lang::source::{self, Format, Sources};
use longhaul_lang::world::{Described, NameKind, same_name};

use crate::builtin;
use crate::disk;
use crate::library::WorkflowOrigin;
use crate::project::Project;
/// The folders of a project's personas.
const PERSONAS: &[&str] =
    &[".longhaul/personas", ".claude/agents", ".codex/agents", ".agent007/personas", ".agents/personas"];
/// Those of other systems.
const FOREIGN: &[&str] = &[".claude/agents", ".codex/agents", ".agent007/personas"];
/// The folders of a project's skills.
const SKILLS: &[&str] = &[".longhaul/skills", ".claude/skills", ".agents/skills", ".agent007/skills"];

/// A persona or a skill that was found.
#[derive(Debug, Clone)]
pub struct Card {
    /// The name.
    pub name: String,
    /// The place where it was found.
    pub origin: WorkflowOrigin,
    /// The file; for a built-in one, the name that people see.
    pub file: PathBuf,
    /// The text of a built-in one.
    shipped: Option<&'static str>,
}

impl Card {
    /// The text for the agent, and the options in the file; `None` if the file cannot be read.
    pub fn described(&self) -> Option<Described> {
        let text = self.text()?;
        Some(if self.is_toml() { Described::from_toml(&text) } else { Described::from_markdown(&text) })
    }

    /// The description in the file, in one line.
    pub fn description(&self) -> String {
        let text = self.text().unwrap_or_default();
        let mut sources = Sources::default();
        let id = sources.add(self.file.display().to_string(), text);
        let format = if self.is_toml() { Format::Toml } else { Format::Markdown };
        let node = source::read(&sources, id, format, &mut Vec::new());
        let said = node.as_ref().and_then(|node| node.get("description")?.scalar());
        said.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn is_toml(&self) -> bool {
        self.file.extension().is_some_and(|ending| ending == "toml")
    }

    fn text(&self) -> Option<String> {
        self.shipped.map(str::to_owned).or_else(|| disk::text_of(&self.file).ok())
    }
}

/// All personas or skills of all places, including those that an earlier one hides.
pub fn all(project: &Project, kind: NameKind) -> Vec<Card> {
    let places = places(project, kind).into_iter();
    let on_disk = places.flat_map(|(origin, folder)| in_folder(origin, &folder));
    on_disk.chain(shipped(kind)).collect()
}

/// The first persona or skill with a name. Spelling variants match.
pub fn find(project: &Project, kind: NameKind, name: &str) -> Option<Card> {
    all(project, kind).into_iter().find(|card| same_name(&card.name, name))
}

/// The first persona with a name that was written for Longhaul.
pub fn own(project: &Project, name: &str) -> Option<Card> {
    let foreign = |card: &Card| FOREIGN.iter().any(|folder| card.file.starts_with(project.root.join(folder)));
    all(project, NameKind::Persona).into_iter().find(|card| same_name(&card.name, name) && !foreign(card))
}

/// The persona of the project or the user that plays a role. Built-in personas are no players: recipes name them.
pub fn player(project: &Project, role: &str) -> Option<Card> {
    find(project, NameKind::Persona, role).filter(|card| card.origin != WorkflowOrigin::Builtin)
}

fn places(project: &Project, kind: NameKind) -> Vec<(WorkflowOrigin, PathBuf)> {
    let (folders, own) = match kind {
        NameKind::Persona => (PERSONAS, "personas"),
        NameKind::Skill => (SKILLS, "skills"),
        _ => return Vec::new(),
    };
    let project_wide = folders.iter().map(|folder| (WorkflowOrigin::Project, project.root.join(folder)));
    project_wide.chain(project.user.iter().map(|user| (WorkflowOrigin::User, user.join(own)))).collect()
}

fn shipped(kind: NameKind) -> impl Iterator<Item = Card> {
    let cards = match kind {
        NameKind::Persona => builtin::PERSONAS,
        NameKind::Skill => builtin::SKILLS,
        _ => &[],
    };
    cards.iter().map(|(name, text)| Card {
        name: (*name).to_owned(),
        origin: WorkflowOrigin::Builtin,
        file: PathBuf::from(format!("<built in>/{name}.md")),
        shipped: Some(text),
    })
}

/// The personas or skills of a folder: Markdown and TOML files, and folders with a `SKILL.md`, by name.
fn in_folder(origin: WorkflowOrigin, folder: &Path) -> Vec<Card> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut cards: Vec<Card> = read.filter_map(Result::ok).filter_map(|entry| card(origin, &entry.path())).collect();
    cards.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    cards
}

fn card(origin: WorkflowOrigin, path: &Path) -> Option<Card> {
    let file = if path.is_dir() { path.join("SKILL.md") } else { path.to_owned() };
    let ending = file.extension().and_then(|ending| ending.to_str());
    if !file.is_file() || !matches!(ending, Some("md" | "toml")) {
        return None;
    }
    Some(Card { name: path.file_stem()?.to_string_lossy().into_owned(), origin, file, shipped: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write(".claude/agents/engineer.md", "---\nname: engineer\ndescription: >\n  Ours\n  alone\n---\nYou build.\n");
        write(".codex/agents/checker.toml", "description = 'Looks'\ndeveloper_instructions = 'You look.'\n");
        write(".claude/skills/release/SKILL.md", "---\ndescription: How we release\n---\nTag it.\n");
        write(".claude/skills/empty/notes.txt", "nothing");
        write("user/personas/engineer.md", "You are the user's.\n");
        let project = Project { root: folder.path().to_owned(), user: Some(folder.path().join("user")) };
        (folder, project)
    }

    #[test]
    fn files_of_other_tools_are_read_as_they_are() {
        let (_folder, project) = project();
        let engineer = find(&project, NameKind::Persona, "Engineer").unwrap();
        assert_eq!((engineer.origin, engineer.description().as_str()), (WorkflowOrigin::Project, "Ours alone"));
        assert_eq!(engineer.described().unwrap().text, "You build.");
        let checker = find(&project, NameKind::Persona, "checker").unwrap();
        assert_eq!(
            (checker.description().as_str(), checker.described().unwrap().text.as_str()),
            ("Looks", "You look.")
        );
        let own = |card: &Card| card.origin == WorkflowOrigin::Project;
        let skills = all(&project, NameKind::Skill).into_iter().filter(own);
        assert_eq!(skills.map(|card| card.name).collect::<Vec<_>>(), ["release"]);
        assert_eq!(find(&project, NameKind::Skill, "release").unwrap().description(), "How we release");
    }

    #[test]
    fn a_file_of_the_project_plays_a_role_and_a_built_in_persona_does_not() {
        let (_folder, project) = project();
        assert_eq!(player(&project, "checker").unwrap().described().unwrap().text, "You look.");
        assert!(player(&project, "code-reviewer").is_none());
        assert!(player(&project, "nobody").is_none());
        assert_eq!(own(&project, "engineer").unwrap().origin, WorkflowOrigin::User);
    }

    #[test]
    fn the_project_hides_the_user_who_hides_what_is_built_in() {
        let (_folder, project) = project();
        let places: Vec<WorkflowOrigin> = all(&project, NameKind::Persona)
            .into_iter()
            .filter(|card| card.name == "engineer")
            .map(|card| card.origin)
            .collect();
        assert_eq!(places, [WorkflowOrigin::Project, WorkflowOrigin::User, WorkflowOrigin::Builtin]);
        assert!(find(&project, NameKind::Skill, "engineer").is_none());
    }
}
