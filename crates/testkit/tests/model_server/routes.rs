//! Tests which step answers which request.

use longhaul_testkit::model_server::RequestOutcome;
use serde_json::{Value, json};

use crate::model_server::client::{ask, post, question, said, server, words};

const CHAT: &str = "/v1/chat/completions";

#[test]
fn steps_repeat_and_run_out() {
    let server = server("2x rate-limit\ntext ok");
    let statuses: Vec<u16> = (0..4).map(|_| post(&server, CHAT, &question("chat", "go", false, &[])).status).collect();
    assert_eq!(statuses, [429, 429, 200, 400]);
    let log = server.log();
    assert_eq!(log[3].outcome, Some(RequestOutcome::Exhausted));
    let steps: Vec<&str> = log.iter().map(|entry| entry.step.as_str()).collect();
    assert_eq!(steps, ["2x rate-limit", "2x rate-limit", "text ok", ""]);
}

#[test]
fn lanes_count_for_themselves() {
    let server = server("always text rest {{n}}\non lane a\nalways text {{lane}}{{n}}");
    assert_eq!(said(&server, "/lane/a/v1/chat/completions", "go"), "a1");
    assert_eq!(said(&server, CHAT, "go"), "rest 1");
    assert_eq!(said(&server, "/lane/a/v1/chat/completions", "go"), "a2");
    assert_eq!(said(&server, "/lane/b/v1/chat/completions", "go"), "rest 1");
}

#[test]
fn the_first_section_that_fits_answers() {
    let script = "on prompt pear and api chat\nalways text fruit\non model gpt*\nalways text model\n\
                  on system polite\nalways text system\non key k1 and not history secret\nalways text key\n\
                  on any\nalways text rest";
    let server = server(script);
    assert_eq!(said(&server, CHAT, "a pear"), "fruit");
    assert_eq!(said(&server, CHAT, "an apple"), "key");
    assert_eq!(said(&server, CHAT, "a secret"), "rest");
    let mut asked = question("chat", "an apple", false, &[]);
    asked["model"] = json!("gpt-9");
    assert_eq!(words("chat", &post(&server, CHAT, &asked).json()), "model");
    asked["model"] = json!("m");
    asked["messages"] = json!([{"role": "system", "content": "Be polite."}, {"role": "user", "content": "go"}]);
    assert_eq!(words("chat", &post(&server, CHAT, &asked).json()), "system");
}

#[test]
fn what_a_client_adds_to_a_prompt_is_not_the_prompt() {
    let server = server("always echo");
    assert_eq!(said(&server, CHAT, "<system-reminder>be kind</system-reminder>go\n"), "go");
}

#[test]
fn questions_of_agents_take_no_step() {
    let server = server("text one");
    assert_eq!(said(&server, CHAT, "Generate a short title for this conversation"), "ok");
    let mut probe = question("anthropic", "quota", false, &["Bash"]);
    probe["max_tokens"] = json!(1);
    assert_eq!(words("anthropic", &post(&server, "/v1/messages", &probe).json()), "ok");
    let mut routing = question("chat", "You are a specialized Task Routing AI.", false, &[]);
    let schema = json!({"required": ["choice", "why"], "properties": {"choice": {"enum": ["flash", "pro"]}}});
    routing["response_format"] = json!({"json_schema": {"schema": schema}});
    let answer = words("chat", &post(&server, CHAT, &routing).json());
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), json!({"choice": "flash", "why": "scripted"}));
    assert_eq!(said(&server, CHAT, "go"), "one");
    assert_eq!(server.log().iter().map(|entry| entry.n).collect::<Vec<_>>(), [None, None, None, Some(1)]);
}

#[test]
fn a_section_can_ask_for_them() {
    let server = server("text one\non side\ntext A Title\non compact\ntext A Summary");
    assert_eq!(said(&server, CHAT, "Generate a short title for this conversation"), "A Title");
    assert_eq!(said(&server, CHAT, "Your task is to create a detailed summary of it all"), "A Summary");
    assert_eq!(said(&server, CHAT, "go"), "one");
}

#[test]
fn tokens_are_counted_and_models_listed_without_a_step() {
    let server = server("text one");
    let count = post(&server, "/v1/messages/count_tokens", &question("anthropic", "go", false, &[]));
    assert!(count.json()["input_tokens"].as_u64().unwrap() > 5);
    assert_eq!(ask(&server, "GET", "/v1/models", "").json()["data"][0]["id"], "scripted-model");
    assert_eq!(ask(&server, "GET", "/elsewhere", "").status, 404);
    assert_eq!(ask(&server, "POST", CHAT, "no json").status, 400);
    assert_eq!(said(&server, CHAT, "go"), "one");
    assert_eq!(server.log().len(), 5);
}

#[test]
fn other_processes_read_the_log_and_bring_scripts() {
    let server = server("text old");
    assert_eq!(said(&server, CHAT, "first"), "old");
    let log = ask(&server, "GET", "/_log", "").json();
    assert_eq!((&log[0]["prompt"], &log[0]["outcome"]), (&json!("first"), &json!("sent")));
    assert_eq!(log[0]["body"]["messages"][0]["content"], "first");
    let refused = ask(&server, "POST", "/_script", "text fine\nnonsense");
    assert_eq!((refused.status, refused.json()["error"].as_str()), (400, Some("line 2: there is no step `nonsense`")));
    assert_eq!(ask(&server, "POST", "/_script", "text new").status, 200);
    assert_eq!(said(&server, CHAT, "go"), "new");
    assert_eq!(server.log().len(), 1);
}

#[test]
fn many_clients_at_once_get_their_own_answers() {
    let lanes: String = (0..8).map(|lane| format!("on lane l{lane}\nalways text {{{{lane}}}}-{{{{n}}}}\n")).collect();
    let server = server(&lanes);
    std::thread::scope(|scope| {
        for lane in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for number in 1..6 {
                    let path = format!("/lane/l{lane}{CHAT}");
                    assert_eq!(said(server, &path, "go"), format!("l{lane}-{number}"));
                }
            });
        }
    });
}

#[test]
fn a_question_that_is_put_like_a_turn_takes_no_step_either() {
    let server = server("text one");
    let suggestion = "What would the user type next? Reply with ONLY the suggestion, no quotes.";
    let answer = post(&server, "/v1/messages", &question("anthropic", suggestion, false, &["Bash"]));
    assert_eq!(words("anthropic", &answer.json()), "ok");
    assert_eq!(said(&server, CHAT, "go"), "one");
}
