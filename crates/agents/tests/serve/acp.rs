//! Agents that speak the Agent Client Protocol: a small one that plays the scene it is told.

use std::fs;

use longhaul_agents::contract::{Entry, Errand, Meter, Permission, Session};
use rustix::process::Signal;
use serde_json::json;

use crate::serve::bench::{Bench, Story, runs};
use crate::serve::wires::Wire;

/// The agent. It writes down what it hears in `heard`, and its process id in `pid`.
const AGENT: &str = r#"
import json, os, signal, sys, time
scene, heard = sys.argv[1], open("heard", "a")
open("pid", "w").write(str(os.getpid()))
cwd, next_id = os.getcwd(), [100]

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    heard.write(line); heard.flush()
    return json.loads(line)

def update(what, **fields):
    send({"method": "session/update", "params": {"sessionId": "a-1", "update": {"sessionUpdate": what, **fields}}})

def text(words, kind="agent_message_chunk"):
    update(kind, content={"type": "text", "text": words})

def ask(method, **params):
    next_id[0] += 1
    send({"id": next_id[0], "method": method, "params": {"sessionId": "a-1", **params}})
    return hear()

def may(kind, path, title):
    options = [{"optionId": "ever", "name": "Always", "kind": "allow_always"},
               {"optionId": "once", "name": "Yes", "kind": "allow_once"},
               {"optionId": "no", "name": "No", "kind": "reject_once"}]
    call = {"toolCallId": "c-" + kind, "kind": kind, "title": title, "rawInput": {"path": path}, "locations": [{"path": path}]}
    return ask("session/request_permission", toolCall=call, options=options)["result"]["outcome"].get("optionId")

def play():
    if scene == "text":
        text("I think", "agent_thought_chunk"); text(" so", "agent_thought_chunk")
        text("Hello "); text("there")
        update("usage_update", used=10, size=100, cost={"amount": 0.5, "currency": "USD"})
    if scene == "tool":
        text("I write.")
        update("tool_call", toolCallId="c-edit", title="Edit", kind="edit", status="pending", rawInput={})
        answer = may("edit", cwd + "/made", "Edit made")
        status = "failed"
        if answer in ("once", "ever"):
            open("made", "w").write("x"); status = "completed"
        content = [{"type": "content", "content": {"type": "text", "text": "answer " + answer}}]
        update("tool_call_update", toolCallId="c-edit", status=status, content=content)
        may("read", cwd + "/made", "Read made")
        may("edit", "/etc/passwd", "Edit passwd")
        text("Done.")
    if scene == "files":
        wrote = ask("fs/write_text_file", path=cwd + "/made", content="one\ntwo\nthree\n")
        read = ask("fs/read_text_file", path=cwd + "/made", line=2, limit=1)
        out = ask("fs/read_text_file", path="/etc/passwd")
        terminal = ask("terminal/create", command="ls")
        text(" ".join("refused" if "error" in it else "ok" for it in (wrote, read, out, terminal)))
        text(" " + json.dumps(read.get("result", {}).get("content")))
    if scene == "hang":
        text("I hang.\n")
        while hear().get("method") != "session/cancel":
            pass
        return "cancelled"
    if scene == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        text("I do not listen.\n")
        while True:
            time.sleep(60)
    if scene == "dies":
        sys.exit(7)
    return {"refuses": "refusal", "long": "max_tokens"}.get(scene, "end_turn")

while True:
    message = hear()
    method, reply = message.get("method"), {}
    if method == "initialize":
        able = {"loadSession": scene != "forgets"}
        reply = {"protocolVersion": 9 if scene == "future" else 1, "agentCapabilities": able}
    elif method == "session/new":
        values = [{"value": "m-big", "name": "Big"}, {"value": "m-1", "name": "One"}]
        option = {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "m-1", "options": values}
        reply = {"sessionId": "a-1", "configOptions": [option]}
    elif method == "session/load":
        text("old words"); text("old thoughts", "agent_thought_chunk")
        if message["params"]["sessionId"] != "a-1":
            send({"id": message["id"], "error": {"code": -32002, "message": "no such session"}})
            continue
    elif method == "session/set_config_option":
        reply = {"configOptions": []}
    elif method == "session/prompt":
        if scene == "locked":
            send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required", "data": {"details": "log in"}}})
            continue
        usage = {"inputTokens": 6, "outputTokens": 5, "cachedReadTokens": 4, "cachedWriteTokens": 0, "totalTokens": 15}
        reply = {"stopReason": play(), "usage": usage}
    if "id" in message:
        send({"id": message["id"], "result": reply})
"#;

fn bench(scene: &str) -> Bench {
    let mut bench = Bench::new(Wire::Chat);
    fs::write(bench.path("agent.py"), AGENT).unwrap();
    bench.agent = "acp";
    bench.setup.program = Some("python3".into());
    bench.setup.args = vec![bench.path("agent.py").display().to_string(), scene.to_owned()];
    bench
}

fn take(scene: &str) -> Story {
    bench(scene).start().finish()
}

fn resume(id: &str, usd: Option<f64>) -> Session {
    Session::Resume { id: id.to_owned(), before: Meter { usd, ..Meter::default() } }
}

#[test]
fn an_agent_answers() {
    let bench = bench("text");
    let story = bench.start().finish();
    let expected = "\
session a-1 ?
thinks \"I think so\"
text \"Hello there\"
result
= \"Hello there\" in a-1 used 10/4/5";
    assert_eq!(story.text(), expected);
    assert_eq!(story.exit.code, Some(0));
    assert_eq!(story.ending.used.unwrap().usd, Some(0.5));
    assert!(bench.file("heard").contains(r#""text":"do it""#));
    assert!(!runs(&bench.file("pid")));
}

#[test]
fn permission_is_given_once_and_inside_the_workspace() {
    let bench = bench("tool");
    let story = bench.start().finish();
    let expected = "\
session a-1 ?
text \"I write.\"
call c-edit edit: Edit made
result c-edit ok: \"answer once\"
call c-read read: Read made
denied edit
text \"Done.\"
result
= \"Done.\" in a-1 used 10/4/5 denied [\"edit\"]";
    assert_eq!(story.text(), expected);
    assert_eq!(bench.file("made"), "x");
}

#[test]
fn whoever_may_only_look_gets_no_permission_to_change() {
    let mut bench = bench("tool");
    bench.turn.permission = Permission::ReadOnly;
    let story = bench.start().finish();
    assert!(
        story.text().contains("denied edit\nresult c-edit failed: \"answer no\"\ncall c-read read"),
        "{}",
        story.text()
    );
    assert_eq!(story.ending.denied, ["edit", "edit"]);
    assert!(!bench.path("work/made").exists());
    assert!(bench.file("heard").contains(r#""fs":{"readTextFile":true,"writeTextFile":false}"#));
}

#[test]
fn files_are_served_within_the_workspace() {
    let bench = bench("files");
    assert_eq!(bench.start().finish().ending.text, "ok ok refused refused \"two\\n\"");
    assert_eq!(bench.file("made"), "one\ntwo\nthree\n");
    let mut bench = self::bench("files");
    bench.turn.permission = Permission::ReadOnly;
    assert_eq!(bench.start().finish().ending.text, "refused refused refused refused null");
}

#[test]
fn a_session_is_loaded_and_its_history_is_not_told_again() {
    let mut bench = bench("text");
    bench.turn.session = resume("a-1", Some(0.125));
    let story = bench.start().finish();
    assert!(!story.text().contains("old"), "{}", story.text());
    assert_eq!(story.outcome(), "= \"Hello there\" in a-1 used 10/4/5");
    let (used, total) = (story.ending.used.unwrap(), story.ending.session_total.unwrap());
    assert_eq!((used.usd, total.usd), (Some(0.375), Some(0.5)));
    assert!(bench.file("heard").contains("session/load") && !bench.file("heard").contains("session/new"));
}

#[test]
fn a_session_that_is_lost_is_said_to_be() {
    let mut bench = bench("text");
    bench.turn.session = resume("a-9", None);
    let said = bench.start().finish().outcome();
    assert!(
        said.contains("code session_not_found because \"session `a-9` cannot be taken up: no such session"),
        "{said}"
    );
    let mut bench = self::bench("forgets");
    bench.turn.session = resume("a-1", None);
    assert!(bench.start().finish().outcome().contains("code session_not_found"));
}

#[test]
fn a_model_is_chosen_where_the_agent_lets_us() {
    let mut bench = bench("text");
    bench.turn.model = Some("big".to_owned());
    let story = bench.start().finish();
    assert!(!story.text().contains("notice"));
    assert!(bench.file("heard").contains(r#""configId":"model","value":"m-big""#), "{}", bench.file("heard"));
    bench.turn.model = Some("m-9".to_owned());
    assert!(bench.start().finish().text().contains("notice this agent does not let us choose `m-9`"));
}

#[test]
fn a_turn_that_hangs_is_cancelled() {
    let bench = bench("hang");
    let mut running = bench.start();
    running.until("it hangs", |entry| matches!(entry, Entry::Text { .. }));
    running.signal(Signal::TERM);
    let story = running.finish();
    assert_eq!(story.exit.code, Some(143));
    assert_eq!(story.outcome(), "= \"I hang.\\n\" in a-1 code stopped because \"the turn was stopped\"");
    assert!(bench.file("heard").contains("session/cancel"));
    assert!(!runs(&bench.file("pid")));
}

#[test]
fn an_agent_that_does_not_listen_is_ended() {
    let bench = bench("deaf");
    let mut running = bench.start();
    running.until("it does not listen", |entry| matches!(entry, Entry::Text { .. }));
    running.signal(Signal::TERM);
    assert_eq!(running.finish().exit.code, Some(143));
    assert!(!runs(&bench.file("pid")));
}

#[test]
fn what_goes_wrong_is_told() {
    let check = |scene: &str, expected: &str| {
        let said = take(scene).outcome();
        assert!(said.contains(expected), "{scene}: {said}");
    };
    check(
        "locked",
        "status 401 code auth_required because \"Authentication required: {\\\"details\\\":\\\"log in\\\"}\"",
    );
    check("dies", "in a-1 code agent_ended because \"the agent ended before its answer\"");
    check("refuses", "code refusal stop refusal");
    check("long", "code max_tokens stop max_tokens");
    check("future", "code -32600 because \"Invalid request: unsupported ACP protocol version 9");
}

#[test]
fn a_program_that_is_not_there_is_missed() {
    let mut bench = bench("text");
    bench.setup.program = Some("/no/such/agent".into());
    assert!(bench.start().finish().outcome().contains("code no_program because \"`/no/such/agent` cannot be started"));
    bench.turn.errand = Errand::Compact;
    assert!(bench.start().finish().outcome().contains("compacted false code no_compact"));
}

#[test]
fn the_program_is_looked_for() {
    let agent = longhaul_agents::drivers::ALL.iter().find(|agent| agent.name() == "acp").unwrap();
    let mut setup = longhaul_agents::contract::Setup::default();
    let missing = |setup: &longhaul_agents::contract::Setup| agent.find(setup).map_err(|why| why.to_string());
    assert!(missing(&setup).unwrap_err().starts_with("no program is named that speaks the Agent Client Protocol"));
    setup.program = Some("no-such-agent".into());
    assert!(missing(&setup).unwrap_err().starts_with("there is no program `no-such-agent`"));
    setup.program = Some("sh".into());
    assert!(missing(&setup).is_ok());
    assert_eq!(json!(agent.abilities())["read_only"], json!(false));
}
