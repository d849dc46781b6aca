//! Who may answer what a run asks.
//!
//! **Invariant:** what a run asks is never answered by the run itself, nor by one that it started or that started it,
//! whatever the policy says.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::RunStarted;
use crate::origin::{Auth, Caller, Face, Origin, SOME_RUN};

/// Who may answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Approvers {
    /// Whoever started the run.
    #[default]
    Initiator,
    /// Everybody who can reach the run.
    Anyone,
    /// Those whom the settings give this role.
    Role(String),
}

impl FromStr for Approvers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("role:").map(str::trim)) {
            ("initiator", _) => Ok(Self::Initiator),
            ("anyone", _) => Ok(Self::Anyone),
            (_, Some(role)) if !role.is_empty() => Ok(Self::Role(role.to_owned())),
            _ => Err(format!("`{text}` is not initiator, anyone or role:NAME")),
        }
    }
}

impl TryFrom<String> for Approvers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Approvers> for String {
    fn from(approvers: Approvers) -> Self {
        approvers.to_string()
    }
}

impl fmt::Display for Approvers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initiator => f.write_str("initiator"),
            Self::Anyone => f.write_str("anyone"),
            Self::Role(role) => write!(f, "role:{role}"),
        }
    }
}

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

/// Why somebody may not answer, and who may; `None` if they may. Whoever shows the secret of a question was given it.
pub fn refusal(started: &RunStarted, gate: Option<&Approvers>, caller: Option<&Caller>) -> Option<String> {
    if let Some(run) = caller.and_then(|caller| related(started, caller)) {
        return Some(format!(
            "{run} cannot answer for itself: what a step starts may not answer what its run asks, nor a run that it \
             started, nor one that started it; let a person do it outside of the run"
        ));
    }
    let settings = started.approvals.clone().unwrap_or_default();
    let owner = started.owner.as_ref()?;
    match gate.unwrap_or(&settings.who) {
        Approvers::Anyone => None,
        _ if caller.is_some_and(|caller| matches!(caller.auth, Auth::Token | Auth::Grant)) => None,
        Approvers::Role(role) => lacks(role, caller),
        Approvers::Initiator => {
            let Some(caller) = caller else {
                return Some(format!("{}, and nobody said who answers", elsewhere(owner)));
            };
            foreign(owner, caller, settings.strict)
        }
    }
}

/// Why a process may not cancel, pause or restart a run; `None` if it may. What a step starts may not decide what becomes of
/// its own run, nor of one that started that; runs that it started itself are its own affair.
pub fn own_affair(run: &str, who: &Origin) -> Option<String> {
    let own = who.inside.iter().find(|mine| *mine == run || *mine == SOME_RUN)?;
    let own = if own == SOME_RUN { "a run" } else { own };
    Some(format!(
        "a step of {own} cannot decide what becomes of {run}: nothing that a run starts may cancel, pause or restart it; let a \
         person do it outside of the run"
    ))
}

/// The run that a process would answer for although it comes out of it.
fn related(started: &RunStarted, caller: &Caller) -> Option<String> {
    let inside = &caller.who.inside;
    if inside.iter().any(|run| run == SOME_RUN) {
        return Some("a step of a run".to_owned());
    }
    let own = started.about.get("id").and_then(|id| id.as_str());
    let forked = started.forked.as_ref().map(|(from, _)| from.as_str());
    let above = started.owner.iter().flat_map(|owner| &owner.inside).map(String::as_str);
    own.into_iter().chain(forked).chain(above).find(|run| inside.iter().any(|mine| mine == run)).map(str::to_owned)
}

fn lacks(role: &str, caller: Option<&Caller>) -> Option<String> {
    let has = caller.is_some_and(|caller| caller.roles.iter().any(|own| own == role));
    (!has).then(|| format!("only `{role}` may answer this; the settings say who that is, under `[roles]`"))
}

fn foreign(owner: &Origin, caller: &Caller, strict: bool) -> Option<String> {
    let own_user = owner.user.is_none() || owner.user == caller.who.user;
    let may_override = !strict && own_user && caller.auth == Auth::OsUser;
    if is_initiator(owner, &caller.who) || (may_override && caller.overrides) {
        return None;
    }
    let remedy = match (may_override, caller.overrides) {
        (true, _) => instead(caller.who.face),
        (false, true) => "; the policy lets nobody answer in its place",
        (false, false) => "",
    };
    Some(format!("{}: answer there{remedy}", elsewhere(owner)))
}

/// How somebody answers in the place of another one, as their face lets them say it.
fn instead(face: Face) -> &'static str {
    match face {
        Face::Cli => "; or answer in its place, with --override",
        Face::Api => "; or answer in its place, with `override: true`",
        Face::Dashboard | Face::Mcp | Face::Trigger => "; or answer in its place",
    }
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
        refusal(&started(run), gate.as_ref(), caller.as_ref()).unwrap_or_else(|| "may".to_owned())
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
        assert!(said_at("api").ends_with("with `override: true`"));
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
        let expected =
            "this run was started by Claude Code (session s-1): answer there; or answer in its place, with --override";
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
        let by_link = json!({"who": {"face": "api"}, "auth": "token"});
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

    #[test]
    fn policies_read_back() {
        for text in ["initiator", "anyone", "role:ops"] {
            assert_eq!(text.parse::<Approvers>().unwrap().to_string(), text);
        }
        assert!("role:".parse::<Approvers>().is_err() && "nobody".parse::<Approvers>().is_err());
    }
}
