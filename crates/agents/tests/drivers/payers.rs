//! Tests which variables reach a program. The keys are canaries: the tests search for them in the program's
//! environment.

use std::ffi::OsString;

use longhaul_agents::contract::{AgentAuth, AgentSetup, Invocation, Turn};
use longhaul_agents::drivers;

use super::{found, turn};

/// Keys and tokens of every kind, as an engine's environment may hold them.
const KEYS: [&str; 11] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
];
/// Variables that would send a turn to another address.
const ADDRESSES: [&str; 4] =
    ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENCODE_CONFIG_CONTENT"];

fn ours() -> Vec<(OsString, OsString)> {
    let canaries = KEYS.iter().chain(&ADDRESSES).map(|name| ((*name).into(), format!("canary-{name}").into()));
    canaries.chain([("PATH".into(), "/bin".into()), ("MY_KEY".into(), "canary-MINE".into())]).collect()
}

fn invocation(agent: &str, logged_in: bool, setup: AgentSetup) -> Invocation {
    let folder = tempfile::tempdir().unwrap();
    let model = setup.model.clone().or_else(|| Some("m".to_owned()));
    let setup = AgentSetup { home: folder.path().to_owned(), model, ..setup };
    let turn = Turn { trusted: true, ..turn(folder.path()) };
    drivers::by_name(agent).unwrap().invoke(&found(logged_in), &setup, &turn).unwrap()
}

/// The names of the variables that hold a canary, each with its canary.
fn leaked(agent: &str, logged_in: bool, setup: AgentSetup) -> Vec<String> {
    let environment = invocation(agent, logged_in, setup).environment(&["PATH"], &ours());
    let text = |value: &OsString| value.to_string_lossy().into_owned();
    let canaries = environment.iter().filter(|(_, value)| text(value).starts_with("canary"));
    canaries.map(|(name, value)| format!("{}={}", text(name), text(value).trim_start_matches("canary-"))).collect()
}

#[test]
fn a_login_is_handed_no_key() {
    for agent in ["claude", "codex", "copilot", "gemini", "opencode"] {
        for auth in [AgentAuth::Login, AgentAuth::Auto] {
            assert!(leaked(agent, true, AgentSetup { auth, ..AgentSetup::default() }).is_empty(), "{agent}");
        }
    }
}

#[test]
fn a_key_reaches_only_the_program_that_it_is_for() {
    let key = |agent| leaked(agent, false, AgentSetup { auth: AgentAuth::Key, ..AgentSetup::default() });
    assert_eq!(key("claude"), ["ANTHROPIC_API_KEY=ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN=ANTHROPIC_AUTH_TOKEN"]);
    assert_eq!(key("codex"), ["CODEX_API_KEY=CODEX_API_KEY"]);
    assert_eq!(
        key("copilot"),
        [
            "COPILOT_PROVIDER_API_KEY=COPILOT_PROVIDER_API_KEY",
            "COPILOT_PROVIDER_BEARER_TOKEN=COPILOT_PROVIDER_BEARER_TOKEN"
        ]
    );
    assert_eq!(key("gemini"), ["GEMINI_API_KEY=GEMINI_API_KEY"]);
    assert!(key("opencode").is_empty());
    let setup = AgentSetup { model: Some("openrouter/a/b".to_owned()), ..AgentSetup::default() };
    assert_eq!(leaked("opencode", false, setup), ["OPENROUTER_API_KEY=OPENROUTER_API_KEY"]);
}

#[test]
fn a_key_of_another_name_takes_the_name_that_the_program_knows() {
    let mine = || AgentSetup { auth: AgentAuth::Key, key_env: Some("MY_KEY".to_owned()), ..AgentSetup::default() };
    assert_eq!(leaked("claude", true, mine()), ["ANTHROPIC_API_KEY=MINE"]);
    assert_eq!(leaked("codex", true, mine()), ["CODEX_API_KEY=MINE"]);
    let elsewhere = || AgentSetup { base_url: Some("http://127.0.0.1:1".to_owned()), ..mine() };
    assert_eq!(leaked("codex", true, elsewhere()), ["MY_KEY=MINE"]);
    assert_eq!(leaked("copilot", true, elsewhere()), ["COPILOT_PROVIDER_API_KEY=MINE"]);
    assert_eq!(leaked("gemini", true, elsewhere()), ["GEMINI_API_KEY=MINE"]);
    assert_eq!(leaked("opencode", true, elsewhere()), ["MY_KEY=MINE"]);
}

#[test]
fn the_first_of_two_keys_of_codex_counts() {
    let invocation = invocation("codex", false, AgentSetup::default());
    let only_openai = [("OPENAI_API_KEY".into(), "o".into())];
    assert_eq!(invocation.environment(&[], &only_openai), [("CODEX_API_KEY".into(), "o".into())]);
    let both = [("CODEX_API_KEY".into(), "c".into()), ("OPENAI_API_KEY".into(), "o".into())];
    assert_eq!(invocation.environment(&[], &both), [("CODEX_API_KEY".into(), "c".into())]);
}

#[test]
fn what_is_set_counts_above_what_is_handed_on() {
    let made = Invocation {
        program: "p".into(),
        args: Vec::new(),
        env: vec![("A".to_owned(), "set".to_owned())],
        keep_env: vec!["A".to_owned(), "LC_*".to_owned(), "NEW=OLD".to_owned()],
        stdin: Vec::new(),
    };
    let ours: Vec<(OsString, OsString)> =
        ["A", "LC_ALL", "LC", "OLD", "SECRET"].map(|name| (name.into(), format!("our {name}").into())).to_vec();
    let shown: Vec<String> = made
        .environment(&[], &ours)
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    assert_eq!(shown, ["A=set", "LC_ALL=our LC_ALL", "NEW=our OLD"]);
}
