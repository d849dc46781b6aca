//! Tests every built-in file: it has no findings, and every word that an agent may answer has a route.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::binary::longhaul;
use crate::builtin::root;

fn names() -> Vec<String> {
    let files = std::fs::read_dir(root().join("workflows")).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        files.map(|file: PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The steps of a workflow's plan, including those of its sub-workflows.
fn steps(name: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let told = longhaul(folder.path(), &["show", "--json", name]);
    let shown: Value = serde_json::from_str(&told.stdout).unwrap();
    shown["workflows"][0]["plan"]["steps"].as_array().unwrap().clone()
}

/// A route of a state machine: from which step to which.
type Way = (String, String);

/// Every route of every state machine, each with a workflow that has it.
pub(crate) fn all() -> BTreeSet<(String, Way)> {
    let mut ways = BTreeSet::new();
    for name in names() {
        let steps = steps(&name);
        let id = |at: &Value| steps[usize::try_from(at.as_u64().unwrap()).unwrap()]["id"].as_str().unwrap().to_owned();
        for step in &steps {
            let routes = step["next"].as_array().into_iter().flatten().map(|route| &route["to"]);
            let targets = routes.chain(step["on_error"].get("goto"));
            ways.extend(targets.map(|to| (name.clone(), (step["id"].as_str().unwrap().to_owned(), id(to)))));
        }
    }
    ways
}

/// A route for people.
pub(crate) fn in_words((name, (from, to)): (String, Way)) -> String {
    format!("{name}: from `{from}` to `{to}`")
}

#[test]
fn every_built_in_workflow_is_clean_where_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let told = longhaul(folder.path(), &["check", "--strict", "--json", &name]);
        let report: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!(report["files"][0]["diagnostics"], Value::Array(Vec::new()), "{name}");
        assert_eq!(told.code, 0, "{name}");
    }
}

#[test]
fn every_built_in_workflow_says_what_it_is_for_and_what_its_inputs_mean() {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let told = longhaul(folder.path(), &["show", "--json", &name]);
        let shown: Value = serde_json::from_str(&told.stdout).unwrap();
        let unit = &shown["workflows"][0]["plan"]["units"][0];
        assert_eq!(shown["origin"], "builtin", "{name}");
        assert!(unit["description"].as_str().is_some_and(|text| text.len() > 20), "{name}");
        for (input, about) in unit["inputs"].as_object().into_iter().flatten() {
            assert!(about["description"].is_string(), "{name}: `{input}` does not say what it means");
        }
        let source = longhaul(folder.path(), &["show", "--source", &name]).stdout;
        assert_eq!(source, std::fs::read_to_string(root().join(format!("workflows/{name}.yaml"))).unwrap());
    }
}

/// The possible words of a field in an agent's answer, by the field's name in routes: `review.decision`.
fn words(step: &Value, found: &mut BTreeMap<String, Vec<String>>) {
    let Some(alias) = step["output"]["as"].as_str() else { return };
    for (field, schema) in step["output"]["schema"]["properties"].as_object().into_iter().flatten() {
        let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let words: Vec<String> = words.collect();
        if words.len() > 1 {
            found.insert(format!("{alias}.{field}"), words);
        }
    }
}

/// The checker enforces this for `switch`; this test enforces it for the routes of state machines.
#[test]
fn routes_by_an_agents_word_know_every_word() {
    let mut routed = 0;
    for name in names() {
        let steps = steps(&name);
        let mut known = BTreeMap::new();
        steps.iter().for_each(|step| words(step, &mut known));
        for step in &steps {
            let routes = step["next"].as_array().cloned().unwrap_or_default();
            let conditions: Vec<String> = routes.iter().map(|route| route["when"].to_string()).collect();
            // A last route without a condition takes all remaining words.
            if conditions.last().is_none_or(|last| last == "null") {
                routed += known.keys().filter(|field| conditions.iter().any(|text| text.contains(*field))).count();
                continue;
            }
            for (field, words) in known.iter().filter(|(field, _)| conditions.iter().all(|text| text.contains(*field)))
            {
                routed += 1;
                let missing: Vec<&String> = words
                    .iter()
                    .filter(|word| !conditions.iter().any(|text| text.contains(&format!("'{word}'"))))
                    .collect();
                assert!(missing.is_empty(), "{name}: `{}` has no way on for {field} {missing:?}", step["id"]);
            }
        }
    }
    assert!(routed > 5, "only {routed} routes were looked at");
}
