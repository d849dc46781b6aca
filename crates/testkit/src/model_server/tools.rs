//! Finds the offered tools that run a command or write a file.

use serde_json::{Map, Value, json};

use super::answer::Block;
use super::request::{Request, Tool};

const SHELLS: [&str; 8] =
    ["Bash", "bash", "run_shell_command", "shell_command", "exec_command", "shell", "local_shell", "run_in_terminal"];
const WRITERS: [&str; 6] = ["Write", "write", "write_file", "create", "create_file", "apply_patch"];

/// A call that runs a command.
pub(super) fn run(request: &Request, command: &str) -> Block {
    match (request.offered(&SHELLS), code(request)) {
        (Some(tool), _) => {
            let key = property(tool, &["command", "cmd", "script"]);
            let is_list =
                tool.schema["properties"][key]["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
            let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
            call(tool, [(key, value)])
        }
        (None, Some(tool)) => {
            let source = format!("const r = await tools.exec_command({{cmd: {}}});\ntext(r.output);", json!(command));
            raw(tool, source)
        }
        (None, None) => Block::call("Bash", object([("command", json!(command))])),
    }
}

/// A call that writes a file.
pub(super) fn write(request: &Request, path: &str, text: &str) -> Block {
    match (request.offered(&WRITERS), code(request)) {
        (Some(tool), _) if tool.name == "apply_patch" && tool.freeform => raw(tool, patch(path, text)),
        (Some(tool), _) if tool.name == "apply_patch" => call(tool, [("input", json!(patch(path, text)))]),
        (Some(tool), _) => {
            let (to, content) =
                (property(tool, &["file_path", "filePath", "path"]), property(tool, &["content", "file_text"]));
            call(tool, [(to, json!(absolute(request, path))), (content, json!(text))])
        }
        (None, Some(tool)) => {
            let source = format!("const r = await tools.apply_patch({});\ntext(r);", json!(patch(path, text)));
            raw(tool, source)
        }
        (None, None) => run(request, &format!("cat > '{path}' <<'__END__'\n{text}\n__END__")),
    }
}

/// The tool that runs a JavaScript program, which calls the other tools.
fn code(request: &Request) -> Option<&Tool> {
    request.offered(&["exec"]).filter(|tool| tool.freeform)
}

/// The first of these names that the tool's input has; else the first one.
fn property<'a>(tool: &Tool, names: &[&'a str]) -> &'a str {
    let has = |name: &&&str| tool.schema["properties"].get(**name).is_some();
    names.iter().find(has).unwrap_or(&names[0])
}

/// The absolute path of a file, which file tools require.
fn absolute(request: &Request, path: &str) -> String {
    match request.cwd() {
        Some(cwd) if !path.starts_with('/') => format!("{}/{path}", cwd.trim_end_matches('/')),
        _ => path.to_owned(),
    }
}

fn patch(path: &str, text: &str) -> String {
    let added: Vec<String> = text.split('\n').map(|line| format!("+{line}")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{}\n*** End Patch\n", added.join("\n"))
}

fn call<const N: usize>(tool: &Tool, input: [(&str, Value); N]) -> Block {
    let input = complete(&tool.schema, object(input));
    Block::Call { name: tool.name.clone(), input, namespace: tool.namespace.clone() }
}

fn raw(tool: &Tool, text: String) -> Block {
    Block::Raw { name: tool.name.clone(), text, namespace: tool.namespace.clone() }
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Adds required fields that the script does not name, such as descriptions.
pub(super) fn complete(schema: &Value, mut input: Map<String, Value>) -> Map<String, Value> {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    for name in required.iter().filter_map(Value::as_str) {
        if !input.contains_key(name) {
            input.insert(name.to_owned(), neutral(&schema["properties"][name]));
        }
    }
    input
}

fn neutral(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    match kind.to_ascii_lowercase().as_str() {
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        "array" => json!([]),
        "object" => Value::Object(complete(schema, Map::new())),
        _ => json!("scripted"),
    }
}
