//! Tests values over the API: any JSON comes back as it was sent, and a served run reads only the variables that the
//! settings list.

use serde_json::{Value, json};

use crate::serve::site::Project;

/// Starts a run, and returns it when it is over.
fn ended(client: &crate::serve::site::Client, key: &str, order: &Value) -> Value {
    until(client, key, order, "run_finished")
}

/// Starts a run, and returns it after an event.
fn until(client: &crate::serve::site::Client, key: &str, order: &Value, event: &str) -> Value {
    let made = client.make("/api/v1/runs", key, order).json();
    let run = made["run"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    client.stream(&format!("/api/v1/runs/{run}/stream"), &[]).until(event);
    client.json(&format!("/api/v1/runs/{run}"))
}

fn put(project: &Project, name: &str, text: &str) {
    std::fs::write(project.path().join(format!(".longhaul/workflows/{name}.yaml")), text).unwrap();
}

#[test]
fn any_json_comes_back_as_it_was_sent() {
    let project = Project::new();
    put(
        &project,
        "echo",
        "name: echo\ninputs: {v: {}}\ndo:\n  - {id: a, set: {same: '{{ v }}'}}\noutputs: {same: same}\n",
    );
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let sent = json!({
        "$blob": "0".repeat(64), "refs": [], "": {"/~": u64::MAX}, "\u{1}env.HOME\u{1}": [-1, 1e300, null, "é\u{0}"],
        "many": vec!["x".repeat(900); 100],
    });
    let run = ended(&client, "k1", &json!({"workflow": "echo", "inputs": {"v": sent}}));
    assert_eq!(run["outputs"]["same"], sent);
    let body = |v: &str| format!(r#"{{"workflow": "echo", "inputs": {{"v": {v}}}}}"#);
    let deep = format!("{}{}", "[".repeat(110), "]".repeat(110));
    for (at, v) in ["123456789012345678901", &deep].into_iter().enumerate() {
        let headers = ["X-Longhaul: 1", "Content-Type: application/json", &format!("Idempotency-Key: b{at}")];
        let answer = client.ask("POST", "/api/v1/runs", &headers, &body(v));
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
}

#[test]
fn a_served_run_reads_only_listed_variables() {
    let project = Project::new();
    put(
        &project,
        "env",
        "name: env\ndo:\n  - {id: a, run: 'printf %s {{ env.CANARY }}', output: x}\noutputs: {x: x}\n",
    );
    let serve = |settings: &str| {
        let home = project.path().join("no-such-home/.longhaul");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("config.toml"), settings).unwrap();
        let mut command = crate::binary::command(project.path(), &["serve", "--json", "--listen", "127.0.0.1:0"]);
        command.env("CANARY", "the-canary");
        crate::serve::site::Server::of(command)
    };
    let server = serve("");
    let token = server.first_token();
    let run = until(&server.client(&token), "k1", &json!({"workflow": "env"}), "question_asked");
    assert!(run["questions"][0]["text"].as_str().unwrap().contains("[values] env"), "{run}");
    drop(server);
    let server = serve("[values]\nenv = ['CANARY']\n");
    let run = ended(&server.client(&token), "k2", &json!({"workflow": "env"}));
    assert_eq!(run["outputs"]["x"], "the-canary");
}

#[test]
fn a_search_finds_what_was_printed_in_any_attempt_and_says_where() {
    let project = Project::new();
    let lines = "do: [{id: many, run: 'seq 1 30000; echo Needle number one; echo no needle here >&2; false', retry: {max: 1, backoff: 1ms, on: [failed]}}]";
    project.add("many", lines);
    project.longhaul(&["run", "many", "--run-id", "haystack"]);
    let server = project.serve(&["--no-drive"]);
    let client = server.client(&server.first_token());
    let found = client.json("/api/v1/runs/haystack/search?text=NEEDLE");
    let places: Vec<String> = found["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| {
            let word = |name: &str| place[name].as_str().unwrap().to_owned();
            format!(
                "{} {} {} {} {}[{}]{}",
                word("path"),
                place["attempt"],
                word("in"),
                place["number"],
                word("before"),
                word("text"),
                word("after")
            )
        })
        .collect();
    let of = |attempt: u32| {
        [
            format!("many {attempt} stdout 30000 [Needle] number one"),
            format!("many {attempt} stderr 0 no [needle] here"),
        ]
    };
    let expected: Vec<String> = of(2).into_iter().chain(of(1)).collect();
    assert_eq!(places, expected);
    assert_eq!(found["more"], false);
    let cut = client.json("/api/v1/runs/haystack/search?text=1&path=many");
    assert_eq!((cut["found"].as_array().unwrap().len(), &cut["more"]), (200, &json!(true)));
    assert_eq!(client.json("/api/v1/runs/haystack/search?text=1&path=other")["found"], json!([]));
    for wrong in ["", "text=", "text=x&path=a[", &format!("text={}", "x".repeat(201))] {
        assert_eq!(client.get(&format!("/api/v1/runs/haystack/search?{wrong}")).status, 400, "{wrong}");
    }
}
