//! What a step means: its parts, without its layout and without what only people read.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, json};

use crate::Json;
use crate::plan::{Form, OnDeny, OnError, Plan, Step, StepIx, Wait, WorkKind};

/// The parts of a step that its result depends on, by name.
pub(super) fn effects(plan: &Plan, step: &Step) -> IndexMap<String, Json> {
    let mut parts = IndexMap::new();
    add(&mut parts, "kind", &step.form.word());
    match &step.form {
        Form::Work(work) => {
            for (name, arg) in &work.params {
                let is_prompt = work.kind == WorkKind::Prompt && name == "text";
                add(&mut parts, if is_prompt { "prompt" } else { name }, arg);
            }
        }
        Form::ForEach { items, .. } => add(&mut parts, "items", items),
        Form::Approve(approve) => {
            add(&mut parts, "question", &approve.question);
            add(&mut parts, "choices", &approve.choices);
        }
        Form::Ask { question, answer, .. } => {
            add(&mut parts, "question", question);
            add(&mut parts, "answer", answer);
        }
        Form::Wait(Wait::Event { name, schema, .. }) => {
            add(&mut parts, "event", name);
            add(&mut parts, "schema", schema);
        }
        Form::Wait(wait) => add(&mut parts, "wait", wait),
        Form::If { condition, .. } => add(&mut parts, "condition", condition),
        Form::Switch { on, .. } => add(&mut parts, "on", on),
        Form::Set { names } => add(&mut parts, "names", names),
        Form::Workflow { with, .. } => add(&mut parts, "with", with),
        Form::Repeat { until, .. } => add(&mut parts, "until", until),
        Form::End { outcome, message } => add(&mut parts, "end", &(outcome, message)),
        Form::Decide | Form::Parallel { .. } => {}
    }
    result(plan, step, &mut parts);
    parts
}

/// What every kind of step has: how it is run, and what its result has to be.
fn result(plan: &Plan, step: &Step, parts: &mut IndexMap<String, Json>) {
    add(parts, "env", &step.env);
    add(parts, "cwd", &step.cwd);
    add(parts, "writes", &step.writes);
    add(parts, "output", &json!([step.output.schema, step.output.parse]));
    if is_answered(step) && step.approvals.is_some() {
        add(parts, "approvals", &step.approvals);
    }
    let unit = plan.unit(plan.body(step.body).unit);
    add(parts, "compat", &unit.compat);
    if step.is_agent() {
        add(parts, "context", &unit.context);
        add(parts, "templates", &unit.templates);
    }
}

/// Whether people answer it. Who may answer is then part of what the answer means: another rule asks again.
fn is_answered(step: &Step) -> bool {
    step.review.is_some() || matches!(step.form, Form::Approve(_) | Form::Ask { .. })
}

/// The parts that only decide what follows, and how attempts are made. They are evaluated again.
pub(super) fn follows(plan: &Plan, step: &Step) -> IndexMap<String, Json> {
    let mut parts = IndexMap::new();
    let id = |at: &StepIx| plan.step(*at).id.as_str().to_owned();
    let mut deps: Vec<String> = step.deps.iter().map(id).collect();
    deps.sort();
    add(&mut parts, "needs", &deps);
    let next: Vec<Json> = step.next.iter().map(|route| json!([route.when, id(&route.to)])).collect();
    add(&mut parts, "next", &next);
    add(&mut parts, "rewind", &step.rewind.as_ref().map(|it| json!([id(&it.to), it.until, it.max, it.on_exhausted])));
    add(&mut parts, "when", &step.when);
    add(&mut parts, "run_if", &step.run_if);
    add(&mut parts, "timeout", &step.timeout);
    add(&mut parts, "retry", &step.retry);
    add(&mut parts, "budget", &step.budget);
    add(&mut parts, "on_error", &errors(plan, step));
    add(&mut parts, "on_interrupt", &step.on_interrupt);
    let output = &step.output;
    add(&mut parts, "output name", &json!([output.alias, output.spread, output.show, output.keys, output.max_chars]));
    add(&mut parts, "review", &step.review);
    if !is_answered(step) && step.approvals.is_some() {
        add(&mut parts, "approvals", &step.approvals);
    }
    add(&mut parts, "consent", &json!([step.consent, step.risk, step.uses, step.requires]));
    add(&mut parts, "cache", &step.cache);
    add(&mut parts, "runs_on", &json!([step.runs_on, step.anywhere]));
    add(&mut parts, "progress", &step.progress);
    control(plan, &step.form, &mut parts);
    parts
}

fn control(plan: &Plan, form: &Form, parts: &mut IndexMap<String, Json>) {
    match form {
        Form::ForEach { parallel, on_item_error, item, index, .. } => {
            add(parts, "parallel", parallel);
            add(parts, "on_item_error", on_item_error);
            add(parts, "names", &(item, index));
        }
        Form::Repeat { max, on_exhausted, .. } => add(parts, "max", &(max, on_exhausted)),
        Form::Approve(approve) => {
            let deny = match approve.on_deny {
                OnDeny::Goto(to) => json!(plan.step(to).id.as_str()),
                other => json!(other),
            };
            add(parts, "timeout and denial", &json!([approve.timeout_ms, approve.on_timeout, deny]));
        }
        Form::Ask { timeout_ms, .. } | Form::Wait(Wait::Event { timeout_ms, .. }) => {
            add(parts, "timeout", timeout_ms);
        }
        Form::Switch { cases, default, .. } => {
            let values: Vec<&Json> = cases.iter().map(|case| &case.value).collect();
            add(parts, "cases", &(values, default.is_some()));
        }
        Form::Parallel { branches } => add(parts, "branches", &branches.keys().collect::<Vec<_>>()),
        _ => {}
    }
}

/// How a step treats failures.
pub(super) fn errors(plan: &Plan, step: &Step) -> Json {
    let on_error = match step.on_error {
        OnError::Goto(to) => json!({"goto": plan.step(to).id.as_str()}),
        other => json!(other),
    };
    json!([on_error, step.optional, step.output.default])
}

/// The names of the parts that differ.
pub(super) fn differing(old: &IndexMap<String, Json>, new: &IndexMap<String, Json>) -> Vec<String> {
    let names = new.keys().chain(old.keys().filter(|name| !new.contains_key(*name)));
    let get = |parts: &IndexMap<String, Json>, name: &String| parts.get(name).map(sorted);
    names.filter(|name| get(old, name) != get(new, name)).cloned().collect()
}

/// A hash of a value, whatever the order of its keys.
pub(crate) fn hash_of(value: &Json) -> String {
    blake3::hash(sorted(value).to_string().as_bytes()).to_hex()[..32].to_owned()
}

/// The same value with the keys of all mappings in order.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            // What a schema requires is a set.
            let value = |name: &String| match (&fields[name], name.as_str()) {
                (Json::Array(items), "required") if fields.contains_key("properties") => as_set(items),
                (value, _) => sorted(value),
            };
            Json::Object(names.into_iter().map(|name| (name.clone(), value(name))).collect::<Map<_, _>>())
        }
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn as_set(items: &[Json]) -> Json {
    let mut items = items.to_vec();
    items.sort_by_key(ToString::to_string);
    Json::Array(items)
}

fn add(parts: &mut IndexMap<String, Json>, name: &str, value: &impl Serialize) {
    // Plans are plain data; a part that could not be written would only count as unchanged.
    let value = serde_json::to_value(value).unwrap_or_default();
    parts.insert(name.to_owned(), value);
}
