//! The conditions that choose the requests of a section.

use crate::model_server::api::Api;
use crate::model_server::request::Request;

/// A condition on a request.
#[derive(Debug, Clone)]
pub(in crate::model_server) struct Condition {
    /// Whether the condition must not hold.
    not: bool,
    about: About,
}

#[derive(Debug, Clone)]
enum About {
    Any,
    Lane(String),
    Api(Api),
    Model(String),
    Prompt(String),
    History(String),
    Result(String),
    System(String),
    Key(String),
    Side,
    Compact,
}

/// Reads `CONDITION and CONDITION`.
pub(super) fn all(text: &str) -> Result<Vec<Condition>, String> {
    text.split(" and ").map(|one| condition(one.trim())).collect()
}

fn condition(text: &str) -> Result<Condition, String> {
    let (not, text) = text.strip_prefix("not ").map_or((false, text), |text| (true, text));
    let (word, value) = text.split_once(' ').unwrap_or((text, ""));
    let about = about(word, value.trim())?;
    Ok(Condition { not, about })
}

fn about(word: &str, value: &str) -> Result<About, String> {
    let text = value.to_owned();
    match word {
        "any" => Ok(About::Any),
        "side" => Ok(About::Side),
        "compact" => Ok(About::Compact),
        _ if value.is_empty() => Err(format!("`{word}` of what?")),
        "lane" => Ok(About::Lane(text)),
        "api" => Api::of_name(value).map(About::Api).ok_or_else(|| format!("there is no API `{value}`")),
        "model" => Ok(About::Model(text)),
        "prompt" => Ok(About::Prompt(text)),
        "history" => Ok(About::History(text)),
        "result" => Ok(About::Result(text)),
        "system" => Ok(About::System(text)),
        "key" => Ok(About::Key(text)),
        _ => Err(format!("there is no condition `{word}`")),
    }
}

impl Condition {
    /// Whether the condition holds for a request.
    pub(in crate::model_server) fn holds(&self, request: &Request) -> bool {
        self.about.holds(request) != self.not
    }

    /// Whether it selects requests on the agent's own account.
    pub(in crate::model_server) fn claims_side(&self) -> bool {
        matches!(self.about, About::Side) && !self.not
    }
}

impl About {
    fn holds(&self, request: &Request) -> bool {
        match self {
            Self::Any => true,
            Self::Lane(name) => request.lane == *name,
            Self::Api(api) => request.api == *api,
            Self::Model(name) => fits(name, &request.model),
            Self::Prompt(text) => request.prompt().contains(text),
            Self::History(text) => request.messages.iter().any(|message| message.text.contains(text)),
            Self::Result(text) => request.tool_result.contains(text),
            Self::System(text) => request.system.contains(text),
            Self::Key(text) => request.key.contains(text),
            Self::Side => request.side,
            Self::Compact => request.compact,
        }
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |beginning| name.starts_with(beginning))
}
