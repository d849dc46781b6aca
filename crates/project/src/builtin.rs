//! The files that are built into the binary.

macro_rules! files {
    ($folder:literal, $ending:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, $ending)))),*]
    };
}

/// Workflows, by name.
pub const WORKFLOWS: &[(&str, &str)] = files!("workflows", ".yaml":
    "add-integration-tests"
    "brainstorm"
    "build"
    "code-review"
    "design"
    "diagnose"
    "feature"
    "front-adjust"
    "ideation"
    "implement"
    "log-analysis"
    "part-build"
    "part-change"
    "part-design"
    "part-document"
    "part-obligations"
    "part-plan"
    "part-requirements"
    "part-sync"
    "part-task"
    "part-tasks"
    "part-test"
    "part-triage"
    "part-verify"
    "plan"
    "prepare-implementation"
    "requirements"
    "reverse-engineer"
    "review"
    "security-audit"
    "sparc"
    "task"
    "tdd"
    "triage"
    "update-doc"
);

/// Personas, by name.
pub const PERSONAS: &[(&str, &str)] = files!("personas", ".md":
    "analyst"
    "architect"
    "code-reviewer"
    "coder"
    "debug-agent"
    "debugger"
    "dependency-manager"
    "devops-engineer"
    "docs-manager"
    "document-reviewer"
    "documentation-writer"
    "engineer"
    "expert-coder"
    "frontend-engineer"
    "performance-engineer"
    "planner"
    "quality-engineer"
    "researcher"
    "security-reviewer"
    "senior-engineer"
    "test-designer"
    "ui-ux-designer"
);

/// Skills, by name.
pub const SKILLS: &[(&str, &str)] = files!("skills", ".md":
    "adr-template"
    "coding-rules"
    "design-template"
    "finding-rules"
    "plan-template"
    "prd-template"
    "task-template"
    "testing-rules"
    "ui-spec-template"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &str, ending: &str) -> Vec<String> {
        let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = files.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
        names.sort();
        names
    }

    #[test]
    fn everything_in_the_folders_ships() {
        let shipped = |list: &[(&str, &str)]| list.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(shipped(WORKFLOWS), names_in("workflows", ".yaml"));
        assert_eq!(shipped(PERSONAS), names_in("personas", ".md"));
        assert_eq!(shipped(SKILLS), names_in("skills", ".md"));
    }
}
