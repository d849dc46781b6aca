//! What the settings say about tool servers: `config.toml`, and the file that editors share.
//!
//! ```toml
//! [mcp.servers.github]
//! command = "github-mcp-server"
//! args = ["stdio"]
//! env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" }
//! [mcp.servers.docs]
//! url = "https://docs.example.com/mcp"
//! headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
//! ```
//!
//! `.mcp.json` of the project has the same under `mcpServers`. What is there and is no server that steps can call is left to the
//! editors.

use anyhow::{Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_agents::tool::Server;
use longhaul_runtime::ToolServer;
use toml_edit::{DocumentMut, Item};

use super::{Keys, Origin, agents, entries};

type Servers = IndexMap<String, ToolServer>;

/// The first key that a checkout cannot set by itself: what is started.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    table(document).is_some().then_some("mcp.servers")
}

fn table(document: &DocumentMut) -> Option<&Item> {
    document.get("mcp")?.as_table_like()?.get("servers")
}

/// Adds the servers of a file that are not known yet.
pub(super) fn add(document: &DocumentMut, Origin { folder, .. }: Origin<'_>, servers: &mut Servers) -> Result<()> {
    if let Some((other, _)) = entries(document.get("mcp"), "mcp")?.iter().find(|(name, _)| *name != "servers") {
        bail!("`mcp.{other}` is unknown; known are: servers");
    }
    for (name, item) in entries(table(document), "mcp.servers")? {
        let key = format!("mcp.servers.{name}");
        let table = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
        let server = server(&Keys { table, key, folder })?;
        servers.entry(name.to_owned()).or_insert(ToolServer { server, is_checkout: false });
    }
    Ok(())
}

fn server(keys: &Keys<'_>) -> Result<Server> {
    match (keys.table.contains_key("command"), keys.table.contains_key("url")) {
        (true, false) => {
            keys.only(&["command", "args", "env"])?;
            Ok(Server::Program {
                command: keys.text("command")?.to_owned(),
                args: keys.maybe_texts("args")?,
                env: agents::texts_by_name(keys, "env")?,
            })
        }
        (false, true) => {
            keys.only(&["url", "headers"])?;
            Ok(Server::Address { url: keys.text("url")?.to_owned(), headers: agents::texts_by_name(keys, "headers")? })
        }
        _ => bail!("`{0}` needs either `{0}.command`, a program, or `{0}.url`, an address", keys.key),
    }
}

/// Adds the servers of `.mcp.json` that are not known yet.
pub(super) fn add_shared(text: &str, servers: &mut Servers) {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let found = value.get("mcpServers").and_then(|servers| servers.as_object());
    for (name, entry) in found.into_iter().flatten() {
        if let Ok(server) = serde_json::from_value(entry.clone()) {
            servers.entry(name.clone()).or_insert(ToolServer { server, is_checkout: true });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<Servers> {
        let mut servers = Servers::new();
        add(&text.parse()?, Origin { folder: Path::new("/x"), may_all: &|| true }, &mut servers)?;
        Ok(servers)
    }

    #[test]
    fn programs_and_addresses_are_read() {
        let text =
            "[mcp.servers.a]\ncommand = 'x'\nargs = ['y']\nenv = { K = '${V}' }\n[mcp.servers.b]\nurl = 'http://z'";
        let servers = read(text).unwrap();
        let env = IndexMap::from([("K".to_owned(), "${V}".to_owned())]);
        let program = Server::Program { command: "x".to_owned(), args: vec!["y".to_owned()], env };
        assert_eq!(servers["a"], ToolServer { server: program, is_checkout: false });
        assert_eq!(servers["b"].server, Server::Address { url: "http://z".to_owned(), headers: IndexMap::new() });
    }

    #[test]
    fn mistakes_are_named_by_their_key() {
        let told = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(told("[mcp]\nserver = 1"), "`mcp.server` is unknown; known are: servers");
        assert_eq!(told("[mcp.servers]\na = 1"), "`mcp.servers.a` is not a table");
        assert!(told("[mcp.servers.a]\nargs = ['x']").contains("needs either `mcp.servers.a.command`"));
        assert!(told("[mcp.servers.a]\ncommand = 'x'\nurl = 'y'").contains("needs either"));
        assert!(told("[mcp.servers.a]\nurl = 'x'\nenv = {}").starts_with("`mcp.servers.a.env` is unknown"));
        assert_eq!(told("[mcp.servers.a]\ncommand = 'x'\nenv = { A = 1 }"), "`mcp.servers.a.env.A` is not a text");
    }

    #[test]
    fn the_file_of_editors_is_read_as_far_as_it_goes() {
        let mut servers = read("[mcp.servers.a]\ncommand = 'own'").unwrap();
        let text =
            r#"{"mcpServers": {"a": {"command": "theirs"}, "b": {"type": "http", "url": "http://z"}, "c": {"x": 1}}}"#;
        add_shared(text, &mut servers);
        assert_eq!(servers.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(!servers["a"].is_checkout && servers["b"].is_checkout);
        add_shared("not json", &mut servers);
        assert_eq!(servers.len(), 2);
    }
}
