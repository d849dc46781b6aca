//! Finds the agent of a prompt: one description from profiles, personas and backends.

use indexmap::IndexMap;
use longhaul_core::plan::Arg;
use longhaul_core::role;
use serde_json::json;

use super::{Lowering, values};
use crate::model::{Step, Unit};
use crate::world::{Described, NameKind, same_name};

impl<'n> Lowering<'_, 'n> {
    /// The complete agent of a prompt. A mapping on the step adds to the file's default agent; a name replaces it.
    pub(super) fn agent(&self, step: &Step<'n>) -> Arg {
        let unit = self.model.unit(self.model.body(step.body).unit);
        let default = unit.node.get("defaults").and_then(|defaults| defaults.get("agent"));
        let mut agent = IndexMap::new();
        for node in [default, step.node.get("agent")].into_iter().flatten() {
            match node.as_text() {
                Some(name) => agent = self.named(unit, name),
                None => agent.extend(values::map_of(Some(node), values::any)),
            }
        }
        self.describe(&mut agent);
        let written: Option<serde_json::Map<_, _>> =
            agent.iter().map(|(key, value)| Some((key.clone(), value.as_json()?.clone()))).collect();
        written.map_or(Arg::Map(agent), |agent| Arg::Json(agent.into()))
    }

    /// Adds the text of the persona to the plan, or of the file that plays the role.
    fn describe(&self, agent: &mut IndexMap<String, Arg>) {
        if !self.play(agent) {
            self.characterise(agent);
            self.teach(agent);
        }
    }

    fn characterise(&self, agent: &mut IndexMap<String, Arg>) {
        let Some(persona) = agent.get("persona").and_then(|name| name.as_json()?.as_str()) else { return };
        let told = match agent.contains_key("role") {
            true => self.world.own_persona(persona),
            false => self.world.described(NameKind::Persona, persona),
        };
        let Some(told) = told else { return };
        for (key, value) in [("sandbox", told.sandbox), ("model", told.model), ("system", Some(told.text))] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                agent.entry(key.to_owned()).or_insert_with(|| Arg::Json(json!(value)));
            }
        }
    }

    /// Adds the texts of the skills to what the agent is told.
    fn teach(&self, agent: &mut IndexMap<String, Arg>) {
        let names = agent.get("skills").and_then(|names| names.as_json()?.as_array().cloned()).unwrap_or_default();
        let skill = |name: &serde_json::Value| self.world.described(NameKind::Skill, name.as_str()?);
        let texts: Vec<String> = names.iter().filter_map(skill).map(|told| told.text).collect();
        let system = agent.get("system").and_then(|system| system.as_json()?.as_str()).map(str::to_owned);
        if !texts.is_empty() {
            let all: Vec<String> = system.into_iter().chain(texts).collect();
            agent.insert("system".to_owned(), Arg::Json(json!(all.join("\n\n"))));
        }
    }

    /// Lets a file of the project play the role: all of it, with what it must know about the form of its answers.
    fn play(&self, agent: &mut IndexMap<String, Arg>) -> bool {
        let Some(role) = agent.get("role").and_then(|name| name.as_json()?.as_str()).map(str::to_owned) else {
            return false;
        };
        let Some(player) = self.world.player(&role).filter(|player| !player.described.text.trim().is_empty()) else {
            return false;
        };
        let Described { text, sandbox, model } = player.described;
        let system = format!("{}\n\n{}", text.trim(), role::adapter(&role));
        agent.insert("persona".to_owned(), Arg::Json(json!(role)));
        agent.insert("played_by".to_owned(), Arg::Json(json!(player.file)));
        for (key, value) in [("sandbox", sandbox), ("model", model), ("system", Some(system))] {
            if let Some(value) = value {
                agent.entry(key.to_owned()).or_insert_with(|| Arg::Json(json!(value)));
            }
        }
        true
    }

    fn named(&self, unit: &Unit<'n>, name: &str) -> IndexMap<String, Arg> {
        let profile = unit.node.get("agents").and_then(|agents| agents.get(name));
        if let Some(profile) = profile {
            return values::map_of(Some(profile), values::any);
        }
        let known = |kind| self.world.names(kind).iter().find(|candidate| same_name(candidate, name));
        let (key, name) = if let Some(profile) = known(NameKind::Profile) {
            ("profile", profile.as_str())
        } else if let Some(persona) = known(NameKind::Persona) {
            ("persona", persona.as_str())
        } else {
            ("backend", name)
        };
        IndexMap::from([(key.to_owned(), Arg::Json(json!(name)))])
    }
}
