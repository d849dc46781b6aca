//! Tests failures of endpoints, and what happens to a run.

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

/// One prompt, with few retries.
const STEPS: &str = "do: [{id: a, prompt: Do it., retry: {max: 3, backoff: 1s}, timeout: 2m, output: {as: done}}]";

/// Runs to the end and checks the answer.
fn ends_well(project: &Project) {
    project.run();
    assert_eq!(project.output("done"), "Done.");
    project.until_quiet();
}

/// Whether the agent or the engine retries: the work is done in the end.
fn too_many_requests_pass(agent: &Agent) {
    let project = Project::new(agent, "rate-limit retry-after=1\nalways text Done.", STEPS);
    ends_well(&project);
    assert!(project.asked() >= 2);
}

with_agents!(too_many_requests_pass: claude, codex, copilot, anthropic, openai);

fn an_overload_is_waited_out(agent: &Agent) {
    let project = Project::new(agent, "2x overloaded\nalways text Done.", STEPS);
    ends_well(&project);
    assert!(project.asked() >= 3);
}

with_agents!(an_overload_is_waited_out: claude, codex, copilot, anthropic, openai);

/// The agent gives up on an error that it does not know as temporary; the engine retries.
fn a_conversation_that_broke_off_is_continued(agent: &Agent) {
    let project = Project::new(agent, "4x cut\nalways text Done.", STEPS);
    ends_well(&project);
}

with_agents!(a_conversation_that_broke_off_is_continued: claude);

fn an_empty_answer_is_no_success(agent: &Agent) {
    let project = Project::new(agent, "2x empty\nalways text Done.", STEPS);
    ends_well(&project);
    assert_eq!(project.failures().first().map(String::as_str), Some("empty"));
}

with_agents!(an_empty_answer_is_no_success: claude, codex, copilot, anthropic, openai);

/// A wrong key is not retried: a person is asked, and the run continues when it is fixed.
fn a_wrong_key_is_for_people(agent: &Agent) {
    let script = "always auth";
    let project = Project::new(agent, script, STEPS);
    let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN]);
    assert_eq!(told.code, 3, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.failures(), ["auth"]);
    assert_eq!(project.all("question_asked")[0]["kind"], "operator");
    project.server.rewrite("always text Done.").unwrap();
    project.ok(&["answer", RUN, "a", "retry"]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.output("done"), "Done.");
}

with_agents!(a_wrong_key_is_for_people: claude, codex, copilot, gemini, opencode, anthropic, openai, acp);

/// An agent that would try a key ten times is stopped as soon as the key is known to be wrong.
fn a_patient_agent_is_not_waited_for(agent: &Agent) {
    let project = Project::new(agent, "always auth", STEPS);
    let settings = project.read("home/.longhaul/config.toml").replace("MAX_RETRIES = \"1\"", "MAX_RETRIES = \"10\"");
    std::fs::write(project.path("home/.longhaul/config.toml"), settings).unwrap();
    let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN]);
    assert_eq!(told.code, 3, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.failures(), ["auth"]);
    let message = project.all("attempt_failed")[0]["error"]["message"].to_string();
    assert!(message.contains("claude: the key or login is refused"), "{message}");
    assert!(project.asked() <= 4, "it asked {} times", project.asked());
}

with_agents!(a_patient_agent_is_not_waited_for: claude);

/// The agent or Longhaul shortens the conversation, or it starts again: the work is still done.
fn a_conversation_that_is_too_long_is_gone_on_with(agent: &Agent) {
    let script = "
on compact
  always text <summary>The user wants it done.</summary>
on any
  text I have begun.
  + run true
  context-overflow
  always text Done.
";
    ends_well(&Project::new(agent, script, STEPS));
}

with_agents!(a_conversation_that_is_too_long_is_gone_on_with: claude, codex, copilot);

/// The question is answered after the conversation was shortened: the summary must not replace the work.
fn a_typed_step_goes_on_after_a_compaction(agent: &Agent) {
    let steps = "do: [{id: a, prompt: Judge it., output: {as: verdict, schema: {name: string}}}]";
    let script = "
on compact
  always text <summary>The user wants it judged.</summary>
on any
  text I have begun.
  + run true
  context-overflow
  always structured name=pear
";
    let project = Project::new(agent, script, steps);
    project.run();
    assert_eq!(project.output("verdict"), serde_json::json!({"name": "pear"}));
    assert_eq!(project.failures(), ["overflow"]);
    let asked: Vec<String> =
        project.server.log().into_iter().filter(|entry| !entry.compact).map(|entry| entry.prompt).collect();
    assert!(asked.last().unwrap().contains("Judge it."), "{asked:?}");
    assert!(asked.iter().all(|prompt| !prompt.contains("Do not do the work again")), "{asked:?}");
}

with_agents!(a_typed_step_goes_on_after_a_compaction: anthropic, openai);

/// A hung agent is asked to stop. The way it obeys is not its failure: its conversation continues.
fn a_hung_agent_goes_on_in_its_conversation(agent: &Agent) {
    let steps = "do: [{id: a, prompt: Do it., retry: {max: 1, backoff: 1s}, output: {as: done}}]";
    let project = Project::new(agent, "hang\nalways text Done.", steps);
    let told = project.longhaul_with(&["run", "w.yaml", "--run-id", RUN], &[("LONGHAUL_SILENCE_MS", "4000")]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert_eq!(project.output("done"), "Done.");
    assert_eq!(project.failures(), ["hung"]);
    let message = project.all("attempt_failed")[0]["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("silent for "), "{message}");
    // A model behind an address has no conversation before its first answer.
    let rung = if agent.name == "openai" { "again" } else { "continue" };
    assert_eq!(project.all("retry_scheduled")[0]["rung"], rung);
    project.until_quiet();
}

with_agents!(a_hung_agent_goes_on_in_its_conversation: claude, codex, copilot, gemini, openai, acp);

fn a_model_that_never_answers_is_ended(agent: &Agent) {
    let retry = "{max: 1, backoff: 1s, on: timeout}";
    let steps = format!("do: [{{id: a, prompt: Do it., timeout: 15s, retry: {retry}, output: {{as: done}}}}]");
    let project = Project::new(agent, "hang\nalways text Done.", &steps);
    ends_well(&project);
    assert_eq!(project.failures(), ["timeout"]);
    assert_eq!(project.all("attempt_failed")[0]["error"]["message"], "it took too long and was ended");
}

with_agents!(a_model_that_never_answers_is_ended: claude, codex, copilot, anthropic, openai);
