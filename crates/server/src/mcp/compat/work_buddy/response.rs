//! What work-buddy answers about a run: the step that is to be done, the end, or why it does not continue.

use longhaul_core::event::Ended;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::StepInst;
use longhaul_core::view::shown::shown;
use longhaul_core::view::{AutoRan, counted};
use longhaul_runtime::{Handed, HostStatus, Loaded, Work};
use serde_json::{Map, Value, json};

use super::super::step_name;
use super::{context, id, words};
use crate::desk::Desk;
use crate::mcp::tool::Problem;

/// What an answer is given to.
#[derive(Default)]
pub(super) struct Since {
    /// The parameters of a run that was just started.
    pub(super) start: Option<Map<String, Value>>,
    /// The step that was just advanced.
    pub(super) prior: Option<String>,
}

/// How a run stands.
pub(super) async fn of(desk: &Desk, handed: &Handed, since: Since) -> Result<Value, Problem> {
    let loaded = desk.engine().load(&handed.run).await?;
    let picture = Picture { handed, loaded: &loaded, now: desk.engine().now_ms() };
    let mut data = match (handed.status, current(&loaded, &handed.ready)) {
        (HostStatus::Succeeded, _) => picture.complete(),
        (HostStatus::Failed, _) => picture.blocked(),
        (HostStatus::Cancelled, _) => return Err(id::unknown(&id::shown(&handed.run))),
        (_, Some(work)) => picture.step(work, &since),
        (_, None) => picture.waiting(),
    };
    picture.add_ledger(&mut data);
    if let Some(prior) = since.prior {
        data["prior_step"] = json!({"id": prior});
    }
    if let Some(params) = since.start.filter(|params| !params.is_empty()) {
        data["initial_params"] = Value::Object(params);
    }
    Ok(data)
}

/// The step that comes first of those that a client has.
pub(super) fn current<'w>(loaded: &Loaded, ready: &'w [Work]) -> Option<&'w Work> {
    ready.iter().min_by_key(|work| words::position(&loaded.plan.0, &work.path))
}

/// A result that does not fit; the step is still the current one.
pub(super) fn misfit(run: &RunId, loaded: &Loaded, step: &StepPath, is_empty: bool, why: &str) -> Value {
    let (error, hint) = if is_empty {
        (
            format!("the result is empty: it must be passed as the parameter step_result ({why})"),
            "Call wb_advance again with workflow_run_id and step_result; no other parameter carries a result.",
        )
    } else {
        (why.to_owned(), "Call wb_advance again with a step_result that fits. The step is still the current one.")
    };
    json!({
        "type": "validation_error", "workflow_run_id": id::shown(run), "step_id": step_name(step), "error": error,
        "hint": hint, "diagram": longhaul_draw::mermaid(&loaded.plan.0),
    })
}

struct Picture<'a> {
    handed: &'a Handed,
    loaded: &'a Loaded,
    now: i64,
}

impl Picture<'_> {
    fn answer(&self, kind: &str, more: Value) -> Value {
        let (done, total) = counted(&self.loaded.plan.0, &self.loaded.state);
        let mut data = json!({
            "type": kind, "workflow_run_id": id::shown(&self.handed.run), "progress": format!("{done}/{total} steps completed"),
            "step_results": self.results(), "diagram": longhaul_draw::mermaid(&self.loaded.plan.0),
        });
        if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
            data.extend(more);
        }
        data
    }

    fn step(&self, work: &Work, since: &Since) -> Value {
        let name = step_name(&work.path);
        let steps = words::steps(self.loaded, self.now);
        let waits = |word: &str| matches!(word, "available" | "running");
        let remaining: Vec<&String> =
            steps.iter().filter(|(id, word)| waits(word) && **id != name).map(|(id, _)| id).collect();
        let (context, instruction) = context::split(&self.loaded.plan.0, &work.prompt);
        let step = json!({
            "id": name, "name": work.title, "instruction": instruction, "step_type": "reasoning",
            "execution": work.policy.as_deref().unwrap_or("main"),
        });
        let mut data = self.answer("workflow_step", json!({"current_step": step, "remaining_steps": remaining}));
        if let (Some(_), Some(context)) = (&since.start, context) {
            data["workflow_context"] = json!(context);
        }
        data
    }

    fn complete(&self) -> Value {
        let all: Map<String, Value> = self.ended().map(|(inst, value)| (step_name(&inst.path), value)).collect();
        self.answer("workflow_complete", json!({"summary": self.summary(), "step_results": all}))
    }

    fn blocked(&self) -> Value {
        let failed: Vec<&StepInst> = self.top().filter(|inst| inst.ended == Some(Ended::Failed) && !inst.ok).collect();
        let names: Vec<String> = failed.iter().map(|inst| step_name(&inst.path)).collect();
        let why = |inst: &&StepInst| Some(format!("{}: {}", step_name(&inst.path), inst.error.as_ref()?.message));
        let error = failed.iter().find_map(why).or_else(|| self.handed.error.clone());
        let mut data =
            self.answer("workflow_blocked", json!({"failed_steps": names, "error": error, "summary": self.summary()}));
        let progress = data["progress"].as_str().unwrap_or_default();
        data["progress"] = json!(format!("{progress} (blocked: {} failed)", names.len()));
        data
    }

    /// Nothing is the client's to do: the engine is running, or a person is asked. The original knows neither.
    fn waiting(&self) -> Value {
        let asks = |asked: &longhaul_core::view::Asked| json!({"step_id": step_name(&asked.path), "question": asked.text, "content": asked.output});
        let questions: Vec<Value> = self.handed.questions.iter().map(asks).collect();
        let hint = if questions.is_empty() {
            "Call wb_advance without step_result after a while."
        } else {
            "STOP: a human decides. Show them the questions, end your turn, and pass on what they say with the tool `answer`. Never decide yourself."
        };
        self.answer("workflow_waiting", json!({"message": self.handed.message, "questions": questions, "hint": hint}))
    }

    /// What the engine did by itself: a ledger without data.
    fn add_ledger(&self, data: &mut Value) {
        let entry = |ran: &AutoRan| {
            let mut entry = json!({"id": step_name(&ran.path), "name": ran.name.as_deref().unwrap_or(&ran.id)});
            match ran.status {
                "skipped" => (entry["skipped"], entry["reason"]) = (json!(true), json!(ran.reason)),
                "error" => entry["error"] = json!(ran.reason),
                _ => {}
            }
            entry
        };
        let ledger: Vec<Value> = self.handed.auto_ran.iter().map(entry).collect();
        let silent: Vec<Value> = self.handed.auto_ran.iter().filter_map(|ran| self.unanswered(ran)).collect();
        if !ledger.is_empty() {
            data["auto_ran"] = json!(ledger);
        }
        if !silent.is_empty() {
            data["timeout_recovery"] = json!({"timed_out_steps": silent});
        }
    }

    /// A step whose result says that nobody answered.
    fn unanswered(&self, ran: &AutoRan) -> Option<Value> {
        let value = &self.loaded.state.find(&ran.path)?.result.output;
        (value.get("timeout") == Some(&Value::Bool(true))).then(|| {
            json!({
                "step_id": step_name(&ran.path), "step_name": ran.name.as_deref().unwrap_or(&ran.id),
                "request_id": value.get("request_id"),
                "hint": "Nobody answered in time. Ask again and wait for 120 seconds, ask in the chat, or look for a late answer.",
            })
        })
    }

    fn results(&self) -> Map<String, Value> {
        let name = |path: &String| path.parse().map_or_else(|_| path.clone(), |path| step_name(&path));
        self.handed.results.iter().map(|(path, value)| (name(path), value.clone())).collect()
    }

    /// The steps at the top of the workflow that were reached.
    fn top(&self) -> impl Iterator<Item = &StepInst> {
        self.loaded.state.steps().iter().filter(|inst| inst.path.segments().len() == 1)
    }

    /// Those that ended well, with what is shown of their results.
    fn ended(&self) -> impl Iterator<Item = (&StepInst, Value)> {
        let plan = &self.loaded.plan.0;
        self.top().filter(|inst| inst.ended == Some(Ended::Succeeded)).map(|inst| {
            let step = plan.step(inst.step);
            (inst, shown(step.id.as_str(), &step.output, &inst.result.output))
        })
    }

    fn summary(&self) -> String {
        let line = |(id, word): (&String, &&'static str)| format!("- [{}] {id}", words::icon(word));
        words::steps(self.loaded, self.now).iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
