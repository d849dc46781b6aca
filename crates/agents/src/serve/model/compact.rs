//! Shortens a conversation: the model writes a summary, which replaces it.
//!
//! The conversation is sent as plain text with long pieces cut, so that it fits even if the context is full.

use std::fmt::Write as _;

use super::message::{self, Message, Part};
use super::wire::Request;
use super::{Talk, trouble};
use crate::contract::AgentTrouble;

const PIECE_BYTES_MAX: usize = 2_000;
const STORY_BYTES_MAX: usize = 200_000;

const SYSTEM: &str = "You write hand-over notes for an agent that will continue with somebody else's work and knows \
nothing but your notes. Be exact and complete, and add nothing of your own.";
const TASK: &str = "Above is the record of the work so far; long pieces are shortened. Write the notes: what was asked \
for, word for word where the wording matters; what was found out; which files were read, made or changed and how; what \
was decided and why; what failed; what is left to do, in order.";
const OPENING: &str = "What happened before, in the notes of whoever did it:";

impl Talk<'_> {
    /// Shortens the conversation, and returns whether it is shorter now.
    pub(super) async fn compact(&mut self) -> Result<bool, AgentTrouble> {
        // The prompts alone cannot become shorter.
        if !self.session.messages().iter().any(|message| matches!(message, Message::Assistant { .. })) {
            return Ok(false);
        }
        self.announce();
        let endpoint = self.job.endpoint;
        let asked = [Message::user(format!("{}\n\n{TASK}", story(self.session.messages())))];
        let body = endpoint.wire.body(&Request {
            model: &endpoint.model,
            system: SYSTEM,
            effort: None,
            messages: &asked,
            tools: &[],
            schema: None,
            is_last: false,
            limit: self.facts.limit(endpoint),
        });
        let reply = self.send(&body).await.map_err(failed)?;
        if reply.stop == message::Stop::Cut {
            return Err(failed(trouble::too_long()));
        }
        let notes = message::text(&reply.parts);
        if notes.trim().is_empty() {
            return Err(failed(trouble::empty()));
        }
        self.session.replace(format!("{OPENING}\n\n{notes}"))?;
        Ok(true)
    }
}

fn failed(trouble: AgentTrouble) -> AgentTrouble {
    AgentTrouble { compacted: Some(false), ..trouble }
}

fn story(messages: &[Message]) -> String {
    let mut story = String::new();
    for message in messages {
        match message {
            Message::User { text } => tell(&mut story, "asked", text),
            Message::Results { results } => results.iter().for_each(|it| tell(&mut story, "result", &it.text)),
            Message::Assistant { parts } => parts.iter().for_each(|part| tell_part(&mut story, part)),
        }
    }
    shortened(&story, STORY_BYTES_MAX)
}

fn tell_part(story: &mut String, part: &Part) {
    match part {
        Part::Text { text } => tell(story, "said", text),
        Part::Call(call) => tell(story, "did", &format!("{} {}", call.name, call.input)),
        Part::Kept { .. } => {}
    }
}

fn tell(story: &mut String, what: &str, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(story, "[{what}] {}\n", shortened(text, PIECE_BYTES_MAX));
}

/// The start and the end of a text that is too long.
fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes_max / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes_max / 2);
    format!("{} … {} bytes left out … {}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_bounded_and_keeps_both_ends() {
        let long = Message::user("x".repeat(50_000));
        let mut messages = vec![Message::user("the task")];
        messages.extend(std::iter::repeat_n(long, 200));
        messages.push(Message::user("the end"));
        let story = story(&messages);
        assert!(story.len() < STORY_BYTES_MAX + 100, "{}", story.len());
        assert!(story.starts_with("[asked] the task\n") && story.trim_end().ends_with("[asked] the end"));
    }
}
