//! Tests workflows as tools, resources and prompts; and the tools themselves.

use serde_json::{Value, json};

use crate::mcp::project::{COMMANDS, Project};
use crate::mcp::wire::Pipes;

#[test]
fn tools_say_what_they_take_and_what_they_do() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let tools = client.request("tools/list", json!({}))["tools"].as_array().unwrap().clone();
    for tool in &tools {
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{tool}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{} {name}", tool["name"]);
        }
    }
    let nature = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"].clone();
    assert_eq!(
        (&nature("status")["readOnlyHint"], &nature("status")["destructiveHint"]),
        (&json!(true), &json!(false))
    );
    assert_eq!((&nature("next")["idempotentHint"], &nature("next")["readOnlyHint"]), (&json!(true), &json!(false)));
    assert_eq!(nature("cancel")["destructiveHint"], true);
    assert_eq!(nature("submit")["idempotentHint"], false);
}

/// The page for people names every tool with its title, and no others.
#[test]
fn the_guide_lists_the_tools() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/editor.md")).unwrap();
    let rows = guide.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let listed: Vec<(String, String)> =
        rows.map(|(name, rest)| (name.to_owned(), rest.split(" | ").next().unwrap().to_owned())).collect();
    let project = Project::new();
    let tools = project.pipes("ed").request("tools/list", json!({}))["tools"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let offered: Vec<(String, String)> =
        tools.as_array().unwrap().iter().map(|tool| (text(&tool["name"]), text(&tool["title"]))).collect();
    assert_eq!(listed, offered);
}

#[test]
fn workflows_are_listed_shown_and_checked() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let list = client.call("workflow_list", json!({}));
    let names: Vec<&str> =
        list["workflows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(["commands", "relay", "tdd", "three"].iter().all(|name| names.contains(name)), "{names:?}");
    let shown = client.call("workflow_show", json!({"workflow": "commands"}));
    assert_eq!((&shown["inputs"][0]["name"], &shown["inputs"][0]["required"]), (&json!("word"), &json!(true)));
    assert_eq!(client.call("workflow_show", json!({"workflow": "relay"}))["gates"], json!(["plan"]));
    assert_eq!(client.call("workflow_check", json!({"workflow": "relay"}))["ok"], true);
    let found = client.call("workflow_check", json!({"text": "name: x\ndo:\n  - {id: a, promt: hi}\n"}));
    assert_eq!(found["ok"], false);
    assert!(found["diagnostics"].to_string().contains("LH"), "{found}");
    assert!(client.refused("workflow_check", json!({})).contains("either `workflow`"));
}

#[test]
fn a_workflow_is_saved_only_if_it_is_sound_and_only_where_workflows_are() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let broken = client.refused("workflow_create", json!({"name": "new", "text": "do: 3"}));
    assert!(broken.starts_with("it has errors; nothing was written"), "{broken}");
    for name in ["../new", "new/x", "", "New", "-new", "a--b", ".new", "x.yaml"] {
        let said = client.refused("workflow_create", json!({"name": name, "text": COMMANDS}));
        assert!(said.contains("cannot be the name"), "{name}: {said}");
    }
    client.call("workflow_create", json!({"name": "new", "text": COMMANDS}));
    let again = json!({"name": "new", "text": COMMANDS.replace("Two commands", "Others")});
    assert!(client.refused("workflow_create", again.clone()).contains("`overwrite: true` replaces it"));
    let file = project.path().join(".longhaul/workflows/new.yaml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), COMMANDS);
    let mut over = again;
    over["overwrite"] = json!(true);
    client.call("workflow_create", over);
    assert!(std::fs::read_to_string(&file).unwrap().contains("Others"));
}

#[test]
fn workflows_and_runs_can_be_read_by_address() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let run = client.call("run", json!({"workflow": "commands", "inputs": {"word": "hello"}}))["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let listed = client.request("resources/list", json!({}))["resources"].to_string();
    assert!(
        listed.contains("longhaul://workflow/relay") && listed.contains(&format!("longhaul://run/{run}")),
        "{listed}"
    );
    let mut read = |path: &str| {
        client.request("resources/read", json!({"uri": format!("longhaul://{path}")}))["contents"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(read("workflow/commands"), COMMANDS);
    assert_eq!(read(&format!("run/{run}/output/one")), "hello");
    assert_eq!(read(&format!("run/{run}/artifact/one/1/stdout")), "hello");
    assert!(read(&format!("run/{run}")).contains("\"succeeded\""));
    for path in [
        "artifact/one/1/../../x",
        "artifact/one/1/passwd",
        "artifact/..%2f..%2fx/1/stdout",
        "artifact/one/99/stdout",
        "output/nothing",
    ] {
        let answer = client.answer("resources/read", json!({"uri": format!("longhaul://run/{run}/{path}")}));
        assert_eq!(answer["error"]["code"], -32002, "{path}: {answer}");
    }
    let templates = client.request("resources/templates/list", json!({}))["resourceTemplates"].to_string();
    assert!(templates.contains("longhaul://run/{run}/output/{step}"), "{templates}");
    let completed = client.request(
        "completion/complete",
        json!({"ref": {"type": "ref/resource", "uri": "longhaul://workflow/{name}"}, "argument": {"name": "name", "value": "rela"}}),
    );
    assert_eq!(completed["completion"]["values"], json!(["relay"]));
}

#[test]
fn a_prompt_for_each_workflow_says_how_to_begin() {
    let project = Project::new();
    let mut client = project.pipes("ed");
    let prompts = client.request("prompts/list", json!({}))["prompts"].clone();
    let prompt = prompts.as_array().unwrap().iter().find(|prompt| prompt["name"] == "commands").unwrap();
    assert_eq!(prompt["arguments"][1], json!({"name": "word", "description": "What is said", "required": true}));
    let arguments = json!({"task": "say it", "word": "hello"});
    let text = client.request("prompts/get", json!({"name": "commands", "arguments": arguments}))["messages"][0]["content"]["text"].clone();
    assert!(
        text.as_str().unwrap().contains(r#"{"workflow":"commands","task":"say it","inputs":{"word":"hello"}}"#),
        "{text}"
    );
    let wrong = client.answer("prompts/get", json!({"name": "commands", "arguments": {"wrd": "x"}}));
    assert!(wrong["error"]["message"].as_str().unwrap().contains("did you mean `word`?"), "{wrong}");
}

#[test]
fn each_workflow_can_be_a_tool() {
    let project = Project::new();
    let mut client = Pipes::open(project.command(&["--tool-per-workflow"]), "ed");
    let tools = client.request("tools/list", json!({}))["tools"].clone();
    let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "workflow_start_commands").unwrap().clone();
    assert_eq!(tool["inputSchema"]["required"], json!(["word"]));
    assert_eq!(tool["inputSchema"]["properties"]["word"]["type"], "string");
    assert_eq!(client.call("workflow_start_commands", json!({"word": "hi"}))["status"], "succeeded");
    assert!(client.refused("workflow_start_commands", json!({"wrod": "hi"})).contains("did you mean `word`?"));
    assert!(client.refused("workflow_start_commands", json!({})).contains("`word` is missing"));
    let mut plain = project.pipes("ed");
    assert_eq!(plain.answer("tools/call", json!({"name": "workflow_start_commands"}))["error"]["code"], -32602);
}

#[test]
fn a_line_is_carried_out_as_it_was_typed() {
    let project = Project::new();
    let skills = project.path().join(".longhaul/skills");
    std::fs::create_dir_all(&skills).unwrap();
    std::fs::write(skills.join("tidy.md"), "Tidy up, but leave {{ this }} alone.").unwrap();
    let mut client = project.pipes("ed");
    let mut prompt = |line: &str| {
        let picture = client.call("dispatch", json!({"command": line}));
        picture["ready"][0]["prompt"].as_str().unwrap_or_else(|| panic!("{picture}")).to_owned()
    };
    assert!(prompt("$agent007 wf relay Add X").starts_with("Plan Add X"));
    assert!(prompt("@AGENT007 relay Add {{ 1 }}").starts_with("Plan Add {{ 1 }}"));
    assert!(prompt("agent007 fix the bug").starts_with("fix the bug"));
    assert!(prompt("/tidy the attic").starts_with("Tidy up, but leave {{ this }} alone.\n\nthe attic"));
    assert!(client.told("dispatch", json!({"command": "wf"})).contains("relay (3 steps): Plan, count, build"));
    assert!(client.told("dispatch", json!({"command": ""})).contains("wf NAME TASK"));
    let skills = client.told("dispatch", json!({"command": "skill ls"}));
    assert!(skills.lines().any(|skill| skill == "tidy") && skills.contains("testing-rules"), "{skills}");
    let said = client.refused("dispatch", json!({"command": "wf relay"}));
    assert!(said.starts_with("the workflow `relay` needs a task") && said.contains("wf NAME TASK"), "{said}");
    assert!(client.refused("dispatch", json!({"command": "skill tiddy x"})).contains("did you mean `tidy`?"));
}
