//! Checks the arguments of a call against the schema that clients see.
//!
//! **Invariant:** an unknown argument is an error that names the closest known one. No argument is ignored.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::mcp::tool::Problem;

/// The schema of the arguments, without parts that only schema tools use.
pub(crate) fn schema<T: JsonSchema>() -> JsonObject {
    let mut schema = schemars::schema_for!(T).to_value();
    let Some(object) = schema.as_object_mut() else { return JsonObject::new() };
    for key in ["$schema", "title", "description"] {
        object.remove(key);
    }
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    std::mem::take(object)
}

/// Parses the arguments of a call.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(arguments: JsonObject) -> Result<T, Problem> {
    let schema = schema::<T>();
    let known: Vec<String> = schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(key)) {
        return Err(Problem::unknown("argument", unknown, &known));
    }
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let missing = required.iter().filter_map(Value::as_str).find(|name| !arguments.contains_key(*name));
    if let Some(missing) = missing {
        return Err(Problem::new(format!(
            "the argument `{missing}` is missing; the arguments are: {}",
            known.join(", ")
        )));
    }
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Problem::new(format!("an argument does not fit: {error}")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the test only checks that it parses")]
    struct Args {
        /// The name of the workflow.
        workflow: String,
        /// The number of results.
        #[serde(default)]
        limit: Option<u32>,
    }

    fn told(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        read::<Args>(arguments).map_or_else(|problem| problem.text, |read| format!("{read:?}"))
    }

    #[test]
    fn a_misspelt_argument_is_named_with_the_nearest_one() {
        assert_eq!(told(json!({"workflw": "x"})), "there is no argument `workflw`; did you mean `workflow`?");
        assert_eq!(told(json!({"zzz": 1})), "there is no argument `zzz`; there are: workflow, limit");
    }

    #[test]
    fn a_missing_argument_and_one_of_the_wrong_type_are_told() {
        assert_eq!(told(json!({"limit": 1})), "the argument `workflow` is missing; the arguments are: workflow, limit");
        assert!(told(json!({"workflow": 3})).starts_with("an argument does not fit: "));
        assert!(told(json!({"workflow": "x", "limit": -1})).starts_with("an argument does not fit: "));
    }

    #[test]
    fn schemas_close_the_door_to_other_arguments() {
        let schema = Value::Object(schema::<Args>());
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["workflow"]["description"], json!("The name of the workflow."));
        assert_eq!(schema["required"], json!(["workflow"]));
    }
}
