//! Tests who may answer the questions of a run: its owner and holders of the secret, but never the run itself.
//!
//! **Invariant:** a rejected answer leaves the run exactly as it was.

use crate::binary::project::{Project, RUN};
use longhaul_core::event::Answer;
use longhaul_core::id::RunId;
use longhaul_core::origin::{Caller, Face, Origin};
use longhaul_core::plan::Plan;
use longhaul_runtime::{Message, StartRequest};
use serde_json::{Value, json};

const GATE: &str = "do:\n  - {id: go, approve: Continue?}\n  - {id: a, run: echo done}\n";

impl Project {
    /// The answer is rejected, and the run still waits.
    fn stands(&self, args: &[&str], reason: &str) {
        self.refuses(args, reason);
        assert_eq!(self.longhaul(&["resume", RUN]).code, 3, "it waits as before");
    }

    /// The text that a step of the run wrote.
    fn out(&self) -> String {
        std::fs::read_to_string(self.path("out")).unwrap_or_default()
    }
}

/// A run that waits at its gate.
fn waiting(workflow: &str) -> Project {
    let project = Project::new(workflow);
    assert_eq!(project.run().code, 3);
    project
}

#[test]
fn an_answer_says_who_gave_it_and_what_they_saw() {
    let project = waiting(GATE);
    let status: Value = serde_json::from_str(&project.ok(&["status", RUN, "--json"])).unwrap();
    let owner = project.found("run_started")["owner"].clone();
    assert_eq!(owner["face"], "cli");
    assert!(owner["user"].is_string(), "{owner}");
    project.ok(&["approve", RUN, "--comment", "looks good"]);
    project.ok(&["resume", RUN]);
    let answered = project.found("answered");
    assert_eq!(answered["caller"], json!({"who": owner, "auth": "os_user"}));
    assert_eq!(answered["comment"], "looks good");
    assert_eq!(answered["shown"], status["questions"][0]["shown"]);
    assert!(answered["shown"].as_str().is_some_and(|hash| hash.len() == 64), "{answered}");
}

#[test]
fn the_secret_of_a_gate_is_shown_nowhere() {
    let project = waiting(GATE);
    let key = project.found("question_asked")["key"].as_str().unwrap().to_owned();
    let path = "go".parse().unwrap();
    let secret = project.inside(async |engine| engine.secret(&RunId::new(RUN).unwrap(), &path).await.unwrap().unwrap());
    assert_eq!(secret.len(), 64);
    for look in [&["events", RUN, "--json"][..], &["export", RUN], &["status", RUN, "--json"], &["events", RUN]] {
        assert!(!project.ok(look).contains(&secret), "{look:?}");
    }
    project.stands(&["approve", RUN, "--secret", "wrong"], "the secret is not the one");
    project.stands(&["approve", RUN, "--secret", &key], "the secret is not the one");
    project.ok(&["approve", RUN, "--secret", &secret]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.found("answered")["caller"]["auth"], "secret");
}

#[test]
fn every_question_has_a_secret_of_its_own() {
    let project = waiting("steps:\n  - {id: a, approve: A?}\n  - {id: b, approve: B?}\n");
    let keys: Vec<Value> = project.events().iter().map(|event| event["key"].clone()).filter(Value::is_string).collect();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn a_fork_has_secrets_of_its_own() {
    let project =
        waiting("steps:\n  - {id: a, approve: A?}\n  - {id: b, run: echo}\n  - {id: c, run: echo, depends_on: b}\n");
    let forked = project.ok(&["fork", RUN, "--at", "c"]);
    let (a, [old, new]) = ("a".parse().unwrap(), [RUN, forked.trim()].map(|run| RunId::new(run).unwrap()));
    let secrets = project.inside(async |engine| {
        (engine.secret(&old, &a).await.unwrap().unwrap(), engine.secret(&new, &a).await.unwrap().unwrap())
    });
    assert_ne!(secrets.0, secrets.1);
    let told = project.longhaul(&["approve", new.as_str(), "--secret", &secrets.0]);
    assert!(told.stderr.contains("the secret is not the one"), "{}", told.stderr);
    project.ok(&["approve", new.as_str(), "--secret", &secrets.1]);
}

#[test]
fn what_was_shown_before_is_not_an_answer_to_what_is_asked_now() {
    let project = waiting(GATE);
    let caller = || Caller::os_user(serde_json::from_value(project.found("run_started")["owner"].clone()).unwrap());
    let message = |seen: String| {
        let mut message = Message::answer("go".parse().unwrap(), Answer::Approve, caller());
        if let Message::Answer { shown, .. } = &mut message {
            *shown = Some(seen);
        }
        message
    };
    let run = RunId::new(RUN).unwrap();
    let told =
        |message| project.inside(async |engine| engine.tell(&run, message, None).await.map_err(|why| why.to_string()));
    assert_eq!(
        told(message("0".repeat(64))).unwrap_err(),
        "`go` asks something else by now; look at it again, then answer"
    );
    let status: Value = serde_json::from_str(&project.ok(&["status", RUN, "--json"])).unwrap();
    assert!(told(message(status["questions"][0]["shown"].as_str().unwrap().to_owned())).is_ok());
}

/// A run that another interface starts.
fn started_by(project: &Project, owner: Origin) {
    project.ok(&["run", "w.yaml", "--run-id", "other-1", "--queue"]);
    let exported: Value = serde_json::from_str(&project.ok(&["export", "other-1"])).unwrap();
    let plan: Plan = serde_json::from_value(exported["plan"].clone()).unwrap();
    let request = StartRequest { run: RunId::new(RUN), owner: Some(owner), ..StartRequest::default() };
    project.inside(async |engine| engine.start(&plan, request).await.unwrap());
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3);
}

#[test]
fn what_a_client_started_is_answered_there_or_on_purpose() {
    let project = Project::new(GATE);
    let (client, session) = (Some("Claude Code".to_owned()), Some("s-1".to_owned()));
    started_by(&project, Origin { face: Face::Mcp, client, session, ..Origin::default() });
    project.stands(
        &["approve", RUN],
        "started by Claude Code (session s-1): answer there; or answer in its place, with --override",
    );
    project.stands(&["deny", RUN], "with --override");
    project.ok(&["approve", RUN, "--override"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.found("answered")["caller"]["overrides"], true);
    assert!(project.ok(&["events", RUN]).contains("who was not asked"));
}

#[test]
fn another_user_is_told_where_to_answer() {
    let project = Project::new(GATE);
    started_by(&project, Origin::cli("somebody-else"));
    project.stands(&["approve", RUN], "started by somebody-else at the command line: answer there");
    project.stands(&["approve", RUN, "--override"], "the policy lets nobody answer in its place");
}

#[test]
fn a_role_answers_and_nobody_else() {
    let gate = GATE.replace("Continue?}", "Continue?, approvals: 'role:release'}");
    let project = waiting(&gate);
    project.stands(&["approve", RUN], "only `release` may answer this");
    project.stands(&["approve", RUN, "--override"], "only `release` may answer this");
    let user = project.found("run_started")["owner"]["user"].as_str().unwrap().to_owned();
    project.user_settings(&format!("[roles]\nrelease = ['{user}']\n"));
    project.ok(&["approve", RUN]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.found("answered")["caller"]["roles"], json!(["release"]));
}

/// An earlier version called the holder of a secret `token`; its messages in the inbox still work.
#[test]
fn a_secret_that_an_earlier_version_took_is_good() {
    let project = waiting(&GATE.replace("Continue?}", "Continue?, approvals: 'role:release'}"));
    let (run, path) = (RunId::new(RUN).unwrap(), "go".parse().unwrap());
    let secret = project.inside(async |engine| engine.secret(&run, &path).await.unwrap().unwrap());
    let caller: Caller =
        serde_json::from_value(json!({"who": {"face": "cli", "user": "bob"}, "auth": "token"})).unwrap();
    let tell = |key: Option<String>| {
        let mut message = Message::answer(path.clone(), Answer::Approve, caller.clone());
        if let Message::Answer { key: own, .. } = &mut message {
            *own = key;
        }
        project.inside(async |engine| engine.tell(&run, message, None).await.map_err(|why| why.to_string()))
    };
    assert!(tell(None).unwrap_err().starts_with("only `release` may answer this"));
    assert!(tell(Some(longhaul_runtime::key_of(&secret))).is_ok());
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

/// At the command line, too, another person must approve, and nobody may approve twice.
#[test]
fn who_started_a_run_does_not_approve_what_somebody_else_has_to() {
    let gate = |rule: &str| GATE.replace("Continue?}", &format!("Continue?, approvals: {rule}}}"));
    let project = waiting(&gate("{not_starter: true}"));
    project.stands(&["approve", RUN], "started this run; somebody else has to answer");
    project.stands(&["approve", RUN, "--override"], "started this run; somebody else has to answer");
    let project = waiting(&gate("{count: 2}"));
    project.stands(&["answer", RUN, "go", "later"], "2 people have to approve, so it takes: yes, no");
    project.ok(&["approve", RUN, "--comment", "fine"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3, "one is not enough");
    project.stands(&["approve", RUN], "has approved this already (1 of 2); somebody else has to approve next");
    let status: Value = serde_json::from_str(&project.ok(&["status", RUN, "--json"])).unwrap();
    assert_eq!(
        (&status["questions"][0]["needed"], &status["questions"][0]["approved"][0]["comment"]),
        (&json!(2), &json!("fine"))
    );
}

#[test]
fn a_checkout_does_not_say_who_may_answer() {
    let project = Project::new(GATE);
    std::fs::write(project.path(".longhaul/config.toml"), "[approvals]\nwho = 'anyone'\n").unwrap();
    let told = project.longhaul(&["run", "w.yaml"]);
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("`approvals` says who may approve work"), "{}", told.stderr);
}

#[test]
fn a_run_keeps_the_policy_it_was_started_with() {
    let project = Project::new(GATE);
    project.user_settings("[approvals]\nwho = 'role:release'\n");
    assert_eq!(project.run().code, 3);
    project.user_settings("");
    project.stands(&["approve", RUN], "only `release` may answer this");
}

/// A gate, and beside it a step that tries to answer it. The reply goes to a file.
fn answering_itself(script: &str) -> Project {
    let project = Project::new("steps:\n  - {id: go, approve: Continue?}\n  - {id: sly, run: {script: sly.sh}}\n");
    std::fs::write(project.path("sly.sh"), format!("exec >>$OUT 2>&1\n{script}\necho code $?\nexit 0\n")).unwrap();
    let told = project.longhaul(&["run", "w.yaml", "--run-id", RUN]);
    assert_eq!(told.code, 3, "{}{}", told.stdout, told.stderr);
    project
}

#[test]
fn a_step_does_not_answer_for_its_run() {
    let scrubbed = "env -i HOME=$HOME $LONGHAUL approve run-1 go";
    for how in
        ["$LONGHAUL approve run-1 go --override", scrubbed, "setsid -w env -i HOME=$HOME $LONGHAUL approve run-1 go"]
    {
        let project = answering_itself(how);
        let out = project.out();
        assert!(out.contains("run-1 cannot answer for itself") && out.contains("code 1"), "{how}: {out}");
        assert_eq!(project.found("answered"), Value::Null, "{how}");
    }
}

#[test]
fn a_step_that_hides_where_it_comes_from_does_not_answer() {
    // The process that started it has ended, and its environment shows nothing: only the engine above it does.
    let orphan = "mkfifo start end
env -i HOME=$HOME PATH=$PATH sh -c '(read go <start; '$LONGHAUL' approve run-1 go >orphan 2>&1; echo >end) &'
echo >start; read go <end; cat orphan; false";
    let project = answering_itself(orphan);
    assert!(project.out().contains("a step of a run cannot answer for itself"), "{}", project.out());
    assert_eq!(project.found("answered"), Value::Null);
}

#[test]
fn a_run_that_a_step_started_is_not_its_to_answer() {
    let child = "do:\n  - {id: go, approve: Continue?}\n";
    let parent = "do:\n  - {id: a, run: '$LONGHAUL run child.yaml --run-id child-1 >>$OUT 2>&1; $LONGHAUL approve child-1 >>$OUT 2>&1; true'}\n";
    let project = Project::new(parent);
    std::fs::write(project.path("child.yaml"), child).unwrap();
    project.ok(&["run", "w.yaml", "--run-id", RUN]);
    assert!(project.out().contains("run-1 cannot answer for itself"), "{}", project.out());
    project.ok(&["approve", "child-1"]);
    assert_eq!(project.longhaul(&["resume", "child-1"]).code, 0, "a person outside of it may");
}
