//! The supported editors, and the places of their files.

use std::path::{Path, PathBuf};

use super::command::Form;
use super::entry::Shape;

/// An editor, or an agent that takes MCP servers.
#[derive(Debug)]
pub(crate) struct Editor {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Programs that show that it is installed.
    programs: &'static [&'static str],
    /// Files and folders that show that the editor is used: in a project, and in the home folder.
    marks: [&'static [&'static str]; 2],
    /// The files that list servers: of a project, and of the user. The first that exists counts, else the first.
    entries: [&'static [&'static str]; 2],
    /// The format of a server entry: in a project, and for the user.
    shapes: [Shape; 2],
    /// The folders of slash commands: of a project, and of the user.
    commands: [Option<&'static str>; 2],
    /// The format of a slash command.
    pub(crate) form: Form,
}

/// Whom the files are for.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    /// All users of a project.
    Project(PathBuf),
    /// One user, in all projects.
    User(PathBuf),
}

impl Scope {
    /// The folder that contains all files of this scope.
    pub(crate) fn root(&self) -> &Path {
        match self {
            Self::Project(root) | Self::User(root) => root,
        }
    }

    /// The Longhaul settings of this scope.
    pub(crate) fn settings(&self) -> PathBuf {
        self.root().join(".longhaul/config.toml")
    }

    /// The path of a file for people.
    pub(crate) fn shown(&self, file: &Path) -> String {
        let inside = file.strip_prefix(self.root()).map(|inside| inside.display().to_string());
        match (self, inside) {
            (Self::Project(_), Ok(inside)) => inside,
            (Self::User(_), Ok(inside)) => format!("~/{inside}"),
            (_, Err(_)) => file.display().to_string(),
        }
    }

    fn index(&self) -> usize {
        usize::from(matches!(self, Self::User(_)))
    }
}

/// All supported editors.
pub(crate) const ALL: &[Editor] = &[
    Editor {
        name: "claude",
        title: "Claude Code",
        programs: &["claude"],
        marks: [&[".claude", ".mcp.json"], &[".claude", ".claude.json"]],
        entries: [&[".mcp.json"], &[".claude.json"]],
        shapes: [Shape::Servers; 2],
        commands: [Some(".claude/commands"), Some(".claude/commands")],
        form: Form::Markdown { hint: true, arguments: "$ARGUMENTS" },
    },
    Editor {
        name: "codex",
        title: "Codex",
        programs: &["codex"],
        marks: [&[".codex"], &[".codex"]],
        entries: [&[".codex/config.toml"], &[".codex/config.toml"]],
        shapes: [Shape::Toml; 2],
        // Codex reads only prompts of the user.
        commands: [None, Some(".codex/prompts")],
        form: Form::Markdown { hint: true, arguments: "$ARGUMENTS" },
    },
    Editor {
        name: "cursor",
        title: "Cursor",
        programs: &["cursor", "cursor-agent"],
        marks: [&[".cursor"], &[".cursor"]],
        entries: [&[".cursor/mcp.json"], &[".cursor/mcp.json"]],
        shapes: [Shape::Servers; 2],
        commands: [Some(".cursor/commands"), Some(".cursor/commands")],
        form: Form::Plain,
    },
    Editor {
        name: "vscode",
        title: "VS Code",
        programs: &["code"],
        marks: [&[".vscode"], &[".config/Code", "Library/Application Support/Code"]],
        entries: [
            &[".vscode/mcp.json"],
            &[".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json"],
        ],
        shapes: [Shape::Code; 2],
        commands: [Some(".github/prompts"), None],
        form: Form::Prompt,
    },
    Editor {
        name: "copilot",
        title: "Copilot CLI",
        programs: &["copilot"],
        marks: [&[], &[".copilot"]],
        // Copilot has no file of its own for a project; it reads Claude Code's.
        entries: [&[".mcp.json"], &[".copilot/mcp-config.json"]],
        shapes: [Shape::Servers, Shape::Copilot],
        commands: [None, None],
        form: Form::Plain,
    },
    Editor {
        name: "zed",
        title: "Zed",
        programs: &["zed", "zeditor"],
        marks: [&[".zed"], &[".config/zed"]],
        entries: [&[".zed/settings.json"], &[".config/zed/settings.json"]],
        shapes: [Shape::Zed; 2],
        // The editor shows the prompts of the server itself.
        commands: [None, None],
        form: Form::Plain,
    },
    Editor {
        name: "gemini",
        title: "Gemini CLI",
        programs: &["gemini"],
        marks: [&[".gemini"], &[".gemini"]],
        entries: [&[".gemini/settings.json"], &[".gemini/settings.json"]],
        shapes: [Shape::Servers; 2],
        commands: [Some(".gemini/commands"), Some(".gemini/commands")],
        form: Form::Toml,
    },
    Editor {
        name: "opencode",
        title: "opencode",
        programs: &["opencode"],
        marks: [&[".opencode", "opencode.json", "opencode.jsonc"], &[".config/opencode"]],
        entries: [
            &["opencode.json", "opencode.jsonc"],
            &[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
        ],
        shapes: [Shape::OpenCode; 2],
        commands: [Some(".opencode/command"), Some(".config/opencode/command")],
        form: Form::Markdown { hint: false, arguments: "$ARGUMENTS" },
    },
];

impl Editor {
    /// The file that lists MCP servers.
    pub(crate) fn entry_file(&self, scope: &Scope) -> PathBuf {
        let candidates = self.entries[scope.index()].iter().map(|name| scope.root().join(name));
        let existing = candidates.clone().find(|file| file.exists());
        existing.or_else(|| candidates.into_iter().next()).unwrap_or_else(|| scope.root().to_owned())
    }

    /// The format of a server entry in that file.
    pub(crate) fn shape(&self, scope: &Scope) -> Shape {
        self.shapes[scope.index()]
    }

    /// The folder of its slash commands, if it has one.
    pub(crate) fn command_folder(&self, scope: &Scope) -> Option<PathBuf> {
        self.commands[scope.index()].map(|folder| scope.root().join(folder))
    }

    /// Whether it is used here: by its files, or because it is installed.
    pub(crate) fn is_used(&self, project: &Path, home: Option<&Path>, path: &[PathBuf]) -> bool {
        let in_project = self.marks[0].iter().any(|mark| project.join(mark).exists());
        let at_home = || home.is_some_and(|home| self.marks[1].iter().any(|mark| home.join(mark).exists()));
        let installed = || path.iter().any(|folder| self.programs.iter().any(|name| folder.join(name).is_file()));
        in_project || at_home() || installed()
    }
}

/// The editor with a name.
pub(crate) fn named(name: &str) -> Option<&'static Editor> {
    ALL.iter().find(|editor| editor.name == name)
}
