//! Who may answer what a run asks.
//!
//! **Invariant:** what a run asks is never answered by the run itself, nor by one that it started or that started it,
//! whatever the policy says.

mod people;
mod rule;

use serde::{Deserialize, Serialize};

use crate::event::{Answer, RunStarted};
use crate::origin::{Auth, Caller, Face, Origin, SOME_RUN};
use crate::path::StepPath;
use crate::plan::Plan;
use crate::rejection::{Rejection, Remedy};
use crate::state::State;

pub(crate) use people::not_a_vote;
pub use people::{Approval, needed, progress};
pub use rule::{ApprovalRule, Approvers};

/// What is left where a run would decide about itself.
const LET_A_PERSON: &str = "let a person do it outside of the run";

/// What the settings say about answers, as a run was started with it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Approvals {
    /// Who may answer where a workflow does not say.
    #[serde(default)]
    pub who: Approvers,
    /// Whether the user who started a run from elsewhere is kept from answering in the place of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

/// Why the caller may not answer a step's question, and who may; `None` if the caller may. Without an answer, it checks an approval.
pub fn refusal(
    plan: &Plan,
    state: &State,
    path: &StepPath,
    caller: Option<&Caller>,
    answer: Option<&Answer>,
) -> Option<Rejection> {
    let started = state.started.as_ref()?;
    let step = state.find(path);
    let rule = step.and_then(|step| plan.step(step.step).approvals.as_ref());
    let given = step.and_then(|step| step.asks()).map(|question| question.approved.as_slice()).unwrap_or_default();
    not_asked(started, rule.map(|rule| &rule.from), caller)
        .or_else(|| people::refusal(started, rule?, given, caller, answer))
}

/// Why the caller is not among the people who are asked. A caller who shows the secret of a question may answer it.
fn not_asked(started: &RunStarted, from: Option<&Approvers>, caller: Option<&Caller>) -> Option<Rejection> {
    if let Some(run) = caller.and_then(|caller| related(started, caller)) {
        let why = format!(
            "{run} cannot answer for itself: what a step starts may not answer what its run asks, nor a run that it \
             started, nor one that started it"
        );
        return Some(Rejection::forbidden(why).say(LET_A_PERSON));
    }
    let settings = started.approvals.clone().unwrap_or_default();
    let owner = started.owner.as_ref()?;
    match from.unwrap_or(&settings.who) {
        Approvers::Anyone => None,
        _ if caller.is_some_and(|caller| matches!(caller.auth, Auth::Secret | Auth::Grant)) => None,
        Approvers::Role(role) => lacks(role, caller),
        Approvers::Users(users) => not_among(users, caller),
        Approvers::Initiator => {
            let Some(caller) = caller else {
                return Some(Rejection::forbidden(format!("{}, and nobody said who answers", elsewhere(owner))));
            };
            foreign(owner, caller, settings.strict)
        }
    }
}

/// Why a process may not cancel, pause or restart a run; `None` if it may. What a step starts may not decide what becomes of
/// its own run, nor of one that started that; runs that it started itself are its own affair.
pub fn own_affair(run: &str, who: &Origin) -> Option<Rejection> {
    let own = who.inside.iter().find(|mine| *mine == run || *mine == SOME_RUN)?;
    let own = if own == SOME_RUN { "a run" } else { own };
    let why = format!(
        "a step of {own} cannot decide what becomes of {run}: nothing that a run starts may cancel, pause or restart it"
    );
    Some(Rejection::forbidden(why).say(LET_A_PERSON))
}

/// The run that a process would answer for although it comes out of it.
fn related(started: &RunStarted, caller: &Caller) -> Option<String> {
    let inside = &caller.who.inside;
    if inside.iter().any(|run| run == SOME_RUN) {
        return Some("a step of a run".to_owned());
    }
    let own = started.context.id.as_deref();
    let forked = started.forked.as_ref().map(|(from, _)| from.as_str());
    let above = started.owner.iter().flat_map(|owner| &owner.inside).map(String::as_str);
    own.into_iter().chain(forked).chain(above).find(|run| inside.iter().any(|mine| mine == run)).map(str::to_owned)
}

fn lacks(role: &str, caller: Option<&Caller>) -> Option<Rejection> {
    let has = caller.is_some_and(|caller| caller.roles.iter().any(|own| own == role));
    let why = || Rejection::forbidden(format!("only `{role}` may answer this{}", shared(caller)));
    (!has).then(|| why().say("the settings say who that is, under `[roles]`"))
}

fn not_among(users: &[String], caller: Option<&Caller>) -> Option<Rejection> {
    let person = caller.and_then(Caller::person);
    let is_one = person.is_some_and(|person| users.iter().any(|user| user == person));
    (!is_one).then(|| Rejection::forbidden(format!("only {} may answer this{}", users.join(" or "), shared(caller))))
}

/// What to add for a token that names no person.
fn shared(caller: Option<&Caller>) -> &'static str {
    let is_shared = caller.is_some_and(|caller| caller.auth == Auth::SharedToken);
    if is_shared { ", and the token names no person" } else { "" }
}

fn foreign(owner: &Origin, caller: &Caller, strict: bool) -> Option<Rejection> {
    let own_user = owner.user.is_none() || owner.user == caller.who.user;
    let is_person = matches!(caller.auth, Auth::OsUser | Auth::Token | Auth::SharedToken);
    let may_override = !strict && own_user && is_person && caller.who.face != Face::Mcp;
    if is_initiator(owner, &caller.who) || (may_override && caller.overrides) {
        return None;
    }
    let rejection = Rejection::forbidden(format!("{}: answer there", elsewhere(owner)));
    Some(match (may_override, caller.overrides) {
        (true, _) => rejection.with(Remedy::AnswerInstead),
        (false, true) => rejection.say("the policy lets nobody answer in its place"),
        (false, false) => rejection,
    })
}

fn elsewhere(owner: &Origin) -> String {
    format!("this run was started by {owner}")
}

/// Whether somebody is the one who started a run. What a trigger started is its user's, wherever they are.
fn is_initiator(owner: &Origin, who: &Origin) -> bool {
    let same_user = owner.user.is_none() || owner.user == who.user;
    match owner.face {
        Face::Trigger => who.face != Face::Mcp && same_user,
        Face::Mcp | Face::Api => {
            owner.face == who.face && owner.client == who.client && owner.session == who.session && same_user
        }
        Face::Cli | Face::Dashboard => owner.face == who.face && same_user,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn started(more: serde_json::Value) -> RunStarted {
        let mut started = json!({"workflow": "w", "plan": "p", "semantics": 1, "task": "", "about": {"id": "run-1"}});
        started.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(started).unwrap()
    }

    fn said(run: serde_json::Value, gate: Option<&str>, caller: serde_json::Value) -> String {
        let gate: Option<Approvers> = gate.map(|gate| gate.parse().unwrap());
        let caller: Option<Caller> = serde_json::from_value(caller).unwrap();
        in_words(not_asked(&started(run), gate.as_ref(), caller.as_ref()))
    }

    /// What is said to an approval where others were given before.
    fn counted(rule: serde_json::Value, given: &[&str], caller: serde_json::Value) -> String {
        let rule: ApprovalRule = serde_json::from_value(rule).unwrap();
        let caller: Caller = serde_json::from_value(caller).unwrap();
        let approval = |by: &&str| Approval { by: (*by).to_owned(), at: 1, comment: None };
        let given: Vec<Approval> = given.iter().map(approval).collect();
        let started = started(json!({"owner": "jane"}));
        let refused = not_asked(&started, Some(&rule.from), Some(&caller));
        in_words(refused.or_else(|| people::refusal(&started, &rule, &given, Some(&caller), None)))
    }

    fn in_words(refused: Option<Rejection>) -> String {
        refused.map_or_else(|| "may".to_owned(), |rejection| rejection.to_string())
    }

    fn token(user: &str) -> serde_json::Value {
        json!({"who": {"face": "api", "user": user}, "auth": "token"})
    }

    #[test]
    fn somebody_else_than_who_started_it_has_to_answer() {
        let rule = || json!({"not_starter": true});
        assert_eq!(
            counted(rule(), &[], json!({"who": {"user": "jane"}})),
            "jane started this run; somebody else has to answer"
        );
        assert!(counted(rule(), &[], token("jane")).starts_with("jane started this run"), "by whatever way");
        assert_eq!(counted(rule(), &[], token("kim")), "may");
        let shared = json!({"who": {"face": "api", "user": "root"}, "auth": "shared_token"});
        let expected = "this gate counts people, and the token names no person; use one that does";
        assert_eq!(counted(rule(), &[], shared), expected);
        let grant = json!({"who": {"client": "a grant"}, "auth": "grant"});
        assert!(counted(rule(), &[], grant).ends_with("given before is no person"));
    }

    #[test]
    fn a_person_counts_once() {
        let rule = || json!({"from": "role:ops", "count": 2});
        let ops = |mut caller: serde_json::Value| {
            caller["roles"] = json!(["ops"]);
            caller
        };
        assert_eq!(counted(rule(), &[], ops(token("kim"))), "may");
        let twice = "kim has approved this already (1 of 2); somebody else has to approve next";
        assert_eq!(counted(rule(), &["kim"], ops(token("kim"))), twice);
        assert_eq!(counted(rule(), &["kim"], ops(json!({"who": {"user": "kim"}}))), twice, "not even from elsewhere");
        assert_eq!(counted(rule(), &["kim"], ops(token("ana"))), "may");
        assert!(counted(rule(), &["kim"], token("ana")).starts_with("only `ops`"));
    }

    #[test]
    fn a_closed_list_is_closed() {
        let rule = || json!({"from": ["kim", "ana"], "count": 2});
        assert_eq!(counted(rule(), &[], token("ana")), "may");
        assert_eq!(counted(rule(), &[], token("bob")), "only kim or ana may answer this");
    }

    #[test]
    fn progress_names_the_people() {
        let kim = Approval { by: "kim".to_owned(), at: 1, comment: None };
        assert_eq!(progress(&[], 1), None);
        assert_eq!(progress(&[], 2).unwrap(), "0 of 2");
        assert_eq!(progress(&[kim], 2).unwrap(), "1 of 2, approved by kim");
    }

    #[test]
    fn a_token_is_its_person_and_no_more() {
        let run = || json!({"owner": {"face": "api", "user": "kim"}});
        assert_eq!(said(run(), None, token("kim")), "may");
        let ana = said(run(), None, token("ana"));
        assert_eq!(ana, "this run was started by kim at the API: answer there");
        let mut page = token("kim");
        page["who"]["face"] = json!("dashboard");
        assert!(said(run(), None, page.clone()).ends_with("; or answer in its place"));
        page["overrides"] = json!(true);
        assert_eq!(said(run(), None, page), "may", "what the command line lets its user do");
        let mut ana = token("ana");
        ana["overrides"] = json!(true);
        assert!(said(run(), None, ana).ends_with("the policy lets nobody answer in its place"));
        let shared = json!({"who": {"face": "api", "user": "root"}, "auth": "shared_token"});
        assert!(said(run(), Some("role:ops"), shared).contains("the token names no person"));
    }

    fn claude() -> serde_json::Value {
        json!({"face": "mcp", "user": "jane", "client": "Claude Code", "session": "s-1"})
    }

    #[test]
    fn what_a_step_starts_does_not_decide_what_becomes_of_its_run() {
        let may = |run: &str, inside: &[&str]| {
            let inside = inside.iter().map(|run| (*run).to_owned()).collect();
            own_affair(run, &Origin { inside, ..Origin::cli("jane") }).is_none()
        };
        assert!(may("run-1", &[]));
        assert!(!may("run-1", &["run-1"]));
        assert!(!may("run-0", &["run-1", "run-0"]), "one that started it");
        assert!(!may("run-1", &["*"]), "nobody can tell which run it is");
        assert!(may("run-2", &["run-1"]), "one that it started, or that has nothing to do with it");
    }

    #[test]
    fn any_command_line_of_the_user_is_the_initiator() {
        let run = || json!({"owner": {"face": "cli", "user": "jane"}});
        assert_eq!(said(run(), None, json!({"who": {"user": "jane"}})), "may");
        assert_eq!(said(json!({"owner": "jane"}), None, json!({"who": {"user": "jane"}})), "may");
        let bob = said(run(), None, json!({"who": {"user": "bob"}}));
        assert_eq!(bob, "this run was started by jane at the command line: answer there");
        let bob = said(run(), None, json!({"who": {"user": "bob"}, "overrides": true}));
        assert!(bob.ends_with("the policy lets nobody answer in its place"), "{bob}");
        let said_at = |face: &str| said(run(), None, json!({"who": {"face": face, "user": "jane"}}));
        assert!(said_at("dashboard").ends_with("command line: answer there; or answer in its place"));
        assert!(said_at("api").ends_with("command line: answer there; or answer in its place"));
        assert!(said(run(), None, json!(null)).ends_with("nobody said who answers"));
        assert_eq!(said(json!({}), None, json!(null)), "may", "a run that nobody owns");
    }

    #[test]
    fn what_a_client_started_goes_back_to_its_session() {
        let run = || json!({"owner": claude()});
        assert_eq!(said(run(), None, json!({"who": claude(), "auth": "mcp_session"})), "may");
        let mut other = claude();
        other["session"] = json!("s-2");
        let other = said(run(), None, json!({"who": other, "auth": "mcp_session", "overrides": true}));
        assert!(other.starts_with("this run was started by Claude Code (session s-1): answer there"), "{other}");
        let terminal = said(run(), None, json!({"who": {"user": "jane"}}));
        let expected = "this run was started by Claude Code (session s-1): answer there; or answer in its place";
        assert_eq!(terminal, expected);
        assert_eq!(said(run(), None, json!({"who": {"user": "jane"}, "overrides": true})), "may");
    }

    #[test]
    fn a_strict_policy_lets_nobody_answer_in_its_place() {
        let run = json!({"owner": claude(), "approvals": {"strict": true}});
        let said = said(run, None, json!({"who": {"user": "jane"}, "overrides": true}));
        assert!(said.ends_with("the policy lets nobody answer in its place"), "{said}");
    }

    #[test]
    fn the_gate_goes_before_the_settings() {
        let bob = || json!({"who": {"user": "bob"}});
        let run = || json!({"owner": "jane", "approvals": {"who": "anyone"}});
        assert_eq!(said(run(), None, bob()), "may");
        assert!(said(run(), Some("initiator"), bob()).contains("started by jane"));
        let role = said(run(), Some("role:ops"), bob());
        assert_eq!(role, "only `ops` may answer this; the settings say who that is, under `[roles]`");
        let bob = json!({"who": {"user": "bob"}, "roles": ["ops"]});
        assert_eq!(said(run(), Some("role:ops"), bob), "may");
        let jane = json!({"who": {"user": "jane"}, "overrides": true});
        assert!(said(run(), Some("role:ops"), jane).starts_with("only `ops`"), "not even who started it");
    }

    #[test]
    fn who_was_given_the_secret_may_answer() {
        let by_link = json!({"who": {"face": "api"}, "auth": "secret"});
        assert_eq!(said(json!({"owner": "jane"}), None, by_link), "may");
    }

    #[test]
    fn a_trigger_has_nobody_but_its_user() {
        let run = || json!({"owner": {"face": "trigger", "user": "jane"}});
        assert_eq!(said(run(), None, json!({"who": {"user": "jane"}})), "may");
        assert_eq!(said(run(), None, json!({"who": {"face": "dashboard", "user": "jane"}})), "may");
        assert!(said(run(), None, json!({"who": claude(), "auth": "mcp_session"})).contains("by jane at a trigger"));
    }

    #[test]
    fn a_run_never_answers_for_itself() {
        let inside = |runs: &[&str], auth: &str| json!({"who": {"user": "jane", "inside": runs}, "auth": auth, "overrides": true, "roles": ["ops"]});
        let child = || json!({"owner": {"face": "cli", "user": "jane", "inside": ["run-0"]}});
        for run in [json!({"owner": "jane"}), json!({}), json!({"owner": "jane", "approvals": {"who": "anyone"}})] {
            for gate in [None, Some("anyone"), Some("role:ops")] {
                for auth in ["os_user", "token", "mcp_session"] {
                    let said = said(run.clone(), gate, inside(&["run-1"], auth));
                    assert!(said.starts_with("run-1 cannot answer for itself"), "{said}");
                }
            }
        }
        assert!(said(child(), None, inside(&["run-0"], "os_user")).starts_with("run-0 cannot"), "who started it");
        assert!(said(child(), None, inside(&["run-2", "run-0"], "os_user")).starts_with("run-0 cannot"), "its sibling");
        assert!(said(child(), None, inside(&["*"], "os_user")).starts_with("a step of a run cannot"));
        assert_eq!(said(child(), None, inside(&["run-9"], "os_user")), "may", "a run that has nothing to do with it");
    }
}
