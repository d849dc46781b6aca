//! Makes a plan from the text of a workflow, with a few personas around it.

use longhaul_core::plan::Plan;
use longhaul_lang::diagnostic::Severity;
use longhaul_lang::world::{Bare, FoundWorkflow, NameKind, Unavailable, World};
use longhaul_lang::{CheckRequest, check};

/// The surroundings of a workflow in tests: the built-in definitions, and personas.
#[derive(Debug, Clone)]
pub struct Around {
    bare: Bare,
    personas: Vec<String>,
}

impl Default for Around {
    fn default() -> Self {
        let personas = ["engineer", "code-reviewer", "architect"].map(str::to_owned).to_vec();
        Self { bare: Bare::default(), personas }
    }
}

impl World for Around {
    fn read(&self, dir: &str, path: &str) -> Result<String, Unavailable> {
        self.bare.read(dir, path)
    }

    fn exists(&self, dir: &str, path: &str) -> Result<(), Unavailable> {
        self.bare.exists(dir, path)
    }

    fn workflow(&self, dir: &str, name: &str) -> Result<FoundWorkflow, Unavailable> {
        self.bare.workflow(dir, name)
    }

    fn names(&self, kind: NameKind) -> &[String] {
        match kind {
            NameKind::Persona => &self.personas,
            NameKind::Profile
            | NameKind::Backend
            | NameKind::Channel
            | NameKind::ToolServer
            | NameKind::Skill
            | NameKind::Workflow => self.bare.names(kind),
        }
    }
}

/// The plan of a workflow, or the errors in its text.
pub fn plan(text: &str) -> Result<Plan, String> {
    let request = CheckRequest {
        file: "test.yaml".to_owned(),
        name: "test".to_owned(),
        text: text.to_owned(),
        ..CheckRequest::default()
    };
    let mut report = check(request, &Around::default());
    let wrong = report.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let wrong: Vec<String> = wrong.map(|found| format!("{}: {}", found.code, found.message)).collect();
    let plan = report.workflows.pop().and_then(|checked| checked.plan);
    plan.ok_or_else(|| wrong.join("\n"))
}
