//! Compares the result of a test with the expected one, and describes every difference.

use longhaul_core::Json;
use longhaul_core::event::{Ended, Event};
use longhaul_core::state::State;
use longhaul_core::status::RunStatus;
use longhaul_core::view;
use similar::TextDiff;

use super::file::Expect;
use super::play::Played;

/// The differences; empty if the result is as expected.
pub(crate) fn differences(expect: &Expect, played: &Played) -> Vec<String> {
    let run = view::run(&played.plan, &played.state, played.state.now);
    let mut found = Vec::new();
    if let Some(status) = expect.status.as_ref().filter(|status| *status != run.status.word()) {
        let why = run.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
        let waits = open(played).map_or_else(String::new, |asked| format!(", and `{asked}` asks"));
        found.push(format!("status: expected {status}, but it {} {}{why}{waits}", verb(run.status), run.status));
    }
    let message = run.message.clone().unwrap_or_default();
    if let Some(words) = expect.message.as_ref().filter(|words| !message.contains(*words)) {
        found.push(format!("message: expected `{words}` in `{message}`"));
    }
    found.extend(path(expect, played));
    found.extend(attempts(expect, played));
    found.extend(expect.outputs.iter().filter_map(|(name, wanted)| {
        let got = run.outputs.get(name).cloned().unwrap_or_default();
        (got != *wanted).then(|| format!("outputs.{name}:\n{}", diff(wanted, &got)))
    }));
    found.extend(expect.prompts.iter().filter_map(|(step, words)| prompt(played, step, words)));
    found.extend(expect.files.iter().filter_map(|(name, words)| {
        let text = std::fs::read_to_string(played.folder.workspace().join(name)).ok();
        match text {
            None => Some(format!("files: there is no {name}")),
            Some(text) => {
                (!text.contains(words)).then(|| format!("files: {name} has no `{words}`, but:\n{}", indented(&text)))
            }
        }
    }));
    if let Some(most) = expect.usd.filter(|most| run.usage.usd > *most + 1e-9) {
        found.push(format!("usd: expected at most {most}, but it cost {}", run.usage.usd));
    }
    if let Some(most) = expect.tokens.filter(|most| run.usage.tokens() > *most) {
        found.push(format!("tokens: expected at most {most}, but it used {}", run.usage.tokens()));
    }
    found.extend(played.unasked.iter().map(|said| {
        let what = said.step.as_ref().or(said.signal.as_ref()).cloned().unwrap_or_default();
        format!("answers: no step asked for the one to `{what}`")
    }));
    found
}

fn verb(status: RunStatus) -> &'static str {
    if matches!(status, RunStatus::Succeeded | RunStatus::Failed) { "has" } else { "is" }
}

fn open(played: &Played) -> Option<String> {
    view::questions(&played.plan, &played.state).first().map(|asked| asked.path.to_string())
}

/// The steps that ended in this way, in the order of their ends.
fn ended(played: &Played, how: Ended) -> Vec<String> {
    let of = played.events.iter().filter_map(|envelope| match &envelope.event {
        Event::StepEnded { path, end } if end.status == how => Some(path.to_string()),
        _ => None,
    });
    of.collect()
}

/// The skipped steps; some of them have no event of their own.
pub(crate) fn skipped(state: &State) -> Vec<String> {
    state.steps().iter().filter(|step| step.outcome.skipped.is_some()).map(|step| step.path.to_string()).collect()
}

fn path(expect: &Expect, played: &Played) -> Vec<String> {
    let done = ended(played, Ended::Succeeded);
    let mut found = Vec::new();
    let mut rest = done.iter();
    if let Some(missing) = expect.done.iter().find(|wanted| !rest.any(|path| is_at(path, wanted))) {
        let there =
            if done.iter().any(|path| is_at(path, missing)) { "is not done in this order" } else { "is not done" };
        found.push(format!("done: `{missing}` {there}; done were {}", listed(&done)));
    }
    let failed = ended(played, Ended::Failed);
    let skipped = skipped(&played.state);
    for (word, wanted, got) in [("failed", &expect.failed, &failed), ("skipped", &expect.skipped, &skipped)] {
        let missing = wanted.iter().filter(|wanted| !got.iter().any(|path| is_at(path, wanted)));
        found.extend(missing.map(|step| format!("{word}: `{step}` is not; {word} were {}", listed(got))));
    }
    let reached = |wanted: &&String| {
        played.state.steps().iter().any(|step| is_at(&step.path.to_string(), wanted) && step.outcome.skipped.is_none())
    };
    found.extend(expect.never.iter().filter(reached).map(|step| format!("never: `{step}` was reached")));
    found
}

fn attempts(expect: &Expect, played: &Played) -> Vec<String> {
    let of = |step: &str| {
        let steps = played.state.steps().iter().filter(|inst| is_at(&inst.path.to_string(), step));
        steps.map(|inst| inst.attempts).sum::<u32>()
    };
    let wrong =
        expect.attempts.iter().map(|(step, wanted)| (step, *wanted, of(step))).filter(|(_, wanted, got)| wanted != got);
    wrong.map(|(step, wanted, got)| format!("attempts: expected {wanted} of `{step}`, but there were {got}")).collect()
}

fn prompt(played: &Played, step: &str, words: &str) -> Option<String> {
    let inst = played.state.steps().iter().find(|inst| is_at(&inst.path.to_string(), step) && inst.attempts > 0);
    let Some(inst) = inst else { return Some(format!("prompts: `{step}` was never asked")) };
    let prompt = played.prompt(&inst.path, 1);
    (!prompt.contains(words)).then(|| format!("prompts: `{step}` was not told `{words}`, but:\n{}", indented(&prompt)))
}

/// Whether a path matches: the whole of it or its end, with or without the numbers of items, rounds and visits.
pub(crate) fn is_at(path: &str, wanted: &str) -> bool {
    let ends = |path: &str| format!("/{path}").ends_with(&format!("/{wanted}"));
    ends(path) || ends(&plain(path))
}

/// A path without the numbers of items, rounds and visits.
fn plain(path: &str) -> String {
    let mut inside = false;
    let kept = path.chars().filter(|c| {
        let opens = matches!(c, '[' | '#');
        inside = opens || inside && !matches!(c, ']' | '/');
        !inside && *c != ']'
    });
    kept.collect()
}

fn listed(steps: &[String]) -> String {
    if steps.is_empty() { "none".to_owned() } else { steps.join(", ") }
}

fn diff(wanted: &Json, got: &Json) -> String {
    let [wanted, got] = [wanted, got].map(|value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n");
    let diff = TextDiff::from_lines(&wanted, &got);
    let lines = diff.iter_all_changes().map(|change| format!("{}{change}", change.tag()));
    indented(&lines.collect::<String>())
}

fn indented(text: &str) -> String {
    text.lines().take(40).map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_meant_by_their_end_with_or_without_numbers() {
        for wanted in ["work", "cycle/work", "cycle[1]/work", "tasks[0]/cycle[1]/work", "tasks/cycle/work"] {
            assert!(is_at("tasks[0]/cycle[1]/work", wanted), "{wanted}");
        }
        for other in ["ork", "cycle[0]/work", "cycle", "tasks[0]/work"] {
            assert!(!is_at("tasks[0]/cycle[1]/work", other), "{other}");
        }
        assert!(is_at("fix#2", "fix"));
    }
}
