//! Run ids of work-buddy: `wf_` and eight hexadecimal digits. The store does not allow `_`, so it has `wf-` there.
//!
//! **Invariant:** a shown id reads back as the same run. Other ids stay as they are.

use longhaul_core::id::RunId;
use uuid::Uuid;

use crate::app_state::AppState;
use crate::mcp::tool::Problem;

/// The prefix of these ids in the store.
pub(super) const STORED: &str = "wf-";
const SHOWN: &str = "wf_";

/// A new id. It has few digits, so it may already be taken.
pub(super) fn new() -> Option<RunId> {
    let digits = Uuid::new_v4().simple().to_string();
    RunId::new(format!("{STORED}{}", digits.get(..8)?))
}

/// The id as clients see it.
pub(super) fn shown(run: &RunId) -> String {
    match run.as_str().strip_prefix(STORED) {
        Some(digits) => format!("{SHOWN}{digits}"),
        None => run.to_string(),
    }
}

/// The run that a client names.
pub(super) async fn find(desk: &AppState, text: &str) -> Result<RunId, Problem> {
    let stored = text.strip_prefix(SHOWN).map_or_else(|| text.to_owned(), |digits| format!("{STORED}{digits}"));
    desk.run(&stored).await.map_err(|_| unknown(text))
}

/// The error for a run that does not exist, or no longer does.
pub(super) fn unknown(text: &str) -> Problem {
    Problem::new(format!("Unknown workflow run '{text}'; wb_status without arguments lists those that are active"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_look_like_theirs() {
        let run = new().unwrap();
        let text = shown(&run);
        assert_eq!((text.len(), text.starts_with("wf_")), (11, true), "{text}");
        assert_eq!(shown(&RunId::new("brave-fox-17").unwrap()), "brave-fox-17");
    }
}
