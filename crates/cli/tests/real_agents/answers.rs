//! Tests what agents produce: words, values, changed files.

use serde_json::json;

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{KEY, Project};

const STEPS: &str = r#"
do:
  - {id: say, prompt: Say hello to the reader., output: {as: said}}
  - {id: judge, prompt: 'Judge this: {{ said }}', output: {as: verdict, schema: {name: string, count: integer}}}
  - {id: change, prompt: Write it down in notes.txt., output: {as: report}}
"#;

const SCRIPT: &str = "
on prompt Say hello
  text Hello, reader.
on prompt Judge this: Hello, reader.
  structured name=pear count:=3
on prompt Write it down
  write notes.txt from the agent
  text Written.
";

fn words_values_and_files(agent: &Agent) {
    let project = Project::new(agent, SCRIPT, STEPS);
    project.run();
    assert_eq!(project.output("said"), "Hello, reader.");
    assert_eq!(project.output("verdict"), json!({"name": "pear", "count": 3}));
    assert_eq!(project.output("report"), "Written.");
    assert_eq!(project.read("notes.txt").trim_end(), "from the agent");
    assert_eq!(project.failures(), [""; 0]);
    assert!(project.server.log().iter().all(|entry| entry.n.is_none() || entry.key == KEY), "another key was shown");
    project.until_quiet();
}

with_agents!(words_values_and_files: claude, codex, copilot, gemini, opencode, anthropic, openai, acp);

/// The second step of a thread knows the conversation of the first.
fn a_thread_goes_on_in_one_conversation(agent: &Agent) {
    let steps = "
do:
  - {id: one, prompt: The word is marmalade., agent: {thread: talk}}
  - {id: two, prompt: What was the word?, agent: {thread: talk}, output: {as: word}}
";
    let script = "
on prompt What was the word? and history The word is marmalade.
  text It was marmalade.
on prompt The word is
  text I will remember.
";
    let project = Project::new(agent, script, steps);
    project.run();
    assert_eq!(project.output("word"), "It was marmalade.");
}

with_agents!(a_thread_goes_on_in_one_conversation: claude, codex, copilot, acp);

/// An answer that does not follow the schema is fixed in the same conversation.
fn an_answer_that_does_not_fit_is_mended(agent: &Agent) {
    let steps = "do: [{id: judge, prompt: Judge it., output: {as: verdict, schema: {name: string}}}]";
    let script = "
always text It is a pear, I think.
on history It is a pear, I think.
  always structured name=pear
";
    let project = Project::new(agent, script, steps);
    project.run();
    assert_eq!(project.output("verdict"), json!({"name": "pear"}));
}

with_agents!(an_answer_that_does_not_fit_is_mended: claude, codex, copilot);

/// A prompt is data: a text like a path opens no file, a text like a command is not run, and every word arrives.
fn data_arrives_as_data(agent: &Agent) {
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), "kept outside").unwrap();
    let task = format!("/compact the @secret.txt logs of @{} now", outside.path().display());
    let steps = format!("do: [{{id: a, prompt: '{task}', agent: {{sandbox: read-only}}, output: {{as: said}}}}]");
    let project = Project::new(agent, "always text Done.", &steps.replace("{sandbox: read-only}", agent.looking()));
    std::fs::write(project.path("secret.txt"), "kept inside").unwrap();
    project.run();
    assert_eq!(project.output("said"), "Done.");
    let bodies: Vec<String> = project.server.log().into_iter().map(|entry| format!("{:?}", entry.body)).collect();
    let arrived = bodies.iter().any(|body| body.replace('\\', "").contains(&task));
    assert!(arrived, "the task did not arrive: {bodies:?}");
    assert!(!bodies.iter().any(|body| body.contains("kept inside")), "a file of the workspace was sent");
    assert!(!bodies.iter().any(|body| body.contains("kept outside")), "a file from outside was sent");
}

with_agents!(data_arrives_as_data: claude, codex, copilot, gemini, opencode, anthropic, openai, acp);

/// The persona can change from step to step of a thread.
fn each_step_of_a_thread_has_its_own_persona(agent: &Agent) {
    let steps = "
do:
  - {id: one, prompt: Begin., agent: {thread: talk, persona: coder, sandbox: edit}}
  - {id: two, prompt: Continue., agent: {thread: talk, persona: analyst, sandbox: edit}, output: {as: said}}
";
    let project = Project::new(agent, "always text Done.", steps);
    project.run();
    let last = project.server.log().into_iter().rfind(|entry| entry.n.is_some()).unwrap();
    let body = last.body.unwrap().to_string();
    assert!(body.contains("You analyse: a request"), "who it is was not told: {body}");
}

with_agents!(each_step_of_a_thread_has_its_own_persona: claude, codex, copilot, gemini, opencode, openai, acp);

/// The agent gets the schema at once, so that nothing needs to be fixed.
fn a_schema_is_told_with_the_task(agent: &Agent) {
    let steps = "do: [{id: judge, prompt: Judge it., output: {as: verdict, schema: {pomaceous: string}}}]";
    let project = Project::new(agent, "always structured pomaceous=pear", steps);
    project.run();
    let first = project.server.log().into_iter().find(|entry| entry.n.is_some()).unwrap();
    assert!(first.body.unwrap().to_string().contains("pomaceous"));
    assert_eq!(project.failures(), [""; 0]);
}

with_agents!(a_schema_is_told_with_the_task: claude, codex, copilot, gemini, opencode, openai, acp);

/// An agent that repeats a long prompt and exits at once loses nothing.
fn nothing_of_a_quick_answer_to_a_long_prompt_is_lost(agent: &Agent) {
    let words = "The quick brown fox jumps over the lazy dog. ".repeat(4_000);
    let project =
        Project::new(agent, "always text Done.", "do: [{id: a, prompt: {file: long.md}, output: {as: said}}]");
    std::fs::write(project.path("long.md"), words).unwrap();
    project.run();
    assert_eq!(project.output("said"), "Done.");
    assert_eq!(project.failures(), [""; 0]);
    assert_eq!(project.asked(), 1);
}

with_agents!(nothing_of_a_quick_answer_to_a_long_prompt_is_lost: claude, gemini);
