//! Tests agents with a user in front of them: connected by `longhaul init`, they start a hosted run, do its steps and
//! finish it.

use std::process::Stdio;

use crate::binary::told;
use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{KEY, Project, RUN};

const STEPS: &str = "
do:
  - {id: one, prompt: 'Name a fruit for {{ task }}.', output: {as: fruit}}
  - {id: count, run: 'printf %s \"$FRUIT\" | wc -c', env: {FRUIT: '{{ fruit }}'}, output: {as: size}}
  - {id: two, prompt: 'Judge {{ fruit }} of {{ size }}.', output: {as: verdict, schema: {name: string}}}
";

/// The first `submit` of `two` is invalid: the step stays open, and the model gets the error.
fn script(prefix: &str) -> String {
    format!(
        "
on prompt Run the workflow
  tool {prefix}start workflow=w task=pears id={RUN}
  tool {prefix}submit run={RUN} step=one attempt:=1 output=pear
  tool {prefix}submit run={RUN} step=two attempt:=1 output=nonsense
  tool {prefix}submit run={RUN} step=two attempt:=1 output:='{{\"name\":\"pear\"}}'
  text All done.
"
    )
}

/// The command that starts the agent by hand, and its names for the tools of a server.
fn by_hand<'a>(agent: &Agent, url: &'a str) -> (&'static str, Vec<&'a str>, Vec<(&'static str, &'a str)>) {
    match agent.name {
        "claude" => (
            "mcp__longhaul__",
            vec!["-p", "--model", "claude-sonnet-4-5", "--allowedTools=mcp__longhaul__start,mcp__longhaul__submit"],
            vec![
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", KEY),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                // The few tools are offered directly; a search for them would be one more turn.
                ("ENABLE_TOOL_SEARCH", "false"),
            ],
        ),
        _ => (
            "",
            vec!["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "scripted-model"],
            vec![("SCRIPTED_URL", url)],
        ),
    }
}

fn a_hosted_run_is_done_by_the_agent_itself(agent: &Agent) {
    let project = Project::new(agent, &script(by_hand(agent, "").0), STEPS);
    std::fs::create_dir_all(project.path(".longhaul/workflows")).unwrap();
    std::fs::rename(project.path("w.yaml"), project.path(".longhaul/workflows/w.yaml")).unwrap();
    project.ok(&["init", "--user", "--yes", "--editor", agent.name]);

    let url = project.server.lane(agent.name);
    let (_, arguments, environment) = by_hand(agent, &url);
    let mut command = project.program(&agent.program().unwrap());
    command.args(arguments).envs(environment).stdin(Stdio::null());
    if agent.name == "codex" {
        let provider = format!(
            "model_providers.s={{name=\"s\",base_url=\"{url}/v1\",env_key=\"SCRIPTED_KEY\",wire_api=\"responses\"}}"
        );
        command.args(["-c", "model_provider=\"s\"", "-c", &provider]);
    }
    let said = told(command.arg("Run the workflow w on pears").output().unwrap());

    assert!(said.stdout.contains("All done."), "{}{}", said.stdout, said.stderr);
    assert_eq!(project.output("fruit"), "pear");
    assert_eq!(project.output("size"), "4");
    assert_eq!(project.output("verdict"), serde_json::json!({"name": "pear"}));
    assert_eq!(project.all("attempt_succeeded").len(), 3, "each result is recorded once");
    assert_eq!(project.all("run_started")[0]["owner"]["face"], "mcp");
    project.ok(&["init", "--user", "--yes", "--remove", "--editor", agent.name]);
}

with_agents!(a_hosted_run_is_done_by_the_agent_itself: claude, codex);
