//! Scripts: sections of steps, and the answer of each step.
//!
//! **Invariant:** a script that was read can be played: every error in a line is reported when it is read.

mod condition;
mod line;
mod step;

pub(super) use condition::Condition;
pub(super) use step::{Act, Break, Kind, Limit, Part, Problem, Reset, Setting, Step, Usage};

use line::lines;

/// The answers of the endpoint, in order.
#[derive(Debug, Clone)]
pub struct EndpointScript {
    pub(super) sections: Vec<Section>,
}

/// Steps for some of the requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// The condition, as the script writes it.
    pub(super) name: String,
    /// The conditions; all must hold. Without conditions, every request matches.
    pub(super) conditions: Vec<Condition>,
    /// The steps, one per request, in order.
    pub(super) steps: Vec<Step>,
}

/// An error in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The line of the error.
    pub line: usize,
    /// The problem.
    pub what: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Error {}

impl std::str::FromStr for EndpointScript {
    type Err = Error;

    fn from_str(source: &str) -> Result<Self, Error> {
        let mut rest = Section { name: "any".to_owned(), ..Section::default() };
        let mut sections: Vec<Section> = Vec::new();
        for (line, text) in lines(source)? {
            let at = |what| Error { line, what };
            if let Some(conditions) = text.strip_prefix("on ") {
                sections.push(opened(conditions).map_err(at)?);
            } else {
                let section = sections.last_mut().unwrap_or(&mut rest);
                section.add(&text).map_err(at)?;
            }
        }
        sections.push(rest);
        Ok(Self { sections })
    }
}

fn opened(conditions: &str) -> Result<Section, String> {
    let name = conditions.trim().to_owned();
    Ok(Section { conditions: condition::all(&name)?, name, steps: Vec::new() })
}

impl Section {
    fn add(&mut self, text: &str) -> Result<(), String> {
        match text.strip_prefix("+ ") {
            Some(more) => self.join(step::part(more.trim_start())?),
            None => {
                self.steps.push(step::read(text)?);
                Ok(())
            }
        }
    }

    fn join(&mut self, part: Part) -> Result<(), String> {
        match self.steps.last_mut() {
            Some(Step { act: Act::Answer(parts), .. }) => {
                parts.push(part);
                Ok(())
            }
            _ => Err("`+` joins an answer to the answer before it".to_owned()),
        }
    }
}
