//! Tests the official clients: each does a whole hosted workflow over pipes and over HTTP, and prints the result.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::told;
use crate::mcp::project::Project;

/// Where `scripts/install-mcp-clients` puts them.
pub(crate) fn installed(client: &str) -> Option<PathBuf> {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-clients");
    let folder = std::env::var_os("LONGHAUL_MCP_CLIENTS_DIR").map_or(usual, PathBuf::from).join(client);
    folder.join("version").exists().then_some(folder)
}

pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

/// Runs a script with the address of the server: `pipes PROGRAM ARGS…`, or `http URL TOKEN`.
fn check(command: impl Fn() -> Command, modes: &[&str]) {
    let project = Project::new();
    let web = project.web(&[]);
    let token = project.token();
    for mode in modes {
        for way in [vec!["pipes", env!("CARGO_BIN_EXE_longhaul"), "mcp"], vec!["http", &web.url, &token]] {
            let mut command = command();
            command.arg(mode).args(&way).current_dir(project.path());
            command.env("HOME", project.path()).env_remove("XDG_STATE_HOME").env("LONGHAUL_AGENT", "scripted");
            let told = told(command.output().unwrap());
            assert_eq!(
                (told.code, told.stdout.lines().last()),
                (0, Some("succeeded")),
                "{mode} {way:?}: {}{}",
                told.stdout,
                told.stderr
            );
        }
    }
}

#[test]
fn the_python_client_does_a_hosted_workflow() {
    let Some(folder) = installed("python") else {
        return eprintln!("skipped: scripts/install-mcp-clients did not install the Python client");
    };
    let python = || {
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", folder.join("packages")).arg(script("client.py"));
        command
    };
    check(python, &["legacy", "auto", "asked", "asked-legacy"]);
}

#[test]
fn the_typescript_client_does_a_hosted_workflow() {
    let Some(folder) = installed("typescript") else {
        return eprintln!("skipped: scripts/install-mcp-clients did not install the TypeScript client");
    };
    let node = || {
        let mut command = Command::new("node");
        command.arg(script("client.mjs")).arg(&folder);
        command
    };
    check(node, &["plain", "asked"]);
}
