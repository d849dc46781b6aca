//! Values held to JSON Schemas.

use crate::Json;

/// The first thing about a value that its schema refuses, in words. A schema that cannot be used lets nothing pass.
pub fn mismatch(schema: &Json, value: &Json) -> Option<String> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("its schema cannot be used: {error}")),
    };
    let error = validator.iter_errors(value).next()?;
    let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    Some(if path.is_empty() { error.to_string() } else { format!("`{path}`: {error}") })
}

/// Why no value can be held to a schema, if none can: a reference that leads nowhere, a pattern that is none.
pub fn unusable(schema: &Json) -> Option<String> {
    jsonschema::validator_for(schema).err().map(|error| error.to_string())
}
