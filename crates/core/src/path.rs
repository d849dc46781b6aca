//! Addresses of step instances inside a run: `tasks[3]/review`, `gate#2`, `review@2`.
//!
//! A path is a list of segments from the outside in. A segment names a step and, where the step ran
//! more than once, which time: `[i]` counts items and rounds from zero, `#v` counts visits of a state
//! machine's node from one (the first is not written), `@a` at the end counts attempts from one.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::StepId;

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    /// The step.
    pub id: StepId,
    /// The item or round of the step's body that contains the next segment.
    pub index: Option<u32>,
    /// The visit, from 1.
    pub visit: u32,
}

/// The address of one instance of a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct StepPath {
    segments: Vec<Segment>,
    attempt: Option<u32>,
}

impl StepPath {
    /// A step of the outermost body, on its first visit.
    pub fn root(id: StepId) -> Self {
        Self { segments: vec![Segment { id, index: None, visit: 1 }], attempt: None }
    }

    /// The segments, outermost first; there is at least one.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The attempt, if the path names one.
    pub fn attempt(&self) -> Option<u32> {
        self.attempt
    }

    /// A step inside this one, in item or round `index`.
    pub fn child(&self, index: Option<u32>, id: StepId) -> Self {
        let mut segments = self.segments.clone();
        if let Some(last) = segments.last_mut() {
            last.index = index;
        }
        segments.push(Segment { id, index: None, visit: 1 });
        Self { segments, attempt: None }
    }

    /// Another step of the same body, on its first visit.
    pub fn beside(&self, id: StepId) -> Self {
        let mut segments = self.segments.clone();
        segments.pop();
        segments.push(Segment { id, index: None, visit: 1 });
        Self { segments, attempt: None }
    }

    /// Whether this is a step inside another one.
    pub fn is_inside(&self, container: &Self) -> bool {
        let (outer, Some(last)) = (container.segments.len(), container.segments.last()) else { return false };
        let same = |segment: &Segment| segment.id == last.id && segment.visit == last.visit;
        self.segments.len() > outer
            && self.segments[..outer - 1] == container.segments[..outer - 1]
            && same(&self.segments[outer - 1])
    }

    /// The visit of the same step before this one.
    pub fn visit_before(&self) -> Option<Self> {
        let visit = self.segments.last()?.visit.checked_sub(1).filter(|visit| *visit > 0)?;
        Some(self.clone().visited(visit))
    }

    /// The same step on another visit.
    pub fn visited(mut self, visit: u32) -> Self {
        if let Some(last) = self.segments.last_mut() {
            last.visit = visit;
        }
        self
    }

    /// The same instance at a given attempt.
    pub fn at_attempt(mut self, attempt: u32) -> Self {
        self.attempt = Some(attempt);
        self
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            if position > 0 {
                f.write_str("/")?;
            }
            write!(f, "{}", segment.id)?;
            if segment.visit > 1 {
                write!(f, "#{}", segment.visit)?;
            }
            if let Some(index) = segment.index {
                write!(f, "[{index}]")?;
            }
        }
        self.attempt.map_or(Ok(()), |attempt| write!(f, "@{attempt}"))
    }
}

impl FromStr for StepPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (steps, attempt) = match text.split_once('@') {
            Some((steps, attempt)) => (steps, Some(count_from_one(attempt)?)),
            None => (text, None),
        };
        let segments = steps.split('/').map(parse_segment).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { segments, attempt })
    }
}

fn parse_segment(text: &str) -> Result<Segment, String> {
    let (rest, index) = match text.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        Some((rest, index)) => (rest, Some(number(index)?)),
        None => (text, None),
    };
    let (id, visit) = match rest.split_once('#') {
        Some((id, visit)) => (id, count_from_one(visit)?),
        None => (rest, 1),
    };
    let id = StepId::new(id).ok_or_else(|| format!("`{id}` is not a step id"))?;
    Ok(Segment { id, index, visit })
}

fn count_from_one(text: &str) -> Result<u32, String> {
    number(text).and_then(|n| if n > 0 { Ok(n) } else { Err("counts start at 1".to_owned()) })
}

fn number(text: &str) -> Result<u32, String> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| canonical).ok_or_else(|| format!("`{text}` is not a number"))
}

impl TryFrom<String> for StepPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<StepPath> for String {
    fn from(path: StepPath) -> String {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_back_as_it_prints() {
        for text in ["review", "tasks[3]/review", "build[1]/check", "gate#2", "review@2", "a#3[0]/b[2]/c#4@5"] {
            let path: StepPath = text.parse().unwrap();
            assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_path_is_refused() {
        for text in ["", "a//b", "../x", "a[", "a[x]", "a@0", "a#0", "a[01]", "a@+1", "a b"] {
            assert!(text.parse::<StepPath>().is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_built_from_the_outside_in() {
        let tasks = StepPath::root(StepId::new("tasks").unwrap());
        let review = tasks.child(Some(3), StepId::new("review").unwrap());
        assert_eq!(review.clone().at_attempt(2).to_string(), "tasks[3]/review@2");
        assert_eq!(review.visited(2).to_string(), "tasks[3]/review#2");
    }

    #[test]
    fn a_path_knows_what_it_is_inside_of() {
        let path = |text: &str| text.parse::<StepPath>().unwrap();
        assert!(path("a[3]/b").is_inside(&path("a")) && path("a/b[1]/c").is_inside(&path("a/b")));
        assert!(!path("a#2[3]/b").is_inside(&path("a")) && !path("a").is_inside(&path("a")));
        assert!(!path("a[0]/b[1]/c").is_inside(&path("a[1]/b")));
        assert_eq!(path("a[1]/b#3").visit_before(), Some(path("a[1]/b#2")));
        assert_eq!(path("a[1]/b").visit_before(), None);
    }
}
