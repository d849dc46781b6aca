//! What a shim runs, and within which bounds.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::Invocation;

/// What a shim runs, and within which bounds. It is written to disk: nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// A path, or a name that is looked up in the agent's `PATH`.
    pub program: PathBuf,
    /// Byte for byte.
    pub args: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// `run/path@attempt`: the mark of everything that comes out of it.
    pub attempt: String,
    /// How long it may take, whether engines come and go or not.
    pub timeout: Option<Duration>,
    /// The time between asking its processes to end and ending them.
    pub grace: Duration,
    /// How long it may run with no engine attached; for ever, without one.
    pub grace_alone: Option<Duration>,
    /// How much of each output is kept.
    pub disk_bytes_max: u64,
    /// Variables whose values are taken out of its output before it is kept.
    pub secret_env: Vec<String>,
}

impl Spec {
    /// A turn with the usual bounds: half an hour alone, 10 s of grace, 1 GiB of each output, no timeout.
    pub fn new(invocation: &Invocation, cwd: PathBuf, attempt: String) -> Self {
        Self {
            program: invocation.program.clone(),
            args: invocation.args.clone(),
            cwd,
            attempt,
            timeout: None,
            grace: Duration::from_secs(10),
            grace_alone: Some(Duration::from_secs(30 * 60)),
            disk_bytes_max: 1 << 30,
            secret_env: Vec::new(),
        }
    }
}
