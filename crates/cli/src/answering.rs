//! Turns the text that a person typed into the message that a run accepts.

use anyhow::Result;
use longhaul_core::Json;
use longhaul_runtime::{Loaded, Message};

use crate::inputs;

/// The message with its value as JSON, or as text if the run accepts only text: people do not quote a name that looks
/// like a number.
pub(crate) fn fitting(text: &str, loaded: &Loaded, make: impl Fn(Json) -> Result<Message>) -> Result<Message> {
    let written = || make(Json::String(text.to_owned()));
    let parsed = make(inputs::typed(text).map_err(anyhow::Error::msg)?)?;
    match parsed.rejection(loaded) {
        Some(_) => Ok(Some(written()?).filter(|text| text.rejection(loaded).is_none()).unwrap_or(parsed)),
        None => Ok(parsed),
    }
}
