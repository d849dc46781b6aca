//! Validates values against JSON Schemas.

use crate::Json;

/// The first violation of the schema, in words. An unusable schema accepts no value.
pub fn mismatch(schema: &Json, value: &Json) -> Option<String> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("its schema cannot be used: {error}")),
    };
    let error = validator.iter_errors(value).next()?;
    let path = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
    Some(if path.is_empty() { error.to_string() } else { format!("`{path}`: {error}") })
}

/// Why a schema cannot be used: for example a reference that leads nowhere, or an invalid pattern.
pub fn unusable(schema: &Json) -> Option<String> {
    jsonschema::validator_for(schema).err().map(|error| error.to_string())
}
