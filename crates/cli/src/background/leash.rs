//! The worker's end of the leash: the supervisor says through it that the worker should leave, or is gone.

use std::time::{Duration, Instant};

use longhaul_runtime::Engine;
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

use crate::ui;

/// How often a worker checks whether it is needed.
const LOOK: Duration = Duration::from_secs(5);

/// How a worker in the background ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The supervisor wants it to leave its runs to the next worker, or the supervisor is gone.
    Leaves,
    /// There is nothing left to do.
    Idle,
}

/// Waits until the worker should end. `stop` ends the wait.
pub(crate) async fn held(engine: &Engine, idle: Duration, stop: &CancellationToken) -> Option<End> {
    let end = tokio::select! {
        () = let_go() => End::Leaves,
        () = idle_for(engine, idle) => End::Idle,
        () = stop.cancelled() => return None,
    };
    Some(end)
}

/// Waits for a byte of the supervisor, or for its end.
async fn let_go() {
    let mut byte = [0];
    let read = tokio::io::stdin().read(&mut byte).await;
    ui::say(match read {
        Ok(1..) => "the background engine asks this worker to leave; its agents continue",
        _ => "the background engine is gone, and this worker with it; its agents continue",
    });
}

/// Waits until nothing was needed for a time. A store that cannot be read may have runs.
async fn idle_for(engine: &Engine, idle: Duration) {
    let mut needed_at = Instant::now();
    loop {
        if engine.is_needed().await.unwrap_or(true) {
            needed_at = Instant::now();
        } else if needed_at.elapsed() >= idle {
            return ui::say("no run is left that could continue; this worker ends");
        }
        tokio::time::sleep(LOOK.min(idle.max(Duration::from_millis(100)))).await;
    }
}
