//! Parses one line of text as a command: `wf tdd Add a button`.
//!
//! ```text
//! command = [prefix] form          prefix: $agent007 /agent007 @agent007 agent007, or with `longhaul`
//! form    = nothing | help [topic] | run TASK | wf [list | NAME TASK] | skill [list | NAME ARGS] | /SKILL ARGS | NAME TASK | TASK
//! ```
//!
//! It only parses the text and starts nothing.

/// The command in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Show the help.
    Help,
    /// Do a task without a workflow.
    Task(String),
    /// List the workflows.
    Workflows,
    /// Start a workflow with a task.
    Workflow(String, String),
    /// List the skills.
    Skills,
    /// Use a skill with its arguments.
    Skill(String, String),
}

/// The help text.
pub(crate) const USAGE: &str = "\
wf                      list the workflows
wf NAME TASK            start a workflow with a task:  wf tdd Add a --json flag
skill                   list the skills
skill NAME WORDS        use a skill:  skill review the last commit, or  /review the last commit
run TASK                one task by itself:  run fix the flaky test
NAME TASK               as `wf NAME TASK`
help                    this";

/// Parses a line. `workflows` are the names that may stand alone.
pub(crate) fn read(line: &str, workflows: &[String]) -> Result<Command, String> {
    let line = without_prefix(line.trim());
    let (verb, rest) = word(line);
    match verb.to_lowercase().as_str() {
        "" => Ok(Command::Help),
        "help" | "?" | "-h" | "--help" => Ok(Command::Help),
        "run" if rest.is_empty() => Err("`run` needs a task".to_owned()),
        "run" => Ok(Command::Task(rest.to_owned())),
        "wf" | "workflow" | "workflows" => workflow(rest, workflows),
        "skill" | "skills" | "sk" => Ok(skill(rest)),
        _ if verb.starts_with('/') && verb.len() > 1 => Ok(Command::Skill(verb[1..].to_owned(), rest.to_owned())),
        _ => match (named(verb, workflows), rest) {
            (Some(name), "") => Err(format!("the workflow `{name}` needs a task")),
            (Some(name), task) => Ok(Command::Workflow(name, task.to_owned())),
            (None, _) => Ok(Command::Task(line.to_owned())),
        },
    }
}

fn workflow(rest: &str, workflows: &[String]) -> Result<Command, String> {
    let (name, task) = word(rest);
    if name.is_empty() || (["list", "ls"].contains(&name) && task.is_empty()) {
        return Ok(Command::Workflows);
    }
    let Some(known) = named(name, workflows) else {
        let known: Vec<&str> = workflows.iter().map(String::as_str).collect();
        let best = longhaul_lang::diagnostic::closest(name, &known).map(|best| format!("; did you mean `{best}`?"));
        return Err(format!("there is no workflow `{name}`{}", best.unwrap_or_default()));
    };
    if task.is_empty() {
        Err(format!("the workflow `{known}` needs a task"))
    } else {
        Ok(Command::Workflow(known, task.to_owned()))
    }
}

fn skill(rest: &str) -> Command {
    let (name, about) = word(rest);
    if name.is_empty() || (["list", "ls"].contains(&name) && about.is_empty()) {
        return Command::Skills;
    }
    Command::Skill(name.trim_start_matches('/').to_owned(), about.to_owned())
}

/// The workflow with this name. Case, `_` and other signs do not matter.
fn named(word: &str, workflows: &[String]) -> Option<String> {
    workflows.iter().find(|name| folded(name) == folded(word)).cloned()
}

fn folded(name: &str) -> String {
    let signs: String = name.chars().map(|sign| if sign.is_alphanumeric() { sign } else { '-' }).collect();
    signs.to_lowercase().trim_matches('-').to_owned()
}

fn word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

/// The line without a prefix such as `@longhaul`.
fn without_prefix(line: &str) -> &str {
    let (first, rest) = word(line);
    let name = first.strip_prefix(['$', '/', '@']).unwrap_or(first).to_lowercase();
    if ["agent007", "longhaul"].contains(&name.as_str()) { rest } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let workflows = ["tdd".to_owned(), "code-review".to_owned()];
        read(line, &workflows).map_or_else(|why| format!("error: {why}"), |command| format!("{command:?}"))
    }

    #[test]
    fn a_line_is_read_as_its_words_say() {
        let cases = [
            ("$agent007 wf tdd Add X", r#"Workflow("tdd", "Add X")"#),
            ("@AGENT007 tdd Add X", r#"Workflow("tdd", "Add X")"#),
            ("longhaul TDD  Add X ", r#"Workflow("tdd", "Add X")"#),
            ("wf", "Workflows"),
            ("workflows ls", "Workflows"),
            ("wf tdd", "error: the workflow `tdd` needs a task"),
            ("tdd", "error: the workflow `tdd` needs a task"),
            ("wf code_review do", r#"Workflow("code-review", "do")"#),
            ("wf tddd do", "error: there is no workflow `tddd`; did you mean `tdd`?"),
            ("/dev-tdd foo", r#"Skill("dev-tdd", "foo")"#),
            ("skill brainstorm a b", r#"Skill("brainstorm", "a b")"#),
            ("sk /brainstorm", r#"Skill("brainstorm", "")"#),
            ("skills", "Skills"),
            ("agent007 fix the bug", r#"Task("fix the bug")"#),
            ("run fix it", r#"Task("fix it")"#),
            ("run", "error: `run` needs a task"),
            ("", "Help"),
            ("/agent007", "Help"),
            ("help workflows", "Help"),
            ("?", "Help"),
            ("/", r#"Task("/")"#),
            ("\u{a0}wf", "Workflows"),
        ];
        for (line, expected) in cases {
            assert_eq!(told(line), expected, "{line:?}");
        }
    }
}
