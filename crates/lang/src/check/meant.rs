//! The agent of a prompt: the file's default, changed or replaced by the step.

use std::collections::HashMap;

use longhaul_core::plan::StepIx;

use super::Context;
use crate::model::{Step, Unit, step_ix};
use crate::source::Node;
use crate::world::{NameKind, same_name};

/// The keys of an agent, each with its place.
#[derive(Debug, Default)]
pub(super) struct Meant<'n>(HashMap<&'n str, &'n Node>);

impl<'n> Meant<'n> {
    /// The agents of all prompts of the file.
    pub(super) fn all(context: &Context<'_, 'n>) -> Vec<Self> {
        let prompts = context.model.own_steps().filter(|(_, step)| step.action.key() == "prompt");
        prompts.map(|(ix, step)| Self::of(context, context.model.unit_of(ix), step)).collect()
    }

    /// The agents of all prompts, including those of other files.
    pub(super) fn everywhere(context: &Context<'_, 'n>) -> Vec<(StepIx, Self)> {
        let steps = context.model.steps.iter().enumerate().map(|(at, step)| (step_ix(at), step));
        let prompts = steps.filter(|(_, step)| step.action.key() == "prompt");
        prompts.map(|(ix, step)| (ix, Self::of(context, context.model.unit_of(ix), step))).collect()
    }

    pub(super) fn of(context: &Context<'_, 'n>, unit: &Unit<'n>, step: &Step<'n>) -> Self {
        let default = unit.node.get("defaults").and_then(|defaults| defaults.get("agent"));
        let mut meant = Self::default();
        for node in [default, step.node.get("agent")].into_iter().flatten() {
            match node.as_text() {
                Some(name) => meant = Self::named(context, unit, node, name),
                None => meant.add(node),
            }
        }
        meant
    }

    fn named(context: &Context<'_, 'n>, unit: &Unit<'n>, node: &'n Node, name: &str) -> Self {
        let mut meant = Self::default();
        if let Some(profile) = unit.node.get("agents").and_then(|agents| agents.get(name)) {
            meant.add(profile);
            return meant;
        }
        let known = |kind| context.world.names(kind).iter().any(|candidate| same_name(candidate, name));
        let is_persona = !known(NameKind::Profile) && known(NameKind::Persona);
        meant.0.insert(if is_persona { "persona" } else { "backend" }, node);
        meant
    }

    fn add(&mut self, mapping: &'n Node) {
        let entries = mapping.entries().unwrap_or_default();
        self.0.extend(entries.iter().filter_map(|(key, value)| Some((key.scalar()?, value))));
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        self.0.get(key).copied()
    }

    /// The text of a key, and its place.
    pub(super) fn text(&self, key: &str) -> Option<(&'n Node, &'n str)> {
        self.get(key).and_then(|node| Some((node, node.as_text()?)))
    }

    /// The entries of `fallback`, and their places.
    pub(super) fn fallback(&self) -> impl Iterator<Item = (&'n Node, &'n str)> {
        let entries = self.get("fallback").and_then(Node::items).unwrap_or_default();
        entries.iter().filter_map(|node| Some((node, node.as_text()?)))
    }
}

/// The part of an entry of `fallback` that can be an agent.
pub(super) fn agent_in(entry: &str) -> &str {
    entry.split_once('@').map_or(entry, |(agent, _)| agent)
}
