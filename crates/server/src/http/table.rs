//! The table of all routes. The router, the OpenAPI document and the test of roles use it.

use schemars::{Schema, SchemaGenerator, json_schema};

use longhaul_app::CommandOutcome;

use super::keys::Role::{Operator, Viewer};
use super::route::Access::{Open, Role};
use super::route::{Gives, Param, Route, shape};
use super::{
    about, answer, artifacts, attempts, metrics, openapi, replan, rows, runs, search, start, stream, tell, workers,
    workflows,
};

macro_rules! calls {
    ($answer:path) => {
        |call| Box::pin($answer(call))
    };
}

/// A JSON answer of a type, with the usual status.
macro_rules! json {
    ($type:ty) => {
        Gives::Json(&[200], shape::<$type>)
    };
}

const STREAM: Gives = Gives::Text("text/event-stream");
const TOLD: Gives = Gives::Json(&[200, 202], shape::<CommandOutcome>);
const MADE: Gives = Gives::Json(&[201, 200], shape::<start::Made>);

const PATH: Param = needed("path", "The path of a step", text);
const ATTEMPT: Param = needed("attempt", "The number of an attempt, from 1", one_or_more);

const fn needed(name: &'static str, about: &'static str, shape: fn(&mut SchemaGenerator) -> Schema) -> Param {
    Param { name, is_needed: true, about, shape }
}

const fn free(name: &'static str, about: &'static str, shape: fn(&mut SchemaGenerator) -> Schema) -> Param {
    Param { name, is_needed: false, about, shape }
}

fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string"})
}

fn whole(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 0, "maximum": i64::MAX})
}

fn one_or_more(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": u32::MAX})
}

fn up_to_500(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": 500})
}

fn up_to_5000(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": 5000})
}

fn statuses(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"type": "string", "enum": longhaul_core::status::RunStatus::WORDS}})
}

fn truth(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "boolean"})
}

fn watched(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array", "maxItems": stream::RUNS_MAX,
        "items": {"type": "string", "pattern": "^[a-z0-9-]{1,40}(:[0-9]{1,18})?$"},
    })
}

fn output(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": ["stdout", "stderr"]})
}

/// All routes.
pub(super) static ROUTES: &[Route] = &[
    Route::get("/health", Open, "Whether the server and its store work", calls!(about::health))
        .gives(json!(about::Health)),
    Route::get("/health/ready", Open, "The same as /health", calls!(about::health)).gives(json!(about::Health)),
    Route::get("/health/live", Open, "Whether the server is there", calls!(about::live)).gives(json!(about::Health)),
    Route::get("/login", Open, "Exchange a token for a cookie", calls!(about::login))
        .asks(&[needed("token", "The token", text)])
        .gives(Gives::Nothing(303)),
    Route::get("/metrics", Role(Viewer), "Metrics for Prometheus", calls!(metrics::metrics))
        .gives(Gives::Text("text/plain; version=0.0.4; charset=utf-8")),
    Route::get("/api/v1/openapi.json", Role(Viewer), "This document", calls!(openapi::answer))
        .gives(json!(serde_json::Map<String, serde_json::Value>)),
    Route::post("/api/v1/logout", Role(Viewer), "Sign out", calls!(about::logout)),
    Route::get("/api/v1/about", Role(Viewer), "Information about this server", calls!(about::about))
        .gives(json!(about::About)),
    Route::get("/api/v1/workflows", Role(Viewer), "All workflows", calls!(workflows::list))
        .gives(json!(workflows::Workflows)),
    Route::get("/api/v1/workflows/{name}", Role(Viewer), "One workflow", calls!(workflows::one))
        .gives(json!(workflows::Workflow)),
    Route::post("/api/v1/check", Role(Viewer), "Check a workflow", calls!(workflows::check))
        .takes(shape::<workflows::Check>)
        .gives(json!(workflows::Checked)),
    Route::get("/api/v1/runs", Role(Viewer), "Runs, newest first", calls!(rows::list))
        .asks(&[
            free("status", "Only these statuses", statuses),
            free("workflow", "Only runs of this workflow", text),
            free("text", "Only runs with this text in id, workflow or task", text),
            free("id", "Only runs whose id starts with this", text),
            free("since", "Only runs that started at this time or later, in milliseconds since 1970", whole),
            free("until", "Only runs that started before this time, in milliseconds since 1970", whole),
            free("before", "Only runs older than this run", text),
            free("limit", "At most this many; the default is 100", up_to_500),
        ])
        .gives(json!(rows::Page)),
    Route::get("/api/v1/totals", Role(Viewer), "How many runs there are, and what they cost", calls!(rows::totals))
        .asks(&[
            free("status", "Only these statuses", statuses),
            free("workflow", "Only runs of this workflow", text),
            free("text", "Only runs with this text in id, workflow or task", text),
            free("id", "Only runs whose id starts with this", text),
            free("since", "Only runs that started at this time or later, in milliseconds since 1970", whole),
            free("until", "Only runs that started before this time, in milliseconds since 1970", whole),
        ])
        .gives(json!(rows::Totals)),
    Route::post("/api/v1/runs", Role(Operator), "Start a run", calls!(start::start))
        .takes(shape::<start::Start>)
        .keyed()
        .gives(MADE),
    Route::get("/api/v1/runs/{run}", Role(Viewer), "One run", calls!(runs::run)).gives(json!(runs::Run)),
    Route::post("/api/v1/runs/{run}/cancel", Role(Operator), "Cancel a run", calls!(tell::cancel))
        .takes(shape::<tell::Cancel>)
        .gives(TOLD),
    Route::post("/api/v1/runs/{run}/pause", Role(Operator), "Pause a run: no new step starts", calls!(tell::pause))
        .takes(shape::<tell::Nothing>)
        .gives(TOLD),
    Route::post("/api/v1/runs/{run}/unpause", Role(Operator), "Continue a paused run", calls!(tell::unpause))
        .takes(shape::<tell::Nothing>)
        .gives(TOLD),
    Route::post(
        "/api/v1/runs/{run}/stop",
        Role(Operator),
        "Stop a run: no engine continues it until somebody resumes it",
        calls!(tell::stop),
    )
    .takes(shape::<tell::Nothing>)
    .gives(TOLD),
    Route::post("/api/v1/runs/{run}/resume", Role(Operator), "Let a stopped run continue", calls!(tell::resume))
        .takes(shape::<tell::Nothing>)
        .gives(TOLD),
    Route::post(
        "/api/v1/runs/{run}/retry",
        Role(Operator),
        "Start a failed or cancelled run again",
        calls!(tell::retry),
    )
    .takes(shape::<tell::Retry>)
    .gives(TOLD),
    Route::get("/api/v1/runs/{run}/source", Role(Viewer), "The text that a run holds", calls!(replan::source))
        .gives(json!(replan::Source)),
    Route::post(
        "/api/v1/runs/{run}/replan",
        Role(Operator),
        "Continue a run with a changed workflow, or only compare",
        calls!(replan::replan),
    )
    .takes(shape::<replan::Replan>)
    .gives(json!(replan::Replanned)),
    Route::post("/api/v1/runs/{run}/signal", Role(Operator), "Send a signal to a run", calls!(tell::signal))
        .takes(shape::<tell::Signal>)
        .gives(TOLD),
    Route::post("/api/v1/runs/{run}/tell", Role(Operator), "Tell the agent of a step something", calls!(tell::tell))
        .takes(shape::<tell::Tell>)
        .gives(TOLD),
    Route::post("/api/v1/runs/{run}/budget", Role(Operator), "Change the limits of a run", calls!(tell::budget))
        .takes(shape::<tell::Budget>)
        .gives(TOLD),
    Route::post("/api/v1/runs/{run}/answer", Role(Operator), "Answer a question", calls!(answer::answer))
        .takes(shape::<answer::Answering>)
        .gives(TOLD),
    Route::post(
        "/api/v1/runs/{run}/fork",
        Role(Operator),
        "Fork a run: start one that shares the past of another",
        calls!(start::fork),
    )
    .takes(shape::<start::Fork>)
    .keyed()
    .gives(MADE),
    Route::get("/api/v1/runs/{run}/events", Role(Viewer), "The events of a run", calls!(runs::events))
        .asks(&[
            free("after", "Only events after this number", whole),
            free("limit", "At most this many; the default is 1000", up_to_5000),
        ])
        .gives(json!(runs::Events)),
    Route::get("/api/v1/runs/{run}/stream", Role(Viewer), "A stream of the events of a run", calls!(stream::run))
        .asks(&[free("after", "Only events after this number; the header Last-Event-ID takes precedence", whole)])
        .gives(STREAM),
    Route::get("/api/v1/runs/{run}/output", Role(Viewer), "The output of a step", calls!(runs::output))
        .asks(&[PATH])
        .gives(json!(runs::Output)),
    Route::get("/api/v1/runs/{run}/attempts", Role(Viewer), "The attempts of a step", calls!(attempts::attempts))
        .asks(&[PATH])
        .gives(json!(attempts::Attempts)),
    Route::get(
        "/api/v1/runs/{run}/transcript",
        Role(Viewer),
        "The transcript of an agent",
        calls!(attempts::transcript),
    )
    .asks(&[
        PATH,
        ATTEMPT,
        free("after", "From this entry on", whole),
        free("limit", "At most this many; the default is 1000", up_to_5000),
    ])
    .gives(json!(attempts::Transcript)),
    Route::get(
        "/api/v1/runs/{run}/printed",
        Role(Viewer),
        "The printed output of an attempt",
        calls!(attempts::printed),
    )
    .asks(&[PATH, ATTEMPT, free("stream", "The default is stdout", output), free("after", "From this byte on", whole)])
    .gives(json!(attempts::Printed)),
    Route::get(
        "/api/v1/runs/{run}/search",
        Role(Viewer),
        "Search the transcripts and the output of a run",
        calls!(search::search),
    )
    .asks(&[needed("text", "The text, in any case", text), free("path", "Only this step", text)])
    .gives(json!(search::Found)),
    Route::get("/api/v1/runs/{run}/artifacts", Role(Viewer), "The files of a run", calls!(artifacts::list))
        .gives(json!(artifacts::Artifacts)),
    Route::get("/api/v1/runs/{run}/artifact", Role(Viewer), "A file of a run", calls!(artifacts::one))
        .asks(&[needed("name", "The name of a file", text)])
        .gives(Gives::File),
    Route::get("/api/v1/stream", Role(Viewer), "A stream of changes in the list of runs", calls!(stream::list))
        .gives(STREAM),
    Route::get("/api/v1/streams", Role(Viewer), "One stream for the list and several runs", calls!(stream::several))
        .asks(&[
            free("list", "Whether to send changes in the list; the default is true", truth),
            free("run", "A run to watch: its id, or `ID:AFTER` for the events after a number", watched),
        ])
        .gives(STREAM),
    Route::get("/api/v1/questions", Role(Viewer), "All open questions", calls!(answer::list))
        .gives(json!(answer::Questions)),
    Route::get(
        "/api/v1/workers",
        Role(Viewer),
        "The workers of this store, and the steps that wait",
        calls!(workers::list),
    )
    .gives(json!(longhaul_runtime::Roster)),
];
