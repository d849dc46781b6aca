//! Every route there is. Router, OpenAPI and the test of who may do what are made from it.

use axum::http::Method;

use super::keys::Role::{Operator, Viewer};
use super::route::Access::{Open, Role};
use super::route::Route;
use super::{about, answer, artifacts, attempts, rows, runs, start, stream, tell, workflows};

macro_rules! route {
    ($method:ident $path:literal, $access:expr, $about:literal, $answer:path) => {
        Route {
            method: Method::$method,
            path: $path,
            access: $access,
            about: $about,
            answer: |call| Box::pin($answer(call)),
        }
    };
}

/// Every route there is.
pub(super) static ROUTES: &[Route] = &[
    route!(GET "/health", Open, "Whether the server is well", about::health),
    route!(GET "/login", Open, "A token becomes a cookie", about::login),
    route!(POST "/api/v1/logout", Role(Viewer), "The cookie is gone", about::logout),
    route!(GET "/api/v1/about", Role(Viewer), "What this server is", about::about),
    route!(GET "/api/v1/workflows", Role(Viewer), "Every workflow that can be found", workflows::list),
    route!(GET "/api/v1/workflows/{name}", Role(Viewer), "One workflow", workflows::one),
    route!(POST "/api/v1/check", Role(Viewer), "What is wrong with a workflow", workflows::check),
    route!(GET "/api/v1/runs", Role(Viewer), "Runs, newest first", rows::list),
    route!(POST "/api/v1/runs", Role(Operator), "Start a run", start::start),
    route!(GET "/api/v1/runs/{run}", Role(Viewer), "One run", runs::run),
    route!(POST "/api/v1/runs/{run}/cancel", Role(Operator), "Stop a run", tell::cancel),
    route!(POST "/api/v1/runs/{run}/pause", Role(Operator), "Start nothing new in a run", tell::pause),
    route!(POST "/api/v1/runs/{run}/unpause", Role(Operator), "Let a paused run go on", tell::unpause),
    route!(POST "/api/v1/runs/{run}/retry", Role(Operator), "Start a failed or cancelled run again", tell::retry),
    route!(POST "/api/v1/runs/{run}/signal", Role(Operator), "Send a signal to a run", tell::signal),
    route!(POST "/api/v1/runs/{run}/answer", Role(Operator), "Answer a question", answer::answer),
    route!(POST "/api/v1/runs/{run}/fork", Role(Operator), "A new run that shares the past of another one", start::fork),
    route!(GET "/api/v1/runs/{run}/events", Role(Viewer), "What happened in a run", runs::events),
    route!(GET "/api/v1/runs/{run}/stream", Role(Viewer), "What happens in a run", stream::run),
    route!(GET "/api/v1/runs/{run}/output", Role(Viewer), "What a step left", runs::output),
    route!(GET "/api/v1/runs/{run}/attempts", Role(Viewer), "The attempts of a step", attempts::attempts),
    route!(GET "/api/v1/runs/{run}/transcript", Role(Viewer), "What an agent said and did", attempts::transcript),
    route!(GET "/api/v1/runs/{run}/printed", Role(Viewer), "What an attempt printed", attempts::printed),
    route!(GET "/api/v1/runs/{run}/artifacts", Role(Viewer), "The files of a run", artifacts::list),
    route!(GET "/api/v1/runs/{run}/artifact", Role(Viewer), "A file of a run", artifacts::one),
    route!(GET "/api/v1/stream", Role(Viewer), "What the list of runs shows, as it changes", stream::list),
    route!(GET "/api/v1/questions", Role(Viewer), "Every open question", answer::list),
    route!(GET "/api/v1/persisted", Role(Viewer), "What evaluations and routing noted", about::persisted),
];
