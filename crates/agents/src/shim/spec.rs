//! Describes what a shim runs, and its limits.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::Invocation;

/// What a shim runs, and its limits. It is written to disk: nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// A path, or a name that is looked up in the agent's `PATH`.
    pub program: PathBuf,
    /// The arguments, passed byte for byte.
    pub args: Vec<String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// `run/path@attempt`: the mark of all its processes.
    pub attempt: String,
    /// How long it may take, with or without an engine.
    pub timeout: Option<Duration>,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// How long it may run without an engine; `None` means no limit.
    pub grace_alone: Option<Duration>,
    /// The most bytes of each output that are kept.
    pub disk_bytes_max: u64,
    /// Variables whose values are removed from its output before it is stored.
    pub secret_env: Vec<String>,
}

impl Spec {
    /// A turn with the usual limits: half an hour without an engine, 10 s of grace, 1 GiB of each output, no timeout.
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
