//! Tests the API page with a real server; every answer is checked against the OpenAPI document.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::binary::command;
use crate::serve::site::{Client, Project};

/// A client that checks each answer against the document.
struct Checked {
    client: Client,
    document: Value,
}

impl Checked {
    fn new(client: Client) -> Self {
        let document = client.json("/api/v1/openapi.json");
        Self { client, document }
    }

    /// The answer to a request of a route.
    fn get(&self, route: &str, path: &str) -> Value {
        let answer = self.client.get(path);
        self.fits(route, "get", answer.status, &answer.json());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// The problem of a request.
    fn problem(&self, route: &str, path: &str) -> (u16, String) {
        let answer = self.client.get(path);
        assert_eq!(answer.header("content-type").as_deref(), Some("application/problem+json"), "{path}");
        self.fits(route, "get", answer.status, &answer.json());
        (answer.status, answer.json()["code"].as_str().unwrap().to_owned())
    }

    fn fits(&self, route: &str, verb: &str, status: u16, body: &Value) {
        let response = &self.document["paths"][route][verb]["responses"][status.to_string()];
        let content =
            response["content"].as_object().unwrap_or_else(|| panic!("{verb} {route} says nothing of {status}"));
        let schema = &content.values().next().unwrap()["schema"];
        let mut whole = schema.clone();
        whole["components"] = self.document["components"].clone();
        let validator = jsonschema::validator_for(&whole).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{verb} {route} {status}:\n{}\n{body:#}", errors.join("\n"));
    }
}

#[test]
fn a_run_from_its_start_to_its_end() {
    let project = Project::new();
    let server = project.serve(&[]);
    let api = Checked::new(server.client(&server.first_token()));
    let about = api.get("/api/v1/about", "/api/v1/about");
    assert_eq!((&about["drives"], &about["store"]), (&json!(true), &json!(project.state().join("longhaul.db"))));

    let order = json!({"workflow": "steps", "task": "Say it", "inputs": {"word": "you"}});
    let made = api.client.make("/api/v1/runs", "key-1", &order);
    assert_eq!(made.status, 201, "{}", made.body);
    api.fits("/api/v1/runs", "post", 201, &made.json());
    let run = made.json()["run"].as_str().unwrap().to_owned();
    let again = api.client.make(
        "/api/v1/runs",
        "key-1",
        &json!({"inputs": {"word": "you"}, "task": "Say it", "workflow": "steps"}),
    );
    assert_eq!((again.status, &again.json()["run"]), (200, &json!(run)));
    let other = api.client.make("/api/v1/runs", "key-1", &json!({"workflow": "steps"}));
    assert_eq!((other.status, &other.json()["code"]), (409, &json!("LH0707")));

    let mut stream = api.client.stream(&format!("/api/v1/runs/{run}/stream"), &[]);
    let events = stream.until("run_finished");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.id).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());

    let shown = api.get("/api/v1/runs/{run}", &format!("/api/v1/runs/{run}"));
    assert_eq!(shown["status"], "succeeded", "{shown:#}");
    assert_eq!(shown["outputs"]["said"], "one five you");
    assert_eq!(shown["seq"], json!(numbers.len()));
    assert_eq!(shown["critical_path"], json!(["one", "two", "three", "four", "five"]));
    assert_eq!(shown["owner"], json!({"face": "api", "user": about["user"]}));
    assert_eq!(shown["picture"]["graph"]["nodes"].as_array().unwrap().len(), 5);
    let short = api.get("/api/v1/runs/{run}", &format!("/api/v1/runs/{}", &run[..8]));
    assert_eq!(short["run"], shown["run"], "the beginning of an id will do");

    let page = api.get("/api/v1/runs/{run}/events", &format!("/api/v1/runs/{run}/events?after=2&limit=3"));
    assert_eq!((page["events"][0]["seq"].as_u64(), page["next"].as_u64()), (Some(3), Some(5)));
    let left = |what: &str| format!("/api/v1/runs/{run}/{what}");
    let output = api.get("/api/v1/runs/{run}/output", &left("output?path=one"));
    assert_eq!(output, json!({"path": "one", "output": "one"}));
    let attempts = api.get("/api/v1/runs/{run}/attempts", &left("attempts?path=two"));
    assert_eq!(attempts["attempts"][0]["status"], "succeeded");
    assert_eq!(attempts["attempts"][0]["has"], json!(["stdout", "stderr"]));
    let printed = api.get("/api/v1/runs/{run}/printed", &left("printed?path=two&attempt=1&stream=stderr"));
    assert_eq!(printed, json!({"text": "oops", "next": 4, "more": false}));
    api.get("/api/v1/runs/{run}/transcript", &left("transcript?path=two&attempt=1"));
    let files = api.get("/api/v1/runs/{run}/artifacts", &left("artifacts"));
    assert!(files["artifacts"].as_array().unwrap().iter().any(|file| file["name"] == "run.json"), "{files}");
    let file = api.client.get(&left("artifact?name=run.json"));
    assert_eq!((file.status, file.header("content-security-policy").as_deref()), (200, Some("sandbox")));
    for name in ["../../longhaul.db", "/etc/passwd", "steps/../run.json", "", "steps"] {
        assert_eq!(api.client.get(&left(&format!("artifact?name={name}"))).status, 404, "{name}");
    }

    let fork = api.client.make(&left("fork"), "key-2", &json!({"from": "five", "inputs": {"word": "me"}}));
    assert_eq!(fork.status, 201, "{}", fork.body);
    let forked = fork.json()["run"].as_str().unwrap().to_owned();
    api.client.stream(&format!("/api/v1/runs/{forked}/stream"), &[]).until("run_finished");
    let shown = api.get("/api/v1/runs/{run}", &format!("/api/v1/runs/{forked}"));
    assert_eq!((&shown["outputs"]["said"], &shown["forked"]), (&json!("one five me"), &json!([run, "five"])));

    let rows = api.get("/api/v1/runs", "/api/v1/runs?limit=1&status=succeeded&status=failed");
    assert_eq!((&rows["runs"][0]["run"], &rows["next"]), (&json!(forked), &json!(forked)));
    let rows = api.get("/api/v1/runs", &format!("/api/v1/runs?limit=1&before={forked}&text=SAY+it&workflow=steps"));
    assert_eq!((&rows["runs"][0]["run"], rows.get("next")), (&json!(run), None));
    assert!(rows["runs"][0]["summary"]["ended_at"].is_i64());
    let listed: Value = serde_json::from_str(&project.longhaul(&["runs", "--json"]).stdout).unwrap();
    assert_eq!(listed[1], rows["runs"][0], "lists are the same everywhere");
}

#[test]
fn workflows_with_their_runs_and_mistakes() {
    let project = Project::new();
    let server = project.serve(&[]);
    let api = Checked::new(server.client(&server.first_token()));
    let made = api.client.make("/api/v1/runs", "k", &json!({"workflow": "steps"})).json();
    api.client.stream(&format!("/api/v1/runs/{}/stream", made["run"].as_str().unwrap()), &[]).until("run_finished");
    let list = api.get("/api/v1/workflows", "/api/v1/workflows");
    let rows = list["workflows"].as_array().unwrap();
    let named = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(
        (&named("steps")["runs"]["succeeded"], &named("steps")["runs"]["last"]["run"]),
        (&json!(1), &made["run"])
    );
    assert_eq!((&named("broken")["ok"], &named("broken")["steps"]), (&json!(false), &Value::Null));
    let one = api.get("/api/v1/workflows/{name}", "/api/v1/workflows/steps");
    assert_eq!((&one["inputs"]["word"]["default"], &one["outputs"]), (&json!("hi"), &json!(["said"])));
    assert!(one["source"].as_str().unwrap().contains("Five commands") && one["picture"].is_object());
    let broken = api.get("/api/v1/workflows/{name}", "/api/v1/workflows/broken");
    assert!(broken.get("picture").is_none() && broken["diagnostics"][0]["line"] == 1, "{broken:#}");

    let checked = api.client.post("/api/v1/check", &json!({"source": "do: [{id: a, run: ls}]"}));
    api.fits("/api/v1/check", "post", 200, &checked.json());
    assert!(checked.json()["ok"] == true && checked.json()["picture"].is_object());
    let checked = api.client.post("/api/v1/check", &json!({"workflow": "broken"})).json();
    assert!(checked["ok"] == false && checked["diagnostics"][0]["code"].is_string(), "{checked}");

    let refused = api.client.make("/api/v1/runs", "b", &json!({"workflow": "broken"}));
    assert_eq!((refused.status, &refused.json()["code"]), (422, &json!("LH0708")));
    assert!(refused.json()["diagnostics"][0]["line"] == 1, "{}", refused.body);
    let refused = api.client.make("/api/v1/runs", "c", &json!({"workflow": "steps", "inputs": {"word": 7}}));
    assert_eq!((refused.status, &refused.json()["code"]), (422, &json!("LH0708")));
    let refused = api.client.post("/api/v1/runs", &json!({"workflow": "steps"}));
    assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("LH0704")), "without a key");
}

#[test]
fn what_can_not_be_done_says_so() {
    let project = Project::new();
    let server = project.serve(&[]);
    let api = Checked::new(server.client(&server.first_token()));
    let problem = |route: &str, path: &str| api.problem(route, path);
    assert_eq!(problem("/api/v1/runs/{run}", "/api/v1/runs/nope"), (404, "LH0703".to_owned()));
    assert_eq!(problem("/api/v1/runs/{run}", "/api/v1/runs/..%2f..%2fetc"), (404, "LH0703".to_owned()));
    assert_eq!(problem("/api/v1/workflows/{name}", "/api/v1/workflows/..%2Fbroken"), (404, "LH0703".to_owned()));
    for query in ["limit=0", "limit=501", "limit=x", "status=odd", "before=none-such"] {
        assert_eq!(problem("/api/v1/runs", &format!("/api/v1/runs?{query}")), (400, "LH0704".to_owned()), "{query}");
    }
    for body in ["", "[]", "{\"source\": 1}", "{\"sauce\": \"x\"}", "\u{0}", "{\"workflow\": \"a\", \"source\": \"b\"}"]
    {
        let answer =
            api.client.ask("POST", "/api/v1/check", &["X-Longhaul: 1", "Content-Type: application/json"], body);
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("LH0704")), "{body}");
    }
    let answer = api.client.ask("POST", "/api/v1/check", &["X-Longhaul: 1", "Content-Type: text/plain"], "{}");
    assert_eq!(answer.status, 400);
    assert_eq!(api.get("/api/v1/totals", "/api/v1/totals")["runs"], 0);
    let health = server.client("none").get("/health");
    assert_eq!((health.status, health.json()), (200, json!({"ok": true})), "everybody may ask whether it is well");
}

#[test]
fn long_answers_are_compressed_for_those_who_take_that() {
    let project = Project::new();
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let plain = client.get("/api/v1/openapi.json");
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("cache-control").as_deref(), Some("no-store"));
    let head = client.ask("HEAD", "/api/v1/openapi.json", &["Accept-Encoding: gzip, br"], "");
    let size: usize = head.header("content-length").unwrap().parse().unwrap();
    assert_eq!(head.header("content-encoding").as_deref(), Some("gzip"));
    assert!(size * 4 < plain.body.len(), "{size} of {}", plain.body.len());
}

#[test]
fn numbers_for_prometheus() {
    let project = Project::new();
    project.longhaul(&["run", "steps"]);
    let server = project.serve(&[]);
    let client = server.client(&server.first_token());
    let page = client.get("/metrics").body;
    for line in [
        "longhaul_runs{status=\"succeeded\"} 1",
        "longhaul_runs{status=\"failed\"} 0",
        "longhaul_steps_succeeded 5",
        "longhaul_questions_open 0",
    ] {
        assert!(page.lines().any(|known| known == line), "{line} is missing:\n{page}");
    }
}

/// A step that this machine runs until the test allows its end, and one that needs a machine with a label.
const APART: &str = "
name: apart
steps:
  - {id: near, run: 'while ! test -e go; do sleep 0.05; done'}
  - {id: far, run: printf far, runs_on: gpu}
";

#[test]
fn workers_what_they_hold_and_what_nobody_can_do() {
    let project = Project::new();
    std::fs::write(project.path().join(".longhaul/workflows/apart.yaml"), APART).unwrap();
    let server = project.serve(&[]);
    let api = Checked::new(server.client(&server.first_token()));
    let made = api.client.make("/api/v1/runs", "k", &json!({"workflow": "apart"})).json();
    let run = made["run"].as_str().unwrap().to_owned();
    let mut stream = api.client.stream(&format!("/api/v1/runs/{run}/stream"), &[]);
    stream.until("attempt_started");
    stream.until("attempt_started");

    let roster = api.get("/api/v1/workers", "/api/v1/workers");
    let [worker] = roster["workers"].as_array().unwrap().as_slice() else { panic!("{roster:#}") };
    assert_eq!((&worker["busy"], &worker["silent"], &roster["others"]), (&json!(1), &json!(false), &json!([])));
    let near = json!([{"run": run, "workflow": "apart", "path": "near", "attempt": 1}]);
    assert_eq!((&worker["holds"], &worker["version"]), (&near, &json!(env!("CARGO_PKG_VERSION"))));
    let text = "`far` waits for a worker with the label gpu; no such worker is there";
    let far = json!([{
        "run": run, "workflow": "apart", "path": "far", "attempt": 1, "labels": ["gpu"], "nobody": true, "text": text
    }]);
    assert_eq!(roster["waiting"], far);
    let said: Value = serde_json::from_str(&project.longhaul(&["workers", "--json"]).stdout).unwrap();
    assert_eq!((&said["workers"][0]["holds"], &said["waiting"]), (&near, &far), "a command says the same");
    let shown = api.get("/api/v1/runs/{run}", &format!("/api/v1/runs/{run}"));
    assert!(shown["why"].as_array().unwrap().iter().any(|why| why["text"] == text), "{:#}", shown["why"]);
    let attempts = format!("/api/v1/runs/{run}/attempts?path=far");
    assert_eq!(api.get("/api/v1/runs/{run}/attempts", &attempts)["attempts"][0]["status"], "waiting");

    let mut other = command(project.path(), &["worker", "--labels", "gpu", "--name", "bert"]);
    let mut other = other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    stream.until("attempt_claimed");
    std::fs::write(project.path().join("go"), "").unwrap();
    stream.until("run_finished");
    assert_eq!(api.get("/api/v1/runs/{run}/attempts", &attempts)["attempts"][0]["worker"], "bert");
    let roster = api.get("/api/v1/workers", "/api/v1/workers");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!((&roster["waiting"], &roster["workers"][0]["holds"]), (&json!([]), &json!([])), "{roster:#}");
    assert!(roster["workers"].as_array().unwrap().iter().any(|worker| worker["name"] == "bert"), "{roster:#}");
}
