//! Servers that the settings name.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::binary::project::{Project, RUN};
use crate::tools::{one, project};

#[test]
fn data_is_the_output_and_arguments_are_data() {
    let hostile = r#"$(touch hacked) `x` "'\n {{ 1 }}"#;
    let workflow = format!(
        "inputs: {{word: {{type: string, default: {}}}}}\ndo:\n  \
         - {{id: it, tool: hand.echo, args: {{word: '{{{{ inputs.word }}}}', list: [1, {{deep: true}}]}}, output: said}}\n\
         outputs: {{said: said}}\n",
        json!(hostile)
    );
    let project = project(&workflow);
    assert_eq!(project.said(), json!({"word": hostile, "list": [1, {"deep": true}]}));
    assert!(!project.path("hacked").exists());
    assert_eq!(project.log(), ["call echo", "closed"], "the server was left in order");
}

#[test]
fn text_is_read_as_json_where_it_is_that() {
    let said = |call: &str| project(&one(call)).said();
    assert_eq!(said(r#"tool: hand.text, args: {say: '{"n": 7}'}"#), json!({"n": 7}));
    assert_eq!(said("tool: hand.text, args: {say: plain words}"), json!("plain words"));
    assert_eq!(said("tool: hand.many, args: {say: [a, b]}"), json!("a\nb"));
    assert_eq!(said("tool: hand.picture")[0]["mimeType"], "image/png");
}

#[test]
fn a_schema_holds_what_a_tool_says_to_its_word() {
    let held = "do:\n  - {id: it, tool: hand.echo, args: {n: x}, output: {as: said, schema: {n: integer}}}\n";
    let (class, message) = project(held).failed();
    assert_eq!(class, "invalid");
    assert!(message.contains("does not follow its schema"), "{message}");
}

#[test]
fn what_fails_says_why() {
    let failed = |call: &str| project(&one(call)).failed();
    assert_eq!(failed("tool: hand.fail"), ("failed".to_owned(), "it is broken".to_owned()));
    assert_eq!(failed("tool: hand.ecko").1, "the server has no tool `ecko`; did you mean `echo`?");
    let (_, message) = failed("tool: hand.something_else");
    assert_eq!(
        message,
        "the server has no tool `something_else`; it has: echo, text, many, picture, fail, env, hang, die"
    );
    assert_eq!(failed("tool: hand.die"), ("transient".to_owned(), "the server left before it answered".to_owned()));
}

#[test]
fn a_server_that_is_none_says_why() {
    let set_up = |settings: &str| {
        let project = Project::new(&one("tool: odd.x"));
        project.user_settings(&format!("[mcp.servers.odd]\n{settings}\n"));
        project
    };
    let with = |settings: &str| set_up(settings).failed();
    assert!(with("command = 'no-such-program'").1.starts_with("`no-such-program` cannot be started"));
    let (_, message) = with("command = 'sh'\nargs = ['-c', 'echo out of order >&2']");
    assert!(message.contains("cannot be talked to") && message.ends_with(": out of order"), "{message}");
    assert_eq!(with("url = 'http://127.0.0.1:9/mcp'").0, "transient");
    assert_eq!(
        set_up("command = '${NO_SUCH_VARIABLE}'").asked(),
        "the tool server `odd`: the variable `NO_SUCH_VARIABLE` is not set"
    );
}

#[test]
fn time_is_up_for_the_server_too() {
    let project = project(&one("tool: hand.hang, timeout: 2s"));
    assert_eq!(project.failed(), ("timeout".to_owned(), "the tool did not answer within 2s".to_owned()));
    assert_eq!(project.log(), ["call hang", "cancelled: the tool did not answer within 2s", "closed"]);
}

#[test]
fn a_run_that_is_cancelled_takes_its_call_back() {
    let project = project(&one("tool: hand.hang"));
    let running = project.command(&["run", "w.yaml", "--run-id", RUN]).stderr(Stdio::null()).spawn().unwrap();
    let mut running = Running(running);
    until("the call is made", || project.log().contains(&"call hang".to_owned()));
    project.ok(&["cancel", RUN]);
    running.0.wait().unwrap();
    assert_eq!(project.log(), ["call hang", "cancelled: stopped", "closed"]);
    assert_eq!(project.found("run_finished")["outcome"], "cancelled");
}

#[test]
fn secrets_are_in_nothing_that_is_kept() {
    let project = Project::new(&one("tool: hand.env, args: {name: KEY}"));
    let settings = format!("[mcp.servers.hand]\n{}env = {{ KEY = '${{TOKEN_OF_MINE}}' }}\n", crate::tools::by_hand());
    project.user_settings(&settings);
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let told = crate::binary::told(command.env("TOKEN_OF_MINE", "hush-hush-42").output().unwrap());
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(project.found("run_finished")["outputs"]["said"], "•••");
    assert_eq!(project.stderr_of("it"), "the variable is •••\n");
    for file in ["longhaul.db", "longhaul.db-wal"] {
        let kept = std::fs::read(project.state(file)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&kept).contains("hush-hush"), "{file}");
    }
}

/// A server of our own: the same protocol, over HTTP, behind a token.
#[test]
fn a_server_over_http_is_called_with_its_headers() {
    let project = Project::new(&one("tool: other.workflow_list"));
    let web = Web::start(&project);
    let token = std::fs::read_to_string(project.state("mcp/token")).unwrap();
    let address = |token: &str| {
        format!("[mcp.servers.other]\nurl = '{}'\nheaders = {{ Authorization = 'Bearer {token}' }}\n", web.url)
    };
    project.user_settings(&address(&token));
    let names = project.said();
    assert!(names["workflows"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "tdd")), "{names}");
    let stranger = Project::new(&one("tool: other.workflow_list"));
    stranger.user_settings(&address("wrong"));
    let (class, message) = stranger.failed();
    assert!(["auth", "transient"].contains(&class.as_str()), "{class}: {message}");
}

/// A run that calls its own Longhaul cannot change it.
#[test]
fn a_run_can_not_write_workflows_by_way_of_a_server() {
    let text = "do:\n  - {id: x, run: echo}\n";
    let call = format!("tool: own.workflow_create, args: {{name: evil, text: {}}}", json!(text));
    let project = Project::new(&one(&call));
    let program = env!("CARGO_BIN_EXE_longhaul");
    project.user_settings(&format!("[mcp.servers.own]\ncommand = '{program}'\nargs = ['mcp']\n"));
    let (_, message) = project.failed();
    assert!(message.contains("a step of a run may not change workflows"), "{message}");
    assert!(!project.path(".longhaul/workflows/evil.yaml").exists());
}

#[test]
fn a_server_made_with_the_official_library_is_called() {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-clients");
    let folder = std::env::var_os("LONGHAUL_MCP_CLIENTS_DIR").map_or(usual, Into::into).join("python");
    if !folder.join("version").exists() {
        return eprintln!("skipped: scripts/install-mcp-clients did not install the Python library");
    }
    let project = Project::new(&one("tool: official.add, args: {a: 2, b: 40}"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/official.py");
    let packages = folder.join("packages");
    project.user_settings(&format!(
        "[mcp.servers.official]\ncommand = 'python3'\nargs = ['{script}']\nenv = {{ PYTHONPATH = '{}' }}\n",
        packages.display()
    ));
    assert_eq!(project.said(), json!({"result": 42}));
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

struct Web {
    _server: Running,
    url: String,
}

impl Web {
    fn start(project: &Project) -> Self {
        let mut command = project.command(&["mcp", "--http", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let server = Running(child);
        let url = lines.find_map(|line| line.strip_prefix("serving at ").map(str::to_owned)).unwrap();
        // Nobody reads on; what it says later must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { _server: server, url }
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < patience, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
