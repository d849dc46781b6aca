//! Tests the MCP tools of agents, with a small real server: one tool that is allowed, one that is not.

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

const SECRET: &str = "s3cr3t-of-the-server-41c9";

/// How the model names a tool of the server `hand` when it calls it through this agent.
fn called(agent: &Agent, tool: &str) -> String {
    match agent.name {
        "codex" => tool.to_owned(),
        "copilot" => format!("hand-{tool}"),
        "gemini" => format!("mcp_hand_{tool}"),
        "opencode" => format!("hand_{tool}"),
        _ => format!("mcp__hand__{tool}"),
    }
}

/// A project whose user has the server `hand`, in which the model calls two of its tools.
fn project(agent: &Agent, named: &str) -> Project {
    let (text, env) = (called(agent, "text"), called(agent, "env"));
    let script = format!("tool {text} say=marmalade\ntool {env} name=OTHER\nalways text Done.");
    let steps = format!("do: [{{id: a, prompt: Use it., agent: {{mcp: [{named}]}}, output: {{as: said}}}}]");
    let project = Project::new(agent, &script, &steps);
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/server.py");
    let settings = project.read("home/.longhaul/config.toml");
    let log = project.path("hand.log");
    let more = format!(
        "[mcp.servers.hand]\ncommand = 'python3'\nargs = ['{server}']\nenv = {{ LOG = '{}', QUIET = '1', A_TOKEN = '${{HAND}}' }}\n",
        log.display()
    );
    std::fs::write(project.path("home/.longhaul/config.toml"), settings + &more).unwrap();
    project
}

fn run(project: &Project) {
    let told = project.longhaul_with(&["run", "w.yaml", "--run-id", RUN], &[("HAND", SECRET)]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.output("said"), "Done.");
}

fn calls(project: &Project) -> Vec<String> {
    project.read("hand.log").lines().filter(|line| line.starts_with("call ")).map(str::to_owned).collect()
}

/// The model gets the result of the allowed tool. The other call does not reach the server, and the step shows it.
fn one_tool_is_allowed_and_another_is_denied(agent: &Agent) {
    let project = project(agent, "hand.text");
    run(&project);
    assert_eq!(calls(&project), ["call text"]);
    let bodies: Vec<String> = project.server.log().into_iter().map(|entry| format!("{:?}", entry.body)).collect();
    let is_result = |body: &String| body.matches("marmalade").count() > 1;
    assert!(bodies.iter().any(is_result), "the model did not get the result");
    let denied = project.all("tool_denied");
    assert_eq!(denied.len(), 1, "{denied:?}");
    assert!(denied[0]["tool"].as_str().unwrap().ends_with("env"), "{denied:?}");
    let shown = project.ok(&["status", RUN, "--json"]);
    assert!(shown.contains("\"denied\""), "{shown}");
    project.until_quiet();
}

with_agents!(one_tool_is_allowed_and_another_is_denied: claude, codex, copilot, gemini, opencode, acp);

/// A whole server allows all of its tools. Its secret is in nothing that stays.
fn a_whole_server_is_allowed(agent: &Agent) {
    let project = project(agent, "hand");
    run(&project);
    assert_eq!(calls(&project), ["call text", "call env"]);
    assert_eq!(project.all("tool_denied").len(), 0);
    assert_eq!(project.holding(SECRET), [""; 0]);
    project.until_quiet();
}

with_agents!(a_whole_server_is_allowed: claude, codex, copilot, gemini, opencode, acp);
