//! Suggests commands for a command that does not exist.
//!
//! **Invariant:** every suggestion is a command that exists and is not hidden.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use longhaul_lang::diagnostic::{closest, plain};

use crate::commands::Cli;
use crate::{manual, ui};

/// Words that other tools use, and the commands that do the same here.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["kill", "abort", "terminate", "end"], &["cancel"]),
    (&["halt", "suspend", "hold"], &["stop", "pause"]),
    (&["ps", "ls", "jobs", "history", "queue"], &["runs"]),
    (&["log", "tail", "output", "transcript"], &["logs", "outputs"]),
    (&["start", "exec", "execute", "launch", "go"], &["run"]),
    (&["continue", "restart", "go-on"], &["resume"]),
    (&["rerun", "redo"], &["retry"]),
    (&["validate", "lint", "verify"], &["check"]),
    (&["rm", "remove", "delete", "del", "clean", "gc", "purge"], &["prune"]),
    (&["yes", "accept", "ok", "allow", "confirm"], &["approve"]),
    (&["no", "reject", "decline", "refuse"], &["deny"]),
    (&["reply", "respond"], &["answer", "tell"]),
    (&["say", "hint", "steer", "message"], &["tell"]),
    (&["background", "detach"], &["up"]),
    (&["summary", "morning"], &["digest"]),
    (&["limit", "raise"], &["budget"]),
    (&["send", "emit"], &["signal"]),
    (&["attach", "follow"], &["watch"]),
    (&["info", "inspect", "describe", "get", "stat"], &["status", "show"]),
    (&["web", "dashboard", "open", "gui"], &["ui"]),
    (&["server", "api", "token"], &["serve"]),
    (&["daemon"], &["up", "serve"]),
    (&["workflows", "flows"], &["list"]),
    (&["setup", "install", "configure"], &["init"]),
    (&["create", "generate", "scaffold"], &["new"]),
    (&["format"], &["fmt"]),
    (&["diagram", "draw", "plot", "dot"], &["graph"]),
    (&["migrate", "translate"], &["convert"]),
    (&["publish", "upload", "push", "shelf"], &["registry push"]),
    (&["schedule", "cron", "trigger", "webhook"], &["triggers"]),
    (&["machine", "hosts", "host", "nodes", "fleet"], &["workers", "machines"]),
    (&["backup", "restore", "db", "database", "login"], &["store"]),
    (&["branch", "clone", "copy"], &["fork"]),
    (&["diagnose", "health"], &["doctor"]),
    (&["benchmark", "perf"], &["bench"]),
    (&["completion"], &["completions"]),
    (&["docs", "manual"], &["help", "man"]),
];

/// The message about a first word that is not a command; `None` for other mistakes.
pub(crate) fn explain(error: &clap::Error, first: Option<&str>) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    (first == Some(word)).then(|| message(word))
}

fn message(word: &str) -> String {
    let command = Cli::command();
    let mut text = format!("{} `{}` is not a command.", ui::bad("error:"), plain(word));
    let found = suggestions(&command, word);
    if !found.is_empty() {
        text.push_str(" Did you mean:\n");
        found.iter().for_each(|name| text.push_str(&format!("\n  longhaul {name:<13} {}", about(&command, name))));
        text.push('\n');
    }
    text.push_str("\n`longhaul help` shows the daily commands, `longhaul help all` shows all.");
    text
}

/// The commands that a word may mean: first by its meaning in other tools, else by its spelling.
fn suggestions(command: &Command, word: &str) -> Vec<&'static str> {
    let word = word.to_lowercase();
    if let Some((_, meant)) = SYNONYMS.iter().find(|(words, _)| words.contains(&word.as_str())) {
        return meant.to_vec();
    }
    let names: Vec<&'static str> = manual::names(command);
    let words = SYNONYMS.iter().flat_map(|(words, meant)| words.iter().map(move |word| (*word, *meant)));
    let known: Vec<(&str, Vec<&'static str>)> = names
        .iter()
        .map(|name| (*name, vec![*name]))
        .chain(words.map(|(word, meant)| (word, meant.to_vec())))
        .collect();
    let candidates: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let best = closest(&word, &names).or_else(|| closest(&word, &candidates));
    known.into_iter().find(|(name, _)| Some(*name) == best).map(|(_, meant)| meant).unwrap_or_default()
}

/// The first line of the help of a command or a subcommand.
fn about(command: &Command, name: &str) -> String {
    match name.split_once(' ') {
        Some((group, below)) => {
            command.find_subcommand(group).map_or_else(String::new, |group| manual::line(group, below))
        }
        None => manual::line(command, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(word: &str) -> String {
        suggestions(&Cli::command(), word).join(" ")
    }

    #[test]
    fn words_of_other_tools_name_the_command() {
        for (word, command) in [
            ("kill", "cancel"),
            ("halt", "stop pause"),
            ("ps", "runs"),
            ("ls", "runs"),
            ("log", "logs outputs"),
            ("start", "run"),
            ("validate", "check"),
            ("rm", "prune"),
            ("PS", "runs"),
            ("publish", "registry push"),
        ] {
            assert_eq!(meant(word), command, "{word}");
        }
    }

    #[test]
    fn spelling_is_forgiven_and_nonsense_is_not_guessed() {
        for (word, command) in
            [("aprove", "approve"), ("statsu", "status"), ("cancle", "cancel"), ("valdiate", "check"), ("xyzzy", "")]
        {
            assert_eq!(meant(word), command, "{word}");
        }
    }

    #[test]
    fn every_suggestion_exists_and_no_synonym_is_a_command() {
        let command = Cli::command();
        for (words, meant) in SYNONYMS {
            assert!(meant.iter().all(|name| !about(&command, name).is_empty()), "{meant:?}");
            assert!(words.iter().all(|word| command.find_subcommand(word).is_none()), "{words:?}");
        }
        let mut words: Vec<&str> = SYNONYMS.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
