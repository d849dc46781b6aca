//! Reads the history of a run for facts that its state no longer has, but another system shows.

use longhaul_core::event::Envelope;
use longhaul_core::id::RunId;

use crate::app_state::AppState;
use crate::mcp::tool::Problem;

/// How many events to read at once.
const PAGE: usize = 1000;

/// Collects values from the history of a run, in its order.
pub(super) async fn found<T>(
    desk: &AppState,
    run: &RunId,
    wanted: impl Fn(&Envelope) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = desk.engine().events(run, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after = last.seq;
        found.extend(page.iter().filter_map(&wanted));
    }
}
