//! Engines that are killed, agents that are killed, runs that are cancelled.

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

const STEPS: &str = "do: [{id: a, prompt: Do it., output: {as: done}}]";

/// A tool that continues until the test lets it end.
const TOOL: &str = "
run touch begun; until test -e go; do sleep 0.1; done; echo went > went.txt
always text Done.
";

/// The engine dies; the agent and its tool do not, and the next engine takes them over.
fn an_agent_outlives_its_engine(agent: &Agent) {
    let project = Project::new(agent, TOOL, STEPS);
    let run = project.start();
    project.until_file("begun");
    run.kill();
    let second = project.start_with(&["resume", RUN]);
    project.until("attempt_adopted", |_| true);
    std::fs::write(project.path("go"), "").unwrap();
    let told = second.end();
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.output("done"), "Done.");
    assert_eq!(project.read("went.txt"), "went\n");
    assert_eq!(project.all("attempt_started").len(), 1, "it was not begun again");
    assert_eq!(project.asked(), 2, "nothing was asked twice");
    project.until_quiet();
}

with_agents!(an_agent_outlives_its_engine: claude, codex, copilot, openai);

/// Everything dies at once; the conversation is taken up where it was. Copilot writes its own down a little late, so that
/// after a loss of power it may not know it any more: then the work begins again, as below.
fn a_conversation_outlives_everybody(agent: &Agent) {
    let project = Project::new(agent, TOOL, STEPS);
    let run = project.start();
    project.until_file("begun");
    // Whoever dies before it is recorded takes it along: that is the next test.
    project.until("session_seen", |_| true);
    project.lose_power();
    drop(run);
    std::fs::write(project.path("go"), "").unwrap();
    project.ok(&["resume", RUN]);
    assert_eq!(project.output("done"), "Done.");
    let last = project.server.log().into_iter().rfind(|entry| entry.n.is_some()).unwrap();
    let body = last.body.unwrap().to_string();
    assert!(body.contains("Do it.") && last.prompt.contains("interrupted"), "the conversation is another one: {body}");
    project.until_quiet();
}

with_agents!(a_conversation_outlives_everybody: claude, codex, gemini, opencode, anthropic, acp);

/// The agent has lost the conversation too; the work begins in a new one.
fn a_conversation_that_is_gone_begins_anew(agent: &Agent) {
    let project = Project::new(agent, TOOL, STEPS);
    let run = project.start();
    project.until_file("begun");
    project.lose_power();
    drop(run);
    project.forget_conversations();
    std::fs::write(project.path("go"), "").unwrap();
    project.ok(&["resume", RUN]);
    assert_eq!(project.output("done"), "Done.");
    let last = project.server.log().into_iter().rfind(|entry| entry.n.is_some()).unwrap();
    assert!(last.prompt.contains("Do it."), "it does not know the task: {}", last.prompt);
    project.until_quiet();
}

with_agents!(a_conversation_that_is_gone_begins_anew: claude, codex, copilot);

/// Nothing of it is left: not the agent, not the tool that it runs.
fn a_cancelled_run_leaves_nobody(agent: &Agent) {
    let project = Project::new(agent, TOOL, STEPS);
    let run = project.start();
    project.until_file("begun");
    project.ok(&["cancel", RUN]);
    run.end();
    assert_eq!(project.all("run_finished")[0]["outcome"], "cancelled");
    assert!(!project.path("went.txt").exists());
    project.until_quiet();
}

with_agents!(a_cancelled_run_leaves_nobody: claude, codex, copilot, gemini, opencode, openai, acp);
