//! Keys of the outermost mapping of a workflow file.

use super::Shape::{
    Any, Bool, Choice, Computed, Cron, Duration, Either, Int, Json, List, Map, Number, Object, OneOrMany, Template,
    Text, TimeZone,
};
use super::modifiers::{AGENT, ON_INTERRUPT, RETRY, RISKS, WHO_APPROVES};
use super::{Field, Shape, field, required};

/// Bodies a workflow or a container may have; exactly one.
pub const BODY_KEYS: &[&str] = &["steps", "do", "start", "nodes"];

/// Types that inputs and short schemas can name.
pub const TYPE_NAMES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "any", "null"];

/// Behaviour of other systems that a workflow can ask for.
pub const COMPAT: &[&str] = &["lenient-names", "python-text", "open-inputs", "workhorse-ladder", "valet-answers"];

/// Keys of one input.
pub const INPUT: &[Field] = &[
    field("type", Choice(TYPE_NAMES), "The type."),
    field("default", Json, "The value if none is given. Without it, the input is required."),
    field("required", Bool, "`false`: it may be left out, and then reads as null."),
    field("description", Text, "For people, and for the model that fills it in."),
    field("enum", List(&Json), "The values it may have."),
    field("items", Shape::Schema, "For arrays: the items."),
    field("properties", Map(&Shape::Schema), "For objects: their fields."),
];

const DEFAULTS: &[Field] = &[
    field("agent", Either(&[Text, Object(AGENT)]), "The agent of prompts that name none."),
    field("timeout", Shape::DurationOrNone, "For every step that has none."),
    field("retry", Either(&[Int(0, 1000), Object(RETRY)]), "For every step that has none."),
    field("on_interrupt", ON_INTERRUPT, "For every prompt that has none."),
    field("cwd", Template, "For every step that has none."),
    field("env", Map(&Any), "For every step; its own variables win."),
    field("risk", Choice(RISKS), "For every step that has none."),
    field("approvals", WHO_APPROVES, "For every step that has none."),
    field("runs_on", OneOrMany(&Shape::Label), "For every step that has none."),
];

const DEGRADE: &[Field] = &[
    field("chars", Int(1, u64::MAX), "Characters of an output that stay."),
    field("max", Int(0, 100_000), "How often in a run."),
];

const LIMITS: &[Field] = &[
    field("tokens", Int(1, u64::MAX), "Tokens, in and out."),
    field("usd", Number, "Money."),
    field("duration", Duration, "Wall clock from the start of the run."),
    field("steps", Int(1, u64::MAX), "Executed steps."),
    field("idle_steps", Int(1, u64::MAX), "Executed steps since a `progress` value last changed."),
    field("visits", Int(1, u64::MAX), "Visits of one node of a state machine."),
    field("parallel", Int(1, 100_000), "Steps running at the same time."),
    field("alert_at", Int(1, 100), "Percentage of a limit at which people are notified."),
    field("on_exceed", Choice(&["fail", "ask", "warn", "degrade"]), "What happens at a limit."),
    field("degrade", Object(DEGRADE), "How outputs are shortened under `on_exceed: degrade`."),
];

const GUARDRAIL: &[Field] = &[
    field("enabled", Bool, "On unless false."),
    field("terms", List(&Text), "Texts that a command must not contain."),
];

const CONFIDENCE: &[Field] = &[
    field("enabled", Bool, "On unless false."),
    field("low_terms", List(&Text), "Words in an answer that mean low confidence; they open a review."),
    field(
        "when_missing",
        Choice(&["pass", "review"]),
        "What happens after an answer without any word about confidence.",
    ),
];

const THRESHOLDS: &[Field] = &[
    field("quality_drop", Number, "How far the score may fall: points of 100, or a fraction if below 1."),
    field("usd_increase", Number, "How much more a run may cost."),
    field("latency_increase", Duration, "How much longer it may take."),
    field("retry_increase", Int(0, 100_000), "How many more retries it may need."),
];

const EVAL: &[Field] = &[
    field("enabled", Bool, "On unless false."),
    field("release", Bool, "Whether the gate judges runs of this workflow."),
    field("mode", Choice(&["fail-open", "fail-closed"]), "Whether a bad score warns or blocks."),
    field("window", Int(1, 100_000), "Earlier runs that make the baseline."),
    field("min_runs", Int(0, 100_000), "With fewer runs the gate only warns."),
    field("thresholds", Object(THRESHOLDS), "What counts as worse."),
];

const GATES: &[Field] = &[
    field("guardrail", Object(GUARDRAIL), "Checks commands before they run."),
    field("confidence", Object(CONFIDENCE), "Checks answers before they are used."),
    field("eval", Object(EVAL), "Compares a finished run with earlier ones."),
];

const FILTER: &[Field] = &[
    field("actions", List(&Text), "Event actions."),
    field("branch", Text, "A branch."),
    field("labels", List(&Text), "Labels."),
];

/// Keys of one trigger.
pub const TRIGGER: &[Field] = &[
    field("cron", Cron, "A schedule: minute, hour, day of month, month, day of week."),
    field("timezone", TimeZone, "The time zone of the schedule; default: UTC."),
    field("webhook", Text, "The path of an incoming request."),
    field("method", Choice(&["GET", "POST", "PUT", "PATCH"]), "The method of the incoming request."),
    field("secret", Text, "The name of the secret that signs requests."),
    field("github", OneOrMany(&Text), "Events of a repository."),
    field("repos", List(&Text), "The repositories."),
    field("filter", Object(FILTER), "Only these events."),
    field("event", Text, "A signal's name."),
    field("files", List(&Shape::Glob), "Files whose change starts a run."),
    field("with", Map(&Any), "Inputs of the run; `trigger.*` can be read."),
    field("name", Text, "The name in lists."),
    field("enabled", Bool, "On unless false."),
    field(
        "jitter",
        Duration,
        "A pause of at most this long before the start; it is always the same for the same name.",
    ),
    field("catch_up", Duration, "How far back missed times still fire."),
];

const CONCURRENCY: &[Field] = &[
    required("group", Template, "Runs with the same text count together."),
    field("max", Int(1, 100_000), "How many at once."),
    field("when_full", Choice(&["queue", "skip", "cancel_oldest"]), "What happens to a further run."),
];

const ON_FAILURE: &[Field] = &[
    required("notify", OneOrMany(&Text), "The channel."),
    field("text", Template, "The message; default: a summary."),
];

/// Keys of a workflow inside another one's file: all except those that only a run has.
pub const ALL: &[Field] = &[
    field("name", Text, "The name in lists; default: the file's name."),
    field("description", Text, "One line for lists, and for the model that has to choose."),
    field("tags", List(&Text), "Words to find it by."),
    field("aliases", List(&Text), "Other names to start it by."),
    field("inputs", Map(&Either(&[Choice(TYPE_NAMES), Object(INPUT)])), "The inputs of a run, beside `task`."),
    field("outputs", Map(&Computed), "The outputs for a workflow that uses this one; default: every name that it set."),
    field("agents", Map(&Object(AGENT)), "Profiles for this file."),
    field("defaults", Object(DEFAULTS), "Defaults for every step."),
    field("limits", Object(LIMITS), "What a run may use."),
    field("gates", Object(GATES), "Automatic checks of commands, answers and runs."),
    field("triggers", List(&Object(TRIGGER)), "Events that start a run."),
    field("concurrency", Object(CONCURRENCY), "How many runs may run at once."),
    field("context", Template, "Sent to the agents once, at the start."),
    field("on_failure", Object(ON_FAILURE), "What happens after a run fails."),
    field("workflows", Map(&Shape::Workflow), "Workflows that only this file uses, by name."),
    field("compat", List(&Choice(COMPAT)), "Behaviour of another system for which the file was written."),
    field("steps", Shape::Steps, "A graph: a step starts when everything in its `depends_on` is settled."),
    field("do", Shape::Steps, "A sequence: written order."),
    field("start", Shape::Id, "A state machine's first node."),
    field("nodes", Shape::Steps, "A state machine's nodes."),
];
