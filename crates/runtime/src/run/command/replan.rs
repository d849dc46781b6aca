//! Gives a run another plan.
//!
//! **Invariant:** what a person was shown is what is applied. If the run has changed since, the command is refused.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::approval::own_affair;
use longhaul_core::decide::{Planner, replace};
use longhaul_core::event::{Envelope, PlanReplaced};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::origin::Origin;
use longhaul_core::plan::Plan;
use longhaul_core::rejection::Rejection;
use longhaul_core::replan::{Choices, Comparison, Replacement, carried, compare};
use longhaul_store::Blob;

use super::{Applied, Committed, TRIES, applied, follow, said};
use crate::engine::{Engine, Error, Shared, SourceText, inputs};
use crate::run::approvals::{self, with_ancestors};
use crate::run::record::{Extras, record};
use crate::run::run_loop::{self, Loaded, moved_on};
use crate::services::consent;

/// A changed workflow for a run.
#[derive(Debug, Clone)]
pub struct ReplanRequest {
    /// The new plan.
    pub plan: Plan,
    /// The text that it was made from.
    pub source: Option<SourceText>,
    /// Inputs that differ from those of the run.
    pub inputs: IndexMap<String, Json>,
    /// What a person has decided about single steps.
    pub choices: Choices,
    /// The name of the caller.
    pub by: Option<String>,
}

impl ReplanRequest {
    /// A plan without anything else.
    pub fn new(plan: Plan, source: Option<SourceText>) -> Self {
        Self { plan, source, inputs: IndexMap::new(), choices: Choices::default(), by: None }
    }
}

/// A plan as it will be stored.
struct Ready {
    plan: Arc<(Plan, Index)>,
    blobs: Vec<Blob>,
}

impl Engine {
    /// What a changed workflow means for a run. Changes nothing.
    pub async fn compare(&self, run: &RunId, request: &ReplanRequest, who: &Origin) -> Result<Comparison, Error> {
        let loaded = self.load(run).await?;
        let ready = ready(request)?;
        Ok(self.compared(run, &loaded, request, &ready, who).await?.0)
    }

    /// Gives a run another plan. `expect` is the hash of the comparison that the caller was shown.
    pub async fn replan(
        &self,
        run: &RunId,
        request: &ReplanRequest,
        expect: Option<&str>,
        who: &Origin,
        patience: Duration,
    ) -> Result<(Comparison, Applied), Error> {
        let caller = with_ancestors(&self.shared, who.clone()).await?;
        own_affair(run.as_str(), &caller).map_or(Ok(()), Err)?;
        let ready = ready(request)?;
        for _ in 0..TRIES {
            let loaded = self.load(run).await?;
            let (comparison, replaced) = Box::pin(self.compared(run, &loaded, request, &ready, who)).await?;
            settled(&comparison, expect)?;
            match Box::pin(commit(&self.shared, run, loaded, &ready, replaced)).await {
                Err(error) if moved_on(&error) => {}
                Err(error) => return Err(error),
                Ok((first, committed)) => {
                    let then = follow::of(self, run, &committed, patience).await?;
                    return Ok((comparison, applied(run, &first, then)));
                }
            }
        }
        Err(Rejection::busy("others change the run at the same time").into())
    }

    async fn compared(
        &self,
        run: &RunId,
        loaded: &Loaded,
        request: &ReplanRequest,
        ready: &Ready,
        who: &Origin,
    ) -> Result<(Comparison, PlanReplaced), Error> {
        let had = loaded.state.started.as_ref().map(|started| started.inputs.clone()).unwrap_or_default();
        let mut given = carried(&loaded.plan.0, &ready.plan.0, &had);
        given.extend(request.inputs.clone());
        let caller = with_ancestors(&self.shared, who.clone()).await?;
        let order = Replacement {
            old: planner(&loaded.plan),
            new: planner(&ready.plan),
            plan: ready.blobs.first().map(|blob| blob.hash.to_string()).unwrap_or_default(),
            source: request.source.as_ref().map(|source| source.kept().1),
            inputs: inputs(&ready.plan.0, &given)?,
            consent: Some(consent::terms(&self.shared, &ready.plan.0, Some(&caller)).await?),
            choices: request.choices.clone(),
            by: request.by.clone(),
        };
        let seen = run_loop::seen(&self.shared, run).await?;
        Ok(compare(order, &loaded.state, &seen)?)
    }
}

fn planner(plan: &Arc<(Plan, Index)>) -> Planner<'_> {
    Planner { plan: &plan.0, index: &plan.1 }
}

fn ready(request: &ReplanRequest) -> Result<Ready, Error> {
    let plan = serde_json::to_string(&request.plan).map_err(Error::encoding)?;
    let text = request.source.as_ref().map(|source| source.kept().0);
    let blobs = [Blob::new(plan.into_bytes())].into_iter().chain(text).collect();
    Ok(Ready { plan: Arc::new((request.plan.clone(), Index::of(&request.plan))), blobs })
}

/// Refuses a comparison that leaves something open, or that is not the one that the caller saw.
pub fn settled(comparison: &Comparison, expect: Option<&str>) -> Result<(), Rejection> {
    if expect.is_some_and(|expect| expect != comparison.hash) {
        return Err(Rejection::conflict("the run or the workflow has changed since the comparison was shown")
            .say("look at the comparison again"));
    }
    let Some(first) = comparison.asks.first() else { return Ok(()) };
    let names = comparison.asks.iter().map(|step| format!("`{step}`")).collect::<Vec<_>>().join(", ");
    Err(Rejection::invalid(format!("it is not clear whether these steps are steps of the run: {names}")).say(format!(
        "say for each whether it keeps the result (--keep {first}) or runs (--again {first}), or write `was: OLD-ID` into the step"
    )))
}

/// Records the new plan and all its consequences that need no engine. Returns the first event.
async fn commit(
    shared: &Arc<Shared>,
    run: &RunId,
    loaded: Loaded,
    ready: &Ready,
    replaced: PlanReplaced,
) -> Result<(Envelope, Committed), Error> {
    let planner = planner(&ready.plan);
    let mut state = loaded.state.clone();
    let at = shared.clock.now_ms();
    let mut advance =
        replace(planner, &mut state, replaced, at).map_err(|error| Error::from(Rejection::untimely(error.0)))?;
    let mut blobs = approvals::seal_questions(&mut state, &mut advance);
    blobs.extend(ready.blobs.iter().cloned());
    let queued = |(path, _): &&(_, u32)| loaded.state.find(path).is_some_and(|step| step.phase.is_queued());
    let extras = Extras {
        blobs,
        timers_before: loaded.state.timers(&loaded.plan.0),
        on_failure_before: loaded.state.on_failure.open_attempt(),
        given_up: advance.stops.iter().filter(queued).cloned().collect(),
        ..Extras::default()
    };
    record(shared, run, planner, &state, &advance.events, extras).await?;
    let ends = advance.events.first().cloned().zip(advance.events.last().cloned());
    let (first, event) = ends.ok_or_else(|| Error::Damaged("a command left no event".to_owned()))?;
    let is_settled = longhaul_core::decide::decide(planner, &state).is_none();
    let before = Loaded { plan: Arc::clone(&ready.plan), ..loaded };
    said(shared, run, &before, &state, advance).await;
    Ok((first, Committed { event, state, is_settled }))
}
