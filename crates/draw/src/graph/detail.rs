//! A short description of a step.
//!
//! Parameters of leaf work are read leniently: for an unknown kind the description is the parameter with the name of
//! the kind.

use indexmap::IndexMap;
use longhaul_core::plan::{Arg, Form, Items, Outcome, Plan, Text, Wait, Work, WorkKind};
use longhaul_core::{Json, duration};

use crate::text;

/// The widest description.
const COLUMNS_MAX: usize = 60;

/// The description for a form; `None` if there is nothing to add to its kind.
pub(super) fn of(plan: &Plan, form: &Form) -> Option<String> {
    match form {
        Form::Work(work) => short(&of_work(work)?),
        Form::Decide => None,
        Form::If { condition, .. } => short(&condition.0),
        Form::Switch { on, .. } => short(&on.0),
        Form::ForEach { items, item, .. } => short(&format!("{item} in {}", of_items(items))),
        Form::Repeat { until, max, .. } => short(&format!("at most {max}×, until {}", until.0)),
        Form::Parallel { branches } => short(&format!("{} branches", branches.len())),
        Form::Approve(approve) => short(&approve.question.0),
        Form::Ask { question, .. } => short(&question.0),
        Form::Wait(wait) => short(&of_wait(wait)),
        Form::Workflow { unit, .. } => short(&plan.unit(*unit).name),
        Form::Set { names } => short(&names.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        Form::End { outcome, message } => short(&of_end(*outcome, message.as_ref())),
    }
}

/// The first line of a text, shortened; `None` if it is empty.
pub(super) fn short(text: &str) -> Option<String> {
    Some(text::first_line(text, COLUMNS_MAX)).filter(|line| !line.is_empty())
}

/// A value as people would write it.
pub(super) fn value(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn of_work(work: &Work) -> Option<String> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| work.params.get(*key)).map(written);
    match &work.kind {
        WorkKind::Prompt => of_agent(&work.params).or_else(|| first(&["file", "skill", "text"])),
        WorkKind::Run => first(&["command", "script"]),
        WorkKind::Http => {
            let method = first(&["method"]).unwrap_or_else(|| "GET".to_owned());
            Some(format!("{method} {}", first(&["url"])?))
        }
        WorkKind::Notify => first(&["text", "title", "channels"]),
        WorkKind::Tool | WorkKind::Glob | WorkKind::Noop | WorkKind::Other(_) => first(&[work.kind.as_str()]),
    }
}

fn of_agent(params: &IndexMap<String, Arg>) -> Option<String> {
    let agent = params.get("agent")?;
    let named = ["persona", "profile", "backend", "model"].iter().find_map(|key| field(agent, key));
    match agent {
        Arg::Map(_) | Arg::Json(Json::Object(_)) => named,
        other => Some(written(other)),
    }
}

fn field(arg: &Arg, key: &str) -> Option<String> {
    match arg {
        Arg::Map(fields) => fields.get(key).map(written),
        Arg::Json(Json::Object(fields)) => fields.get(key).map(value),
        _ => None,
    }
}

fn of_items(items: &Items) -> String {
    match items {
        Items::Expr(expr) => expr.0.clone(),
        Items::List(list) => written(list),
        Items::Glob(glob) => format!("files {}", glob.0),
    }
}

fn of_wait(wait: &Wait) -> String {
    match wait {
        Wait::For(Arg::Json(Json::Number(ms))) => ms.as_u64().map_or_else(|| ms.to_string(), duration::format_ms),
        Wait::For(arg) => written(arg),
        Wait::Until(arg) => format!("until {}", written(arg)),
        Wait::Event { name, .. } => format!("for event {}", name.0),
    }
}

fn of_end(outcome: Outcome, message: Option<&Text>) -> String {
    let word = match outcome {
        Outcome::Success => "success",
        Outcome::Failure => "failure",
        Outcome::Cancelled => "cancelled",
    };
    message.map_or_else(|| word.to_owned(), |message| format!("{word}: {}", message.0))
}

/// An argument, roughly as written in the file.
fn written(arg: &Arg) -> String {
    match arg {
        Arg::Json(json) => value(json),
        Arg::Expr(expr) => expr.0.clone(),
        Arg::Text(text) => text.0.clone(),
        Arg::List(items) => items.iter().map(written).collect::<Vec<_>>().join(", "),
        Arg::Map(fields) => {
            let fields = fields.iter().map(|(key, arg)| format!("{key}: {}", written(arg)));
            fields.collect::<Vec<_>>().join(", ")
        }
    }
}
