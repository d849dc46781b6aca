//! Consent as a script: each line grants or wants something, and the answer is compared.

use super::check::changes_itself;
use super::{ConsentEntry, ConsentKey, ConsentRequest, Grant, GrantSpan, Ledger, RunGrant};
use crate::plan::Risk;
use crate::policy::{Action, Policy};

/// Plays lines such as `+2m want github:merge medium in s1` and prints the result of each.
#[derive(Default)]
struct Play {
    ledger: Ledger,
    now: i64,
    run: Option<RunGrant>,
    seq: u64,
}

impl Play {
    fn of(script: &str) -> String {
        let mut play = Self::default();
        script.trim().lines().map(|line| format!("{}\n", play.line(line.trim()))).collect()
    }

    fn line(&mut self, line: &str) -> String {
        let line = line.split(" ->").next().unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        self.now += i64::try_from(crate::duration::parse_ms(&words[0][1..]).unwrap()).unwrap();
        let after = |word: &str| words.iter().position(|w| *w == word).map(|at| words[at + 1].to_owned());
        let said = match words[1] {
            "grant" => self.grant(words[2], words[3], after("in"), after("call")),
            "answer" => self.answer(words[2].parse().unwrap(), words[3]),
            "revoke" => {
                self.record(ConsentEntry::Revoked { grant: None, key: Some(words[2].parse().unwrap()), by: None })
            }
            "run" => {
                let run =
                    RunGrant { workflow: "w".to_owned(), live: words[2] != "over", suspended: words[2] == "suspended" };
                self.run = Some(run);
                words[2].to_owned()
            }
            _ => {
                let run = words.contains(&"inside").then(|| "r-1".to_owned());
                let action = Action::new(words[2], Risk::read(words[3]).unwrap());
                let replayed = words.contains(&"replayed");
                self.want(ConsentRequest { action, session: after("in"), fingerprint: after("call"), run, replayed })
            }
        };
        format!("{line} -> {said}")
    }

    fn grant(&mut self, span: &str, key: &str, session: Option<String>, fingerprint: Option<String>) -> String {
        let spans = [GrantSpan::Once, GrantSpan::Temporary, GrantSpan::Session, GrantSpan::Always];
        let span = spans.into_iter().find(|known| known.word() == span).unwrap();
        let key: ConsentKey = key.parse().unwrap();
        let until = span.until(&key, self.now, None);
        self.record(ConsentEntry::Granted {
            grant: Grant { key, span, session, fingerprint, until, by: None },
            operation: None,
        })
    }

    fn answer(&mut self, operation: u64, word: &str) -> String {
        if word == "no" {
            return self.record(ConsentEntry::Dismissed { operation, by: None });
        }
        match self.ledger.grant_for(operation, GrantSpan::Once, self.now, None) {
            Some(grant) => self.record(ConsentEntry::Granted { grant, operation: Some(operation) }),
            None => "nothing is pending".to_owned(),
        }
    }

    fn want(&mut self, request: ConsentRequest) -> String {
        let run = self.run.as_ref().filter(|_| request.run.is_some());
        let decision = self.ledger.decide(&Policy::default(), &request, run, self.now);
        let said = format!("{} ({})", decision.verdict.word(), decision.rule);
        let (verdict, rule, used) = (decision.verdict, decision.rule, decision.used);
        self.record(ConsentEntry::Decided { request, verdict, rule, used });
        said
    }

    fn record(&mut self, entry: ConsentEntry) -> String {
        self.seq += 1;
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<ConsentEntry>(&text).unwrap(), entry, "{text}");
        self.ledger.apply(self.seq, self.now, &entry);
        format!("{}", self.seq)
    }
}

#[track_caller]
fn plays(script: &str) {
    let expected: String = script.trim().lines().map(|line| format!("{}\n", line.trim())).collect();
    let played = Play::of(script);
    assert_eq!(played, expected, "\n{played}");
}

#[test]
fn grants_hold_as_long_as_they_say() {
    plays(
        "+0s want x medium -> ask (default: ask medium risk)
         +0s grant once x -> 2
         +1s want x medium -> allow (grant 2: once for x)
         +1s want x medium -> ask (default: ask medium risk)
         +1s grant temporary x -> 5
         +4m want x medium -> allow (grant 5: temporary for x)
         +1m want x medium -> ask (default: ask medium risk)
         +1s grant always x -> 8
         +23h want x medium -> allow (grant 8: always for x)
         +1h want x medium -> ask (default: ask medium risk)",
    );
}

#[test]
fn a_grant_of_a_session_is_for_that_session() {
    plays(
        "+0s grant session x in s1 -> 1
         +9d want x medium in s1 -> allow (grant 1: session for x)
         +0s want x medium in s2 -> ask (default: ask medium risk)
         +0s want x medium -> ask (default: ask medium risk)
         +0s want y medium in s1 -> ask (default: ask medium risk)",
    );
}

#[test]
fn a_denial_is_not_lifted_and_what_is_allowed_needs_no_grant() {
    plays(
        "+0s grant always x -> 1
         +0s want x critical -> deny (default: deny critical risk)
         +0s want x low -> allow (default: allow low risk)",
    );
}

#[test]
fn inside_a_run_the_order_is_action_then_run_then_workflow() {
    plays(
        "+0s run live -> live
         +0s want x medium inside -> allow (grant of the run: workflow_run:w:r-1)
         +0s grant once x -> 2
         +0s want x medium inside -> allow (grant 2: once for x)
         +0s run over -> over
         +0s want x medium inside -> ask (default: ask medium risk)
         +0s grant temporary workflow_class:w -> 5
         +14m want x medium inside -> allow (grant 5: temporary for workflow_class:w)
         +1m want x medium inside -> ask (default: ask medium risk)
         +0s want x medium -> ask (default: ask medium risk)",
    );
}

#[test]
fn high_risk_and_replays_are_not_covered_by_workflows() {
    plays(
        "+0s run live -> live
         +0s grant always workflow_class:w -> 1
         +0s want x high inside -> ask (default: ask high risk)
         +0s want x medium inside replayed -> ask (default: ask medium risk)
         +0s grant always x -> 4
         +0s want x high inside -> allow (grant 4: always for x)
         +0s want x medium inside replayed -> allow (grant 4: always for x)",
    );
}

#[test]
fn a_step_that_asks_by_itself_suspends_what_the_workflow_has() {
    plays(
        "+0s run suspended -> suspended
         +0s grant always workflow_class:w -> 1
         +0s want x medium inside -> ask (default: ask medium risk)
         +0s run live -> live
         +0s want x medium inside -> allow (grant of the run: workflow_run:w:r-1)",
    );
}

#[test]
fn a_call_that_is_consented_to_by_itself_is_done_once() {
    plays(
        "+0s run live -> live
         +0s grant always x -> 1
         +0s want x medium call f1 inside -> ask (default: ask medium risk)
         +0s answer 2 yes -> 3
         +0s want x medium call f2 inside -> ask (default: ask medium risk)
         +0s want x medium call f1 inside -> allow (grant 3: once for x)
         +0s want x medium call f1 inside -> ask (default: ask medium risk)",
    );
}

#[test]
fn what_was_not_answered_in_time_can_be_taken_up_later() {
    plays(
        "+0s want x high in s1 -> ask (default: ask high risk)
         +2h answer 1 yes -> 2
         +0s answer 1 yes -> nothing is pending
         +0s want x high in s2 -> ask (default: ask high risk)
         +1h want x high in s1 -> allow (grant 2: once for x)
         +0s want x high in s1 -> ask (default: ask high risk)
         +0s answer 5 no -> 6
         +0s want x high in s1 -> ask (default: ask high risk)",
    );
}

#[test]
fn what_is_taken_back_holds_no_more() {
    plays(
        "+0s grant always x -> 1
         +0s grant always workflow_class:w -> 2
         +0s run over -> over
         +0s revoke x -> 3
         +0s want x medium -> ask (default: ask medium risk)
         +0s want x medium inside -> allow (grant 2: always for workflow_class:w)
         +0s revoke workflow_class:w -> 6
         +0s want x medium inside -> ask (default: ask medium risk)",
    );
}

#[test]
fn a_run_does_not_change_what_runs() {
    let rule = "deny (no run changes workflows, triggers or proposals; let a person do it outside of the run)";
    plays(&format!(
        "+0s run live -> live
         +0s grant always workflows:update_workflow -> 1
         +0s want workflows:update_workflow low inside -> {rule}
         +0s want workflows:update_workflow low -> allow (default: allow low risk)"
    ));
    let denied =
        ["sync_workflow", "update_workflow", "delete_workflow", "rollback_workflow", "sync_trigger", "delete_trigger"];
    for action in denied.into_iter().chain(["create", "review_workflow_proposal", "apply_workflow_proposal"]) {
        assert!(changes_itself(&format!("workflows:{action}")), "{action}");
    }
    for action in ["create_workflow_proposal", "list_workflows", "run_workflow", "get_workflow"] {
        assert!(!changes_itself(&format!("workflows:{action}")), "{action}");
    }
    assert!(!changes_itself("github:delete") && !changes_itself("delete"));
}

#[test]
fn keys_read_back() {
    for text in ["github:merge", "workflow_class:release", "workflow_run:a:b:r-1"] {
        assert_eq!(text.parse::<ConsentKey>().unwrap().to_string(), text);
    }
    let run = ConsentKey::Run { workflow: "a:b".to_owned(), run: "r-1".to_owned() };
    assert_eq!("workflow_run:a:b:r-1".parse::<ConsentKey>().unwrap(), run);
}
