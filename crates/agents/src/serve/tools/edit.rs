//! `edit`: replaces one exact text of a file with another.

use serde::Deserialize;

use super::Tool;
use crate::serve::workspace::Workspace;

pub(super) const TOOL: Tool = Tool {
    name: "edit",
    aliases: &["multiedit", "str_replace", "replace"],
    about: "Replace an exact piece of text in a file. It must occur exactly once, unless `all` is true.",
    parameters: &[
        ("path", "string", "The file, relative to the workspace."),
        ("old", "string", "The text that is there, with its exact spaces, without line numbers."),
        ("new", "string", "The text that takes its place."),
        ("all?", "boolean", "Whether every occurrence is replaced."),
    ],
    is_harmless: false,
};

#[derive(Deserialize)]
pub(super) struct Input {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

pub(super) fn edit(workspace: &Workspace, input: &Input) -> Result<String, String> {
    let text = String::from_utf8(workspace.read(&input.path)?).map_err(|_| format!("`{}` is no text", input.path))?;
    let (text, count) = replaced(&text, input).map_err(|why| format!("`{}` is as it was: {why}", input.path))?;
    workspace.write(&input.path, text.as_bytes())?;
    Ok(format!("`{}` is changed in {count} place{}", input.path, if count == 1 { "" } else { "s" }))
}

fn replaced(text: &str, input: &Input) -> Result<(String, usize), String> {
    if input.old.is_empty() {
        return Err("`old` is empty; use `write` for a new file".to_owned());
    }
    if input.old == input.new {
        return Err("`old` and `new` are the same".to_owned());
    }
    match text.matches(&input.old).count() {
        0 => Err("`old` does not occur in it; read it again".to_owned()),
        count if count > 1 && !input.all => {
            Err(format!("`old` occurs {count} times in it; give more of the text around it, or set `all`"))
        }
        count => Ok((text.replace(&input.old, &input.new), count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
        replaced("a b a", &Input { path: String::new(), old: old.to_owned(), new: new.to_owned(), all })
    }

    #[test]
    fn only_what_is_meant_is_replaced() {
        assert_eq!(check("b", "c", false), Ok(("a c a".to_owned(), 1)));
        assert_eq!(check("a", "c", true), Ok(("c b c".to_owned(), 2)));
        assert!(check("a", "c", false).unwrap_err().contains("2 times"));
        assert!(check("x", "c", true).unwrap_err().contains("does not occur"));
        assert!(check("", "c", true).unwrap_err().contains("empty"));
        assert!(check("a", "a", true).unwrap_err().contains("the same"));
    }
}
