//! Tests turns as command lines: what each driver makes of the same turns, as a text to read.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use longhaul_agents::contract::{
    AgentAuth, AgentSetup, Errand, InstalledAgent, Invocation, Meter, Permission, Turn, TurnSession,
};
use longhaul_agents::drivers;
use longhaul_agents::mcp::McpServer;
use longhaul_agents::tool::ToolTransport;
use serde_json::json;

use super::{found, snapshot, turn};

/// One case: a turn, and its settings.
struct Case {
    title: &'static str,
    found: InstalledAgent,
    setup: AgentSetup,
    turn: Turn,
}

fn resumed() -> TurnSession {
    TurnSession::Resume { id: "01a1de04-5c04-79c1-9d25-d9fb5c7be32f".to_owned(), before: Meter::default() }
}

const SECRET: &str = "s3cr3t-of-a-server";

/// A server that is a program, with two allowed tools, and one behind an address.
fn servers() -> Vec<McpServer> {
    let env = IndexMap::from([("TOKEN".to_owned(), SECRET.to_owned())]);
    let program = ToolTransport::Program { command: "hub".to_owned(), args: vec!["stdio".to_owned()], env };
    let headers = IndexMap::from([("Authorization".to_owned(), format!("Bearer {SECRET}"))]);
    let address = ToolTransport::Address { url: "https://docs.example.com/mcp".to_owned(), headers };
    let tools = Some(vec!["list".to_owned(), "show".to_owned()]);
    vec![
        McpServer { name: "hub".to_owned(), transport: program, tools },
        McpServer { name: "docs".to_owned(), transport: address, tools: None },
    ]
}

fn cases(folder: &Path) -> Vec<Case> {
    let setup = AgentSetup { home: folder.join("home"), model: Some("m".to_owned()), ..AgentSetup::default() };
    let plain =
        Case { title: "", found: found(true), setup, turn: Turn { trusted: true, ..turn(&folder.join("scratch")) } };
    let case = |title, change: &dyn Fn(&mut Case)| {
        let mut case = Case { title, found: plain.found.clone(), setup: plain.setup.clone(), turn: plain.turn.clone() };
        change(&mut case);
        case
    };
    vec![
        case("a new session, trusted, by login", &|_| {}),
        case("resumed", &|c| c.turn.session = resumed()),
        case("a workspace that is not trusted", &|c| c.turn.trusted = false),
        case("a workspace that is not trusted, resumed", &|c| (c.turn.trusted, c.turn.session) = (false, resumed())),
        case("looking only", &|c| c.turn.permission = Permission::ReadOnly),
        case("anything", &|c| c.turn.permission = Permission::Full),
        case("anything, in a sandbox", &|c| (c.turn.permission, c.turn.sandboxed) = (Permission::Full, true)),
        case("editing, in a sandbox", &|c| c.turn.sandboxed = true),
        case("a schema", &|c| c.turn.schema = Some(json!({"type": "object", "required": ["n"]}))),
        case("a persona, a model, an effort", &|c| {
            c.turn.system = Some("You are careful.".to_owned());
            c.turn.model = Some("big".to_owned());
            c.turn.effort = Some("high".to_owned());
        }),
        case("a profile and a model", &|c| c.turn.model = Some("openrouter@deepseek/x:1".to_owned())),
        case("a profile alone", &|c| c.turn.model = Some("local@".to_owned())),
        case("tools", &|c| {
            c.turn.tools = Some(vec!["Read".to_owned(), "Bash(git log *)".to_owned(), "Write".to_owned()])
        }),
        case("tools, looking only", &|c| {
            c.turn.permission = Permission::ReadOnly;
            c.turn.tools = Some(vec!["Read".to_owned(), "Write".to_owned()]);
        }),
        case("MCP servers, by key", &|c| {
            (c.setup.auth, c.setup.launcher) = (AgentAuth::Key, PathBuf::from("/opt/longhaul"));
            c.turn.mcp = servers();
        }),
        case("MCP servers only, by key, looking only", &|c| {
            (c.setup.auth, c.setup.launcher) = (AgentAuth::Key, PathBuf::from("/opt/longhaul"));
            (c.turn.mcp, c.turn.mcp_only, c.turn.permission) = (servers(), true, Permission::ReadOnly);
        }),
        case("MCP servers in a workspace that is not trusted, by key", &|c| {
            (c.setup.auth, c.turn.trusted, c.turn.mcp) = (AgentAuth::Key, false, servers());
        }),
        case("a server with a bad name", &|c| {
            c.turn.mcp = vec![McpServer { name: "a.b".to_owned(), ..servers().remove(0) }];
        }),
        case("further folders and a budget", &|c| {
            (c.turn.dirs, c.turn.budget_usd) = (vec![PathBuf::from("/more")], Some(1.5))
        }),
        case("shortening the context", &|c| (c.turn.errand, c.turn.session) = (Errand::Compact, resumed())),
        case("shortening what has not begun", &|c| c.turn.errand = Errand::Compact),
        case("no login: by key", &|c| c.found.logged_in = false),
        case("by key although there is a login", &|c| c.setup.auth = AgentAuth::Key),
        case("by login although there is none", &|c| (c.setup.auth, c.found.logged_in) = (AgentAuth::Login, false)),
        case("a key in another variable", &|c| {
            (c.setup.auth, c.setup.key_env) = (AgentAuth::Key, Some("MY_KEY".to_owned()))
        }),
        case("a model served elsewhere", &|c| {
            c.setup.base_url = Some("http://127.0.0.1:8099/lane/x".to_owned());
            c.setup.key_env = Some("MY_KEY".to_owned());
        }),
        case("a model served elsewhere, by its full address", &|c| {
            c.setup.base_url = Some("https://host/api/v1/".to_owned())
        }),
        case("a login shown to another address", &|c| {
            (c.setup.auth, c.setup.base_url) = (AgentAuth::Login, Some("https://host".to_owned()));
        }),
        case("settings of one's own", &|c| {
            c.setup.args = vec!["--first".to_owned()];
            c.setup.env.insert("EXTRA".to_owned(), "1".to_owned());
            c.setup.keep_env = vec!["MORE_*".to_owned()];
        }),
        case("settings that hand a key to a login", &|c| c.setup.keep_env = vec!["*".to_owned()]),
        case("a session that is none", &|c| {
            c.turn.session = TurnSession::Resume { id: "--evil".to_owned(), before: Meter::default() }
        }),
        case("a model that looks like a flag", &|c| c.turn.model = Some("--evil x".to_owned())),
        case("no model at all", &|c| c.setup.model = None),
    ]
}

fn shown(invocation: &Invocation) -> String {
    let words: Vec<String> = invocation.args.iter().map(|arg| word(arg)).collect();
    let mut lines = vec![format!("args  {}", words.join(" "))];
    lines.extend(invocation.env.iter().map(|(name, value)| format!("set   {name}={value}")));
    lines.push(format!("keep  {}", invocation.keep_env.join(" ")));
    lines.push(format!("stdin {}", String::from_utf8_lossy(&invocation.stdin).replace('\n', "\\n")));
    lines.join("\n")
}

fn word(arg: &str) -> String {
    if arg.contains([' ', '"']) { format!("'{arg}'") } else { arg.to_owned() }
}

/// The files that the driver wrote for the program.
fn left(folder: &Path) -> String {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| {
            format!("\nfile  {} {}", file.display(), std::fs::read_to_string(file).unwrap().replace('\n', "\\n"))
        })
        .collect()
}

fn check(agent: &str) {
    let driver = drivers::by_name(agent).unwrap();
    let text: String = (0..)
        .map_while(|at| {
            let folder = tempfile::tempdir().unwrap();
            let case = cases(folder.path()).into_iter().nth(at)?;
            let told = match driver.invoke(&case.found, &case.setup, &case.turn) {
                Ok(invocation) => shown(&invocation) + &left(folder.path()),
                Err(refusal) => format!("refused: {refusal}"),
            };
            Some(format!("# {}\n{}\n\n", case.title, told.replace(&*folder.path().to_string_lossy(), "")))
        })
        .collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/drivers/command_lines/{agent}.txt"));
    if let Some(difference) = snapshot::compare(&file, &text) {
        panic!("{difference}");
    }
}

#[test]
fn of_claude() {
    check("claude");
}

#[test]
fn of_codex() {
    check("codex");
}

#[test]
fn of_copilot() {
    check("copilot");
}

#[test]
fn of_gemini() {
    check("gemini");
}

#[test]
fn of_opencode() {
    check("opencode");
}

/// A prompt is never on a command line, where other users could read it and where it would be cut.
#[test]
fn the_prompt_goes_by_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = format!("--flag $(touch x) {}", "p".repeat(2_000_000));
    for agent in drivers::ALL {
        let turn = Turn { prompt: prompt.clone(), trusted: true, ..turn(folder.path()) };
        let (home, program, model) = (folder.path().join("home"), Some("p".into()), Some("m".to_owned()));
        let setup = AgentSetup { home, program, model, ..AgentSetup::default() };
        let invocation = agent.invoke(&found(true), &setup, &turn).unwrap();
        let stdin = String::from_utf8(invocation.stdin).unwrap();
        // Agents that we serve ourselves get JSON.
        assert!(stdin == prompt || stdin.contains(&json!(prompt).to_string()), "{}", agent.name());
        assert!(invocation.args.iter().all(|arg| !arg.contains("touch")));
        assert!(invocation.env.iter().all(|(_, value)| !value.contains("touch")));
    }
}

#[test]
fn an_argument_that_no_program_can_be_handed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let schema = json!({"description": "d".repeat(200_000)});
    let turn = Turn { schema: Some(schema), ..turn(folder.path()) };
    let refusal = drivers::by_name("claude").unwrap().invoke(&found(true), &AgentSetup::default(), &turn).unwrap_err();
    assert!(refusal.0.contains("128 KB"), "{refusal}");
}

/// Only full permission inside a sandbox switches an agent's own questions off.
#[test]
fn permissions_are_skipped_only_inside_a_sandbox() {
    const SKIPS: [&str; 7] =
        ["skip-permissions", "IS_SANDBOX", "bypass", "danger-full-access", "--allow-all", "--yolo", "--auto"];
    let folder = tempfile::tempdir().unwrap();
    let setup = AgentSetup { home: folder.path().join("home"), model: Some("m".to_owned()), ..AgentSetup::default() };
    for agent in drivers::ALL {
        for permission in [Permission::ReadOnly, Permission::Edit, Permission::Full] {
            for (sandboxed, trusted) in [(false, false), (false, true), (true, true)] {
                let turn = Turn { permission, sandboxed, trusted, ..turn(folder.path()) };
                let Ok(invocation) = agent.invoke(&found(true), &setup, &turn) else { continue };
                let skips =
                    SKIPS.iter().any(|skip| format!("{:?} {:?}", invocation.args, invocation.env).contains(skip));
                assert!(!skips || (sandboxed && permission == Permission::Full), "{} {permission:?}", agent.name());
            }
        }
    }
}

/// Only the private file of a turn has the secrets of its servers.
#[test]
fn the_secrets_of_servers_are_in_no_argument_and_no_variable() {
    use std::os::unix::fs::PermissionsExt;
    for agent in ["claude", "codex", "copilot", "gemini", "opencode", "acp"] {
        let folder = tempfile::tempdir().unwrap();
        let case = cases(folder.path()).into_iter().find(|case| case.title == "MCP servers, by key").unwrap();
        let setup = AgentSetup { program: Some(PathBuf::from("/bin/true")), ..case.setup };
        let made = drivers::by_name(agent).unwrap().invoke(&case.found, &setup, &case.turn).unwrap();
        assert!(!format!("{made:?}").contains(SECRET), "{agent}: {made:?}");
        let stdin = String::from_utf8_lossy(&made.stdin);
        assert!(!stdin.contains(SECRET), "{agent}: {stdin}");
        let file = case.turn.scratch.join("mcp.json");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{agent}");
        let holding: Vec<String> =
            left(folder.path()).lines().filter(|line| line.contains(SECRET)).map(str::to_owned).collect();
        assert_eq!(holding.len(), 1, "{agent}: {holding:?}");
        longhaul_agents::mcp::forget(&case.turn.scratch);
        assert!(!file.exists(), "{agent}");
    }
}
