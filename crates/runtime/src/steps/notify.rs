//! `notify`: tells someone. What has no configuration of its own is said where the engine runs.

use longhaul_core::plan::ErrorClass;
use serde_json::json;

use super::{Attempt, Done};

pub(super) async fn make(attempt: &Attempt) -> Done {
    let text = attempt.text("text").unwrap_or_default();
    let title = attempt.text("title").map_or_else(String::new, |title| format!("{title}: "));
    let channels = attempt.param("channels").and_then(|channels| channels.as_array()).cloned().unwrap_or_default();
    for channel in &channels {
        match channel.as_str().unwrap_or_default() {
            "owner" | "terminal" | "orchestrator" => attempt.say(&format!("{title}{text}\n")),
            other => {
                let message = format!("the channel `{other}` can not be reached by this version");
                return Done::failed(ErrorClass::Failed, message);
            }
        }
    }
    Done::with(json!({"told": channels}))
}
