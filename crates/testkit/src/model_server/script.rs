//! Scripts: sections of steps, and what each step says.
//!
//! **Invariant:** a script that was read can be played: whatever is wrong with a line is said when it is read.

mod condition;
mod line;
mod step;

pub(super) use condition::Condition;
pub(super) use step::{Act, Break, Kind, Limit, Part, Problem, Reset, Setting, Step, Usage};

use line::lines;

/// What the endpoint says, in order.
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) sections: Vec<Section>,
}

/// Steps for some of the requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// The condition as it was written.
    pub(super) name: String,
    /// All of them must hold; none holds always.
    pub(super) conditions: Vec<Condition>,
    /// One for each request, in order.
    pub(super) steps: Vec<Step>,
}

/// A line that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which line.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Error {}

impl std::str::FromStr for Script {
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
