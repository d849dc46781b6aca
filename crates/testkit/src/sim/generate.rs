//! Workflows made up from a seed. What is made is JSON, which is YAML; the checker must have nothing against it.
//!
//! Texts read only what is sure to be there, or say what stands in for it.

mod agents;

use longhaul_core::Json;
use serde_json::{Map, json};

use super::Chance;

/// How deep containers stand in each other.
const DEPTH_MAX: u32 = 3;

/// The text of a workflow.
pub(super) fn workflow(seed: u64) -> String {
    let mut maker = Maker { chance: Chance::new(seed), made: 0, budget: 0, subs: Map::new() };
    maker.budget = 3 + maker.chance.below(9);
    let subs = maker.chance.below(3);
    for number in 0..subs {
        let budget = maker.budget;
        maker.budget = 1 + maker.chance.below(4);
        let mut unit = maker.body(1, Place::Unit);
        if maker.chance.one_in(2) {
            unit.insert("inputs".to_owned(), json!({"x": {"type": "integer", "default": 1}}));
        }
        maker.own_limits(&mut unit);
        maker.subs.insert(format!("sub{number}"), Json::Object(unit));
        maker.budget = budget;
    }
    let mut top = maker.body(0, Place::Unit);
    if !maker.subs.is_empty() {
        top.insert("workflows".to_owned(), Json::Object(maker.subs.clone()));
    }
    maker.limits(&mut top);
    serde_json::to_string_pretty(&Json::Object(top)).unwrap_or_default()
}

/// Where a body stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Unit,
    Inside,
}

struct Maker {
    chance: Chance,
    made: u32,
    budget: u64,
    subs: Map<String, Json>,
}

impl Maker {
    fn id(&mut self) -> String {
        self.made += 1;
        format!("s{}", self.made)
    }

    fn body(&mut self, depth: u32, place: Place) -> Map<String, Json> {
        match self.chance.below(if place == Place::Unit { 5 } else { 8 }) {
            0 | 1 => self.graph(depth),
            2 => self.machine(depth),
            _ => self.sequence(depth),
        }
    }

    fn sequence(&mut self, depth: u32) -> Map<String, Json> {
        let count = 1 + self.chance.below(3);
        let steps: Vec<Json> = (0..count).map(|_| Json::Object(self.step(depth))).collect();
        Map::from_iter([("do".to_owned(), Json::Array(steps))])
    }

    fn graph(&mut self, depth: u32) -> Map<String, Json> {
        let count = 1 + self.chance.index(4);
        let mut steps: Vec<Map<String, Json>> = (0..count).map(|_| self.step(depth)).collect();
        let ids: Vec<Json> = steps.iter().map(|step| step["id"].clone()).collect();
        for at in 1..count {
            let deps: Vec<Json> = ids[..at].iter().filter(|_| self.chance.one_in(2)).cloned().collect();
            if let Some(dep) = deps.first().cloned() {
                if self.chance.one_in(5) {
                    self.rewind(&mut steps[at], &dep);
                }
                steps[at].insert("depends_on".to_owned(), Json::Array(deps));
                if self.chance.one_in(4) {
                    let run_if = *self.chance.pick(&["settled", "succeeded", "failed", "always"]);
                    steps[at].insert("run_if".to_owned(), json!(run_if));
                }
            }
        }
        if count > 2 && !steps[0].contains_key("end") && self.chance.one_in(4) {
            let condition = self.condition(&ids[0]);
            let next = json!([{"when": condition, "to": ids[1]}, {"to": ids[2]}]);
            steps[0].insert("next".to_owned(), next);
        }
        Map::from_iter([("steps".to_owned(), steps.into_iter().map(Json::Object).collect())])
    }

    fn rewind(&mut self, step: &mut Map<String, Json>, to: &Json) {
        if !step.contains_key("run") {
            return;
        }
        let until = format!("steps.{}.output | default('') == 'good'", step["id"].as_str().unwrap_or_default());
        let exhausted = *self.chance.pick(&["fail", "ask", "continue"]);
        let rewind = json!({"to": to, "until": until, "max": 1 + self.chance.below(3), "on_exhausted": exhausted});
        step.insert("rewind".to_owned(), rewind);
    }

    fn condition(&mut self, id: &Json) -> String {
        let id = id.as_str().unwrap_or_default();
        format!("steps.{id}.output | default('') == 'good'")
    }

    fn machine(&mut self, depth: u32) -> Map<String, Json> {
        let count = 1 + self.chance.index(3);
        let mut nodes: Vec<Map<String, Json>> = (0..count).map(|_| self.step(depth)).collect();
        let end = self.id();
        let mut ids: Vec<Json> = nodes.iter().map(|node| node["id"].clone()).collect();
        ids.push(json!(end));
        for (at, node) in nodes.iter_mut().enumerate() {
            if node.contains_key("end") {
                node.remove("end");
                node.insert("run".to_owned(), json!("true"));
            }
            let next = if self.chance.one_in(2) {
                let back = ids[self.chance.index(at + 1)].clone();
                let condition = self.condition(&ids[at]);
                json!([{"when": condition, "to": ids[at + 1]}, {"to": back}])
            } else {
                ids[at + 1].clone()
            };
            // A loop can only be left if the work in it can turn out well.
            let loops = next.is_array();
            if loops && !node.contains_key("run") {
                node.insert("next".to_owned(), ids[at + 1].clone());
            } else {
                node.insert("next".to_owned(), next);
            }
            if loops {
                node.remove("when");
            }
            if self.chance.one_in(6) && !node.contains_key("on_error") {
                node.insert("on_error".to_owned(), json!({"goto": ids[at + 1]}));
            }
        }
        let outcome = *self.chance.pick(&["success", "success", "success", "failure", "cancelled"]);
        nodes.push(Map::from_iter([("id".to_owned(), json!(end)), ("end".to_owned(), json!(outcome))]));
        let nodes: Json = nodes.into_iter().map(Json::Object).collect();
        Map::from_iter([("start".to_owned(), ids[0].clone()), ("nodes".to_owned(), nodes)])
    }

    fn step(&mut self, depth: u32) -> Map<String, Json> {
        let id = self.id();
        self.budget = self.budget.saturating_sub(1);
        let leaf = depth >= DEPTH_MAX || self.budget == 0;
        let mut step = match self.chance.below(if leaf { 11 } else { 20 }) {
            0 => self.gate(),
            1 => keys(json!({"ask": "Which?"})),
            2 => self.wait(),
            3 => keys(json!({"set": {format!("n{}", self.made): 1}})),
            4 if self.chance.one_in(4) => keys(json!({"end": *self.chance.pick(&["success", "failure"])})),
            11 => self.choice(depth),
            12 => self.switch(depth),
            13 | 14 => self.for_each(depth),
            15 | 16 => self.repeat(depth),
            17 => {
                let (a, b) = (self.body(depth + 1, Place::Inside), self.body(depth + 1, Place::Inside));
                keys(json!({"parallel": {"left": a, "right": b}}))
            }
            18 if !self.subs.is_empty() => {
                let names: Vec<String> = self.subs.keys().cloned().collect();
                keys(json!({"workflow": self.chance.pick(&names)}))
            }
            5..=8 => self.prompt(),
            _ => self.work(),
        };
        step.insert("id".to_owned(), json!(id));
        if !step.contains_key("end") {
            self.modifiers(&mut step);
        }
        step
    }

    fn work(&mut self) -> Map<String, Json> {
        let mut step = keys(json!({"run": "true"}));
        if self.chance.one_in(3) {
            let on = *self.chance.pick(&["any", "transient", "failed"]);
            let retry = json!({"max": self.chance.below(3), "on": on, "backoff": "10s"});
            step.insert("retry".to_owned(), retry);
        }
        if self.chance.one_in(8) {
            step.insert("output".to_owned(), json!({"as": format!("o{}", self.made), "default": "good"}));
        }
        step
    }

    fn gate(&mut self) -> Map<String, Json> {
        let mut step = keys(json!({"approve": "Continue?"}));
        if self.chance.one_in(2) {
            step.insert("timeout".to_owned(), json!("1h"));
            step.insert("on_timeout".to_owned(), json!(*self.chance.pick(&["fail", "deny", "approve", "cancel"])));
        }
        if self.chance.one_in(2) {
            step.insert("on_deny".to_owned(), json!(*self.chance.pick(&["fail", "cancel", "skip"])));
        }
        step
    }

    fn wait(&mut self) -> Map<String, Json> {
        match self.chance.below(3) {
            0 => keys(json!({"wait": "10m"})),
            1 => keys(json!({"wait": {"event": "ready", "schema": {"n": "integer"}}})),
            _ => keys(json!({"wait": {"event": "ready"}, "timeout": "1h"})),
        }
    }

    fn choice(&mut self, depth: u32) -> Map<String, Json> {
        let condition = *self.chance.pick(&["task == 'sim'", "task == 'other'"]);
        let mut step = keys(json!({"if": condition, "then": self.body(depth + 1, Place::Inside)}));
        if self.chance.one_in(2) {
            step.insert("else".to_owned(), Json::Object(self.body(depth + 1, Place::Inside)));
        }
        step
    }

    fn switch(&mut self, depth: u32) -> Map<String, Json> {
        let value = *self.chance.pick(&["task", "task | upper"]);
        let (case, default) = (self.body(depth + 1, Place::Inside), self.body(depth + 1, Place::Inside));
        keys(json!({"switch": value, "cases": {"sim": case}, "default": default}))
    }

    fn for_each(&mut self, depth: u32) -> Map<String, Json> {
        let items: Vec<u64> = (0..self.chance.below(4)).collect();
        let items = if self.chance.one_in(6) { json!({"glob": "*.md"}) } else { json!(items) };
        let on_item_error = *self.chance.pick(&["fail", "skip", "collect"]);
        let mut step = self.body(depth + 1, Place::Inside);
        step.insert("for_each".to_owned(), items);
        step.insert("parallel".to_owned(), json!(1 + self.chance.below(3)));
        step.insert("on_item_error".to_owned(), json!(on_item_error));
        step
    }

    fn repeat(&mut self, depth: u32) -> Map<String, Json> {
        let mut step = self.sequence(depth + 1);
        let mut last = self.work();
        let id = self.id();
        last.insert("id".to_owned(), json!(id));
        if let Some(Json::Array(steps)) = step.get_mut("do") {
            steps.push(Json::Object(last));
        }
        let until = format!("steps.{id}.output | default('') == 'good'");
        let exhausted = *self.chance.pick(&["fail", "ask", "continue"]);
        let repeat = json!({"until": until, "max": 1 + self.chance.below(3), "on_exhausted": exhausted});
        step.insert("repeat".to_owned(), repeat);
        step
    }

    fn modifiers(&mut self, step: &mut Map<String, Json>) {
        if self.chance.one_in(8) {
            step.insert("when".to_owned(), json!(*self.chance.pick(&["task == 'sim'", "task == 'other'"])));
        }
        if self.chance.one_in(8) {
            step.insert("optional".to_owned(), json!(true));
        }
        if self.chance.one_in(6) {
            step.insert("on_error".to_owned(), json!(*self.chance.pick(&["continue", "skip", "ask"])));
        }
        if self.chance.one_in(8) {
            step.insert("review".to_owned(), json!("Good?"));
        }
    }
}

fn keys(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}
