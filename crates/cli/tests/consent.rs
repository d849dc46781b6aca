//! Tests consent: which steps ask, which do not, and what is recorded.
//!
//! **Invariant:** a run that its owner starts asks only about steps that its workflow declares as high risk or as
//! asking.

use crate::binary::project::{Project, RUN};
use longhaul_core::consent::{ConsentRequest, Ledger};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Face, Origin};
use longhaul_core::plan::{Plan, Risk};
use longhaul_core::policy::Verdict;
use longhaul_runtime::StartRequest;
use serde_json::json;

const PUSH: &str = "name: release\ndo:\n  - {id: a, run: echo pushed, risk: medium, uses: ['git:push']}\n";
const DEPLOY: &str = "name: release\ndo:\n  - {id: a, run: echo deployed, risk: high, uses: ['web:deploy']}\n";

impl Project {
    fn organisation(&self, text: &str) {
        std::fs::create_dir_all(self.path("organisation")).unwrap();
        std::fs::write(self.path("organisation/config.toml"), text).unwrap();
    }

    /// A run that a program starts.
    fn start_by_client(&self) -> i32 {
        self.ok(&["run", "w.yaml", "--run-id", "other-1", "--queue"]);
        let plan: Plan = serde_json::from_value(self.json(&["export", "other-1"])["plan"].clone()).unwrap();
        let owner = Origin {
            face: Face::Mcp,
            client: Some("c".to_owned()),
            session: Some("s".to_owned()),
            ..Origin::default()
        };
        let request = StartRequest { run: RunId::new(RUN), owner: Some(owner), ..StartRequest::default() };
        self.inside(async |engine| engine.start(&plan, request).await.unwrap());
        self.longhaul(&["resume", RUN]).code
    }
}

/// A list of one run is not shorter because a newer journal is not a run.
#[test]
fn journals_beside_the_runs_take_no_place_in_lists() {
    let project = Project::new(PUSH);
    assert_eq!(project.run().code, 0);
    project.ok(&["consent", "grant", "workflow_class:release"]);
    assert_eq!(project.json(&["runs", "--json", "--limit", "1"])[0]["run"], RUN);
}

#[test]
fn starting_a_run_is_the_consent() {
    let project = Project::new(PUSH);
    assert_eq!(project.run().code, 0);
    assert_eq!(project.found("consented")["rule"], "the run was started for it");
    assert_eq!(project.json(&["runs", "--json"]).as_array().unwrap().len(), 1, "the journal of consent is no run");
}

#[test]
fn high_risk_asks_and_a_grant_answers() {
    let project = Project::new(DEPLOY);
    assert_eq!(project.run().code, 3);
    let asked = project.found("question_asked");
    assert_eq!(asked["kind"], "consent");
    assert_eq!(
        asked["text"],
        "`a` is about to do `web:deploy`, of high risk: {\"command\":\"echo deployed\"}. May it?"
    );
    project.ok(&["approve", RUN]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);

    project.ok(&["consent", "grant", "web:deploy", "--once"]);
    assert_eq!(project.longhaul(&["run", "w.yaml", "--run-id", "run-2"]).code, 0, "the grant answered");
    assert_eq!(project.longhaul(&["run", "w.yaml", "--run-id", "run-3"]).code, 3, "and is used up");
    let log = project.ok(&["consent", "log"]);
    assert!(log.contains("granted once for web:deploy by "), "{log}");
    assert!(log.contains("allow web:deploy, high risk in run-2 (grant 1: once for web:deploy)"), "{log}");
    let events = project.ok(&["events", "run-2"]);
    assert!(events.contains("approved by grant 1: once for web:deploy"), "{events}");
}

#[test]
fn no_consent_is_a_failure_that_says_so() {
    let project = Project::new(DEPLOY);
    assert_eq!(project.run().code, 3);
    project.ok(&["deny", RUN, "--reason", "not on a Friday"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 1);
    assert_eq!(project.found("run_finished")["message"], "`a`: nobody consented: not on a Friday");
}

#[test]
fn rules_of_the_user_and_of_the_organisation_hold() {
    let project = Project::new(PUSH);
    project.user_settings("[policy]\nrisk = { medium = 'deny' }\nactions = { 'git:push' = 'allow' }\n");
    assert_eq!(project.run().code, 0);
    assert_eq!(project.found("consented")["rule"], "user: allow git:push");
    project.organisation("[policy.services]\ngit = 'deny'\n");
    assert_eq!(project.longhaul(&["run", "w.yaml", "--run-id", "run-2"]).code, 1);
    let events = project.ok(&["events", "run-2", "--json"]);
    assert!(
        events.contains("the policy does not let it do `git:push` (organisation: deny everything of git)"),
        "{events}"
    );
}

#[test]
fn a_checkout_does_not_say_what_is_allowed() {
    let project = Project::new(DEPLOY);
    std::fs::write(project.path(".longhaul/config.toml"), "[policy.risk]\nhigh = 'allow'\n").unwrap();
    assert!(project.longhaul(&["run", "w.yaml"]).stderr.contains("`policy` says who may approve work"));
    project.ok(&["trust"]);
    assert_eq!(project.run().code, 0);
}

#[test]
fn what_a_program_starts_needs_a_grant_for_the_workflow() {
    let project = Project::new(PUSH);
    assert_eq!(project.start_by_client(), 3, "it asks");

    let project = Project::new(PUSH);
    project.ok(&["consent", "grant", "workflow_class:release"]);
    assert_eq!(project.start_by_client(), 0);
    assert_eq!(project.found("consented")["rule"], "the run was started for it");
}

#[test]
fn consent_that_is_taken_back_is_missed_by_runs_that_had_it() {
    let project = Project::new(&format!(
        "name: release\ndo:\n  - {{id: go, approve: Continue?}}\n{}",
        &PUSH["name: release\ndo:\n".len()..]
    ));
    assert_eq!(project.run().code, 3);
    let runs = project.json(&["consent", "list", "--json"])["runs"].clone();
    assert_eq!(runs[0]["key"], "workflow_run:release:run-1");
    let revoked = project.json(&["consent", "revoke", "workflow_class:release", "--json"]);
    assert_eq!(revoked["runs"], json!([RUN]));
    project.ok(&["approve", RUN, "go"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 3);
    assert_eq!(project.found("question_asked")["kind"], "consent");
    assert_eq!(project.json(&["consent", "list", "--json"])["runs"], json!([]));
    project.ok(&["approve", RUN, "a"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn a_step_gives_no_consent() {
    let workflow = "do:\n  - {id: a, run: '$LONGHAUL consent grant web:deploy 2>&1 || true'}\n";
    let project = Project::new(workflow);
    assert_eq!(project.run().code, 0);
    let said = project.ok(&["outputs", RUN, "a"]);
    assert!(said.contains("a step of run-1 cannot give or take consent"), "{said}");
    assert_eq!(project.json(&["consent", "log", "--json"]), json!([]));
}

#[test]
fn grants_are_listed_and_taken_back() {
    let project = Project::new(PUSH);
    let granted = project.json(&["consent", "grant", "github:merge", "--for", "2h", "--session", "s-1", "--json"]);
    assert_eq!((granted["id"].as_u64(), granted["span"].as_str()), (Some(1), Some("temporary")));
    let list = project.ok(&["consent", "list"]);
    assert!(list.contains("temporary  github:merge, session s-1, until "), "{list}");
    project.ok(&["consent", "revoke", "1"]);
    assert_eq!(project.ok(&["consent", "list"]), "");
    let told = project.longhaul(&["consent", "revoke", "1"]);
    assert!(told.code == 2 && told.stderr.contains("there is no grant 1"), "{}", told.stderr);
    assert!(project.longhaul(&["consent", "grant", "workflow_run:w:r-1"]).stderr.contains("by being started"));
}

fn wanted(session: &str) -> ConsentRequest {
    ConsentRequest { session: Some(session.to_owned()), ..ConsentRequest::new("github:merge", Risk::High) }
}

#[test]
fn what_was_asked_can_be_answered_later_and_taken_up_by_its_number() {
    let project = Project::new(PUSH);
    let asked = project.inside(async |engine| engine.consent_to(wanted("s-1")).await.unwrap());
    assert_eq!((asked.0.verdict, asked.1), (Verdict::Ask, 1));
    let list = project.ok(&["consent", "list"]);
    assert!(list.contains("pending    github:merge, high risk; longhaul consent grant --operation 1"), "{list}");
    project.ok(&["consent", "grant", "--operation", "1"]);
    assert_eq!(project.ok(&["consent", "list"]).lines().count(), 1, "the grant alone");
    let (other, own, again) = project.inside(async |engine| {
        let other = engine.consent_again(1, Some("s-2")).await.unwrap_err().to_string();
        let own = engine.consent_again(1, Some("s-1")).await.unwrap().0;
        (other, own, engine.consent_again(1, Some("s-1")).await.unwrap().0.verdict)
    });
    assert_eq!(other, "1 was asked in another session; ask again in this one");
    assert_eq!((own.verdict, own.rule.as_str()), (Verdict::Allow, "grant 2: once for github:merge"));
    assert_eq!(again, Verdict::Ask, "it was for one time");
    let told = project.longhaul(&["consent", "grant", "--operation", "1"]);
    assert!(told.stderr.contains("nothing is pending under 1"), "{}", told.stderr);
}

#[test]
fn of_many_who_use_a_grant_for_one_time_one_may() {
    let project = Project::new(PUSH);
    project.ok(&["consent", "grant", "github:merge", "--once"]);
    let allowed: usize = project.inside(async |engine| {
        let tasks: Vec<_> = (0..8)
            .map(|at| {
                let engine = engine.clone();
                tokio::spawn(async move { engine.consent_to(wanted(&format!("s-{at}"))).await.unwrap().0.verdict })
            })
            .collect();
        let mut allowed = 0;
        for task in tasks {
            allowed += usize::from(task.await.unwrap() == Verdict::Allow);
        }
        allowed
    });
    assert_eq!(allowed, 1);
    let ledger: Ledger = project.inside(async |engine| engine.ledger().await.unwrap());
    assert_eq!((ledger.seq, ledger.pending().count()), (9, 7));
}
