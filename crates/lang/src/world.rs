//! The environment of a workflow: files, other workflows, and names that the project defines.
//!
//! The language asks through this interface and never reads anything itself. So checking executes nothing, writes
//! nothing, and can be tested without a disk.

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// It does not exist.
    NotFound,
    /// The path leads out of the workflow's folder; for another workflow, out of the project.
    Outside,
    /// It is larger than [`crate::source::FILE_BYTES_MAX`].
    TooLarge,
    /// It is not UTF-8 text.
    NotText,
    /// The system reported an error.
    Unreadable(String),
}

/// Another workflow that was found by name.
#[derive(Debug, Clone)]
pub struct FoundWorkflow {
    /// The name of the file in diagnostics.
    pub name: String,
    /// The folder of its prompts and scripts.
    pub dir: String,
    /// The text of the workflow.
    pub text: String,
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A persona of an agent.
    Persona,
    /// A configured profile of an agent.
    Profile,
    /// A driver of agents.
    Backend,
    /// A channel for notifications.
    Channel,
    /// A tool server.
    ToolServer,
    /// A skill.
    Skill,
    /// A workflow.
    Workflow,
}

/// The environment of a workflow.
pub trait World {
    /// The text of a file beside a workflow.
    fn read(&self, dir: &str, path: &str) -> Result<String, Unavailable>;
    /// Whether a file beside a workflow exists.
    fn exists(&self, dir: &str, path: &str) -> Result<(), Unavailable>;
    /// A workflow by name or path, as seen from the folder of another one.
    fn workflow(&self, dir: &str, name: &str) -> Result<FoundWorkflow, Unavailable>;
    /// The known names of a kind, including the built-in ones.
    fn names(&self, kind: NameKind) -> &[String];
    /// The content of a persona or a skill. A run keeps the content of its start.
    fn described(&self, _kind: NameKind, _name: &str) -> Option<Described> {
        None
    }
    /// A persona that was written for Longhaul. Files of other systems count only as players of a role.
    fn own_persona(&self, name: &str) -> Option<Described> {
        self.described(NameKind::Persona, name)
    }
    /// The agent file of the project or the user that plays a role, if there is one.
    fn player(&self, _role: &str) -> Option<Player> {
        None
    }
    /// The abilities of an agent; `None` if unknown.
    fn able(&self, _agent: &str) -> Option<Able> {
        None
    }
}

/// Abilities of an agent that nothing else can replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Able {
    /// Whether it accepts a list of tools.
    pub tools: bool,
    /// Whether it has a read-only mode.
    pub read_only: bool,
    /// Whether it accepts MCP servers.
    pub mcp: bool,
    /// Whether it can leave the MCP servers of its own settings out.
    pub mcp_only: bool,
}

/// An agent file that plays a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// The file, as people write it.
    pub file: String,
    /// Its content.
    pub described: Described,
}

/// The content of a persona or a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// The text for the agent.
    pub text: String,
    /// The permission, if the file sets one.
    pub sandbox: Option<String>,
    /// The model, if the file sets one.
    pub model: Option<String>,
}

impl Described {
    /// The content of a Markdown file with front matter.
    pub fn from_markdown(file: &str) -> Self {
        let Some((front, text)) = file.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) else {
            return Self { text: file.trim().to_owned(), ..Self::default() };
        };
        let key = |key: &str| {
            let line = front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            let value = line.trim().trim_matches(['"', '\'']);
            (!value.is_empty() && value != "inherit").then(|| value.to_owned())
        };
        Self { text: text.trim().to_owned(), sandbox: key("sandbox"), model: key("model") }
    }

    /// The content of a TOML file, as other systems describe agents.
    pub fn from_toml(file: &str) -> Self {
        let Ok(document) = file.parse::<toml_edit::DocumentMut>() else { return Self::default() };
        let key = |key: &str| document.get(key).and_then(|item| item.as_str()).map(str::to_owned);
        let sandbox = key("sandbox_mode").map(|mode| match mode.as_str() {
            "read-only" => "read-only".to_owned(),
            "danger-full-access" => "full".to_owned(),
            _ => "edit".to_owned(),
        });
        let text = key("developer_instructions").or_else(|| key("system_prompt")).unwrap_or_default();
        let model = key("model").or_else(|| key("preferred_model"));
        Self { text: text + &skills_of(&document), sandbox, model }
    }
}

/// The skill files that a Codex agent names, as a sentence for it.
fn skills_of(document: &toml_edit::DocumentMut) -> String {
    let tables = document.get("skills").and_then(|skills| skills.get("config")?.as_array_of_tables());
    let is_on = |table: &&toml_edit::Table| table.get("enabled").and_then(|on| on.as_bool()) != Some(false);
    let paths = tables.into_iter().flat_map(|tables| tables.iter()).filter(is_on);
    let paths: Vec<&str> = paths.filter_map(|table| table.get("path")?.as_str()).collect();
    if paths.is_empty() { String::new() } else { format!("\n\nRead these files first: {}", paths.join(", ")) }
}

/// Whether two names are the same for people: `TestDesigner` and `test-designer` are.
pub fn same_name(a: &str, b: &str) -> bool {
    let fold = |text: &str| -> Vec<char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    a == b || fold(a) == fold(b)
}

/// An environment with only Longhaul's own names.
#[derive(Debug, Clone)]
pub struct Bare {
    backends: Vec<String>,
    channels: Vec<String>,
    servers: Vec<String>,
}

impl Default for Bare {
    fn default() -> Self {
        use longhaul_core::catalog::names::{BACKENDS, CHANNELS, TOOL_SERVERS};
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self { backends: owned(BACKENDS), channels: owned(CHANNELS), servers: owned(TOOL_SERVERS) }
    }
}

impl World for Bare {
    fn read(&self, _dir: &str, _path: &str) -> Result<String, Unavailable> {
        Err(Unavailable::NotFound)
    }

    fn exists(&self, _dir: &str, _path: &str) -> Result<(), Unavailable> {
        Err(Unavailable::NotFound)
    }

    fn workflow(&self, _dir: &str, _name: &str) -> Result<FoundWorkflow, Unavailable> {
        Err(Unavailable::NotFound)
    }

    fn names(&self, kind: NameKind) -> &[String] {
        match kind {
            NameKind::Backend => &self.backends,
            NameKind::Channel => &self.channels,
            NameKind::ToolServer => &self.servers,
            NameKind::Persona | NameKind::Profile | NameKind::Skill | NameKind::Workflow => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persona_says_what_it_is_told_and_what_it_may_do() {
        let told = Described::from_markdown("---\nname: x\nsandbox: read-only\nmodel: inherit\n---\n\nYou look.\n");
        assert_eq!((told.text.as_str(), told.sandbox.as_deref(), told.model), ("You look.", Some("read-only"), None));
        assert_eq!(Described::from_markdown("You look.\n").text, "You look.");
        let told = Described::from_toml("developer_instructions = 'You look.'\nsandbox_mode = 'workspace-write'");
        assert_eq!((told.text.as_str(), told.sandbox.as_deref()), ("You look.", Some("edit")));
        let told = Described::from_toml("system_prompt = 'You look.'\npreferred_model = 'opus'");
        assert_eq!((told.text.as_str(), told.model.as_deref()), ("You look.", Some("opus")));
        let skills = "[[skills.config]]\npath = 'a/SKILL.md'\n[[skills.config]]\npath = 'b'\nenabled = false";
        let told = Described::from_toml(&format!("developer_instructions = 'You look.'\n{skills}"));
        assert_eq!(told.text, "You look.\n\nRead these files first: a/SKILL.md");
    }
}
