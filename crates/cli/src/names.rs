//! The names by which people recognise steps, from the events of a run: items of lists, and names from the workflow.

use std::collections::HashMap;
use std::sync::Arc;

use longhaul_core::address;
use longhaul_core::decide::Planner;
use longhaul_core::event::{Envelope, Event};
use longhaul_core::id::RunId;
use longhaul_core::index::Index;
use longhaul_core::path::StepPath;
use longhaul_core::plan::Plan;
use longhaul_core::rejection::Rejection;
use longhaul_core::view;
use longhaul_lang::diagnostic::plain;
use longhaul_runtime::Loaded;

use crate::{format_event, ui};

/// The names of a run's steps, as far as its events were read.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The labels of the items, by the path of the `for_each`.
    items: HashMap<StepPath, Vec<Option<String>>>,
    /// The plan, whose steps can have names.
    plan: Option<Arc<(Plan, Index)>>,
}

impl Names {
    /// The names that a workflow gives its steps.
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let lists = loaded.state.steps().iter().filter(|step| !step.items().is_empty());
        let items = lists.map(|step| (step.path.clone(), step.items().iter().map(view::label).collect()));
        Self { items: items.collect(), plan: Some(Arc::clone(&loaded.plan)) }
    }

    /// Learns the items of a list.
    pub(crate) fn note(&mut self, event: &Event) {
        if let Event::ItemsFound { path, items } = event {
            self.items.insert(path.clone(), items.iter().map(view::label).collect());
        }
    }

    /// What a path is about: the item, the name, both, or nothing.
    pub(crate) fn about(&self, path: &StepPath) -> Option<String> {
        let item = self.item(path);
        let name = self.name(path);
        let parts: Vec<&str> = item.into_iter().chain(name.as_deref()).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The name that the workflow gives a step.
    fn name(&self, path: &StepPath) -> Option<String> {
        let (plan, index) = &**self.plan.as_ref()?;
        plan.step(Planner { plan, index }.find(path)?).name.as_deref().map(plain)
    }

    /// The item of the list that a step is directly in.
    fn item(&self, path: &StepPath) -> Option<&str> {
        let segments = path.segments();
        let (list, index) = segments.split_last().and_then(|(_, outer)| Some((outer, outer.last()?.index?)))?;
        let list = list
            .iter()
            .skip(1)
            .zip(list)
            .fold(StepPath::root(list[0].id.clone()).visited(list[0].visit), |path, (inner, outer)| {
                path.child(outer.index, inner.id.clone()).visited(inner.visit)
            });
        self.items.get(&list)?.get(index as usize)?.as_deref()
    }

    /// The line of an event, with what its step is about after the path.
    pub(crate) fn line(&mut self, run: &RunId, envelope: &Envelope) -> Option<String> {
        self.note(&envelope.event);
        let line = format_event::line(run, envelope)?;
        let Some(path) = envelope.event.path() else { return Some(line) };
        let Some(about) = self.about(path) else { return Some(line) };
        let path = path.to_string();
        Some(line.replacen(&path, &format!("{path} {}", ui::dim(format!("({about})"))), 1))
    }
}

/// The step that people mean, for commands that read: an address that was reached, or else whatever the text means.
pub(crate) fn meant(loaded: &Loaded, text: &str) -> Result<StepPath, Rejection> {
    let (plan, index) = &*loaded.plan;
    let typed: Option<StepPath> = text.parse().ok();
    let is_reached = |path: &StepPath| {
        let path = path.to_string();
        loaded.state.steps().iter().any(|step| ui::is_at(&step.path.to_string(), &path))
    };
    match typed.filter(is_reached) {
        Some(path) => Ok(path),
        None => address::meant(Planner { plan, index }, &loaded.state, text),
    }
}
