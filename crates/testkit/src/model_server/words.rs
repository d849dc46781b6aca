//! Reads `key=text` and `key:=json`, as scripts write the input of a tool.

use serde_json::{Map, Value};

/// Reads pairs into an object; quotes keep words together.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    split(text)?.iter().map(|word| pair(word)).collect()
}

fn pair(word: &str) -> Result<(String, Value), String> {
    let (key, value) = word.split_once('=').ok_or_else(|| format!("expected KEY=VALUE, not `{word}`"))?;
    match key.strip_suffix(':') {
        Some(key) => match serde_json::from_str(value) {
            Ok(value) => Ok((key.to_owned(), value)),
            Err(error) => Err(format!("`{key}` is no JSON: {error}")),
        },
        None => Ok((key.to_owned(), Value::from(value))),
    }
}

/// Words between spaces; single and double quotes keep their content together.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for sign in text.chars() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, _) if sign.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}
