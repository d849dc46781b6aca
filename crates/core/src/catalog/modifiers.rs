//! Keys that any step may carry beside its action.

use super::Shape::{
    Any, Bool, Choice, DurationOrNone, Either, Expr, Glob, Id, Int, Json, List, Map, Name, Object, OneOrMany, Schema,
    Template, Text,
};
use super::{Field, Shape, field, required};

/// What a failed attempt is sorted into.
pub const ERROR_CLASSES: &[&str] = &[
    "transient",
    "rate_limit",
    "timeout",
    "invalid",
    "lost",
    "failed",
    "any",
    "empty",
    "overload",
    "usage_limit",
    "overflow",
    "auth",
    "billing",
    "unknown_model",
    "refused",
    "question",
    "hung",
    "killed",
];

const EXHAUSTED: Shape = Choice(&["fail", "ask", "continue"]);

/// What happens to the turn of an agent that was interrupted.
pub const ON_INTERRUPT: Shape = Choice(&["continue", "restore"]);

/// Keys of one entry of `next`.
pub const ROUTE: &[Field] =
    &[field("when", Expr, "Taken if this holds; without it, always."), required("to", Id, "The step it leads to.")];

/// Keys of `output` in full.
pub const OUTPUT: &[Field] = &[
    field("as", Name, "The name under which later steps read it."),
    field("spread", Bool, "Whether each field of the result becomes a name of its own."),
    field("schema", Schema, "A JSON Schema, or the short form `{field: type}`."),
    field(
        "parse",
        Choice(&["text", "json", "lines"]),
        "How text becomes a value: `json` where there is a schema, else `text`.",
    ),
    field("default", Json, "Used only when recovery is exhausted, and then marked as defaulted for ever."),
    field("show", Choice(&["full", "summary", "none", "auto"]), "How much of it later prompts and host clients see."),
    field("keys", List(&Text), "Which fields they see of a summary."),
    field("max_chars", Int(1, u64::MAX), "Where it is cut."),
];

/// Keys of `retry`.
pub const RETRY: &[Field] = &[
    field("max", Int(0, 1000), "Attempts beside the first."),
    field(
        "on",
        OneOrMany(&Choice(ERROR_CLASSES)),
        "Which errors are tried again: `transient` and `lost` unless said otherwise.",
    ),
    field(
        "backoff",
        Either(&[Shape::Duration, Object(BACKOFF)]),
        "The pause before the next attempt; it doubles each time.",
    ),
];

const BUDGET: &[Field] = &[
    field("usd", Shape::Number, "Money, as far as it is known."),
    field("tokens", Int(1, u64::MAX), "Tokens, in and out."),
    field("attempts", Int(1, 1000), "Attempts, without those that were lost or stopped with their worker."),
];

const BACKOFF: &[Field] = &[
    field("first", Shape::Duration, "Before the second attempt."),
    field("factor", Shape::Number, "Each pause is this times the one before."),
    field("max", Shape::Duration, "No pause is longer."),
];

const REWIND: &[Field] = &[
    required("to", Id, "The earlier step; it and everything downstream of it starts over."),
    required("until", Expr, "Asked when this step has succeeded; true ends the rounds."),
    required("max", Int(1, 100_000), "Rounds at the most."),
    field("on_exhausted", EXHAUSTED, "What happens after the last round."),
];

const CACHE: &[Field] = &[
    field("inputs", List(&Expr), "Values the result depends on, beside what the step itself reads."),
    field("files", List(&Glob), "Files the result depends on."),
    field("ttl", Shape::Duration, "How long it stays good."),
];

const GOTO: &[Field] = &[required("goto", Id, "The node to go to.")];

/// An agent in full.
pub const AGENT: &[Field] = &[
    field("persona", Text, "Who it is: a persona's name."),
    field("backend", Text, "What runs it: `claude`, `codex`, `copilot`, … or a configured one."),
    field(
        "model",
        Either(&[Text, Map(&Text)]),
        "Which model: a name, an alias such as `fast` or `smart`, or one for each backend.",
    ),
    field("effort", Text, "How hard it thinks, where the backend knows that."),
    field(
        "power",
        Choice(&["low", "medium", "high"]),
        "How strong a model is wanted; the project's settings say which.",
    ),
    field("fallback", List(&Text), "Models or agents to continue with when this one cannot."),
    field(
        "on_limit",
        Choice(&["wait", "fallback"]),
        "At a usage limit: wait until it resets, or continue with the next of `fallback` first.",
    ),
    field("thread", Text, "The conversation it continues; `new` for one of its own."),
    field(
        "driver",
        Choice(&["auto", "engine", "host"]),
        "Who does the turn: the engine, or the client that hosts the run.",
    ),
    field("policy", Choice(&["main", "subagent"]), "In a hosted run: by the host itself or by a subagent of it."),
    field("tools", List(&Text), "Tools it may use."),
    field("sandbox", Choice(&["read-only", "edit", "full"]), "What it may do to the workspace."),
    field("dirs", List(&Template), "Further folders it may see."),
    field("team", List(&Object(TEAM)), "Workers that this agent plans for and whose results it merges."),
];

const TEAM: &[Field] = &[
    required("persona", Text, "Who the worker is."),
    field("skills", List(&Text), "Skills it brings."),
    field("run", Choice(&["parallel", "sequential"]), "With the others, or after them."),
];

/// How much harm a step can be said to do.
pub const RISKS: &[&str] = &["low", "medium", "high", "critical"];

/// What a step's `next` holds.
pub const NEXT: Shape = Either(&[Id, List(&Object(ROUTE))]);

/// All modifiers.
pub const ALL: &[Field] = &[
    field("id", Id, "Unique in its body: `[A-Za-z0-9_-]{1,80}`. Generated from the action where omitted."),
    field("name", Text, "What people see instead of the id."),
    field("depends_on", OneOrMany(&Id), "In `steps:`: what must be settled first."),
    field(
        "next",
        NEXT,
        "In a state machine: where the cursor goes. In a graph: which dependents run; the others, and what hangs on them alone, are skipped. The first entry that holds wins.",
    ),
    field("rewind", Object(REWIND), "In a graph: back to an earlier step until something holds."),
    field("when", Expr, "False means that the step is skipped."),
    field("run_if", Choice(&["settled", "succeeded", "failed", "always"]), "What it asks of its dependencies."),
    field("optional", Bool, "Its failure is recorded and does not fail the run."),
    field("requires", List(&Text), "Tools without which it cannot run."),
    field("uses", List(&Text), "What it calls: documentation, and the base of consent."),
    field("timeout", DurationOrNone, "How long an attempt may take; `none` is allowed."),
    field(
        "retry",
        Either(&[Int(0, 1000), Object(RETRY)]),
        "What is tried again: a number of further attempts, or `{max, on, backoff}`.",
    ),
    field(
        "budget",
        Object(BUDGET),
        "What all its attempts together may use. Looked at before each further attempt; then its failure is final.",
    ),
    field(
        "on_error",
        Either(&[Choice(&["fail", "continue", "skip", "ask"]), Object(GOTO)]),
        "What a final failure means.",
    ),
    field(
        "output",
        Either(&[Name, Object(OUTPUT)]),
        "The name of the result, or `{as, schema, parse, default, show, keys, max_chars}`.",
    ),
    field(
        "review",
        Either(&[Template, Bool]),
        "A person looks at the output before it is used: approve, deny, or edit.",
    ),
    field(
        "approvals",
        Shape::Approvers,
        "Who may answer what the step asks; without it, as `defaults` or the settings say.",
    ),
    field("consent", Choice(&["inherit", "individual"]), "Whether consent for the run covers this step."),
    field("risk", Choice(RISKS), "How much harm it could do; the policy says what follows from it."),
    field("cache", Either(&[Bool, Object(CACHE)]), "Whether an earlier result may be used again."),
    field("env", Map(&Any), "Variables of the child's environment."),
    field("cwd", Template, "The folder it runs in."),
    field("writes", List(&Glob), "What the diff may touch."),
    field("runs_on", OneOrMany(&Shape::Label), "Labels that a worker must have."),
    field(
        "workspace",
        Choice(&["same host", "any"]),
        "Where several machines share a store: on the one where earlier steps of the run have worked, or on any.",
    ),
    field("progress", Expr, "A value whose change means that the run is getting on; see `limits.idle_steps`."),
];
