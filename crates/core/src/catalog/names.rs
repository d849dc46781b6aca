//! Names that Longhaul defines itself. A workflow may use them without any configuration.

/// Names that templates can always read, with their meaning.
pub const RESERVED: &[(&str, &str)] = &[
    ("task", "the text that the run was started with"),
    ("inputs", "the inputs of the run, by name"),
    ("steps", "the results of each step: output, status, exit_code, attempts, usage, approved, items"),
    ("run", "this run: id, workflow, started_at, dir, workflow_dir"),
    ("trigger", "what started the run"),
    ("env", "variables of the environment; only in run, http and tool steps and in backend settings"),
    ("secrets", "secrets by name; only in run, http and tool steps and in backend settings"),
];

/// The fields of `steps.<id>`.
pub const STEP_FIELDS: &[&str] = &[
    "output",
    "status",
    "exit_code",
    "stdout",
    "stderr",
    "attempts",
    "usage",
    "approved",
    "choice",
    "comment",
    "items",
    "error",
];

/// The fields of `run`.
pub const RUN_FIELDS: &[&str] = &["id", "workflow", "started_at", "dir", "workflow_dir"];

/// The agents that Longhaul can run.
pub const BACKENDS: &[&str] =
    &["claude", "codex", "copilot", "gemini", "opencode", "acp", "anthropic", "openai", "scripted"];

/// The channels for notifications.
pub const CHANNELS: &[&str] = &["owner", "terminal", "desktop", "webhook", "slack", "email", "command", "orchestrator"];

/// Tool servers that are part of Longhaul. The project's configuration defines all others.
pub const TOOL_SERVERS: &[&str] = &["longhaul", "etr", "python"];

/// Functions that expressions can call beside the template language's own.
pub const FUNCTIONS: &[(&str, &str)] = &[
    (
        "compare",
        "compare(value, '<', '3') compares as workhorse does: as numbers if both sides are numbers, otherwise as text",
    ),
    ("ordered", "ordered(a, '<', b) is true only if both are numbers and the comparison is true"),
];

/// Tests (`x is …`) that expressions can use beside the template language's own.
pub const TESTS: &[(&str, &str)] =
    &[("spelled", "x is spelled('true') is true if the value's Python or JSON spelling is that text")];

/// Filters (`x | …`) that expressions can use beside the template language's own.
pub const FILTERS: &[(&str, &str)] = &[
    ("shell", "quotes a text for a POSIX shell"),
    ("json", "the value as JSON"),
    ("outline", "the structure of a value without its data"),
    ("verdict", "x | verdict('status'): the named field of a text that is one JSON object, otherwise nothing"),
];
