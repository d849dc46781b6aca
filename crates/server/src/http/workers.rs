//! Lists the workers of the store, the steps that they hold, and the steps that wait.

use super::call::{Call, Reply};
use super::problem::Problem;

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
    Reply::json(&call.state().engine().roster().await?)
}
