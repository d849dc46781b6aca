//! Roles of the recipes, and the answers of agents that were written for another system and play one of them.
//!
//! A role has a contract: the schema of the step. An agent file of a project may describe another one. The agent is told
//! how its words translate, and an answer in its own words is translated.
//!
//! **Invariant:** a translation only moves and renames what the answer contains. It adds empty texts and lists where a
//! role says that they may be missing, and never a result.

use crate::Json;
use serde_json::{Map, json};

/// The contract of a role in other words.
struct Contract {
    role: &'static str,
    /// From a path in the other contract to a path in ours. Names are in snake case.
    moves: &'static [(&'static str, &'static str)],
    /// Lists that may be missing.
    lists: &'static [&'static str],
    /// Texts that may be missing.
    texts: &'static [&'static str],
}

const fn contract(
    role: &'static str,
    moves: &'static [(&'static str, &'static str)],
    lists: &'static [&'static str],
    texts: &'static [&'static str],
) -> Contract {
    Contract { role, moves, lists, texts }
}

const EXECUTOR: &[(&str, &str)] = &[
    ("change_summary", "summary"),
    ("escalation_type", "escalation.type"),
    ("reason", "escalation.reason"),
    ("suggested_options", "escalation.options"),
    ("claude_recommendation", "escalation.recommendation"),
    ("recommendation", "escalation.recommendation"),
];
const FIXER: &[(&str, &str)] = &[("checks_performed.commands", "commands"), ("summary", "reason")];
const FIXER_LISTS: &[&str] = &["stub_findings", "blocking_issues", "missing_prerequisites", "commands"];

const CONTRACTS: &[Contract] = &[
    contract("requirement-analyzer", &[], &["adr_reasons", "scope_dependencies", "questions"], &[]),
    contract(
        "codebase-analyzer",
        &[("quality_assurance", "quality"), ("data_transformation_pipelines", "pipelines")],
        &["pipelines", "similar", "limitations"],
        &[],
    ),
    contract(
        "document-reviewer",
        &[
            ("verdict.decision", "decision"),
            ("verdict.conditions", "conditions"),
            ("verdict.reason", "reason"),
            ("verdict.summary", "reason"),
            ("scores.consistency", "consistency"),
            ("scores.completeness", "completeness"),
        ],
        &["issues"],
        &["reason"],
    ),
    contract(
        "code-verifier",
        &[
            ("summary.total_claims", "claims"),
            ("summary.claims", "claims"),
            ("summary.matched_claims", "matched"),
            ("summary.matched", "matched"),
            ("reverse_coverage.undocumented", "not_mentioned"),
        ],
        &["not_mentioned", "limitations"],
        &[],
    ),
    contract("design-sync", &[("summary.sync_status", "sync_status")], &["conflicts"], &[]),
    contract(
        "acceptance-test-generator",
        &[("generated_files.integration", "integration"), ("generated_files.e2e", "e2e")],
        &["integration", "e2e"],
        &[],
    ),
    contract("task-executor", EXECUTOR, &[], &["summary"]),
    contract("task-executor-frontend", EXECUTOR, &[], &["summary"]),
    contract("quality-fixer", FIXER, FIXER_LISTS, &["reason"]),
    contract("quality-fixer-frontend", FIXER, FIXER_LISTS, &["reason"]),
    contract("integration-test-reviewer", &[("summary", "reason")], &["required_fixes"], &["reason"]),
    contract(
        "code-reviewer",
        &[("acceptance_criteria", "acceptance"), ("identifier_mismatches", "mismatches"), ("issues", "findings")],
        &[],
        &[],
    ),
    contract("security-reviewer", &[("summary", "reason")], &["findings", "notes", "required_fixes"], &["reason"]),
    contract("scope-discoverer", &[("discovered_units", "units")], &["not_placed"], &[]),
    contract(
        "rule-advisor",
        &[("selected_rules", "rules"), ("warning_patterns", "warnings"), ("task_analysis.essence", "essence")],
        &["warnings"],
        &[],
    ),
    contract("investigator", &[], &["not_looked_at"], &[]),
    contract(
        "verifier",
        &[("coverage_assessment", "coverage"), ("final_status", "status")],
        &["contradictions", "missing"],
        &[],
    ),
    contract("solver", &[], &[], &["residual_risk"]),
];

/// Fields whose values are words of a contract.
const WORDS: &[&str] = &["status", "decision", "sync_status", "severity", "confidence", "coverage", "state", "kind"];

/// What an agent that was written for another system is told beside its own instructions.
pub fn adapter(role: &str) -> String {
    let mut text = format!(
        "You play the role `{role}` in a run of Longhaul. Your instructions above were written for another system. Follow \
         them where they say what to examine, in which order, and how to judge. The task decides everything else: which \
         files you may write, whether you may run commands, and the form of your answer. Answer with the fields and \
         words that the task asks for, call no other agent, ask nobody, and do not commit."
    );
    for (from, to) in known(role).map_or(&[][..], |contract| contract.moves) {
        text.push_str(&format!("\n- What your instructions call `{from}` is `{to}` here."));
    }
    text
}

/// An answer in the words of another contract, in the words of ours.
pub fn translated(role: &str, answer: &Json) -> Json {
    let mut answer = plain(answer);
    let Some(contract) = known(role) else { return answer };
    for (from, to) in contract.moves {
        if let (Some(found), None) = (at(&answer, from).cloned(), at(&answer, to)) {
            put(&mut answer, to, found);
        }
    }
    if let Some(fields) = answer.as_object_mut() {
        contract.lists.iter().for_each(|list| listed(fields.entry(*list).or_insert(Json::Null)));
        contract.texts.iter().for_each(|text| _ = fields.entry(*text).or_insert_with(|| json!("")));
    }
    answer
}

/// A list, also where there was nothing or a single text.
fn listed(value: &mut Json) {
    match value {
        Json::Null => *value = json!([]),
        Json::String(one) => *value = json!([one]),
        _ => {}
    }
}

fn known(role: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.role == role)
}

/// Names in snake case, and words of a contract as we spell them.
fn plain(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(fields) => {
            let mut out = Map::new();
            for (key, value) in fields {
                let key = snake(key);
                let word = value.as_str().filter(|word| WORDS.contains(&key.as_str()) && word.len() < 40);
                let value = word.map_or_else(|| plain(value), |word| Json::String(word_of(word)));
                out.insert(key, value);
            }
            Json::Object(out)
        }
        other => other.clone(),
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && out.ends_with(|last: char| last.is_ascii_lowercase() || last.is_ascii_digit()) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn word_of(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace([' ', '-'], "_")
}

fn at<'v>(value: &'v Json, path: &str) -> Option<&'v Json> {
    path.split('.').try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

fn put(value: &mut Json, path: &str, new: Json) {
    let Some(fields) = value.as_object_mut() else { return };
    match path.split_once('.') {
        None => _ = fields.insert(path.to_owned(), new),
        Some((first, rest)) => put(fields.entry(first).or_insert_with(|| json!({})), rest, new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_another_system_is_translated() {
        let theirs = json!({"verdict": {"decision": "Approved with Conditions", "conditions": ["name it"]}, "scores": {"consistency": 95, "completeness": 90}});
        let ours = translated("document-reviewer", &theirs);
        assert_eq!(ours["decision"], "approved_with_conditions");
        assert_eq!((&ours["conditions"], &ours["consistency"]), (&json!(["name it"]), &json!(95)));
        assert_eq!((&ours["issues"], &ours["reason"]), (&json!([]), &json!("")));
        let ours = translated(
            "task-executor",
            &json!({"status": "escalation_needed", "escalation_type": "out_of_scope_file", "reason": "x", "filesModified": []}),
        );
        assert_eq!(ours["escalation"], json!({"type": "out_of_scope_file", "reason": "x"}));
        assert_eq!(ours["files_modified"], json!([]));
        assert_eq!(
            translated("design-sync", &json!({"summary": {"sync_status": "NO_CONFLICTS"}}))["sync_status"],
            "no_conflicts"
        );
    }

    #[test]
    fn a_translation_invents_no_result() {
        for contract in CONTRACTS {
            let ours = translated(contract.role, &json!({}));
            for field in [
                "status",
                "decision",
                "sync_status",
                "claims",
                "matched",
                "conditions",
                "requires_test_review",
                "coverage",
                "verdict",
            ] {
                assert_eq!(ours.get(field), None, "{}", contract.role);
            }
        }
        // A field of ours wins over theirs.
        assert_eq!(translated("verifier", &json!({"status": "ready", "finalStatus": "other"}))["status"], "ready");
        assert_eq!(translated("nobody", &json!({"someThing": 1})), json!({"some_thing": 1}));
    }

    #[test]
    fn an_agent_is_told_how_its_words_translate() {
        let told = adapter("design-sync");
        assert!(
            told.contains("`design-sync`")
                && told.ends_with("- What your instructions call `summary.sync_status` is `sync_status` here.")
        );
        assert!(!adapter("own-role").contains("\n- "));
    }
}
