//! Matches the entries of a script with steps.

use longhaul_core::path::StepPath;

/// A step id or a whole path; `*` matches any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn fits(&self, path: &StepPath) -> bool {
        let whole = path.to_string();
        let whole = whole.split_once('@').map_or(whole.as_str(), |(steps, _)| steps);
        let id = path.segments().last().map(|segment| segment.id.to_string()).unwrap_or_default();
        matches(&self.0, &id) || matches(&self.0, whole)
    }
}

/// Each piece between stars is matched at the first possible place. With stars only, that is always correct.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*') {
        let Some(at) = text.find(piece) else { return false };
        text = &text[at + piece.len()..];
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).fits(&path.parse().unwrap())
    }

    #[test]
    fn an_id_fits_wherever_the_step_stands() {
        for path in ["code", "tasks[1]/code", "code#2", "code@3", "a[0]/b[2]/code#4@5"] {
            assert!(fits("code", path), "{path}");
        }
        assert!(!fits("code", "code/review") && !fits("code", "encode") && !fits("cod", "code"));
    }

    #[test]
    fn a_path_fits_that_instance_only() {
        assert!(fits("tasks[1]/code", "tasks[1]/code@2"));
        assert!(!fits("tasks[1]/code", "tasks[11]/code") && !fits("tasks[1]/code", "x/tasks[1]/code"));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("*", "a[0]/b") && fits("tasks[*]/code", "tasks[12]/code") && fits("co*", "tasks[1]/code"));
        assert!(fits("*s[*]/c*e", "tasks[1]/code") && fits("code**", "code") && fits("gate#*", "gate#2"));
        assert!(!fits("tasks[*]/code", "tasks[1]/review") && !fits("ab*ba", "aba") && !fits("*x*", "abc"));
    }
}
