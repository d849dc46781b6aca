//! Runs the official conformance suite, as far as it tests what every server does. The rest needs a server made for the
//! suite, with tools such as `test_image_content`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::binary::told;
use crate::mcp::officials::{installed, script};
use crate::mcp::project::Project;

/// The scenarios that must pass, by the suite's names.
const SCENARIOS: [&str; 12] = [
    "server-initialize",
    "server-session-lifecycle",
    "ping",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "http-header-validation",
    "caching",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
];

/// The suite sends no token: this proxy adds it.
struct Proxy {
    child: Child,
    url: String,
}

impl Proxy {
    fn start(node: &Path, url: &str, token: &str) -> Self {
        let mut command = Command::new(node);
        let mut child = command.arg(script("proxy.mjs")).args([url, token]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().to_owned() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn the_conformance_suite_finds_nothing() {
    let Some(folder) = installed("conformance") else {
        return eprintln!("skipped: scripts/install-mcp-clients did not install the conformance suite");
    };
    let modules = folder.join("node_modules");
    let (node, suite) =
        (modules.join("node/bin/node"), modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    let project = Project::new();
    let bare = project.path().join(".longhaul/workflows/bare.yaml");
    std::fs::write(bare, "do:\n  - {id: a, prompt: do it}\n").unwrap();
    let web = project.web(&[]);
    let proxy = Proxy::start(&node, &web.url, &project.token());
    for scenario in SCENARIOS {
        let mut command = Command::new(&node);
        command.arg(&suite).args(["server", "--url", &proxy.url, "--scenario", scenario]).current_dir(project.path());
        let told = told(command.output().unwrap());
        assert_eq!(told.code, 0, "{scenario}: {}{}", told.stdout, told.stderr);
        assert!(told.stdout.contains("0 failed"), "{scenario}: {}{}", told.stdout, told.stderr);
    }
}
