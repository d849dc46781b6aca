//! `wb_search`: finds workflows and capabilities by words.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::told;
use super::registry::{self, Registered};
use super::{init, run};
use crate::mcp::arguments::schema;
use crate::mcp::tool::{Call, Nature, Problem, Reply, Tool};

/// How many results to return by default.
const RESULTS: usize = 3;
const CATEGORIES: [&str; 2] = ["workflow", "capability"];

pub(super) const TOOL: Tool = Tool {
    name: "wb_search",
    title: "work-buddy: search",
    about: "Finds workflows and capabilities by words of their names and descriptions, with the parameters they take.",
    nature: Nature::Looks,
    schema: schema::<Args>,
    call: |call| Box::pin(search(call)),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What you look for; blank finds everything.
    query: String,
    /// Only workflow, or only capability.
    #[serde(default)]
    category: Option<String>,
    /// At most so many; 3 unless you say.
    #[serde(default)]
    filter_n: Option<usize>,
}

async fn search(mut call: Call) -> Result<Reply, Problem> {
    let args: Args = call.arguments()?;
    init::required(&call)?;
    if let Some(unknown) = args.category.iter().find(|category| !CATEGORIES.contains(&category.as_str())) {
        return Err(Problem::unknown("category", unknown, &CATEGORIES.map(str::to_owned)));
    }
    let wanted = |category: &str| args.category.as_deref().is_none_or(|own| own == category);
    let workflows = registry::all(&call.state).into_iter().filter(|_| wanted("workflow")).map(|one| row(&one));
    let functions = run::CAPABILITIES.iter().filter(|_| wanted("capability"));
    let functions = functions.map(|name| (name.replace('_', " "), json!({"name": name, "category": "capability"})));
    let words: Vec<String> = args.query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let mut found: Vec<(usize, Value)> =
        workflows.chain(functions).map(|(text, row)| (score(&text, &words), row)).collect();
    found.retain(|(score, _)| *score > 0 || words.is_empty());
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let results: Vec<Value> = found.into_iter().take(args.filter_n.unwrap_or(RESULTS)).map(|(_, row)| row).collect();
    Ok(told(json!({"type": "search_results", "query": args.query, "results": results})))
}

/// The searchable text of a workflow, and its entry in the answer.
fn row(one: &Registered) -> (String, Value) {
    let words = [one.aliases.join(" "), one.tags.join(" ")].join(" ");
    let text = format!("{} {} {} {words}", one.name, one.name.replace(['-', '_'], " "), one.description);
    let row = json!({
        "name": one.name, "category": "workflow", "description": one.description,
        "params_schema": registry::params_schema(&one.plan),
    });
    (text.to_lowercase(), row)
}

fn score(text: &str, words: &[String]) -> usize {
    words.iter().filter(|word| text.contains(word.as_str())).count()
}
