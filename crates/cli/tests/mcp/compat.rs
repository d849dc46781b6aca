//! Tests conversations with the tool sets of other systems, as text: `tests/compat/*.txt`.
//!
//! ```text
//! client NAME          whose calls follow; `ed` before that
//! idle HOURS           all runs were last touched so long ago
//! file PATH            a file of the project; its lines follow, each after `| `
//! > TOOL {arguments}   a call; then the shape of its answer
//! ! TOOL {arguments}   a call that comes to nothing; then what is said about it
//! ```
//!
//! A shape names what must be there; `=` before a key means that nothing else may be inside it. In a text, `…` matches
//! anything. `null` also matches a missing value. `"$name"` keeps the first value that it meets, and must equal it from
//! then on. Every conversation runs twice: with one server, and with a new server for each call that is killed after it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::mcp::project::Project;
use crate::mcp::wire::Pipes;

/// The values that were kept from earlier answers.
type Kept = HashMap<String, Value>;

struct Talk<'t> {
    project: Project,
    /// The server, if one serves the whole conversation.
    server: Option<Pipes>,
    client: String,
    kept: Kept,
    file: &'t Path,
}

fn conversations() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compat");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    files
}

fn hold(lasting: bool) {
    let held = |file: &PathBuf| {
        let project = Project::new();
        let server = lasting.then(|| open(&project, "ed"));
        let mut talk = Talk { project, server, client: "ed".to_owned(), kept: Kept::new(), file };
        talk.hold(&std::fs::read_to_string(file).unwrap());
    };
    let files = conversations();
    // Each test reports its own errors.
    let failed = std::thread::scope(|scope| {
        let threads: Vec<_> = files.iter().map(|file| scope.spawn(move || held(file))).collect();
        threads.into_iter().filter_map(|thread| thread.join().err()).count()
    });
    assert_eq!(failed, 0);
}

fn open(project: &Project, client: &str) -> Pipes {
    Pipes::open(project.command(&["--compat", "agent007,work-buddy"]), client)
}

impl Talk<'_> {
    fn hold(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let block = |from: usize| lines[from..].iter().take_while(|line| line.starts_with("| ")).count();
            at += 1;
            if let Some(path) = line.strip_prefix("file ") {
                let count = block(at);
                self.write(path, &lines[at..at + count]);
                at += count;
            } else if let Some(client) = line.strip_prefix("client ") {
                self.client = client.to_owned();
                self.server = self.server.take().map(|_| open(&self.project, client));
            } else if let Some(hours) = line.strip_prefix("idle ") {
                self.idle(hours.parse().unwrap());
            } else if let Some(call) = line.strip_prefix("> ").or_else(|| line.strip_prefix("! ")) {
                let rest = lines[at..].iter().take_while(|line| !line.is_empty()).copied().collect::<Vec<_>>();
                self.call(at, call, line.starts_with('!'), &rest.join("\n"));
                at += rest.len();
            }
        }
    }

    fn write(&self, path: &str, lines: &[&str]) {
        let file = self.project.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text: String = lines.iter().map(|line| format!("{}\n", &line[2..])).collect();
        std::fs::write(file, text).unwrap();
    }

    /// Lets time pass that no test can wait for: it only changes the store.
    fn idle(&self, hours: i64) {
        let store = rusqlite::Connection::open(self.project.state().join("longhaul.db")).unwrap();
        store.execute("UPDATE run SET updated_ms = updated_ms - ?1", [hours * 60 * 60 * 1000]).unwrap();
    }

    fn call(&mut self, line: usize, call: &str, fails: bool, shape: &str) {
        let place = format!("{}:{line}: {call}", self.file.display());
        let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{place}: {error}"));
        let arguments = filled(&arguments, &self.kept);
        let answer = match &mut self.server {
            Some(server) => server.tool(tool, arguments),
            None => open(&self.project, &self.client).tool(tool, arguments),
        };
        assert_eq!(answer["isError"], fails, "{place}\n{answer:#}");
        let shape: Value = serde_json::from_str(shape).unwrap_or_else(|error| panic!("{place}: {error}: {shape}"));
        let said = answer["content"][0]["text"].as_str().unwrap();
        let found = if fails { Value::from(said) } else { answer["structuredContent"].clone() };
        if let Err(why) = fits(&shape, &found, &mut self.kept) {
            panic!("{place}\n{why}\n{found:#}");
        }
    }
}

/// Arguments with the kept values filled in; `long:N` is a text of N letters.
fn filled(value: &Value, kept: &Kept) -> Value {
    match value {
        Value::String(text) => match (name_of(text), text.strip_prefix("long:")) {
            (Some(name), _) => kept.get(name).cloned().unwrap_or_else(|| panic!("nothing is kept as {name}")),
            (_, Some(count)) => Value::from("x".repeat(count.parse().unwrap())),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, kept)).collect(),
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.clone(), filled(value, kept))).collect())
        }
        other => other.clone(),
    }
}

/// The name after a `$`, if the text is only that.
fn name_of(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|name| name.chars().all(|sign| sign.is_ascii_lowercase()))
}

fn fits(shape: &Value, found: &Value, kept: &mut Kept) -> Result<(), String> {
    let wrong = || Err(format!("expected {shape}, found {found}"));
    match (shape, found) {
        (Value::Object(shape), Value::Object(found)) => fits_object(shape, found, kept),
        (Value::Array(shape), Value::Array(items)) if shape.len() == items.len() => {
            shape.iter().zip(items).try_for_each(|(shape, item)| fits(shape, item, kept))
        }
        (Value::String(text), _) if name_of(text).is_some() => {
            let value = kept.entry(text[1..].to_owned()).or_insert_with(|| found.clone());
            if value == found { Ok(()) } else { wrong() }
        }
        (Value::String(pattern), Value::String(text)) if is_like(text, pattern) => Ok(()),
        _ if shape == found => Ok(()),
        _ => wrong(),
    }
}

fn fits_object(shape: &Map<String, Value>, found: &Map<String, Value>, kept: &mut Kept) -> Result<(), String> {
    for (key, shape) in shape {
        if let Some(exact) = key.strip_prefix('=') {
            // Exactly these keys.
            let inner = found.get(exact).and_then(Value::as_object).ok_or_else(|| format!("no object {exact}"))?;
            let (mut left, mut right): (Vec<_>, Vec<_>) =
                (shape.as_object().unwrap().keys().collect(), inner.keys().collect());
            left.sort();
            right.sort();
            if left != right {
                return Err(format!("{exact}: expected exactly {left:?}, found {right:?}"));
            }
        }
        let key = key.strip_prefix('=').unwrap_or(key);
        fits(shape, found.get(key).unwrap_or(&Value::Null), kept).map_err(|why| format!("{key}: {why}"))?;
    }
    Ok(())
}

/// Whether a text is made of the parts of a pattern, with anything where it has `…`.
fn is_like(text: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return text == pattern };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn conversations_with_one_server() {
    hold(true);
}

#[test]
fn conversations_with_a_server_that_is_killed_after_every_call() {
    hold(false);
}

#[test]
fn only_the_sets_that_are_asked_for_are_there() {
    let project = Project::new();
    let names = |args: &[&str]| {
        let tools = Pipes::open(project.command(args), "ed").request("tools/list", json!({}));
        let tools = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        tools.collect::<Vec<_>>()
    };
    let has = |names: &[String], start: &str| names.iter().any(|name| name.starts_with(start));
    let (none, one) = (names(&[]), names(&["--compat", "agent007,agent007"]));
    assert!(!has(&none, "agent007_") && !has(&none, "wb_"), "{none:?}");
    assert!(has(&one, "agent007_workflow_three") && !has(&one, "wb_"), "{one:?}");
    assert_eq!(one.iter().filter(|name| *name == "agent007_dispatch").count(), 1);
    let told = project.longhaul(&["mcp", "--compat", "agent07"]);
    assert!(told.stderr.contains("did you mean `agent007`?"), "{}", told.stderr);
}

#[test]
fn a_model_can_not_decide_for_a_human_there_either() {
    let project = Project::new();
    let mut client = Pipes::silent(project.command(&["--compat", "agent007"]));
    client.hello("ed", json!({"elicitation": {}}));
    client.person = Some(json!({"action": "decline"}));
    let session = client.call("agent007_workflow_start", json!({"name": "relay", "task": "x"}))["session"].clone();
    client.call("agent007_workflow_submit_step", json!({"session": session, "step": "plan", "output": "P1"}));
    let said = client.refused("agent007_workflow_approve", json!({"session": session, "decision": "approve"}));
    assert!(said.contains("has not decided"), "{said}");
    client.person = Some(json!({"action": "accept", "content": {"decision": "approve"}}));
    let after = client.call("agent007_workflow_approve", json!({"session": session, "decision": "deny"}));
    assert_eq!(after["progress"]["running_steps"], json!(["build"]), "what the human says counts: {after}");
}
