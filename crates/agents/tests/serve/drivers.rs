//! Tests how settings become a command line, and which settings are refused.

use longhaul_agents::contract::{Agent, AgentAuth, AgentSetup, InstalledAgent};
use longhaul_agents::drivers;

use crate::serve::bench::Bench;
use crate::serve::wires::Wire;

fn agent(name: &str) -> &'static dyn Agent {
    *drivers::ALL.iter().find(|agent| agent.name() == name).unwrap()
}

fn setup(base_url: Option<&str>, key_env: Option<&str>) -> AgentSetup {
    let (base_url, key_env) = (base_url.map(str::to_owned), key_env.map(str::to_owned));
    AgentSetup { base_url, key_env, model: Some("m".to_owned()), ..AgentSetup::default() }
}

/// The variables that are passed on, and the request.
fn invoked(name: &str, setup: &AgentSetup) -> Result<(Vec<String>, String), String> {
    let found = InstalledAgent { program: "longhaul".into(), version: String::new(), logged_in: true };
    let turn = Bench::new(Wire::Chat).turn;
    let invocation = agent(name).invoke(&found, setup, &turn).map_err(|refusal| refusal.to_string())?;
    assert_eq!(invocation.args, ["__agent", name]);
    Ok((invocation.keep_env, String::from_utf8(invocation.stdin).unwrap()))
}

#[test]
fn the_usual_key_goes_to_the_usual_address_alone() {
    for (name, key, address) in [
        ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
        ("openai", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    ] {
        let (kept, asked) = invoked(name, &setup(None, None)).unwrap();
        assert_eq!(kept, [key]);
        assert!(asked.contains(address) && asked.ends_with("}\n") && asked.lines().count() == 1);
        let (kept, asked) = invoked(name, &setup(Some("http://localhost:8080"), None)).unwrap();
        assert!(kept.is_empty() && !asked.contains(key));
        let (kept, _) = invoked(name, &setup(Some("https://elsewhere.example"), Some("OTHER"))).unwrap();
        assert_eq!(kept, ["OTHER"]);
    }
}

#[test]
fn a_key_is_needed_unless_the_model_is_near() {
    let missing = |base_url, key_env| agent("openai").find(&setup(base_url, key_env)).map_err(|why| why.to_string());
    assert!(missing(Some("http://127.0.0.1:11434/v1"), None).is_ok());
    assert!(missing(Some("http://localhost:1/v1"), Some("LONGHAUL_TEST_UNSET")).is_ok());
    let said = missing(Some("https://far.example/v1"), None).unwrap_err();
    assert_eq!(said, "no key is named for `https://far.example/v1`; name the variable that holds it with `key_env`");
    let said = missing(None, Some("LONGHAUL_TEST_UNSET")).unwrap_err();
    assert!(
        said.starts_with("`LONGHAUL_TEST_UNSET`, which holds the key of openai, is not set; set LONGHAUL_TEST_UNSET")
    );
    let mut given = setup(None, Some("LONGHAUL_TEST_UNSET"));
    given.env.insert("LONGHAUL_TEST_UNSET".to_owned(), "x".to_owned());
    assert!(!agent("openai").find(&given).unwrap().logged_in);
    given.auth = AgentAuth::Login;
    let said = agent("openai").find(&given).unwrap_err().to_string();
    assert_eq!(said, "openai has no login of its own; set `auth` to `key`");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let check = |name: &str, args: &[&str], expected: &str| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let said = invoked(name, &AgentSetup { args, ..setup(None, None) }).map(|(_, asked)| asked);
        assert!(said.as_ref().unwrap_or_else(|why| why).contains(expected), "{said:?}");
    };
    check("openai", &[], r#""wire":"chat""#);
    check("openai", &["--wire", "responses", "--rounds", "7", "--max-tokens", "99"], r#""wire":"responses""#);
    check("openai", &["--rounds", "7"], r#""rounds_max":7"#);
    check("openai", &["--max-tokens", "99"], r#""output_tokens_max":99"#);
    check("openai", &["--wire", "messages"], "openai speaks chat or responses, not `messages`");
    check("openai", &["--rounds"], "`--rounds` wants a number, not ``");
    check("anthropic", &["--speed", "9"], "anthropic knows --rounds, --max-tokens and --wire, not `--speed`");
    let said = invoked("openai", &AgentSetup { model: None, ..setup(None, None) }).unwrap_err();
    assert_eq!(said, "no model is named for openai; set `model`");
}
