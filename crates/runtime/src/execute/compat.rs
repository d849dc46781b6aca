//! Settings of other systems that a run of their files works by.

use std::time::Duration;

use longhaul_core::Json;
use serde_json::Map;

/// The settings of workhorse that change how its graphs run.
const SETTINGS: &[&str] = &[
    "AGENT_CLI",
    "AGENT_MODEL",
    "AGENT_CLAUDE_MODEL",
    "CODEX_PROFILE",
    "AGENT_MAX_OUTPUT_RETRIES",
    "AGENT_MAX_INVOKE_RETRIES",
    "AGENT_MAX_REPHRASE_ATTEMPTS",
    "AGENT_MAX_COMPACT_ATTEMPTS",
    "AGENT_USE_DEFAULT_OUTPUTS",
    "AGENT_RESULT_TIMEOUT_S",
    "AGENT_INVOKE_BACKOFF_BASE_S",
    "AGENT_INVOKE_BACKOFF_CAP_S",
    "AGENT_CAP_DEFAULT_WAIT_S",
    "AGENT_CAP_WAIT_MARGIN_S",
    "AGENT_MAX_CAP_WAITS",
    "AGENT_CAP_MAX_WAIT_S",
];
/// How long a turn of such a run may take where nothing says so.
pub(crate) const TURN: Duration = Duration::from_secs(600);

/// What the environment says to a run of a workhorse file.
pub(crate) fn agent_settings() -> Map<String, Json> {
    let set = SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), Json::String(std::env::var(name).ok()?))));
    set.collect()
}
