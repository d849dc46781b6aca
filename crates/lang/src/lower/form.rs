//! Lowers the actions of steps: control forms, and leaf work as parameters.

use indexmap::IndexMap;
use longhaul_core::id::Name;
use longhaul_core::plan::{
    Approve, Arg, BodyIx, Case, Form, Items, OnDeny, OnItemError, OnTimeout, Outcome, StepIx, Wait,
};
use serde_json::json;

use super::{Lowering, modifiers, values};
use crate::model::{Action, Step};
use crate::schema;
use crate::source::Node;

impl<'n> Lowering<'_, 'n> {
    pub(super) fn form(&self, _at: StepIx, step: &Step<'n>) -> Option<Form> {
        let (kind, value) = match step.action {
            Action::None => return None,
            Action::Decide => return Some(Form::Decide),
            Action::Is(kind, value) => (kind, value),
        };
        match kind.key {
            "if" => Some(Form::If {
                condition: values::expr(value),
                then: inner(step, "then")?,
                otherwise: inner(step, "else"),
            }),
            "switch" => self.switch(step, value),
            "for_each" => for_each(step, value),
            "repeat" => Some(Form::Repeat {
                until: values::expr(value.get("until")?),
                max: values::small(value.get("max"))?,
                on_exhausted: modifiers::on_exhausted(value.get("on_exhausted")),
                body: inner(step, "do")?,
            }),
            "parallel" => Some(Form::Parallel {
                branches: step.inner.iter().map(|(name, body)| ((*name).to_owned(), *body)).collect(),
            }),
            "approve" => Some(Form::Approve(self.approve(step, value))),
            "ask" => Some(Form::Ask {
                question: values::text(value),
                answer: step.node.get("answer").map_or(json!({"type": "string"}), schema::to_json),
                timeout_ms: values::span_ms(step.node.get("timeout")),
            }),
            "wait" => wait(step, value).map(Form::Wait),
            "workflow" => self.workflow(step, value),
            "set" => Some(Form::Set { names: named(value, values::computed) }),
            "end" => Some(Form::End { outcome: outcome(value)?, message: step.node.get("message").map(values::text) }),
            _ => self.work(step, kind.key.into(), value).map(Form::Work),
        }
    }

    fn switch(&self, step: &Step<'n>, value: &'n Node) -> Option<Form> {
        let cases = step.node.get("cases")?.entries()?;
        let bodies = step.inner.iter().map(|(_, body)| *body);
        let cases = cases
            .iter()
            .zip(bodies)
            .filter_map(|((key, _), body)| Some(Case { value: key.scalar_json()?, body }))
            .collect();
        let default = step.node.get("default").and(step.inner.last()).map(|(_, body)| *body);
        Some(Form::Switch { on: values::expr(value), cases, default })
    }

    fn approve(&self, step: &Step<'n>, value: &'n Node) -> Approve {
        let deny = step.node.get("on_deny");
        let goto =
            deny.and_then(|node| node.get("goto")?.as_text()).and_then(|id| self.model.body(step.body).by_id.get(id));
        let on_deny = match (deny.and_then(Node::as_text), goto) {
            (_, Some(target)) => OnDeny::Goto(*target),
            (Some("cancel"), _) => OnDeny::Cancel,
            (Some("skip"), _) => OnDeny::Skip,
            _ => OnDeny::Fail,
        };
        let on_timeout = match step.node.get("on_timeout").and_then(Node::as_text) {
            Some("deny") => OnTimeout::Deny,
            Some("approve") => OnTimeout::Approve,
            Some("cancel") => OnTimeout::Cancel,
            _ => OnTimeout::Fail,
        };
        Approve {
            question: values::text(value),
            choices: values::texts(step.node.get("choices")),
            timeout_ms: values::span_ms(step.node.get("timeout")),
            on_timeout,
            on_deny,
        }
    }

    fn workflow(&self, step: &Step<'n>, value: &'n Node) -> Option<Form> {
        let unit = self.model.unit(self.model.body(step.body).unit).known.get(value.as_text()?)?;
        let with = step.node.get("with").map_or_else(IndexMap::new, |with| named(with, values::any));
        Some(Form::Workflow { unit: *unit, with })
    }
}

fn inner(step: &Step<'_>, name: &str) -> Option<BodyIx> {
    step.inner.iter().find(|(known, _)| *known == name).map(|(_, body)| *body)
}

fn for_each(step: &Step<'_>, value: &Node) -> Option<Form> {
    let items = match value.get("glob") {
        Some(glob) => Items::Glob(values::text(glob)),
        None if value.items().is_some() => Items::List(values::any(value)),
        None => Items::Expr(values::expr(value)),
    };
    let name = |key: &str, default: &str| Name::new(step.node.get(key).and_then(Node::as_text).unwrap_or(default));
    let on_item_error = match step.node.get("on_item_error").and_then(Node::as_text) {
        Some("skip") => OnItemError::Skip,
        Some("collect") => OnItemError::Collect,
        _ => OnItemError::Fail,
    };
    Some(Form::ForEach {
        items,
        item: name("as", "item")?,
        index: name("index", "index")?,
        parallel: values::small(step.node.get("parallel")).unwrap_or(1),
        on_item_error,
        body: inner(step, "do")?,
    })
}

fn wait(step: &Step<'_>, value: &Node) -> Option<Wait> {
    if value.scalar().is_some() {
        return Some(Wait::For(values::any(value)));
    }
    if let Some(span) = value.get("for") {
        return Some(Wait::For(values::any(span)));
    }
    if let Some(moment) = value.get("until") {
        return Some(Wait::Until(values::any(moment)));
    }
    Some(Wait::Event {
        name: values::text(value.get("event")?),
        timeout_ms: values::span_ms(step.node.get("timeout")),
        schema: value.get("schema").map(schema::to_json),
    })
}

fn outcome(node: &Node) -> Option<Outcome> {
    match node.as_text()? {
        "success" => Some(Outcome::Success),
        "failure" => Some(Outcome::Failure),
        "cancelled" => Some(Outcome::Cancelled),
        _ => None,
    }
}

fn named(node: &Node, convert: fn(&Node) -> Arg) -> IndexMap<Name, Arg> {
    let entries = node.entries().unwrap_or_default();
    entries.iter().filter_map(|(key, value)| Some((Name::new(key.scalar()?)?, convert(value)))).collect()
}
