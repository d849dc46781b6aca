//! What agents bring about: words, values, changed files.

use serde_json::json;

use crate::agent::{Agent, with_agents};
use crate::project::{KEY, Project};

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

/// The second step of a thread knows what was said in the first.
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

/// An answer that does not follow the schema is mended in the same conversation.
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
