//! Keys that any step may have beside its action.

use super::Shape::{
    Any, Bool, Choice, DurationOrNone, Either, Expr, Glob, Id, Int, Json, List, Map, Name, Object, OneOrMany, Schema,
    Template, Text,
};
use super::{Field, Shape, field, required};

/// The classes of errors for failed attempts.
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

/// Words of earlier versions that still work, each with the word that is now written.
pub const RENAMED: &[(&str, &str)] = &[("host", "client")];

const EXHAUSTED: Shape = Choice(&["fail", "ask", "continue"]);

/// How an interrupted agent turn continues.
pub const ON_INTERRUPT: Shape = Choice(&["continue", "restore"]);

/// Keys of one entry of `next`.
pub const ROUTE: &[Field] = &[
    field("when", Expr, "Take this entry if the expression is true; without it, always."),
    required("to", Id, "The next step."),
];

/// Keys of the long form of `output`.
pub const OUTPUT: &[Field] = &[
    field("as", Name, "The name by which later steps read it."),
    field("spread", Bool, "Whether each field of the result becomes its own name."),
    field("schema", Schema, "A JSON Schema, or the short form `{field: type}`."),
    field(
        "parse",
        Choice(&["text", "json", "lines"]),
        "How to read text as a value; default: `json` if there is a schema, otherwise `text`.",
    ),
    field("default", Json, "The value if recovery has failed; it stays marked as a default."),
    field(
        "show",
        Choice(&["full", "summary", "none", "auto"]),
        "How much of the output later prompts and MCP clients see.",
    ),
    field("keys", List(&Text), "The fields of a summary."),
    field("max_chars", Int(1, u64::MAX), "The most characters that they see."),
];

/// Keys of `retry`.
pub const RETRY: &[Field] = &[
    field("max", Int(0, 1000), "Attempts after the first."),
    field("on", OneOrMany(&Choice(ERROR_CLASSES)), "The errors to try again; default: `transient` and `lost`."),
    field(
        "backoff",
        Either(&[Shape::Duration, Object(BACKOFF)]),
        "The pause before the next attempt; it doubles each time.",
    ),
];

const BUDGET: &[Field] = &[
    field("usd", Shape::Number, "Money, if the cost is known."),
    field("tokens", Int(1, u64::MAX), "Tokens, in and out."),
    field("attempts", Int(1, 1000), "Attempts; those that were lost or stopped with their worker do not count."),
];

const BACKOFF: &[Field] = &[
    field("first", Shape::Duration, "The pause before the second attempt."),
    field("factor", Shape::Number, "Each pause is this many times as long as the one before."),
    field("max", Shape::Duration, "The longest pause."),
];

const REWIND: &[Field] = &[
    required("to", Id, "The earlier step; it and everything downstream of it starts again."),
    required("until", Expr, "Evaluated after this step has succeeded; true ends the rounds."),
    required("max", Int(1, 100_000), "The most rounds."),
    field("on_exhausted", EXHAUSTED, "What happens after the last round."),
];

const CACHE: &[Field] = &[
    field("inputs", List(&Expr), "Values that the result depends on, beside those that the step itself reads."),
    field("files", List(&Glob), "Files that the result depends on."),
    field("ttl", Shape::Duration, "How long the cached result is valid."),
];

/// Keys of the long form of `approvals`.
const APPROVALS: &[Field] = &[
    field(
        "from",
        Either(&[Shape::Approvers, List(&Text)]),
        "Whose approval: `initiator`, `anyone`, `role:NAME`, or the names of people; `anyone` unless given.",
    ),
    field("count", Int(1, 100), "How many different people have to approve; 1 unless given."),
    field("not_starter", Bool, "Whether the person who started the run may not answer."),
];

/// The shape of a rule about who may answer a step's question.
pub(super) const WHO_APPROVES: Shape = Either(&[Shape::Approvers, Object(APPROVALS)]);

const GOTO: &[Field] = &[required("goto", Id, "The node to go to.")];

/// Keys of the long form of `agent`.
pub const AGENT: &[Field] = &[
    field("persona", Text, "The persona of the agent, by name."),
    field(
        "role",
        Text,
        "The part that it plays; an agent file of the project with this name plays it instead of the persona.",
    ),
    field("skills", List(&Text), "Skills whose texts it is told beside its persona."),
    field("backend", Text, "The program or model: `claude`, `codex`, `copilot`, … or a configured one."),
    field(
        "model",
        Either(&[Text, Map(&Text)]),
        "The model: a name, an alias such as `fast` or `smart`, or one for each backend.",
    ),
    field("effort", Text, "How hard it thinks, if the backend has such a setting."),
    field(
        "power",
        Choice(&["low", "medium", "high"]),
        "How strong the model should be; the settings choose the model.",
    ),
    field("fallback", List(&Text), "Models or agents that continue if this one cannot."),
    field(
        "on_limit",
        Choice(&["wait", "fallback"]),
        "At a usage limit: wait until it resets, or try the next entry of `fallback` first.",
    ),
    field("thread", Text, "The conversation that it continues; `new` for its own."),
    field(
        "driver",
        Choice(&["auto", "engine", "client"]),
        "Who does the turn: the engine, or the MCP client that does the steps of the run.",
    ),
    field(
        "policy",
        Choice(&["main", "subagent"]),
        "In a run whose steps an MCP client does: the client itself does the turn, or a subagent of it.",
    ),
    field("tools", List(&Text), "Tools that it may use."),
    field(
        "mcp",
        List(&Text),
        "MCP servers of the settings whose tools it may use: `server` for all its tools, `server.tool` for one.",
    ),
    field("mcp_only", Bool, "Whether the MCP servers of the agent's own settings are left out."),
    field("sandbox", Choice(&["read-only", "edit", "full"]), "What it may do to the workspace."),
    field("dirs", List(&Template), "More folders that it may see."),
    field("team", List(&Object(TEAM)), "Workers whose work this agent plans and whose results it merges."),
];

const TEAM: &[Field] = &[
    required("persona", Text, "The persona of the worker."),
    field("skills", List(&Text), "Skills of the worker."),
    field("run", Choice(&["parallel", "sequential"]), "At the same time as the others, or after them."),
];

/// The levels of harm that a step can declare.
pub const RISKS: &[&str] = &["low", "medium", "high", "critical"];

/// The shape of a step's `next`.
pub const NEXT: Shape = Either(&[Id, List(&Object(ROUTE))]);

/// All modifiers.
pub const ALL: &[Field] = &[
    field("id", Id, "Unique in its body: `[A-Za-z0-9_-]{1,80}`. Made from the action if left out."),
    field("name", Text, "The name that people see instead of the id."),
    field("was", Id, "The id that the step had before you renamed it; `longhaul retry --with` then keeps its result."),
    field("depends_on", OneOrMany(&Id), "In `steps:`: the steps that must be settled first."),
    field(
        "next",
        NEXT,
        "In a state machine: the next node. In a graph: the dependents that run; the others, and steps that depend only on them, are skipped. The first entry that is true wins.",
    ),
    field("rewind", Object(REWIND), "In a graph: go back to an earlier step until a condition is true."),
    field("when", Expr, "If this is false, the step is skipped."),
    field("run_if", Choice(&["settled", "succeeded", "failed", "always"]), "What it requires of its dependencies."),
    field("optional", Bool, "Its failure is recorded and does not fail the run."),
    field("requires", List(&Text), "Tools without which it cannot run."),
    field("uses", List(&Text), "The actions that it uses: for people, and for consent."),
    field("timeout", DurationOrNone, "How long an attempt may take, or `none`."),
    field(
        "retry",
        Either(&[Int(0, 1000), Object(RETRY)]),
        "When to try again: a number of further attempts, or `{max, on, backoff}`.",
    ),
    field(
        "budget",
        Object(BUDGET),
        "What all its attempts together may use. Checked before each further attempt; at the limit the failure is final.",
    ),
    field(
        "on_error",
        Either(&[Choice(&["fail", "continue", "skip", "ask"]), Object(GOTO)]),
        "What happens after a final failure.",
    ),
    field(
        "output",
        Either(&[Name, Object(OUTPUT)]),
        "The name of the result, or `{as, schema, parse, default, show, keys, max_chars}`.",
    ),
    field("review", Either(&[Template, Bool]), "A person reviews the output before it is used: approve, deny or edit."),
    field(
        "approvals",
        WHO_APPROVES,
        "Who may answer what the step asks, or `{from, count, not_starter}`; without it, as `defaults` or the settings say.",
    ),
    field("consent", Choice(&["inherit", "individual"]), "Whether consent for the run covers this step."),
    field("risk", Choice(RISKS), "How much harm it could do; the policy decides by it."),
    field("cache", Either(&[Bool, Object(CACHE)]), "Whether a cached result may be used."),
    field("env", Map(&Any), "Variables of the child's environment."),
    field("cwd", Template, "The folder it runs in."),
    field("writes", List(&Glob), "The files that the diff may change."),
    field("runs_on", OneOrMany(&Shape::Label), "Labels that a worker must have."),
    field(
        "workspace",
        Choice(&["same host", "any"]),
        "If several machines share a store: run on the machine of the earlier steps, or on any.",
    ),
    field("progress", Expr, "A value that changes when the run makes progress; see `limits.idle_steps`."),
];
