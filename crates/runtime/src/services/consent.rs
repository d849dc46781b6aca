//! The ledger of consent: a journal of its own in the store, beside those of the runs.
//!
//! **Invariant:** what is decided is recorded with the rule before anybody acts on it; of two who use a grant for one time, one
//! is told to ask.

use longhaul_core::Json;
use longhaul_core::consent::{Decision, Entry, Grant, Key, Ledger, RUN_MS, Request, RunGrant, Terms};
use longhaul_core::decide::{Planner, actions, run_grant};
use longhaul_core::event::{Answer, Envelope, Event, QuestionKind};
use longhaul_core::id::RunId;
use longhaul_core::origin::{Auth, Caller, Face, Origin};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{Consent, Plan};
use longhaul_core::policy::Verdict;
use longhaul_store::{Append, EventId, Head, NewEvent, Query};
use uuid::Uuid;

use crate::engine::{Engine, Error, Shared};
use crate::run::message::Message;
use crate::run::run_loop::{load, moved_on};

/// The journal of consent. No run is called so.
pub(crate) const LEDGER: &str = "longhaul-consent";
/// Entries that are read at once.
const PAGE: usize = 1000;
/// How often an entry is decided again because others wrote first.
const TRIES: u32 = 50;
/// Runs whose grants are listed.
const RUNS_MAX: usize = 1000;

/// An entry of the journal, with its number and its time.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// By which grants and pending actions are named.
    pub id: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened.
    #[serde(flatten)]
    pub entry: Entry,
}

/// The consent that a run has by being started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunConsent {
    /// `workflow_run:NAME:RUN`.
    pub key: Key,
    /// How it stands.
    pub grant: RunGrant,
    /// Until when it holds, if not until the run is over.
    pub until: Option<i64>,
}

impl Engine {
    /// What is true of consent now.
    pub async fn ledger(&self) -> Result<Ledger, Error> {
        let mut ledger = self.shared.ledger.lock().await;
        refresh(&self.shared, &mut ledger).await?;
        Ok(ledger.clone())
    }

    /// Everything that happened to consent, the oldest first.
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

    /// Holds an action to policy and grants, and records what came of it. What must be asked for is pending under the number
    /// that is answered, and can be taken up later by it.
    pub async fn consent_to(&self, request: Request) -> Result<(Decision, u64), Error> {
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
            let Decision { verdict, rule, used } = decision;
            Ok(Entry::Decided { request: request.clone(), verdict, rule, used })
        })
        .await?;
        let decision = decided.ok_or_else(|| Error::Damaged("consent was recorded without a decision".to_owned()))?;
        Ok((decision, id))
    }

    /// Takes up a pending action again, in the session that asked for it.
    pub async fn consent_again(&self, operation: u64, session: Option<&str>) -> Result<(Decision, u64), Error> {
        let log = self.consent_log().await?;
        let asked = log.into_iter().find(|recorded| recorded.id == operation).map(|recorded| recorded.entry);
        let Some(Entry::Decided { request, verdict: Verdict::Ask, .. }) = asked else {
            return Err(Error::Refused(format!("nothing was asked under {operation}")));
        };
        if request.session.as_deref() != session {
            return Err(Error::Refused(format!("{operation} was asked in another session; ask again in this one")));
        }
        self.consent_to(Request { replayed: true, ..request }).await
    }

    /// Records a grant; one that answers a pending action ends its wait. Answers its number.
    /// Steps that have asked for it already are answered by it.
    pub async fn grant(&self, grant: Grant, operation: Option<u64>) -> Result<u64, Error> {
        let id = write(&self.shared, |ledger| {
            operation.map_or(Ok(()), |operation| is_pending(ledger, operation))?;
            Ok(Entry::Granted { grant: grant.clone(), operation })
        })
        .await?;
        self.offer_to_waiting().await?;
        Ok(id)
    }

    /// Answers questions for consent that are open, by grants that there are now.
    async fn offer_to_waiting(&self) -> Result<(), Error> {
        let statuses = ["running", "waiting", "paused"].map(str::to_owned).to_vec();
        for row in self.list(Query { statuses, limit: RUNS_MAX, ..Query::default() }).await? {
            // What has an answer that nobody took in yet would use up another grant for nothing.
            if self.shared.store.inbox(&row.run).await?.is_empty() {
                let state = self.load(&row.run).await?.state;
                let asks = state.questions().filter(|(_, question)| question.kind == QuestionKind::Consent);
                let asked: Vec<StepPath> = asks.map(|(step, _)| step.path.clone()).collect();
                offer(&self.shared, &row.run, &asked).await;
            }
        }
        Ok(())
    }

    /// Says no to a pending action.
    pub async fn dismiss(&self, operation: u64, by: Option<String>) -> Result<(), Error> {
        write(&self.shared, |ledger| {
            is_pending(ledger, operation)?;
            Ok(Entry::Dismissed { operation, by: by.clone() })
        })
        .await
        .map(|_| ())
    }

    /// Takes back one grant, by its number.
    pub async fn revoke_grant(&self, id: u64, by: Option<String>) -> Result<(), Error> {
        let now = self.shared.clock.now_ms();
        let unknown = || Error::Refused(format!("there is no grant {id}; see: longhaul consent list"));
        write(&self.shared, |ledger| {
            ledger.live(now).find(|(known, _)| *known == id).ok_or_else(unknown)?;
            Ok(Entry::Revoked { grant: Some(id), key: None, by: by.clone() })
        })
        .await
        .map(|_| ())
    }

    /// Takes back every grant that was for one session, which is over.
    pub async fn end_session(&self, session: &str) -> Result<(), Error> {
        let by = Some(format!("the end of session {session}"));
        let now = self.shared.clock.now_ms();
        let ledger = self.ledger().await?;
        let ids: Vec<u64> =
            ledger.live(now).filter(|(_, grant)| grant.session.as_deref() == Some(session)).map(|(id, _)| id).collect();
        for id in ids {
            match self.revoke_grant(id, by.clone()).await {
                // Somebody was faster.
                Ok(()) | Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes back every grant for something. Of a workflow, also what its runs have; answers which those are.
    pub async fn revoke(&self, key: Key, by: Option<String>) -> Result<Vec<RunId>, Error> {
        write(&self.shared, |_| Ok(Entry::Revoked { grant: None, key: Some(key.clone()), by: by.clone() })).await?;
        let mut told = Vec::new();
        for (run, consent) in self.run_consents().await? {
            let concerned = match &key {
                Key::Class(name) => *name == consent.grant.workflow,
                other => *other == consent.key,
            };
            if concerned && consent.grant.live {
                self.tell(&run, Message::RevokeConsent { by: by.clone() }, None).await?;
                told.push(run);
            }
        }
        Ok(told)
    }

    /// The consent of runs that are not over.
    pub async fn run_consents(&self) -> Result<Vec<(RunId, RunConsent)>, Error> {
        let statuses = longhaul_core::status::OPEN.map(str::to_owned).to_vec();
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
            let key = Key::Run { workflow: grant.workflow.clone(), run: row.run.to_string() };
            found.push((row.run, RunConsent { key, grant, until }));
        }
        Ok(found)
    }
}

/// The terms of a run that is about to be started. Who starts it by hand has consented; a program that starts it needs a grant
/// for the workflow, or each step that must be asked for asks.
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

/// Answers questions for consent by grants for what the steps do, where there are any; true if one was. Whatever goes wrong
/// with that: the question stays, for a person.
pub(crate) async fn offer(shared: &Shared, run: &RunId, asked: &[StepPath]) -> bool {
    let mut answered = false;
    for path in asked {
        answered |= offer_one(shared, run, path).await.unwrap_or(false);
    }
    answered
}

/// A step that is consented to by itself has a person say so each time.
async fn offer_one(shared: &Shared, run: &RunId, path: &StepPath) -> Result<bool, Error> {
    let loaded = load(shared, run).await?;
    let Some(inst) = loaded.state.find(path) else { return Ok(false) };
    let step = loaded.plan.0.step(inst.step);
    if step.consent == Consent::Individual {
        return Ok(false);
    }
    let requests: Vec<Request> = actions(step)
        .into_iter()
        .map(|action| Request { run: Some(run.to_string()), ..Request::new(action.name, action.risk) })
        .collect();
    let Some(grants) = covered(shared, &requests).await? else { return Ok(false) };
    let who = Origin { client: Some(grants.join(", ")), ..Origin::default() };
    let message =
        Message::answer(path.clone(), Answer::Approve, Caller { who, auth: Auth::Grant, ..Caller::default() });
    shared.tell(run, message, None).await.map(|_| true)
}

/// The grants that cover all of some requests, recorded as used; `None` if one is not covered.
async fn covered(shared: &Shared, requests: &[Request]) -> Result<Option<Vec<String>>, Error> {
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
            let Decision { verdict, rule, used } = decision;
            Ok(Entry::Decided { request: request.clone(), verdict, rule, used })
        })
        .await?;
        if verdict != Verdict::Allow {
            return Ok(None);
        }
    }
    Ok(Some(grants))
}

/// The steps that ask for consent, among some events.
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

/// Two who answer the same: the second is told.
fn is_pending(ledger: &Ledger, operation: u64) -> Result<(), Error> {
    let unknown = || Error::Refused(format!("nothing is pending under {operation}; see: longhaul consent list"));
    ledger.operation(operation).map(|_| ()).ok_or_else(unknown)
}

/// Reads what is new.
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
async fn write(shared: &Shared, mut entry: impl FnMut(&Ledger) -> Result<Entry, Error> + Send) -> Result<u64, Error> {
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
    Err(Error::Refused("too many others write consent at this moment; try again".to_owned()))
}

fn head() -> Head {
    Head {
        workflow: LEDGER.to_owned(),
        status: "consent".to_owned(),
        summary: Json::Null.to_string(),
        ..Head::default()
    }
}
