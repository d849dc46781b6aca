//! The actions that all interfaces share: open a project, find a workflow, start it, command a run, list and load runs.
//!
//! The command line, HTTP, MCP and triggers translate a request into a call here, and translate the result back.
//!
//! **Invariant:** every call that changes something names its caller. The engine decides what the caller may do. No
//! interface has rules of its own.

pub mod bootstrap;
pub mod command;
pub mod digest;
pub mod open_store;
pub mod outcome;
pub mod replan;
mod same_folder;
pub mod start;
pub mod workflow;

use longhaul_core::id::RunId;
use longhaul_runtime::{Engine, Error, Loaded};
use longhaul_store::{Query, RunRow};

pub use command::{GivenAnswer, RunCommand};
pub use outcome::CommandOutcome;
pub use replan::{ChangedFile, Replanning};
pub use start::{Forking, StartOrder};

/// The runs of a project, for one interface.
#[derive(Clone)]
pub struct App {
    engine: Engine,
}

impl App {
    /// Creates the application on top of an engine.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine, for interfaces that watch or drive runs.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Finds a run by its id or by the beginning of its id.
    pub async fn find(&self, id: &str) -> Result<RunId, Error> {
        self.engine.find(id).await
    }

    /// Loads a run by its id or by the beginning of its id.
    pub async fn load(&self, id: &str) -> Result<(RunId, Loaded), Error> {
        let run = self.find(id).await?;
        let loaded = self.engine.load(&run).await?;
        Ok((run, loaded))
    }

    /// Lists runs, newest first.
    pub async fn list(&self, query: Query) -> Result<Vec<RunRow>, Error> {
        self.engine.list(query).await
    }
}
