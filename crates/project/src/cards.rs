//! Files that say who agents are and what they know: personas and skills of the project, of the user, and built in.
//!
//! Files of other tools are read as they are: Markdown with front matter, TOML, folders with a `SKILL.md`.
//!
//! **Invariant:** only reads; of two files with one name the first place wins.

use std::path::{Path, PathBuf};

use longhaul_lang::source::{self, Format, Sources};
use longhaul_lang::world::{Described, Kind, same_name};

use crate::builtin;
use crate::disk;
use crate::library::Origin;
use crate::project::Project;
/// Where a project describes who its agents are.
const PERSONAS: &[&str] =
    &[".longhaul/personas", ".claude/agents", ".codex/agents", ".agent007/personas", ".agents/personas"];
/// Where it describes what they know.
const SKILLS: &[&str] = &[".longhaul/skills", ".claude/skills", ".agents/skills", ".agent007/skills"];

/// A persona or a skill that was found.
#[derive(Debug, Clone)]
pub struct Card {
    /// What it is called.
    pub name: String,
    /// Where it came from.
    pub origin: Origin,
    /// The file; for built-in ones what people are shown.
    pub file: PathBuf,
    /// What a built-in one says.
    shipped: Option<&'static str>,
}

impl Card {
    /// What an agent is told, and what the file wants of it; `None` if it cannot be read.
    pub fn described(&self) -> Option<Described> {
        let text = self.text()?;
        Some(if self.is_toml() { Described::from_toml(&text) } else { Described::from_markdown(&text) })
    }

    /// What the file says it is for, in one line.
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

/// Every persona or skill of every place, those that are hidden by an earlier one included.
pub fn all(project: &Project, kind: Kind) -> Vec<Card> {
    let places = places(project, kind).into_iter();
    let on_disk = places.flat_map(|(origin, folder)| in_folder(origin, &folder));
    on_disk.chain(shipped(kind)).collect()
}

/// The first persona or skill with a name, as people spell it.
pub fn find(project: &Project, kind: Kind, name: &str) -> Option<Card> {
    all(project, kind).into_iter().find(|card| same_name(&card.name, name))
}

fn places(project: &Project, kind: Kind) -> Vec<(Origin, PathBuf)> {
    let (folders, own) = match kind {
        Kind::Persona => (PERSONAS, "personas"),
        Kind::Skill => (SKILLS, "skills"),
        _ => return Vec::new(),
    };
    let project_wide = folders.iter().map(|folder| (Origin::Project, project.root.join(folder)));
    project_wide.chain(project.user.iter().map(|user| (Origin::User, user.join(own)))).collect()
}

fn shipped(kind: Kind) -> impl Iterator<Item = Card> {
    let personas = if kind == Kind::Persona { builtin::PERSONAS } else { &[] };
    personas.iter().map(|(name, text)| Card {
        name: (*name).to_owned(),
        origin: Origin::Builtin,
        file: PathBuf::from(format!("<built in>/{name}.md")),
        shipped: Some(text),
    })
}

/// What a folder describes: Markdown and TOML files, and folders with a `SKILL.md`, by name.
fn in_folder(origin: Origin, folder: &Path) -> Vec<Card> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut cards: Vec<Card> = read.filter_map(Result::ok).filter_map(|entry| card(origin, &entry.path())).collect();
    cards.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    cards
}

fn card(origin: Origin, path: &Path) -> Option<Card> {
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
        let engineer = find(&project, Kind::Persona, "Engineer").unwrap();
        assert_eq!((engineer.origin, engineer.description().as_str()), (Origin::Project, "Ours alone"));
        assert_eq!(engineer.described().unwrap().text, "You build.");
        let checker = find(&project, Kind::Persona, "checker").unwrap();
        assert_eq!(
            (checker.description().as_str(), checker.described().unwrap().text.as_str()),
            ("Looks", "You look.")
        );
        let skills: Vec<String> = all(&project, Kind::Skill).into_iter().map(|card| card.name).collect();
        assert_eq!(skills, ["release"]);
        assert_eq!(find(&project, Kind::Skill, "release").unwrap().description(), "How we release");
    }

    #[test]
    fn the_project_hides_the_user_who_hides_what_is_built_in() {
        let (_folder, project) = project();
        let places: Vec<Origin> = all(&project, Kind::Persona)
            .into_iter()
            .filter(|card| card.name == "engineer")
            .map(|card| card.origin)
            .collect();
        assert_eq!(places, [Origin::Project, Origin::User, Origin::Builtin]);
        assert!(find(&project, Kind::Skill, "engineer").is_none());
    }
}
