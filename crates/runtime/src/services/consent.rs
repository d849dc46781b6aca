//! The ledger of consent: a separate journal in the store.
//!
//! **Invariant:** a decision is recorded with its rule before anything acts on it. If two callers use the same one-time
//! grant, one of them has to ask.

use longhaul_core::Json;
use longhaul_core::consent::{
    ConsentDecision, ConsentEntry, ConsentKey, ConsentRequest, Grant, Ledger, RUN_MS, RunGrant, Terms,
};
use longhaul_core::decide::{Planner, actions, run_grant};
use longhaul_core::event::{Answer, Envelope, Event, QuestionKind};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller, Face, Origin};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Consent, Plan};
use longhaul_core::policy::Verdict;
use longhaul_core::rejection::{Rejection, Remedy};
use longhaul_core::status::RunStatus;
use longhaul_store::{Append, EventId, Head, NewEvent, Query};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::{load, moved_on};

/// The id of the consent journal. No run can have it.
pub(crate) const LEDGER: &str = "longhaul-consent";
/// How many entries to read at once.
const PAGE: usize = 1000;
/// How often to decide an entry again because others wrote first.
const TRIES: u32 = 50;
/// The most runs whose grants are listed.
const RUNS_MAX: usize = 1000;

/// An entry of the journal, with its number and its time.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// The number that names grants and pending actions.
    pub id: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The entry itself.
    #[serde(flatten)]
    pub entry: ConsentEntry,
}

/// The consent that a run has because a person started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunConsent {
    /// `workflow_run:NAME:RUN`.
    pub key: ConsentKey,
    /// The state of the consent.
    pub grant: RunGrant,
    /// When the consent ends, if it ends before the run.
    pub until: Option<i64>,
}

impl Engine {
    /// The current state of consent.
    pub async fn ledger(&self) -> Result<Ledger, Error> {
        let mut ledger = self.shared.ledger.lock().await;
        refresh(&self.shared, &mut ledger).await?;
        Ok(ledger.clone())
    }

    /// All entries about consent, oldest first.
    pub async fn consent_log(&self) -> Result<Vec<Recorded>, Error> {
        let mut log = Vec::new();
        loop {
            let after = log.last().map_or(0, |recorded: &Recorded| recorded.id);
            let page = page(&self.shared, after).await?;
            let last = page.len() < PAGE;
            log.extend(page);
            if last {
                return Ok(log);
            }
        }
    }

    /// Checks an action against policy and grants, and records the decision. An action that needs a question is pending
    /// under the returned number, and can be tried again with it.
    pub async fn consent_to(&self, request: ConsentRequest) -> Result<(ConsentDecision, u64), Error> {
        let run = match &request.run {
            Some(run) => grant_of_run(&self.shared, run).await?,
            None => None,
        };
        let policy = &self.shared.options.policy;
        let now = self.shared.clock.now_ms();
        let mut decided = None;
        let id = write(&self.shared, |ledger| {
            let decision = ledger.decide(policy, &request, run.as_ref(), now);
            decided = Some(decision.clone());
            let ConsentDecision { verdict, rule, used } = decision;
            Ok(ConsentEntry::Decided { request: request.clone(), verdict, rule, used })
        })
        .await?;
        let decision = decided.ok_or_else(|| Error::Damaged("consent was recorded without a decision".to_owned()))?;
        Ok((decision, id))
    }

    /// Tries a pending action again, in the session that asked for it.
    pub async fn consent_again(&self, operation: u64, session: Option<&str>) -> Result<(ConsentDecision, u64), Error> {
        let log = self.consent_log().await?;
        let asked = log.into_iter().find(|recorded| recorded.id == operation).map(|recorded| recorded.entry);
        let Some(ConsentEntry::Decided { request, verdict: Verdict::Ask, .. }) = asked else {
            return Err(Rejection::not_found(format!("nothing was asked under {operation}")).into());
        };
        if request.session.as_deref() != session {
            let foreign = Rejection::forbidden(format!("{operation} was asked in another session"));
            return Err(foreign.say("ask again in this one").into());
        }
        self.consent_to(ConsentRequest { replayed: true, ..request }).await
    }

    /// Records a grant, and returns its number. A grant for a pending action ends its wait. Steps that have already
    /// asked for it get their answer.
    pub async fn grant(&self, grant: Grant, operation: Option<u64>) -> Result<u64, Error> {
        let id = write(&self.shared, |ledger| {
            operation.map_or(Ok(()), |operation| is_pending(ledger, operation))?;
            Ok(ConsentEntry::Granted { grant: grant.clone(), operation })
        })
        .await?;
        self.offer_to_waiting().await?;
        Ok(id)
    }

    /// Answers open questions for consent with the current grants.
    async fn offer_to_waiting(&self) -> Result<(), Error> {
        let statuses = RunStatus::words_of([RunStatus::Running, RunStatus::Waiting, RunStatus::Paused]);
        for row in self.list(Query { statuses, limit: RUNS_MAX, ..Query::default() }).await? {
            // A question whose answer is still in the inbox would waste another grant.
            if self.shared.store.inbox(&row.run).await?.is_empty() {
                let state = self.load(&row.run).await?.state;
                let asks = state.questions().filter(|(_, question)| question.kind == QuestionKind::Consent);
                let asked: Vec<StepPath> = asks.map(|(step, _)| step.path.clone()).collect();
                offer(&self.shared, &row.run, &asked).await;
            }
        }
        Ok(())
    }

    /// Denies a pending action.
    pub async fn dismiss(&self, operation: u64, by: Option<String>) -> Result<(), Error> {
        write(&self.shared, |ledger| {
            is_pending(ledger, operation)?;
            Ok(ConsentEntry::Dismissed { operation, by: by.clone() })
        })
        .await
        .map(|_| ())
    }

    /// Revokes one grant by its number.
    pub async fn revoke_grant(&self, id: u64, by: Option<String>) -> Result<(), Error> {
        let now = self.shared.clock.now_ms();
        let unknown = || Error::from(Rejection::not_found(format!("there is no grant {id}")).with(Remedy::ListGrants));
        write(&self.shared, |ledger| {
            ledger.live(now).find(|(known, _)| *known == id).ok_or_else(unknown)?;
            Ok(ConsentEntry::Revoked { grant: Some(id), key: None, by: by.clone() })
        })
        .await
        .map(|_| ())
    }

    /// Revokes all grants of a session that is over.
    pub async fn end_session(&self, session: &str) -> Result<(), Error> {
        let by = Some(format!("the end of session {session}"));
        let now = self.shared.clock.now_ms();
        let ledger = self.ledger().await?;
        let ids: Vec<u64> =
            ledger.live(now).filter(|(_, grant)| grant.session.as_deref() == Some(session)).map(|(id, _)| id).collect();
        for id in ids {
            match self.revoke_grant(id, by.clone()).await {
                // Another caller has already revoked it.
                Ok(()) | Err(Error::Rejected(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes back every grant for something. Of a workflow, also what its runs have; answers which those are.
    pub async fn revoke(&self, key: ConsentKey, by: Option<String>) -> Result<Vec<RunId>, Error> {
        write(&self.shared, |_| Ok(ConsentEntry::Revoked { grant: None, key: Some(key.clone()), by: by.clone() }))
            .await?;
        let mut told = Vec::new();
        for (run, consent) in self.run_consents().await? {
            let concerned = match &key {
                ConsentKey::Class(name) => *name == consent.grant.workflow,
                other => *other == consent.key,
            };
            if concerned && consent.grant.live {
                self.tell(&run, Message::RevokeConsent { by: by.clone() }, None).await?;
                told.push(run);
            }
        }
        Ok(told)
    }

    /// The consent of unfinished runs.
    pub async fn run_consents(&self) -> Result<Vec<(RunId, RunConsent)>, Error> {
        let statuses = RunStatus::words_of(RunStatus::OPEN);
        let rows = self.list(Query { statuses, limit: RUNS_MAX, ..Query::default() }).await?;
        let mut found = Vec::new();
        for row in rows {
            let loaded = match self.load(&row.run).await {
                Err(error) if error.is_damage() => continue,
                loaded => loaded?,
            };
            let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
            let grant = run_grant(planner, &loaded.state, self.shared.clock.now_ms());
            let until = loaded.state.started.and_then(|started| started.consent).and_then(|terms| terms.until);
            let key = ConsentKey::Run { workflow: grant.workflow.clone(), run: row.run.to_string() };
            found.push((row.run, RunConsent { key, grant, until }));
        }
        Ok(found)
    }
}

/// The terms of a run at its start. A person who starts it has consented. A program needs a grant for the workflow;
/// otherwise each step that needs consent asks.
pub(crate) async fn terms(shared: &Shared, plan: &Plan, owner: Option<&Origin>) -> Result<Terms, Error> {
    let options = &shared.options;
    let is_program = owner.is_some_and(|owner| owner.face == Face::Mcp || !owner.inside.is_empty());
    let by_hand = owner.is_none_or(|owner| matches!(owner.face, Face::Cli | Face::Dashboard)) && !is_program;
    let now = shared.clock.now_ms();
    let granted = !is_program || {
        let mut ledger = shared.ledger.lock().await;
        refresh(shared, &mut ledger).await?;
        let session = owner.and_then(|owner| owner.session.as_deref());
        ledger.class(&plan.main().name, session, now).is_some()
    };
    let ceiling = options.run_ceiling_ms.or((!by_hand).then_some(RUN_MS));
    Ok(Terms { policy: options.policy.clone(), granted, until: ceiling.map(|ms| now.saturating_add(ms)) })
}

/// Answers questions for consent with grants for what the steps do; true if one was answered. After an error the
/// question stays open for a person.
pub(crate) async fn offer(shared: &Shared, run: &RunId, asked: &[StepPath]) -> bool {
    let mut answered = false;
    for path in asked {
        answered |= offer_one(shared, run, path).await.unwrap_or(false);
    }
    answered
}

/// Answers one question. A step with consent of its own always asks a person.
async fn offer_one(shared: &Shared, run: &RunId, path: &StepPath) -> Result<bool, Error> {
    let loaded = load(shared, run).await?;
    let Some(inst) = loaded.state.find(path) else { return Ok(false) };
    let step = loaded.plan.0.step(inst.step);
    if step.consent == Consent::Individual {
        return Ok(false);
    }
    let requests: Vec<ConsentRequest> = actions(step)
        .into_iter()
        .map(|action| ConsentRequest { run: Some(run.to_string()), ..ConsentRequest::new(action.name, action.risk) })
        .collect();
    let Some(grants) = covered(shared, &requests).await? else { return Ok(false) };
    let who = Origin { client: Some(grants.join(", ")), ..Origin::default() };
    let message =
        Message::answer(path.clone(), Answer::Approve, Caller { who, auth: Auth::Grant, ..Caller::default() });
    shared.tell(run, message, None).await.map(|_| true)
}

/// Finds grants for all of these requests, and records their use; `None` if one request has no grant.
async fn covered(shared: &Shared, requests: &[ConsentRequest]) -> Result<Option<Vec<String>>, Error> {
    let policy = &shared.options.policy;
    let mut grants = Vec::new();
    for request in requests {
        let mut ledger = shared.ledger.lock().await;
        refresh(shared, &mut ledger).await?;
        if ledger.decide(policy, request, None, shared.clock.now_ms()).verdict != Verdict::Allow {
            return Ok(None);
        }
    }
    for request in requests {
        let now = shared.clock.now_ms();
        let mut verdict = Verdict::Ask;
        write(shared, |ledger| {
            let decision = ledger.decide(policy, request, None, now);
            verdict = decision.verdict;
            grants.push(decision.rule.clone());
            let ConsentDecision { verdict, rule, used } = decision;
            Ok(ConsentEntry::Decided { request: request.clone(), verdict, rule, used })
        })
        .await?;
        if verdict != Verdict::Allow {
            return Ok(None);
        }
    }
    Ok(Some(grants))
}

/// The steps that ask for consent in these events.
pub(crate) fn asked(events: &[Envelope]) -> Vec<StepPath> {
    let path = |envelope: &Envelope| match &envelope.event {
        Event::QuestionAsked { path, kind: QuestionKind::Consent, .. } => Some(path.clone()),
        _ => None,
    };
    events.iter().filter_map(path).collect()
}

async fn grant_of_run(shared: &Shared, run: &str) -> Result<Option<RunGrant>, Error> {
    let Some(run) = RunId::new(run) else { return Ok(None) };
    match load(shared, &run).await {
        Ok(loaded) => {
            let planner = Planner { plan: &loaded.plan.0, index: &loaded.plan.1 };
            Ok(Some(run_grant(planner, &loaded.state, shared.clock.now_ms())))
        }
        Err(Error::UnknownRun(_) | Error::Store(longhaul_store::Error::UnknownRun)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[expect(clippy::expect_used, reason = "the name follows the grammar; a test opens it")]
fn journal() -> RunId {
    RunId::new(LEDGER).expect("the name follows the grammar")
}

/// Rejects a second answer to the same action.
fn is_pending(ledger: &Ledger, operation: u64) -> Result<(), Error> {
    let unknown =
        || Error::from(Rejection::not_found(format!("nothing is pending under {operation}")).with(Remedy::ListGrants));
    ledger.operation(operation).map(|_| ()).ok_or_else(unknown)
}

/// Reads new entries.
async fn refresh(shared: &Shared, ledger: &mut Ledger) -> Result<(), Error> {
    loop {
        let page = page(shared, ledger.seq).await?;
        for recorded in &page {
            ledger.apply(recorded.id, recorded.at, &recorded.entry);
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}

async fn page(shared: &Shared, after: u64) -> Result<Vec<Recorded>, Error> {
    let rows = match shared.store.read(&journal(), after, PAGE).await {
        Err(longhaul_store::Error::UnknownRun) => return Ok(Vec::new()),
        rows => rows?,
    };
    let read = |row: longhaul_store::StoredEvent| {
        let entry = serde_json::from_str(&row.body).map_err(Error::decoding)?;
        Ok(Recorded { id: row.seq, at: row.at_ms, entry })
    };
    rows.into_iter().map(read).collect()
}

/// Writes the entry that follows from the ledger as it is, and from the newer one if somebody else wrote first.
async fn write(
    shared: &Shared,
    mut entry: impl FnMut(&Ledger) -> Result<ConsentEntry, Error> + Send,
) -> Result<u64, Error> {
    let mut ledger = shared.ledger.lock().await;
    for attempt in 0..=TRIES {
        refresh(shared, &mut ledger).await?;
        let entry = entry(&ledger)?;
        let body = serde_json::to_string(&entry).map_err(Error::encoding)?;
        let at_ms = shared.clock.now_ms();
        let event = NewEvent { id: EventId(Uuid::now_v7().as_u128()), at_ms, body };
        let mut append = Append::new(journal(), ledger.seq, vec![event]);
        append.head = (ledger.seq == 0).then(head);
        match shared.store.append(append).await.map_err(Error::from) {
            Ok(seq) => {
                ledger.apply(seq, at_ms, &entry);
                return Ok(seq);
            }
            Err(error) if moved_on(&error) && attempt < TRIES => {}
            Err(error) => return Err(error),
        }
    }
    Err(Rejection::busy("too many processes write consent at the same time; try again").into())
}

fn head() -> Head {
    Head {
        workflow: LEDGER.to_owned(),
        status: "consent".to_owned(),
        summary: Json::Null.to_string(),
        ..Head::default()
    }
}
