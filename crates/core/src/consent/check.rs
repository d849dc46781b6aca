//! Checks an action against policy and grants.
//!
//! The order is fixed: the actions that a run may never do; the policy; a grant for the action itself; the grant of
//! the run; a grant for its workflow.

use super::{ConsentKey, ConsentRequest, Grant, Ledger, RunGrant};
use crate::plan::Risk;
use crate::policy::{Policy, Verdict};

/// The decision on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentDecision {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule or grant that decided.
    pub rule: String,
    /// The number of the grant that this uses.
    pub used: Option<u64>,
}

impl ConsentDecision {
    fn new(verdict: Verdict, rule: impl Into<String>) -> Self {
        Self { verdict, rule: rule.into(), used: None }
    }
}

impl Ledger {
    /// Whether an action may be done now, by which rule, and which grant that uses.
    pub fn decide(
        &self,
        policy: &Policy,
        request: &ConsentRequest,
        run: Option<&RunGrant>,
        now: i64,
    ) -> ConsentDecision {
        if request.run.is_some() && changes_itself(&request.action.name) {
            let rule = "no run changes workflows, triggers or proposals; let a person do it outside of the run";
            return ConsentDecision::new(Verdict::Deny, rule);
        }
        let ruling = policy.judge(&request.action);
        if ruling.verdict != Verdict::Ask {
            return ConsentDecision::new(ruling.verdict, ruling.rule);
        }
        if let Some((id, grant)) = self.live(now).find(|(_, grant)| covers(grant, request)) {
            let rule = format!("grant {id}: {} for {}", grant.span.word(), grant.key);
            return ConsentDecision { used: Some(id), ..ConsentDecision::new(Verdict::Allow, rule) };
        }
        match run.and_then(|run| self.by_workflow(request, run, now)) {
            Some(decision) => decision,
            None => ConsentDecision::new(Verdict::Ask, ruling.rule),
        }
    }

    /// The decision by the grants of a run and of its workflow, if one covers the action.
    fn by_workflow(&self, request: &ConsentRequest, run: &RunGrant, now: i64) -> Option<ConsentDecision> {
        let own = request.action.risk >= Risk::High || request.fingerprint.is_some() || request.replayed;
        if own || run.suspended {
            return None;
        }
        if run.live {
            let id = request.run.as_deref().unwrap_or_default();
            let key = ConsentKey::Run { workflow: run.workflow.clone(), run: id.to_owned() };
            return Some(ConsentDecision::new(Verdict::Allow, format!("grant of the run: {key}")));
        }
        let (id, grant) = self.class(&run.workflow, request.session.as_deref(), now)?;
        let rule = format!("grant {id}: {} for {}", grant.span.word(), grant.key);
        Some(ConsentDecision { used: Some(id), ..ConsentDecision::new(Verdict::Allow, rule) })
    }

    /// The valid grant for runs of a workflow.
    pub fn class(&self, workflow: &str, session: Option<&str>, now: i64) -> Option<(u64, &Grant)> {
        let fits = |grant: &Grant| {
            matches!(&grant.key, ConsentKey::Class(name) if name == workflow) && of_session(grant, session)
        };
        self.live(now).find(|(_, grant)| fits(grant))
    }
}

/// Whether a grant covers the action itself. A call that needs its own consent needs a grant with its hash.
fn covers(grant: &Grant, request: &ConsentRequest) -> bool {
    let names_it = matches!(&grant.key, ConsentKey::Action(name) if *name == request.action.name);
    names_it && grant.fingerprint == request.fingerprint && of_session(grant, request.session.as_deref())
}

fn of_session(grant: &Grant, session: Option<&str>) -> bool {
    grant.session.as_deref().is_none_or(|own| Some(own) == session)
}

/// Whether an action changes workflows, triggers, or decides on proposals. Proposing is not a change.
pub(super) fn changes_itself(name: &str) -> bool {
    let Some((service, action)) = name.split_once(':') else { return false };
    let verb = action.split('_').next().unwrap_or_default();
    let changes = match action.contains("proposal") {
        true => matches!(verb, "review" | "apply"),
        false => matches!(verb, "create" | "sync" | "update" | "delete" | "rollback"),
    };
    matches!(service, "workflows" | "triggers") && changes
}
