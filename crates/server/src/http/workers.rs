//! Who works for the store, on what, and what waits for somebody who can.

use super::call::{Call, Reply};
use super::problem::Problem;

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    Reply::json(&call.desk().engine().roster().await?)
}
