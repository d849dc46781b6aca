//! `python.call`: a function of work-buddy's package, in a separate process.
//!
//! The process gets `{"callable", "kwargs", "session_id"}` on stdin and answers `{"success": true, "value"}` or
//! `{"success": false, "error", "traceback"}` on stdout. The output of the function goes to stderr.

use std::time::Duration;

use longhaul_agents::process::{self, ProcessEnd, ProcessOutput};
use longhaul_core::Json;
use longhaul_core::duration::format_ms;
use longhaul_core::plan::ErrorClass;
use serde_json::{Map, json};

use crate::execute::kinds::run::with_reason;
use crate::execute::kinds::tool::{Attempt, Done, arguments, asked, line, shown};

/// The default time limit of a call.
const USUAL: Duration = Duration::from_secs(30);
/// The prefix of all callables.
const PACKAGE: &str = "work_buddy.";
/// The callable that asks a server to read its store again. Longhaul has nothing to read again.
const RECONCILE: &str = "__reconcile_store__";
/// Imports the callable, calls it, and prints the result.
const CALLER: &str = include_str!("call.py");

pub(in crate::execute::kinds::tool) async fn make(attempt: &Attempt, tool: &str) -> Done {
    if tool != "call" {
        return Done::failed(ErrorClass::Failed, format!("`python` has no tool `{tool}`; it has: call"));
    }
    let (callable, kwargs) = match called(arguments(attempt)) {
        Ok(called) => called,
        Err(message) => return Done::failed(ErrorClass::Failed, message),
    };
    let session = attempt.owner_session.as_deref().unwrap_or(attempt.run.as_str());
    let ask = json!({"callable": callable, "kwargs": kwargs, "session_id": session});
    let mut command = asked(attempt, "python3", &ask, Vec::new()).arg("-c").arg(CALLER);
    let timeout = attempt.timeout(Some(USUAL));
    command.timeout = timeout;
    attempt.guarded().await;
    match process::run(command, attempt.cancel.clone(), shown(attempt)).await {
        Ok(output) => judged(attempt, timeout, &output),
        Err(error) => Done::failed(ErrorClass::Failed, error.to_string()),
    }
}

fn called(mut args: Map<String, Json>) -> Result<(String, Map<String, Json>), String> {
    let callable = args.remove("callable").and_then(|callable| callable.as_str().map(str::to_owned));
    let callable = callable.ok_or("`python.call` needs `callable`, the path of a function")?;
    if !callable.starts_with(PACKAGE) {
        return Err(format!("Import path `{callable}` rejected: a callable must begin with `{PACKAGE}`"));
    }
    let kwargs = match args.remove("kwargs") {
        None | Some(Json::Null) => Map::new(),
        // An argument without a value is left out.
        Some(Json::Object(kwargs)) => kwargs.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        Some(_) => return Err("`kwargs` must be a mapping".to_owned()),
    };
    match args.keys().next() {
        Some(other) => Err(format!("`python.call` has no argument `{other}`; it has: callable, kwargs")),
        None => Ok((callable, kwargs)),
    }
}

fn judged(attempt: &Attempt, timeout: Option<Duration>, output: &ProcessOutput) -> Done {
    let stderr = output.stderr.text_lossy();
    let mut done = match output.ended {
        ProcessEnd::Exited(0) => match line(attempt, output) {
            Ok(text) => answered(&text),
            Err(message) => Done::failed(ErrorClass::Failed, message),
        },
        ProcessEnd::Exited(code) => Done::failed(
            ErrorClass::Failed,
            with_reason(format!("the subprocess crashed with exit code {code}"), &stderr),
        ),
        ProcessEnd::Signalled(signal) => {
            Done::failed(ErrorClass::Failed, format!("the subprocess was ended by signal {signal}"))
        }
        ProcessEnd::TimedOut => Done::failed(ErrorClass::Timeout, too_long(timeout, attempt.start.attempt)),
        ProcessEnd::Cancelled => Done::failed(ErrorClass::Failed, "stopped"),
    };
    done.result.stderr = Some(stderr);
    done
}

fn too_long(timeout: Option<Duration>, attempts: u32) -> String {
    let ms = timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok()).unwrap_or_default();
    let plural = if attempts == 1 { "" } else { "s" };
    format!("timed out after {} ({attempts} attempt{plural})", format_ms(ms))
}

fn answered(text: &str) -> Done {
    let answer: Json = serde_json::from_str(text).unwrap_or_default();
    match answer.get("success").and_then(Json::as_bool) {
        Some(true) => Done::with(reconciled(answer.get("value").cloned().unwrap_or_default())),
        Some(false) => {
            let error =
                answer.get("error").and_then(Json::as_str).unwrap_or("the callable failed and does not say why");
            Done::failed(ErrorClass::Failed, error)
        }
        None => {
            let beginning: String = text.chars().take(200).collect();
            Done::failed(ErrorClass::Failed, format!("the subprocess did not answer in JSON: {beginning}"))
        }
    }
}

fn reconciled(mut value: Json) -> Json {
    if let Some(map) = value.as_object_mut().filter(|map| map.get(RECONCILE) == Some(&Json::Bool(true))) {
        map.shift_remove(RECONCILE);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Json) -> Map<String, Json> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn only_functions_of_the_package_are_called() {
        let told = |args: Json| called(map(args)).unwrap_err();
        assert!(told(json!({"callable": "os.system"})).starts_with("Import path `os.system` rejected"));
        assert!(told(json!({"callable": "work_buddy"})).starts_with("Import path `work_buddy` rejected"));
        assert!(told(json!({})).contains("needs `callable`"));
        assert!(told(json!({"callable": "work_buddy.x", "kwargs": [1]})).contains("must be a mapping"));
        assert!(told(json!({"callable": "work_buddy.x", "kwarg": {}})).contains("no argument `kwarg`"));
    }

    #[test]
    fn arguments_without_a_value_are_not_given() {
        let (_, kwargs) = called(map(json!({"callable": "work_buddy.x", "kwargs": {"a": null, "b": false}}))).unwrap();
        assert_eq!(kwargs, map(json!({"b": false})));
    }

    #[test]
    fn the_sign_to_reconcile_is_no_part_of_the_value() {
        assert_eq!(reconciled(json!({"__reconcile_store__": true, "a": 1})), json!({"a": 1}));
        assert_eq!(reconciled(json!({"__reconcile_store__": 7})), json!({"__reconcile_store__": 7}));
    }

    #[test]
    fn what_is_no_answer_fails() {
        assert!(answered("hello").failure.unwrap().message.ends_with("did not answer in JSON: hello"));
        assert!(answered("{}").failure.unwrap().message.contains("did not answer in JSON"));
        assert_eq!(answered(r#"{"success": false, "error": "no"}"#).failure.unwrap().message, "no");
        assert_eq!(answered(r#"{"success": true, "value": [1]}"#).result.output, json!([1]));
    }
}
