//! Checks changes of triggers, and makes their entries.

use super::fold::same;
use super::trigger::{Trigger, TriggerDefinition};
use super::{Registry, RegistryEntry};
use crate::rejection::Rejection;

/// A wanted change of a trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct Arming {
    /// The id, if the trigger exists; otherwise it is found by its name, or created.
    pub id: Option<String>,
    /// The wanted trigger.
    pub trigger: Trigger,
    /// The user who wants it.
    pub by: Option<String>,
}

impl Registry {
    /// The id of the trigger, and the entry to write; no entry if nothing changes.
    pub fn arm(&self, arming: &Arming) -> Result<(String, Option<RegistryEntry>), Rejection> {
        let trigger = &arming.trigger;
        if let Some(refusal) = trigger.rejection() {
            return Err(refusal);
        }
        let known = match &arming.id {
            Some(id) => Some(self.trigger(id).ok_or_else(|| self.no_trigger(id))?),
            None => self.trigger(&trigger.name),
        };
        let id = known.map_or_else(|| format!("t{}", self.seq + 1), |(id, _)| id.to_owned());
        self.is_free(&id, trigger)?;
        if known.is_some_and(|(_, armed)| armed.trigger == *trigger) {
            return Ok((id, None));
        }
        let entry = RegistryEntry::Armed { trigger: id.clone(), set: trigger.clone(), by: arming.by.clone() };
        Ok((id, Some(entry)))
    }

    /// The entry that removes a trigger.
    pub fn disarm(&self, name: &str, by: Option<String>) -> Result<RegistryEntry, Rejection> {
        let (id, _) = self.trigger(name).ok_or_else(|| self.no_trigger(name))?;
        Ok(RegistryEntry::Disarmed { trigger: id.to_owned(), by })
    }

    /// The rejection for an unknown trigger.
    pub fn no_trigger(&self, name: &str) -> Rejection {
        let known: Vec<&str> = self.triggers.values().map(|armed| armed.trigger.name.as_str()).collect();
        Rejection::not_found(if known.is_empty() {
            format!("there is no trigger `{name}`, and no other one")
        } else {
            format!("there is no trigger `{name}`; there are: {}", known.join(", "))
        })
    }

    fn is_free(&self, id: &str, trigger: &Trigger) -> Result<(), Rejection> {
        let path = |trigger: &Trigger| match &trigger.kind {
            TriggerDefinition::Webhook(webhook) => Some(webhook.path.trim_matches('/').to_owned()),
            _ => None,
        };
        let others = || self.triggers.iter().filter(|(other, _)| *other != id).map(|(_, armed)| &armed.trigger);
        if others().any(|other| same(&other.name, &trigger.name)) {
            return Err(Rejection::conflict(format!("another trigger is called `{}`", trigger.name)));
        }
        if let Some(own) = path(trigger).filter(|own| others().any(|other| path(other).as_ref() == Some(own))) {
            return Err(Rejection::conflict(format!("another trigger is called at `/webhooks/{own}`")));
        }
        Ok(())
    }
}
