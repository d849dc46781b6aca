//! Reading one line of a stream, without ever minding what is in it.

use longhaul_core::Json;

/// The event on a line, if there is one.
pub(super) fn read(line: &str) -> Option<Json> {
    serde_json::from_str(line.trim()).ok().filter(Json::is_object)
}

/// Looking into an event: what is not there, or of another kind, is empty.
pub(super) trait Look {
    /// What a JSON pointer leads to, or null.
    fn at(&self, pointer: &str) -> &Json;

    /// A text, or an empty one.
    fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    /// A text that is not empty.
    fn word(&self, pointer: &str) -> Option<String> {
        Some(self.text(pointer)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A number of things, or none.
    fn count(&self, pointer: &str) -> u64 {
        self.at(pointer).as_u64().unwrap_or_default()
    }

    /// Whether it says so.
    fn is(&self, pointer: &str) -> bool {
        self.at(pointer).as_bool().unwrap_or_default()
    }

    /// The items of a list, or none.
    fn items(&self, pointer: &str) -> &[Json] {
        self.at(pointer).as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// A status of HTTP.
    fn status(&self, pointer: &str) -> Option<u16> {
        self.at(pointer).as_u64().and_then(|status| u16::try_from(status).ok())
    }
}

impl Look for Json {
    fn at(&self, pointer: &str) -> &Json {
        self.pointer(pointer).unwrap_or(&Json::Null)
    }
}

/// What a tool has said: a text, or parts of which some are texts.
pub(super) fn said(content: &Json) -> String {
    match content {
        Json::String(text) => text.clone(),
        Json::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().map(|part| part.text("/text")).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
