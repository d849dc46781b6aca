//! Turns a finished run into a test: the replies of its agents, commands and people, and the result.

use indexmap::IndexMap;
use longhaul_core::Json;
use longhaul_core::approval::ApprovalRule;
use longhaul_core::event::{Answer, Ended, Envelope, Event, Failure, Result as Left};
use longhaul_core::path::StepPath;
use longhaul_core::plan::{ErrorClass, Form, Plan, WorkKind};
use longhaul_core::state::State;
use longhaul_core::view;
use serde_json::json;

use super::expect::skipped;
use super::file::{Expect, Said, Test, Tests};

/// A run as a test.
pub(crate) fn tests(name: &str, plan: &Plan, state: &State, events: &[Envelope]) -> Tests {
    let started = state.started.as_ref();
    let mut test = Test {
        name: format!("as in run {name}"),
        task: started.map(|started| started.task.clone()).unwrap_or_default(),
        inputs: started.map(|started| started.inputs.clone()).unwrap_or_default(),
        expect: expect(plan, state, events),
        ..Test::default()
    };
    for envelope in events {
        note(&mut test, plan, state, &envelope.event);
    }
    Tests { workflow: Some(plan.main().name.clone()), tests: vec![test] }
}

fn note(test: &mut Test, plan: &Plan, state: &State, event: &Event) {
    match event {
        Event::AttemptSucceeded { path, attempt, result } => {
            attempted(test, plan, state, (path, *attempt), result, None)
        }
        Event::AttemptFailed { path, attempt, result, error, .. } => {
            attempted(test, plan, state, (path, *attempt), result, Some(error));
        }
        Event::Approved { path, caller, .. } => {
            let by = caller.as_ref().and_then(|caller| caller.person()).map(str::to_owned);
            test.answers.extend(said(path, &Answer::Approve).map(|said| Said { by, ..said }));
        }
        Event::Answered { path, answer, caller, .. } => {
            let step = state.find(path).map(|inst| plan.step(inst.step));
            let counts = step.and_then(|step| step.approvals.as_ref()).is_some_and(ApprovalRule::needs_people);
            let by = caller.as_ref().and_then(|caller| caller.person()).map(str::to_owned).filter(|_| counts);
            test.answers.extend(said(path, answer).map(|said| Said { by, ..said }));
        }
        Event::Signalled { name, data, .. } => {
            let data = Some(data.clone()).filter(|data| !data.is_null());
            test.answers.push(Said { signal: Some(name.clone()), data, ..Said::default() });
        }
        _ => {}
    }
}

fn attempted(
    test: &mut Test,
    plan: &Plan,
    state: &State,
    (path, attempt): (&StepPath, u32),
    left: &Left,
    error: Option<&Failure>,
) {
    let Some(step) = state.find(path).map(|inst| plan.step(inst.step)) else { return };
    let Form::Work(work) = &step.form else { return };
    match (&work.kind, error) {
        // An attempt that was lost with its engine says nothing about the workflow.
        (_, Some(error)) if error.class == ErrorClass::Lost => {}
        (WorkKind::Prompt, None) => test.replies.push(reply(path, attempt, left)),
        (WorkKind::Prompt, Some(error)) => test.replies.push(json!({
            "step": path, "attempt": attempt, "fail": error.class, "message": error.message,
        })),
        (WorkKind::Run, _) => test.commands.push(json!({
            "step": path, "attempt": attempt, "stdout": left.stdout.clone().unwrap_or_default(),
            "stderr": left.stderr.clone().unwrap_or_default(), "exit_code": left.exit_code.unwrap_or(0),
        })),
        _ => {}
    }
}

fn reply(path: &StepPath, attempt: u32, left: &Left) -> Json {
    let mut reply = json!({"step": path, "attempt": attempt, "reply": left.output});
    if let Some(usage) = left.usage.filter(|usage| usage.tokens() > 0) {
        reply["usage"] =
            json!({"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "usd": usage.usd});
    }
    reply
}

fn said(path: &StepPath, answer: &Answer) -> Option<Said> {
    let said = Said { step: Some(path.to_string()), ..Said::default() };
    Some(match answer {
        Answer::Approve => Said { approve: Some(true), ..said },
        Answer::Deny { reason } => Said { deny: Some(reason.clone().unwrap_or_default()), ..said },
        Answer::Edit { value } => Said { edit: Some(value.clone()), ..said },
        Answer::Value { value } => Said { answer: Some(value.clone()), ..said },
        // A timeout needs no answer, and test files have no key for a skip.
        Answer::Skip | Answer::TimedOut => return None,
    })
}

fn expect(plan: &Plan, state: &State, events: &[Envelope]) -> Expect {
    let run = view::run(plan, state, state.now);
    let ended = |how: Ended| {
        let of = events.iter().filter_map(|envelope| match &envelope.event {
            Event::StepEnded { path, end } if end.status == how => Some(path.to_string()),
            _ => None,
        });
        of.collect::<Vec<_>>()
    };
    Expect {
        status: Some(run.status.to_string()),
        done: ended(Ended::Succeeded),
        failed: ended(Ended::Failed),
        skipped: skipped(state),
        outputs: run.outputs.into_iter().collect::<IndexMap<_, _>>(),
        tokens: Some(run.usage.tokens()).filter(|tokens| *tokens > 0),
        ..Expect::default()
    }
}
