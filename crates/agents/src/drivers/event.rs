//! Reads one line of a stream, whatever it contains.

use longhaul_core::Json;

/// The event on a line, if there is one.
pub(super) fn read(line: &str) -> Option<Json> {
    serde_json::from_str(line.trim()).ok().filter(Json::is_object)
}

/// Reads parts of an event: a missing value, or one of another type, is empty.
pub(super) trait Look {
    /// The value at a JSON pointer, or null.
    fn at(&self, pointer: &str) -> &Json;

    /// A text, or an empty one.
    fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_default()
    }

    /// A text that is not empty.
    fn word(&self, pointer: &str) -> Option<String> {
        Some(self.text(pointer)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// A count, or 0.
    fn count(&self, pointer: &str) -> u64 {
        self.at(pointer).as_u64().unwrap_or_default()
    }

    /// Whether the value is true.
    fn is(&self, pointer: &str) -> bool {
        self.at(pointer).as_bool().unwrap_or_default()
    }

    /// The items of a list, or an empty list.
    fn items(&self, pointer: &str) -> &[Json] {
        self.at(pointer).as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// An HTTP status.
    fn status(&self, pointer: &str) -> Option<u16> {
        self.at(pointer).as_u64().and_then(|status| u16::try_from(status).ok())
    }
}

impl Look for Json {
    fn at(&self, pointer: &str) -> &Json {
        self.pointer(pointer).unwrap_or(&Json::Null)
    }
}

/// The text of a tool's result: a text, or the text parts of a list.
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
