//! Makes steps of agents, and the limits on their spending.

use longhaul_core::Json;
use serde_json::{Map, json};

use super::{Maker, keys};

impl Maker {
    /// An agent with everything that its recovery depends on: a fallback, a shared conversation, an output schema,
    /// retries.
    pub(super) fn prompt(&mut self) -> Map<String, Json> {
        let mut step = keys(json!({"prompt": "Do it.", "agent": self.agent()}));
        if self.chance.one_in(3) {
            let retry = json!({"max": self.chance.below(3), "backoff": "10s"});
            step.insert("retry".to_owned(), retry);
        }
        if self.chance.one_in(3) {
            let mut output = keys(json!({"as": format!("o{}", self.made), "schema": {"status": ["good", "bad"]}}));
            if self.chance.one_in(3) {
                output.insert("default".to_owned(), json!({"status": "bad"}));
            }
            step.insert("output".to_owned(), Json::Object(output));
        }
        if self.chance.one_in(3) && step["agent"].get("thread").is_none() {
            // In a folder that is chosen later, so that it may run beside other steps.
            step.insert("cwd".to_owned(), json!("{{ task }}"));
            step.insert("on_interrupt".to_owned(), json!("restore"));
        }
        step
    }

    fn agent(&mut self) -> Json {
        let mut agent = keys(json!({"backend": "claude"}));
        if self.chance.one_in(2) {
            let others = ["codex", "claude@opus", "codex@gpt-5"];
            let fallback: Vec<&str> = others.into_iter().filter(|_| self.chance.one_in(2)).collect();
            let on_limit = if fallback.is_empty() { "wait" } else { *self.chance.pick(&["wait", "fallback"]) };
            agent.insert("fallback".to_owned(), json!(fallback));
            agent.insert("on_limit".to_owned(), json!(on_limit));
        }
        if self.chance.one_in(3) {
            agent.insert("thread".to_owned(), json!(*self.chance.pick(&["one", "two", "new"])));
        }
        Json::Object(agent)
    }

    pub(super) fn limits(&mut self, top: &mut Map<String, Json>) {
        self.own_limits(top);
        if self.chance.one_in(3) {
            top.insert("on_failure".to_owned(), json!({"notify": "owner"}));
        }
    }

    /// The limits of a workflow, or of a sub-workflow.
    pub(super) fn own_limits(&mut self, unit: &mut Map<String, Json>) {
        let mut limits = Map::new();
        if self.chance.one_in(4) {
            limits.insert("parallel".to_owned(), json!(1 + self.chance.below(3)));
        }
        if self.chance.one_in(3) {
            let (limit, value) = match self.chance.below(8) {
                0 => ("steps", json!(2 + self.chance.below(8))),
                1..=3 => ("tokens", json!(20 + self.chance.below(100))),
                4..=5 => ("usd", json!(0.5)),
                6 => ("duration", json!("1d")),
                _ => ("visits", json!(3)),
            };
            limits.insert(limit.to_owned(), value);
            limits.insert("on_exceed".to_owned(), json!(*self.chance.pick(&["fail", "ask", "warn", "degrade"])));
        }
        if !limits.is_empty() {
            unit.insert("limits".to_owned(), Json::Object(limits));
        }
    }
}
