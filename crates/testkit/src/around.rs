//! From the text of a workflow to a plan, with a few personas around it.

use longhaul_core::plan::Plan;
use longhaul_lang::diagnostic::Severity;
use longhaul_lang::world::{Bare, Found, Kind, Missing, World};
use longhaul_lang::{Request, check};

/// What lies around a workflow in tests: what the product defines, and personas.
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
    fn read(&self, dir: &str, path: &str) -> Result<String, Missing> {
        self.bare.read(dir, path)
    }

    fn exists(&self, dir: &str, path: &str) -> Result<(), Missing> {
        self.bare.exists(dir, path)
    }

    fn workflow(&self, dir: &str, name: &str) -> Result<Found, Missing> {
        self.bare.workflow(dir, name)
    }

    fn names(&self, kind: Kind) -> &[String] {
        match kind {
            Kind::Persona => &self.personas,
            Kind::Profile | Kind::Backend | Kind::Channel | Kind::ToolServer | Kind::Skill | Kind::Workflow => {
                self.bare.names(kind)
            }
        }
    }
}

/// The plan of a workflow; in its place, what is wrong with the text.
pub fn plan(text: &str) -> Result<Plan, String> {
    let request =
        Request { file: "test.yaml".to_owned(), name: "test".to_owned(), text: text.to_owned(), ..Request::default() };
    let mut report = check(request, &Around::default());
    let wrong = report.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let wrong: Vec<String> = wrong.map(|found| format!("{}: {}", found.code, found.message)).collect();
    let plan = report.workflows.pop().and_then(|checked| checked.plan);
    plan.ok_or_else(|| wrong.join("\n"))
}
