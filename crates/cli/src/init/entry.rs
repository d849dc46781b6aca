//! Adds our entry to a file that lists MCP servers, and removes it again. Text in, text out.

use anyhow::{Context, Result, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The name of our entry.
pub(crate) const NAME: &str = "longhaul";

/// The format in which an editor lists servers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// `mcpServers`, the most common format.
    Servers,
    /// `servers` of VS Code.
    Code,
    /// `mcpServers` with the tools that may be used.
    Copilot,
    /// `context_servers` of Zed.
    Zed,
    /// `mcp` of opencode.
    OpenCode,
    /// `[mcp_servers]` of Codex.
    Toml,
}

/// The command that starts the server.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

/// The result of an edit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// The entry is already there.
    Same,
    /// The text with our entry.
    Written(String),
    /// Another entry has our name. The text holds our entry in its place.
    Taken(String),
}

impl Shape {
    fn table(self) -> &'static str {
        match self {
            Self::Servers | Self::Copilot => "mcpServers",
            Self::Code => "servers",
            Self::Zed => "context_servers",
            Self::OpenCode => "mcp",
            Self::Toml => "mcp_servers",
        }
    }

    fn entry(self, server: &Server) -> Value {
        let Server { program, arguments } = server;
        match self {
            Self::Servers | Self::Toml => json!({"command": program, "args": arguments}),
            Self::Code => json!({"type": "stdio", "command": program, "args": arguments}),
            Self::Copilot => json!({"type": "local", "command": program, "args": arguments, "tools": ["*"]}),
            Self::Zed => json!({"source": "custom", "command": program, "args": arguments, "env": {}}),
            Self::OpenCode => {
                let command: Vec<&String> = std::iter::once(program).chain(arguments).collect();
                json!({"type": "local", "command": command, "enabled": true})
            }
        }
    }

    /// The text of a file with our entry in it.
    pub(crate) fn put(self, text: &str, server: &Server) -> Result<Edit> {
        let wanted = self.entry(server);
        match self {
            Self::Toml => put_toml(text, self.table(), &wanted),
            _ => put_json(text, self.table(), &wanted),
        }
    }

    /// The text of a file without our entry; `None` if it has none.
    pub(crate) fn take(self, text: &str) -> Result<Option<String>> {
        match self {
            Self::Toml => take_toml(text, self.table()),
            _ => take_json(text, self.table()),
        }
    }

    /// Whether a text contains nothing except what we may have written.
    pub(crate) fn is_bare(self, text: &str) -> bool {
        match self {
            Self::Toml => text.trim().is_empty(),
            _ => matches!(text.split_whitespace().collect::<String>().as_str(), "" | "{}"),
        }
    }
}

fn parse(text: &str) -> Result<CstRootNode> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| anyhow::anyhow!("not JSON: {error}"))
}

fn put_json(text: &str, table: &str, wanted: &Value) -> Result<Edit> {
    let root = parse(text)?;
    let object = root.object_value_or_create().context("not a JSON object")?;
    let Some(servers) = object.object_value_or_create(table) else { bail!("`{table}` is not an object") };
    let Some(entry) = servers.get(NAME) else {
        servers.append(NAME, input(wanted));
        return Ok(Edit::Written(ended(root.to_string())));
    };
    if entry.to_serde_value().as_ref() == Some(wanted) {
        return Ok(Edit::Same);
    }
    entry.set_value(input(wanted));
    Ok(Edit::Taken(ended(root.to_string())))
}

fn take_json(text: &str, table: &str) -> Result<Option<String>> {
    let root = parse(text)?;
    let Some(servers) = root.object_value().and_then(|object| object.object_value(table)) else { return Ok(None) };
    let Some(entry) = servers.get(NAME) else { return Ok(None) };
    entry.remove();
    if servers.properties().is_empty() && servers.children().iter().all(|child| !child.is_comment()) {
        let property = root.object_value().and_then(|object| object.get(table));
        property.into_iter().for_each(|property| property.remove());
    }
    Ok(Some(ended(root.to_string())))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn put_toml(text: &str, table: &str, wanted: &Value) -> Result<Edit> {
    let mut document: DocumentMut = text.parse().context("not TOML")?;
    let mut servers = Table::new();
    servers.set_implicit(true);
    let item = document.entry(table).or_insert(Item::Table(servers));
    let servers = item.as_table_like_mut().with_context(|| format!("`{table}` is not a table"))?;
    let before = servers.get(NAME).map(as_json);
    if before.as_ref() == Some(wanted) {
        return Ok(Edit::Same);
    }
    servers.insert(NAME, Item::Table(as_toml(wanted)));
    let text = document.to_string();
    Ok(if before.is_some() { Edit::Taken(text) } else { Edit::Written(text) })
}

fn take_toml(text: &str, table: &str) -> Result<Option<String>> {
    let mut document: DocumentMut = text.parse().context("not TOML")?;
    let Some(servers) = document.get_mut(table).and_then(Item::as_table_like_mut) else { return Ok(None) };
    if servers.remove(NAME).is_none() {
        return Ok(None);
    }
    if servers.is_empty() {
        document.remove(table);
    }
    Ok(Some(document.to_string()))
}

/// An entry as JSON, in the form that we write; values that we never write count as null.
fn as_json(item: &Item) -> Value {
    let text = |item: &Item| item.as_str().map_or(Value::Null, Value::from);
    let list = |item: &Item| item.as_array().map(|list| list.iter().map(|one| Value::from(one.as_str())).collect());
    let Some(table) = item.as_table_like() else { return Value::Null };
    let entries = table.iter().map(|(key, item)| (key.to_owned(), list(item).unwrap_or_else(|| text(item))));
    Value::Object(entries.collect())
}

fn as_toml(wanted: &Value) -> Table {
    let mut table = Table::new();
    for (key, entry) in wanted.as_object().into_iter().flatten() {
        let item = match entry {
            Value::Array(items) => value(items.iter().filter_map(Value::as_str).collect::<Array>()),
            other => value(other.as_str().unwrap_or_default()),
        };
        table.insert(key, item);
    }
    table
}

/// A text that ends with a line end.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Shape] = &[Shape::Servers, Shape::Code, Shape::Copilot, Shape::Zed, Shape::OpenCode, Shape::Toml];

    fn server() -> Server {
        Server { program: "longhaul".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    fn written(shape: Shape, text: &str) -> String {
        match shape.put(text, &server()).unwrap() {
            Edit::Written(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_put_is_found_again_and_can_be_taken_out() {
        for shape in ALL {
            let text = written(*shape, "");
            assert_eq!(shape.put(&text, &server()).unwrap(), Edit::Same, "{text}");
            let rest = shape.take(&text).unwrap().unwrap();
            assert!(shape.is_bare(&rest), "{shape:?} leaves {rest}");
            assert_eq!(shape.take(&rest).unwrap(), None);
        }
    }

    #[test]
    fn each_shape_is_what_its_editor_reads() {
        let all: Vec<String> = ALL.iter().map(|shape| format!("{shape:?}\n{}", written(*shape, ""))).collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn comments_and_other_servers_stay() {
        let text = "// mine\n{\n  \"theme\": \"dark\", // keep\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n  },\n}\n";
        let with = written(Shape::Servers, text);
        assert!(with.contains("// mine") && with.contains("// keep") && with.contains(r#""other": {"command": "x"}"#));
        assert_eq!(Shape::Servers.take(&with).unwrap().unwrap(), text);
        let toml = "# mine\nmodel = \"x\" # keep\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let with = written(Shape::Toml, toml);
        assert!(with.starts_with(toml), "{with}");
        assert_eq!(Shape::Toml.take(&with).unwrap().unwrap(), toml);
    }

    #[test]
    fn another_entry_of_our_name_is_not_simply_replaced() {
        let json = r#"{"mcpServers": {"longhaul": {"command": "/mine"}}}"#;
        assert!(matches!(Shape::Servers.put(json, &server()).unwrap(), Edit::Taken(text) if !text.contains("/mine")));
        let toml = "[mcp_servers.longhaul]\ncommand = \"/mine\"\n";
        assert!(matches!(Shape::Toml.put(toml, &server()).unwrap(), Edit::Taken(text) if !text.contains("/mine")));
    }

    #[test]
    fn a_file_that_can_not_be_read_is_an_error() {
        for (shape, text) in [
            (Shape::Servers, "{"),
            (Shape::Servers, "[]"),
            (Shape::Zed, r#"{"context_servers": 1}"#),
            (Shape::Toml, "a = "),
        ] {
            assert!(shape.put(text, &server()).is_err(), "{text}");
        }
    }
}
