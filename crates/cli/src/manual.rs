//! All commands by task: the first page of help, the page `longhaul help all`, and the reference.
//!
//! **Invariant:** every command that is not hidden is in one group; the first page shows only commands of the groups.

use clap::{Arg, Command, CommandFactory};

use crate::commands::Cli;
use crate::{ui, width};

/// The commands of everyday work: the first page of help.
const DAILY: [(&str, &[&str]); 4] = [
    ("Start work", &["init", "check", "run", "resume"]),
    ("See what happens", &["runs", "status", "logs", "digest", "ui"]),
    ("Decide", &["approve", "deny", "answer", "stop"]),
    ("Learn", &["demo", "help"]),
];

/// All commands by task, in the order in which people meet them.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Start work", &["init", "new", "run", "resume", "retry", "fork"]),
    ("See what happens", &["runs", "status", "watch", "top", "logs", "events", "outputs", "digest", "notify"]),
    (
        "Decide",
        &[
            "approve", "deny", "edit", "answer", "tell", "signal", "pause", "unpause", "budget", "stop", "cancel",
            "consent", "trust",
        ],
    ),
    (
        "Write workflows",
        &["list", "show", "graph", "check", "test", "explain", "fmt", "convert", "schema", "personas", "skills"],
    ),
    ("Share and schedule", &["registry", "triggers"]),
    ("Interfaces", &["ui", "serve", "mcp"]),
    ("Machines", &["up", "worker", "workers", "machines", "store"]),
    ("Keep in order", &["doctor", "agents", "export", "import", "prune"]),
    ("Learn", &["demo", "help", "completions", "man"]),
];

/// The command, with the daily commands as its first page of help.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let help = daily(&command);
    command.override_help(help)
}

/// The first page of help.
fn daily(command: &Command) -> String {
    let groups: Vec<_> = DAILY.iter().map(|(title, names)| (*title, existing(command, names))).collect();
    let more = "longhaul help all: everything else. longhaul COMMAND --help: one command; most have --json.";
    page(command, &groups, more)
}

/// Every command, by task.
pub(crate) fn all() -> String {
    let command = Cli::command();
    let more = "longhaul COMMAND --help: one command; most have --json. longhaul help: the daily commands.";
    page(&command, &groups(&command), more)
}

fn page(command: &Command, groups: &[(&str, Vec<String>)], more: &str) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}\n\n{} longhaul COMMAND\n", ui::bold("Usage:"));
    for (title, names) in groups {
        text.push_str(&format!("\n{}\n", ui::bold(title)));
        for name in names {
            text.push_str(&format!("  {name:<12} {}\n", width::seen(&line(command, name), 15)));
        }
    }
    text.push_str(&format!("\n{more}"));
    text
}

fn existing(command: &Command, names: &[&str]) -> Vec<String> {
    names.iter().filter(|name| command.find_subcommand(name).is_some()).map(|name| (*name).to_owned()).collect()
}

/// The groups, and at the end the commands that belong to no group.
fn groups(command: &Command) -> Vec<(&'static str, Vec<String>)> {
    let known = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut groups: Vec<(&'static str, Vec<String>)> =
        GROUPS.iter().map(|(title, names)| (*title, existing(command, names))).collect();
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned());
    let rest: Vec<String> = shown.filter(|name| !known(name)).collect();
    if !rest.is_empty() {
        groups.push(("More", rest));
    }
    groups
}

/// The names of all commands that are not hidden.
pub(crate) fn names(command: &Command) -> Vec<&'static str> {
    let is_there = |name: &&str| command.find_subcommand(name).is_some();
    GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).filter(is_there).collect()
}

/// The first line of a command's help.
pub(crate) fn line(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(|sub| sub.get_about()).map(ToString::to_string);
    about.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// All commands as a page of Markdown.
pub(crate) fn markdown() -> String {
    let mut command = Cli::command();
    command.build();
    let mut page = "# Commands\n\n`longhaul man` writes this page from the commands' own help.\n".to_owned();
    for (title, names) in groups(&command) {
        page.push_str(&format!("\n## {title}\n"));
        for name in names {
            if let Some(sub) = command.find_subcommand(&name) {
                add(&mut page, sub, &format!("longhaul {name}"));
            }
        }
    }
    page
}

fn add(page: &mut String, command: &Command, called: &str) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    page.push_str(&format!("\n### `{called}`\n\n{}\n", escaped(about.trim())));
    let args: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help").collect();
    if !args.is_empty() {
        page.push_str("\n| argument | means |\n|---|---|\n");
        args.iter().for_each(|arg| page.push_str(&format!("| `{}` | {} |\n", written(arg), means(arg))));
    }
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        add(page, sub, &format!("{called} {}", sub.get_name()));
    }
}

/// An argument as the user types it.
fn written(arg: &Arg) -> String {
    let value = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let takes = arg.get_action().takes_values();
    match (arg.get_short(), arg.get_long()) {
        (_, None) if arg.is_required_set() => value,
        (_, None) => format!("[{value}]"),
        (short, Some(long)) => {
            let short = short.map_or_else(String::new, |short| format!("-{short}, "));
            let value = if takes { format!(" {value}") } else { String::new() };
            format!("{short}--{long}{value}")
        }
    }
}

fn means(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .filter(|value| !value.is_empty())
        .collect();
    let default = if default.is_empty() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!(" (`{}`)", default.join(" "))
    };
    let env = arg.get_env().map_or_else(String::new, |name| format!(" (`{}`)", name.to_string_lossy()));
    escaped(&format!("{}{default}{env}", help.replace('\n', " ")))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        assert!(groups(&command).iter().all(|(title, _)| *title != "More"), "{:?}", groups(&command).last());
        let mut names: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.iter().all(|name| command.find_subcommand(name).is_some()), "{names:?}");
        assert!(super::all().lines().all(|line| crate::width::of(line) <= 95));
        assert!(
            daily(&command)
                .lines()
                .take_while(|line| !line.starts_with("longhaul"))
                .all(|line| crate::width::of(line) <= 90)
        );
    }

    #[test]
    fn the_first_page_shows_the_daily_commands_and_where_the_others_are() {
        let (command, daily_names) = (Cli::command(), DAILY.iter().flat_map(|(_, names)| names.iter()));
        let all: Vec<String> = groups(&command).into_iter().flat_map(|(_, names)| names).collect();
        let shown: Vec<_> = daily_names.collect();
        assert!(shown.iter().all(|name| all.contains(&(**name).to_owned())), "{shown:?}");
        assert!((10..=15).contains(&shown.len()), "{}", shown.len());
        let page = daily(&command);
        assert!(page.contains("longhaul help all: everything else"), "{page}");
        assert!(page.contains("  approve ") && !page.contains("  convert "), "{page}");
        assert!(super::all().contains("  convert "));
    }

    #[test]
    fn the_command_line_makes_sense() {
        Cli::command().debug_assert();
    }
}
