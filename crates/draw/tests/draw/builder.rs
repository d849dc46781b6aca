//! Builds plans by hand: fills the tables of a plan step by step.

use longhaul_core::plan::{
    Approve, Arg, Body, BodyIx, Expr, Form, Items, OnDeny, OnExhausted, OnItemError, OnTimeout, Order, Outcome, Plan,
    Route, SEMANTICS, Step, StepIx, Text, Unit, UnitIx, Work,
};
use serde_json::json;

/// A plan that is being built.
pub(crate) struct Builder {
    pub(crate) plan: Plan,
}

impl Builder {
    /// A workflow with an empty body, which is `BodyIx(0)`.
    pub(crate) fn new(name: &str) -> Self {
        let mut builder = Self { plan: Plan { semantics: SEMANTICS, units: vec![], bodies: vec![], steps: vec![] } };
        builder.unit(name);
        builder
    }

    /// One more workflow with an empty body.
    pub(crate) fn unit(&mut self, name: &str) -> (UnitIx, BodyIx) {
        let unit = UnitIx(self.plan.units.len() as u32);
        let body = self.push_body(unit, None);
        let value: Unit = serde_json::from_value(json!({"name": name, "body": body})).unwrap();
        self.plan.units.push(value);
        (unit, body)
    }

    /// A body inside the step that comes next.
    pub(crate) fn body(&mut self, outer: BodyIx) -> BodyIx {
        let unit = self.plan.body(outer).unit;
        self.push_body(unit, None)
    }

    fn push_body(&mut self, unit: UnitIx, parent: Option<StepIx>) -> BodyIx {
        self.plan.bodies.push(Body { parent, unit, order: Order::Graph, steps: vec![] });
        BodyIx(self.plan.bodies.len() as u32 - 1)
    }

    /// A step at the end of a body.
    pub(crate) fn step(&mut self, body: BodyIx, id: &str, form: Form) -> StepIx {
        let ix = StepIx(self.plan.steps.len() as u32);
        let step: Step = serde_json::from_value(json!({"id": id, "body": body, "form": form})).unwrap();
        self.plan.steps.push(step);
        self.plan.bodies[body.at()].steps.push(ix);
        ix
    }

    /// A step that waits for others.
    pub(crate) fn after(&mut self, body: BodyIx, id: &str, form: Form, deps: &[StepIx]) -> StepIx {
        let ix = self.step(body, id, form);
        self.at(ix).deps = deps.to_vec();
        ix
    }

    /// Steps that follow each other.
    pub(crate) fn sequence(&mut self, body: BodyIx, steps: Vec<(&str, Form)>) -> Vec<StepIx> {
        let mut done: Vec<StepIx> = Vec::new();
        for (id, form) in steps {
            let before: Vec<StepIx> = done.last().copied().into_iter().collect();
            done.push(self.after(body, id, form, &before));
        }
        done
    }

    pub(crate) fn at(&mut self, ix: StepIx) -> &mut Step {
        &mut self.plan.steps[ix.at()]
    }

    /// Adds routes; an empty condition means none.
    pub(crate) fn next(&mut self, from: StepIx, ways: &[(&str, StepIx)]) {
        let route = |(when, to): &(&str, StepIx)| Route { when: (!when.is_empty()).then(|| expr(when)), to: *to };
        self.at(from).next = ways.iter().map(route).collect();
    }

    pub(crate) fn machine(&mut self, body: BodyIx, start: StepIx) {
        self.plan.bodies[body.at()].order = Order::Machine { start };
    }
}

pub(crate) fn expr(text: &str) -> Expr {
    Expr(text.to_owned())
}

pub(crate) fn prompt(agent: &str) -> Form {
    work("prompt", &[("text", "Do it."), ("agent", agent)])
}

pub(crate) fn run(command: &str) -> Form {
    work("run", &[("command", command)])
}

pub(crate) fn work(kind: &str, params: &[(&str, &str)]) -> Form {
    let params = params.iter().map(|(key, text)| ((*key).to_owned(), Arg::Text(Text((*text).to_owned())))).collect();
    Form::Work(Work { kind: kind.into(), params })
}

pub(crate) fn approve(question: &str, on_deny: OnDeny) -> Form {
    let question = Text(question.to_owned());
    Form::Approve(Approve { question, choices: vec![], timeout_ms: None, on_timeout: OnTimeout::Fail, on_deny })
}

pub(crate) fn for_each(items: &str, parallel: u32, body: BodyIx) -> Form {
    Form::ForEach {
        items: Items::Expr(expr(items)),
        item: name("item"),
        index: name("index"),
        parallel,
        on_item_error: OnItemError::Fail,
        body,
    }
}

pub(crate) fn repeat(until: &str, max: u32, body: BodyIx) -> Form {
    Form::Repeat { until: expr(until), max, on_exhausted: OnExhausted::Ask, body }
}

pub(crate) fn end(outcome: Outcome) -> Form {
    Form::End { outcome, message: None }
}

fn name(text: &str) -> longhaul_core::id::Name {
    longhaul_core::id::Name::new(text).unwrap()
}
