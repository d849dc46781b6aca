//! Calls a tool of a configured server.

use std::time::Duration;

use longhaul_agents::process::{ProcessEnd, ProcessOutput};
use longhaul_agents::tool::{self, TOOL_COMMAND, ToolAnswer, ToolCall, ToolTransport};
use longhaul_core::plan::ErrorClass;

use super::{Attempt, Done, arguments, asked, line, shown};
use crate::execute::kinds::run::with_reason;
use longhaul_config::tools::filled;
use longhaul_config::{ToolServer, trust};

/// The default time limit of a call.
const USUAL: Duration = Duration::from_secs(300);
/// How much longer the process may take than the call: to cancel it, and to exit.
const FAREWELL: Duration = Duration::from_secs(10);

pub(super) async fn make(attempt: &Attempt, server: &str, tool: &str) -> Done {
    let (ask, hidden) = match ask(attempt, server, tool) {
        Ok(asked) => asked,
        Err(message) => return Done::unusable(ErrorClass::Failed, message),
    };
    let timeout = ask.timeout_ms.map(Duration::from_millis);
    let ask = serde_json::to_value(&ask).unwrap_or_default();
    let mut command = asked(attempt, &attempt.shared.options.backends.program, &ask, hidden);
    command = command.arg(TOOL_COMMAND).arg(format!("{server}.{tool}"));
    command.timeout = timeout.map(|timeout| timeout + FAREWELL);
    attempt.guarded().await;
    let made = Box::pin(tool::call(command, attempt.cancel.clone(), shown(attempt))).await;
    match made {
        Ok(_) if attempt.cancel.is_cancelled() => Done::failed(ErrorClass::Failed, "stopped"),
        Ok(output) => judged(attempt, &output),
        Err(error) => Done::failed(ErrorClass::Failed, error.to_string()),
    }
}

fn ask(attempt: &Attempt, name: &str, tool: &str) -> Result<(ToolCall, Vec<String>), String> {
    let known = &attempt.shared.options.tools;
    let Some(configured) = known.get(name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).chain(["longhaul", "python"]).collect();
        return Err(format!("there is no tool server `{name}`; there are: {}", names.join(", ")));
    };
    let (server, hidden) = usable(attempt, name, configured)?;
    let timeout = attempt.timeout(Some(USUAL)).and_then(|timeout| u64::try_from(timeout.as_millis()).ok());
    Ok((ToolCall { server, tool: tool.to_owned(), arguments: arguments(attempt), timeout_ms: timeout }, hidden))
}

/// A configured server with its variables filled in, and the secret values among them.
pub(in crate::execute::kinds) fn usable(
    attempt: &Attempt,
    name: &str,
    configured: &ToolServer,
) -> Result<(ToolTransport, Vec<String>), String> {
    let options = &attempt.shared.options;
    if configured.is_checkout && !trust::is_trusted(&options.workspace, &options.backends.trusted) {
        return Err(format!(
            "the tool server `{name}` came with the project, and you have not trusted its current version; read .mcp.json and what it \
             names, then run `longhaul trust`"
        ));
    }
    filled(&configured.server).map_err(|why| format!("the tool server `{name}`: {why}"))
}

fn judged(attempt: &Attempt, output: &ProcessOutput) -> Done {
    let stderr = output.stderr.text_lossy();
    let answer = line(attempt, output).and_then(|text| {
        serde_json::from_str::<ToolAnswer>(&text).map_err(|_| with_reason("the call broke off".to_owned(), &stderr))
    });
    let mut done = match (answer, output.ended) {
        (_, ProcessEnd::TimedOut) => Done::failed(ErrorClass::Timeout, "it took too long and was ended"),
        (Ok(answer), _) => said(answer, &stderr),
        (Err(message), _) => Done::failed(ErrorClass::Failed, message),
    };
    done.result.stderr = Some(stderr);
    done
}

fn said(answer: ToolAnswer, stderr: &str) -> Done {
    let mut done = Done::with(answer.output);
    done.failure = answer.failure;
    // If a server could not be reached, its stderr usually says why.
    if let Some(failure) = done.failure.as_mut().filter(|_| answer.unreached) {
        failure.message = with_reason(std::mem::take(&mut failure.message), stderr);
    }
    done
}
