//! The words in which lists say how a run is doing; [`crate::state::State::status_in`] gives them.

/// What a run can be that is not over.
pub const OPEN: [&str; 4] = ["queued", "running", "waiting", "paused"];

/// What a run can be that is over.
pub const OVER: [&str; 3] = ["succeeded", "failed", "cancelled"];

/// What a run can be.
pub const ALL: [&str; 7] = {
    let ([queued, running, waiting, paused], [succeeded, failed, cancelled]) = (OPEN, OVER);
    [queued, running, waiting, paused, succeeded, failed, cancelled]
};
