//! The state of consent after the entries so far.

use std::collections::BTreeMap;

use super::{ConsentEntry, ConsentKey, ConsentRequest, Grant, GrantSpan};
use crate::policy::Verdict;

/// An action that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The request.
    pub request: ConsentRequest,
    /// Why it must be asked for.
    pub rule: String,
    /// The time of the request, in milliseconds since 1970.
    pub since: i64,
}

/// Grants and pending actions, by the number of the entry that made them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The last entry that was applied.
    pub seq: u64,
    pub(super) grants: BTreeMap<u64, Grant>,
    pub(super) pending: BTreeMap<u64, Pending>,
}

impl Ledger {
    /// Applies the next entry.
    pub fn apply(&mut self, seq: u64, at: i64, entry: &ConsentEntry) {
        self.seq = seq;
        match entry {
            ConsentEntry::Decided { request, verdict, rule, used } => {
                if let Some(used) = used {
                    self.use_up(*used);
                }
                if *verdict == Verdict::Ask {
                    let pending = Pending { request: request.clone(), rule: rule.clone(), since: at };
                    self.pending.insert(seq, pending);
                }
            }
            ConsentEntry::Granted { grant, operation } => {
                self.grants.insert(seq, grant.clone());
                operation.map(|operation| self.pending.remove(&operation));
            }
            ConsentEntry::Dismissed { operation, .. } => drop(self.pending.remove(operation)),
            ConsentEntry::Revoked { grant, key, .. } => {
                let goes = |id: u64, held: &Grant| Some(id) == *grant || Some(&held.key) == key.as_ref();
                self.grants.retain(|id, held| !goes(*id, held));
            }
        }
    }

    fn use_up(&mut self, id: u64) {
        let is_single = |grant: &Grant| grant.span == GrantSpan::Once || grant.fingerprint.is_some();
        if self.grants.get(&id).is_some_and(is_single) {
            self.grants.remove(&id);
        }
    }

    /// The grants that are valid at a time.
    pub fn live(&self, now: i64) -> impl Iterator<Item = (u64, &Grant)> {
        let holds = move |grant: &Grant| grant.until.is_none_or(|until| until > now);
        self.grants.iter().filter(move |(_, grant)| holds(grant)).map(|(id, grant)| (*id, grant))
    }

    /// The actions that wait for an answer.
    pub fn pending(&self) -> impl Iterator<Item = (u64, &Pending)> {
        self.pending.iter().map(|(id, pending)| (*id, pending))
    }

    /// The pending action with a number.
    pub fn operation(&self, id: u64) -> Option<&Pending> {
        self.pending.get(&id)
    }

    /// The grant that answers a pending action: for the session that asked, and only for the exact call if the action
    /// needs that.
    pub fn grant_for(&self, operation: u64, span: GrantSpan, now: i64, by: Option<String>) -> Option<Grant> {
        let request = &self.pending.get(&operation)?.request;
        let key = ConsentKey::Action(request.action.name.clone());
        let until = span.until(&key, now, None);
        let (session, fingerprint) = (request.session.clone(), request.fingerprint.clone());
        Some(Grant { key, span, session, fingerprint, until, by })
    }
}
