//! Writes slash commands, one per workflow, in the form that an editor reads.

use super::entry::NAME;

/// The text that marks a file as ours.
const MARK: &str = "longhaul init";

/// The format of a slash command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// Markdown with front matter.
    Markdown {
        /// Whether the front matter has a hint about the arguments.
        hint: bool,
        /// The placeholder for the typed arguments.
        arguments: &'static str,
    },
    /// Markdown without front matter; the typed arguments follow it.
    Plain,
    /// A prompt file of VS Code.
    Prompt,
    /// TOML with a description and a prompt.
    Toml,
}

/// The parts of a workflow that a slash command shows.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
}

impl Form {
    /// The name of the file.
    pub(crate) fn file(self, workflow: &str) -> String {
        let ending = match self {
            Self::Markdown { .. } | Self::Plain => "md",
            Self::Prompt => "prompt.md",
            Self::Toml => "toml",
        };
        format!("{NAME}-{workflow}.{ending}")
    }

    /// The text of the file.
    pub(crate) fn text(self, told: &Told<'_>) -> String {
        let about = quoted(&about(told));
        match self {
            Self::Markdown { hint, arguments } => {
                let hint = if hint { "argument-hint: what is to be done\n" } else { "" };
                format!("---\ndescription: {about}\n{hint}---\n<!-- {MARK} -->\n{}", orders(told.name, arguments))
            }
            Self::Plain => format!("<!-- {MARK} -->\n{}", orders(told.name, "what follows this text")),
            Self::Prompt => {
                let task = "${input:task:what is to be done}";
                format!("---\ndescription: {about}\nmode: agent\n---\n<!-- {MARK} -->\n{}", orders(told.name, task))
            }
            Self::Toml => {
                let prompt = orders(told.name, "{{args}}");
                format!("# {MARK}\ndescription = {about}\nprompt = '''\n{prompt}'''\n")
            }
        }
    }
}

/// Whether we wrote a file.
pub(crate) fn is_ours(text: &str) -> bool {
    text.lines().take(8).any(|line| line.trim_matches(['<', '!', '-', '>', '#', ' ']) == MARK)
}

fn about(told: &Told<'_>) -> String {
    let first = told.description.lines().next().unwrap_or_default().trim();
    if first.is_empty() {
        format!("Run the workflow {}", told.name)
    } else {
        format!("{first} (workflow {})", told.name)
    }
}

/// Quoted in a way that YAML and TOML read alike.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn orders(workflow: &str, task: &str) -> String {
    format!(
        "Run the workflow `{workflow}` with the tools of the MCP server `{NAME}`.\n\
         \n\
         Task: {task}\n\
         \n\
         1. Call `start` with the workflow's name and the task.\n\
         2. Do each step that it hands out exactly as its prompt says, in a subagent where that helps, and hand the result in with \
         `submit`. The answer says what comes next; `next` says it again at any time.\n\
         3. While a step takes long, call `heartbeat` every few minutes.\n\
         4. At a gate, show what is to be judged, stop, and wait for the person. Never answer a gate yourself.\n\
         5. At the end, say in a few sentences what came of it.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: &[Form] =
        &[Form::Markdown { hint: true, arguments: "$ARGUMENTS" }, Form::Plain, Form::Prompt, Form::Toml];

    #[test]
    fn our_files_are_known_by_their_mark() {
        let told = Told { name: "tdd", description: "Test first" };
        for form in FORMS {
            assert!(is_ours(&form.text(&told)), "{form:?}");
        }
        assert!(!is_ours("---\ndescription: mine\n---\nuse longhaul init\n"));
    }

    #[test]
    fn a_description_can_not_break_the_file() {
        let told = Told { name: "tdd", description: "say \"hi\" \\ '''\nmore" };
        let toml: toml_edit::DocumentMut = Form::Toml.text(&told).parse().unwrap();
        assert_eq!(toml["description"].as_str(), Some(r#"say "hi" \ ''' (workflow tdd)"#));
        assert!(Form::Plain.text(&told).contains("`tdd`"));
    }
}
