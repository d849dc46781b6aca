//! Tests servers that come with a checkout.

use serde_json::json;

use crate::binary::project::Project;
use crate::tools::{by_hand, one};

fn shared(project: &Project) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/server.py");
    let servers = json!({"mcpServers": {"hand": {"type": "stdio", "command": "python3", "args": [script]}}});
    std::fs::write(project.path(".mcp.json"), servers.to_string()).unwrap();
}

#[test]
fn the_file_of_editors_is_used_once_a_person_has_looked_at_it() {
    let project = Project::new(&one("tool: hand.echo, args: {n: 1}"));
    shared(&project);
    project.ok(&["check", "w.yaml"]);
    assert!(project.log().is_empty(), "checking starts nothing");
    let message = project.asked();
    assert!(message.contains("came with the project") && message.contains("`longhaul trust`"), "{message}");
    assert!(project.log().is_empty());
    project.ok(&["trust"]);
    project.ok(&["answer", super::RUN, "it", "retry"]);
    project.ok(&["resume", super::RUN]);
    assert_eq!(project.found("run_finished")["outputs"]["said"], json!({"n": 1}));
}

#[test]
fn settings_of_a_checkout_name_no_server_by_themselves() {
    let project = Project::new(&one("tool: hand.echo"));
    std::fs::write(project.path(".longhaul/config.toml"), format!("[mcp.servers.hand]\n{}", by_hand())).unwrap();
    let told = project.run();
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("`mcp.servers` says what is started"), "{}", told.stderr);
}

#[test]
fn a_server_that_nobody_configured_is_found_by_checking() {
    let project = crate::tools::project(&one("tool: hnad.echo"));
    let told = project.longhaul(&["check", "w.yaml"]);
    assert_eq!(told.code, 1);
    assert!(told.stdout.contains("did you mean `hand`?"), "{}{}", told.stdout, told.stderr);
    assert!(project.log().is_empty());
}
