//! What agents that this binary serves itself have in common: how they are started, and how their lines are read.

use crate::contract::{Ending, Entry, Exit, Found, Invocation, Missing, Reader, Refusal, Setup, Trouble};
use crate::serve::{AGENT_COMMAND, Ask, Line};

/// This binary, as the agent.
pub(super) fn found(logged_in: bool) -> Result<Found, Missing> {
    let program = std::env::current_exe().map_err(|error| Missing {
        what: format!("this program cannot be found: {error}"),
        remedy: "install it again".to_owned(),
    })?;
    Ok(Found { program, version: env!("CARGO_PKG_VERSION").to_owned(), logged_in })
}

/// The command line of a turn: everything but the agent's name goes through stdin.
pub(super) fn invocation(name: &str, found: &Found, setup: &Setup, ask: &Ask) -> Result<Invocation, Refusal> {
    let mut stdin =
        serde_json::to_vec(ask).map_err(|error| Refusal(format!("the turn cannot be written down: {error}")))?;
    stdin.push(b'\n');
    Ok(Invocation {
        program: found.program.clone(),
        args: vec![AGENT_COMMAND.to_owned(), name.to_owned()],
        env: setup.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        keep_env: setup.keep_env.clone(),
        stdin,
    })
}

/// Reads the lines of a served agent.
#[derive(Debug, Default)]
pub(super) struct Lines {
    ending: Option<Ending>,
    /// What an ending would say, if none comes.
    seen: Ending,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) -> Vec<Entry> {
        match serde_json::from_str(line) {
            Ok(Line::Ending { ending }) => self.ending = Some(*ending),
            Ok(Line::Entry(entry)) => {
                self.see(&entry);
                return vec![entry];
            }
            Err(_) => {}
        }
        Vec::new()
    }

    fn finish(self: Box<Self>, exit: &Exit) -> Ending {
        let Self { ending, seen } = *self;
        let at_least = seen.used.is_some();
        ending.unwrap_or_else(|| Ending { trouble: unfinished(exit), at_least, ..seen })
    }
}

impl Lines {
    fn see(&mut self, entry: &Entry) {
        match entry {
            Entry::Session { id, .. } => self.seen.session = Some(id.clone()),
            Entry::Text { text, delta: true } => self.seen.text.push_str(text),
            Entry::Text { text, delta: false } => self.seen.text.clone_from(text),
            Entry::Usage { meter } => self.seen.used = Some(*meter),
            Entry::Denied { name } => self.seen.denied.push(name.clone()),
            _ => {}
        }
    }
}

fn unfinished(exit: &Exit) -> Trouble {
    let how = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("signal {signal} ended the agent before its answer"),
        (code, None) => format!("the agent ended before its answer, with code {}", code.unwrap_or_default()),
    };
    let complaint = exit.stderr.trim();
    let message = if complaint.is_empty() { how } else { format!("{how}\n{complaint}") };
    Trouble::named("no_ending", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_was_killed_leaves_what_was_seen() {
        let mut lines = Box::<Lines>::default();
        for line in [
            r#"{"type":"session","id":"s"}"#,
            "noise",
            r#"{"type":"text","text":"half "}"#,
            r#"{"type":"text","text":"an answer","delta":true}"#,
            r#"{"type":"usage","meter":{"input_tokens":3,"cached_tokens":0,"output_tokens":2}}"#,
            r#"{"type":"denied","name":"shell"}"#,
        ] {
            lines.line(line);
        }
        let exit = Exit { code: None, signal: Some(9), ended: None, stderr: String::new() };
        let ending = lines.finish(&exit);
        assert_eq!((ending.text.as_str(), ending.session.as_deref()), ("half an answer", Some("s")));
        assert_eq!((ending.used.map(|used| used.output_tokens), ending.denied.len()), (Some(2), 1));
        assert_eq!(ending.trouble.code.as_deref(), Some("no_ending"));
    }
}
