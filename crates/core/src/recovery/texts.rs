//! What an agent is told when it recovers.

use crate::Json;

/// To one whose conversation was interrupted.
pub(crate) const CONTINUE: &str = "You were interrupted before you had finished. Look at the state of the workspace, \
     keep what is done, and continue until the task is complete. Then give your answer as it was asked for.";

/// To one that said nothing.
pub(crate) const EMPTY: &str = "Your last answer was empty. Finish the task if it is not finished, and give the answer as \
     it was asked for.";

/// After what a person said, to one that had finished its turn.
pub(crate) const HEARD: &str = "You had answered before the message below reached you. Take it into account, change what has to \
     change, and give your whole answer again, as it was asked for.";

/// Before the task, to one that has finished it without hearing what a person said, in a conversation that cannot continue.
pub(crate) const HEARD_AGAIN: &str = "This task was done once before. What was changed is still in the workspace: look at it \
     first, and keep what is right. A message from a person follows the task.\n\n";

/// Before the task, to one that takes over from another.
pub(crate) const TAKE_OVER: &str = "Another agent has begun this task and could not finish it. Its changes are still in \
     the workspace: look at them first, and keep what is right.\n\n";

/// Before the task, to one that begins it again.
const BEGUN: &str = "This task was begun before, in a conversation that became too long. What was changed is still in the \
     workspace: look at it first, and keep what is right.\n\n";

/// How much of a bad answer is quoted.
const QUOTED_CHARS: usize = 800;

/// To one whose answer does not fit.
pub(crate) fn fix_up(why: &str, answer: &str, schema: Option<&Json>) -> String {
    let shape = schema.map_or_else(String::new, |schema| format!("\n\nThe JSON Schema of the answer:\n{schema}"));
    let quoted: String = answer.chars().take(QUOTED_CHARS).collect();
    format!(
        "Your answer cannot be used: {why}\n\nIt began like this:\n{quoted}\n\nDo not do the work again. Answer with one \
         JSON value and nothing else.{shape}"
    )
}

/// To one that asked something.
pub(crate) fn answered(answer: &str) -> String {
    format!("The answer to your question: {answer}\n\nGo on with the task.")
}

/// What a person said, marked as theirs.
pub(crate) fn told_by(by: Option<&str>, text: &str) -> String {
    let by = by.map_or_else(String::new, |by| format!(" ({by})"));
    format!("Message from a person who watches this work{by}:\n\n{}", text.trim())
}

/// A task put in another way: whole at first, then shorter and shorter.
pub(crate) fn reframed(task: &str, framing: u32, schema: Option<&Json>) -> String {
    let keys = keys(schema);
    let listed = keys.iter().map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(", ");
    match framing {
        0 => task.to_owned(),
        _ if keys.is_empty() => format!("{BEGUN}{task}"),
        1 => format!("{task}\n\nReply only with one JSON object that has exactly these keys: [{listed}]."),
        2 => format!("{}\n\nReply with this JSON object, filled in:\n{}", first(task, 1000), skeleton(&keys)),
        _ => format!(
            "{}\n\nDo what you can, and choose reasonable values where you are not sure. Reply only with one JSON object \
             that has these keys: [{listed}].",
            first(task, 500)
        ),
    }
}

fn first(task: &str, chars: usize) -> String {
    task.chars().take(chars).collect()
}

fn keys(schema: Option<&Json>) -> Vec<String> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object);
    properties.map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

fn skeleton(keys: &[String]) -> String {
    let lines: Vec<String> = keys.iter().map(|key| format!("  \"{key}\": …")).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
