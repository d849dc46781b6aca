//! A project, and a client that uses Valet's tools.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Told, command, longhaul};
use crate::mcp::wire::Pipes;

/// A workflow with one notice.
pub(crate) const NOTICE: &str = r#"{"steps":[{"type":"notify","content":"x"}]}"#;
/// The same, open for proposals.
pub(crate) const OPEN: &str =
    r#"{"steps":[{"type":"notify","content":"x"}],"constraints":{"allowSelfModification":true}}"#;

pub(crate) struct Office {
    folder: TempDir,
    pub(crate) client: Pipes,
}

impl Office {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".longhaul")).unwrap();
        let client = Pipes::open(command(folder.path(), &["mcp", "--compat", "valet"]), "valet");
        Self { folder, client }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn longhaul(&self, args: &[&str]) -> Told {
        longhaul(self.path(), args)
    }

    /// A successful action.
    pub(crate) fn done(&mut self, action: &str, arguments: Value) -> Value {
        let answer = self.client.call(&format!("workflows_{action}"), arguments);
        assert_eq!(answer["success"], true, "{answer}");
        answer["data"].clone()
    }

    /// A failed action, and why it failed.
    pub(crate) fn refused(&mut self, action: &str, arguments: Value) -> String {
        let result = self.client.tool(&format!("workflows_{action}"), arguments);
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["success"]),
            (&json!(true), &json!(false)),
            "{result}"
        );
        result["structuredContent"]["error"].as_str().unwrap().to_owned()
    }

    /// Stores a definition in the registry.
    pub(crate) fn sync(&mut self, id: &str, definition: &str) -> Value {
        self.done("sync_workflow", json!({"id": id, "name": id, "data_json": definition}))["workflow"].clone()
    }

    /// An action that needs a person's consent, and gets it.
    pub(crate) fn consented(&mut self, action: &str, arguments: Value) -> Value {
        let why = self.refused(action, arguments.clone());
        assert!(why.contains("needs consent") && why.contains("medium risk"), "{why}");
        let operation = why.split("--operation ").nth(1).unwrap().split('`').next().unwrap().to_owned();
        let told = self.longhaul(&["consent", "grant", "--operation", &operation]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        self.done(action, arguments)
    }

    /// A run, as soon as it has a status.
    pub(crate) fn execution(&mut self, id: &Value, status: &str) -> Value {
        for _ in 0..2000 {
            let execution = self.done("get_execution", json!({"execution_id": id}))["execution"].clone();
            if execution["status"] == status {
                return execution;
            }
            assert!(
                !["failed", "completed", "cancelled"].contains(&execution["status"].as_str().unwrap()),
                "{execution}"
            );
        }
        panic!("{id} is never {status}")
    }
}
