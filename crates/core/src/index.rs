//! What follows from a plan alone and is asked for again and again.

use std::collections::HashMap;

use crate::plan::{BodyIx, Form, Plan, StepIx};

/// Lookups over a plan, made once for each run that is open.
#[derive(Debug, Clone)]
pub struct Index {
    position: Vec<u32>,
    dependents: Vec<Vec<StepIx>>,
    inner: Vec<Vec<BodyIx>>,
    by_id: Vec<HashMap<String, StepIx>>,
}

impl Index {
    /// The lookups of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut position = vec![0; plan.steps.len()];
        let mut by_id = Vec::with_capacity(plan.bodies.len());
        for body in &plan.bodies {
            for (at, step) in body.steps.iter().enumerate() {
                position[step.at()] = u32::try_from(at).unwrap_or(u32::MAX);
            }
            by_id.push(body.steps.iter().map(|step| (plan.step(*step).id.as_str().to_owned(), *step)).collect());
        }
        let mut dependents: Vec<Vec<StepIx>> = vec![Vec::new(); plan.steps.len()];
        for (at, step) in plan.steps.iter().enumerate() {
            for dep in &step.deps {
                dependents[dep.at()].push(StepIx(u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
        let inner = plan.steps.iter().map(|step| bodies_of(plan, &step.form)).collect();
        Self { position, dependents, inner, by_id }
    }

    /// The position of a step in its body.
    pub fn position(&self, step: StepIx) -> usize {
        self.position[step.at()] as usize
    }

    /// The steps that depend on a step.
    pub fn dependents(&self, step: StepIx) -> &[StepIx] {
        &self.dependents[step.at()]
    }

    /// The bodies inside a container: one for loops and sub-workflows, one a branch for choices.
    pub fn inner(&self, step: StepIx) -> &[BodyIx] {
        &self.inner[step.at()]
    }

    /// The step of a body with an id.
    pub fn find(&self, body: BodyIx, id: &str) -> Option<StepIx> {
        self.by_id[body.at()].get(id).copied()
    }
}

fn bodies_of(plan: &Plan, form: &Form) -> Vec<BodyIx> {
    match form {
        Form::If { then, otherwise, .. } => std::iter::once(*then).chain(*otherwise).collect(),
        Form::Switch { cases, default, .. } => cases.iter().map(|case| case.body).chain(*default).collect(),
        Form::ForEach { body, .. } | Form::Repeat { body, .. } => vec![*body],
        Form::Parallel { branches } => branches.values().copied().collect(),
        Form::Workflow { unit, .. } => vec![plan.unit(*unit).body],
        Form::Work(_)
        | Form::Decide
        | Form::Approve(_)
        | Form::Ask { .. }
        | Form::Wait(_)
        | Form::Set { .. }
        | Form::End { .. } => Vec::new(),
    }
}
