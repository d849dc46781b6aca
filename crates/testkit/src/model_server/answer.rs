//! Turns the steps of a script into an answer, in one shape for all APIs.

use serde_json::{Map, Value};

use super::request::Request;
use super::script::{Part, Usage};
use super::tools;

/// The answer of the model.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// The id of this answer; the same for the same request of the same script.
    pub(super) id: String,
    pub(super) blocks: Vec<Block>,
    pub(super) stop: Stop,
    pub(super) used: Used,
}

/// A part of the answer.
#[derive(Debug, Clone)]
pub(super) enum Block {
    Text(String),
    Think(String),
    Call { name: String, input: Map<String, Value>, namespace: Option<String> },
    Raw { name: String, text: String, namespace: Option<String> },
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    Tool,
    Length,
    Refusal,
}

/// The reported tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
}

impl Block {
    /// A call of a tool outside of groups.
    pub(super) fn call(name: &str, input: Map<String, Value>) -> Self {
        Self::Call { name: name.to_owned(), input, namespace: None }
    }

    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. } | Self::Raw { .. })
    }

    fn size(&self) -> usize {
        match self {
            Self::Text(text) | Self::Think(text) | Self::Raw { text, .. } => text.len(),
            Self::Call { input, .. } => Value::Object(input.clone()).to_string().len(),
        }
    }
}

/// The known facts when an answer is made.
pub(super) struct Situation<'a> {
    pub(super) request: &'a Request,
    /// The number of the request in its lane.
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) usage: Usage,
}

impl Situation<'_> {
    /// The answer that a step stands for.
    pub(super) fn answer(&self, parts: &[Part]) -> Answer {
        let blocks: Vec<Block> = parts.iter().filter_map(|part| self.block(part)).collect();
        let stop = parts
            .iter()
            .find_map(stop)
            .unwrap_or_else(|| if blocks.iter().any(Block::is_call) { Stop::Tool } else { Stop::End });
        Answer { id: self.id.clone(), used: self.used(&blocks), blocks, stop }
    }

    fn block(&self, part: &Part) -> Option<Block> {
        let request = self.request;
        Some(match part {
            Part::Text(text) | Part::MaxTokens(text) | Part::Refuse(text) => Block::Text(self.fill(text)),
            Part::Think(text) => Block::Think(self.fill(text)),
            Part::Echo => Block::Text(request.prompt()),
            Part::Run(command) => tools::run(request, &self.fill(command)),
            Part::Write { path, text } => tools::write(request, &self.fill(path), &self.fill(text)),
            Part::Tool { name, input } => self.named(name, self.fill_all(input)),
            Part::RawTool { name, text } => {
                Block::Raw { name: name.clone(), text: self.fill(text), namespace: self.namespace(name) }
            }
            Part::Structured(value) => self.structured(self.fill_all(value)),
            Part::Empty => return None,
        })
    }

    fn named(&self, name: &str, input: Map<String, Value>) -> Block {
        Block::Call { name: name.to_owned(), input, namespace: self.namespace(name) }
    }

    fn namespace(&self, name: &str) -> Option<String> {
        self.request.offered(&[name]).and_then(|tool| tool.namespace.clone())
    }

    fn structured(&self, value: Map<String, Value>) -> Block {
        match self.request.offered(&["StructuredOutput", "structured_output", "answer"]) {
            Some(tool) => Block::call(&tool.name, value),
            None => Block::Text(Value::Object(value).to_string()),
        }
    }

    fn fill_all(&self, input: &Map<String, Value>) -> Map<String, Value> {
        let filled = |value: &Value| value.as_str().map_or_else(|| value.clone(), |text| Value::from(self.fill(text)));
        input.iter().map(|(key, value)| (key.clone(), filled(value))).collect()
    }

    fn fill(&self, text: &str) -> String {
        if !text.contains("{{") {
            return text.to_owned();
        }
        let request = self.request;
        text.replace("{{n}}", &self.number.to_string())
            .replace("{{lane}}", &request.lane)
            .replace("{{cwd}}", request.cwd().as_deref().unwrap_or("."))
            .replace("{{tool_result}}", &request.tool_result)
            .replace("{{prompt}}", &request.prompt())
    }

    /// The numbers of the script, else one token per four bytes.
    fn used(&self, blocks: &[Block]) -> Used {
        let request = self.request;
        let read = request.system.len() + request.messages.iter().map(|message| message.text.len()).sum::<usize>();
        let written = blocks.iter().map(Block::size).sum::<usize>();
        let tokens = |bytes: usize| (bytes as u64 / 4).max(1);
        Used {
            input: self.usage.input.unwrap_or_else(|| tokens(read)),
            output: self.usage.output.unwrap_or_else(|| tokens(written)),
            cached: self.usage.cached.unwrap_or_default(),
        }
    }
}

fn stop(part: &Part) -> Option<Stop> {
    match part {
        Part::MaxTokens(_) => Some(Stop::Length),
        Part::Refuse(_) => Some(Stop::Refusal),
        _ => None,
    }
}
