//! The tools for models, one file per tool.
//!
//! **Invariant:** a tool that a turn may not use is not offered, and does nothing if the model still calls it. A result
//! is never longer than [`ANSWER_BYTES_MAX`].

mod edit;
mod grep;
mod list;
mod read;
mod shell;
mod write;

use std::path::PathBuf;

use longhaul_core::Json;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::lines::Lines;
use super::workspace::Workspace;
use crate::contract::{Permission, Turn};

/// The most bytes of a result that a model sees.
const ANSWER_BYTES_MAX: usize = 30_000;

/// A tool, as a model sees it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Other names for the tool, which workflows may use.
    aliases: &'static [&'static str],
    pub(crate) about: &'static str,
    /// Its parameters as name, type and meaning; a `?` after the name makes it optional.
    parameters: &'static [(&'static str, &'static str, &'static str)],
    /// Whether it only reads.
    is_harmless: bool,
}

const ALL: [&Tool; 6] = [&read::TOOL, &write::TOOL, &edit::TOOL, &list::TOOL, &grep::TOOL, &shell::TOOL];

impl Tool {
    /// Its parameters as JSON Schema.
    pub(crate) fn schema(&self) -> Json {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for (name, kind, about) in self.parameters {
            let plain = name.trim_end_matches('?');
            properties.insert(plain.to_owned(), json!({"type": kind, "description": about}));
            if plain == *name {
                required.push(plain);
            }
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn is_called(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.name == name || self.aliases.contains(&name.as_str())
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// The tool succeeded.
    Done(String),
    /// The tool failed.
    Failed(String),
    /// This turn may not use the tool.
    Denied(String),
    /// The turn was stopped while the tool ran; its effect is unknown.
    Stopped,
}

impl From<Result<String, String>> for Said {
    fn from(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::Done(text),
            Err(text) => Self::Failed(text),
        }
    }
}

/// The tools of one turn.
pub(crate) struct Toolbox<'a> {
    workspace: Workspace,
    offered: Vec<&'static Tool>,
    scratch: PathBuf,
    /// The variable of the key, which commands do not get, and its value.
    key: Option<(String, String)>,
    lines: &'a Lines,
    cancel: &'a CancellationToken,
}

impl<'a> Toolbox<'a> {
    pub(crate) fn new(
        turn: &Turn,
        key: Option<(String, String)>,
        lines: &'a Lines,
        cancel: &'a CancellationToken,
    ) -> Self {
        let workspace = Workspace::new(turn);
        Self { workspace, offered: offered(turn), scratch: turn.scratch.clone(), key, lines, cancel }
    }

    pub(crate) fn offered(&self) -> &[&'static Tool] {
        &self.offered
    }

    /// Runs the tool that a model calls.
    pub(crate) async fn call(&self, name: &str, input: &Json) -> Said {
        let Some(tool) = self.offered.iter().find(|tool| tool.name == name) else {
            return self.refusal(name);
        };
        match self.dispatch(tool.name, input.clone()).await {
            Said::Done(text) => Said::Done(bounded(text)),
            Said::Failed(text) => Said::Failed(bounded(text)),
            other => other,
        }
    }

    async fn dispatch(&self, name: &str, input: Json) -> Said {
        let workspace = self.workspace.clone();
        match name {
            "read" => self.look(move || read::read(&workspace, &given(input)?)).await,
            "write" => self.look(move || write::write(&workspace, &given(input)?)).await,
            "edit" => self.look(move || edit::edit(&workspace, &given(input)?)).await,
            "list" => self.look(move || list::list(&workspace, &given(input)?)).await,
            "grep" => self.look(move || grep::grep(&workspace, &given(input)?)).await,
            _ => match given(input) {
                Ok(input) => shell::run(self, &input).await,
                Err(text) => Said::Failed(text),
            },
        }
    }

    /// Runs on its own thread, so that signals are handled while a disk is slow.
    async fn look(&self, look: impl FnOnce() -> Result<String, String> + Send + 'static) -> Said {
        tokio::select! {
            looked = tokio::task::spawn_blocking(look) => {
                looked.unwrap_or_else(|_| Err("the tool broke".to_owned())).into()
            }
            () = self.cancel.cancelled() => Said::Stopped,
        }
    }

    fn refusal(&self, name: &str) -> Said {
        let names: Vec<_> = self.offered.iter().map(|tool| tool.name).collect();
        let offered = format!("the tools here are: {}", names.join(", "));
        if ALL.iter().any(|tool| tool.name == name) {
            Said::Denied(format!("`{name}` is not allowed in this turn; {offered}"))
        } else {
            Said::Failed(format!("there is no tool `{name}`; {offered}"))
        }
    }
}

/// The unknown names in a list of tools.
pub(crate) fn unknown(turn: &Turn) -> Vec<&str> {
    let is_known = |name: &&String| ALL.iter().any(|tool| tool.is_called(name));
    turn.tools.iter().flatten().filter(|name| !is_known(name)).map(String::as_str).collect()
}

fn offered(turn: &Turn) -> Vec<&'static Tool> {
    let is_allowed = |tool: &&Tool| tool.is_harmless || turn.permission != Permission::ReadOnly;
    let is_listed =
        |tool: &&Tool| turn.tools.as_ref().is_none_or(|names| names.iter().any(|name| tool.is_called(name)));
    ALL.into_iter().filter(is_allowed).filter(is_listed).collect()
}

fn given<T: DeserializeOwned>(input: Json) -> Result<T, String> {
    T::deserialize(input).map_err(|error| format!("the input does not fit: {error}"))
}

/// The start and the end of a text that is too long.
fn bounded(text: String) -> String {
    if text.len() <= ANSWER_BYTES_MAX {
        return text;
    }
    let head = text.floor_char_boundary(ANSWER_BYTES_MAX / 2);
    let tail = text.ceil_char_boundary(text.len() - ANSWER_BYTES_MAX / 2);
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}

/// The start of a text.
fn start(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_keeps_both_ends() {
        let text = format!("start{}end", "é".repeat(ANSWER_BYTES_MAX));
        let said = bounded(text);
        assert!(said.len() < ANSWER_BYTES_MAX + 50 && said.starts_with("starté") && said.ends_with("éend"));
        assert!(said.contains("bytes left out"));
    }

    #[test]
    fn schemas_name_what_must_be_given() {
        let schema = edit::TOOL.schema();
        assert_eq!(schema["required"], json!(["path", "old", "new"]));
        assert_eq!(schema["properties"]["all"]["type"], "boolean");
    }
}
