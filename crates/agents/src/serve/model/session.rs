//! A conversation on disk: `<home>/sessions/<id>.json`.
//!
//! **Invariant:** the file is replaced as a whole after every message, and a call of a tool is in it before the tool runs. Whoever
//! reads it after a crash finds at most the last request or the last tool undone. One process at a time has it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::message::{Answered, Message};
use crate::contract::{self, Trouble};

/// What the model is told about a tool of which nobody knows how far it came.
const INTERRUPTED: &str = "interrupted, outcome unknown: look before you do it again";
const ID_BYTES_MAX: usize = 128;

/// A conversation, and where it is kept.
#[derive(Debug)]
pub(super) struct Session {
    path: PathBuf,
    kept: Kept,
    _lock: File,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    version: u32,
    /// The prompt that has no answer yet.
    open: Option<String>,
    messages: Vec<Message>,
}

impl Session {
    /// Begins a conversation or takes it up again. A new one that is there already was begun by somebody who
    /// crashed: it is taken up.
    pub(super) fn open(home: &Path, session: &contract::Session) -> Result<Self, Trouble> {
        let (id, is_new) = match session {
            contract::Session::New(id) => (id, true),
            contract::Session::Resume { id, .. } => (id, false),
        };
        if !is_plain(id) {
            return Err(Trouble::named("bad_session", format!("`{id}` cannot be the name of a session")));
        }
        let folder = home.join("sessions");
        let path = folder.join(format!("{id}.json"));
        let lock = lock(&folder, id)?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Self { kept: parsed(&path, &bytes)?, path, _lock: lock }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_new => {
                Ok(Self { kept: Kept { version: 1, open: None, messages: Vec::new() }, path, _lock: lock })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Trouble::named("session_not_found", format!("there is no session `{id}`; begin a new one")))
            }
            Err(error) => Err(disk(&path, &error)),
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.kept.messages
    }

    /// The prompt of a turn, unless it was put already and not answered. Calls that were interrupted are answered.
    pub(super) fn ask(&mut self, prompt: &str) -> Result<(), Trouble> {
        self.fix();
        if self.kept.open.as_deref() != Some(prompt) {
            self.kept.messages.push(Message::user(prompt));
            self.kept.open = Some(prompt.to_owned());
        }
        self.save()
    }

    pub(super) fn push(&mut self, message: Message) -> Result<(), Trouble> {
        self.kept.messages.push(message);
        self.save()
    }

    /// What a tool said, to the last message with calls.
    pub(super) fn answer(&mut self, answered: Answered) -> Result<(), Trouble> {
        match self.kept.messages.last_mut() {
            Some(Message::Results { results }) => results.push(answered),
            _ => self.kept.messages.push(Message::Results { results: vec![answered] }),
        }
        self.save()
    }

    /// The prompt is answered.
    pub(super) fn close(&mut self) -> Result<(), Trouble> {
        self.kept.open = None;
        self.save()
    }

    /// Everything said so far becomes one message.
    pub(super) fn replace(&mut self, summary: String) -> Result<(), Trouble> {
        self.kept.messages = vec![Message::user(summary)];
        self.kept.open = None;
        self.save()
    }

    fn fix(&mut self) {
        let messages = &self.kept.messages;
        let Some(at) = messages.iter().rposition(|message| !message.calls().is_empty()) else { return };
        let answered: Vec<&str> = match messages.get(at + 1) {
            Some(Message::Results { results }) => results.iter().map(|answered| answered.id.as_str()).collect(),
            _ => Vec::new(),
        };
        let open = messages[at].calls().into_iter().filter(|call| !answered.contains(&call.id.as_str()));
        let unknown = |id: &String| Answered { id: id.clone(), ok: false, text: INTERRUPTED.to_owned() };
        let fixed: Vec<Answered> = open.map(|call| unknown(&call.id)).collect();
        match self.kept.messages.get_mut(at + 1) {
            Some(Message::Results { results }) => results.extend(fixed),
            _ if fixed.is_empty() => {}
            _ => self.kept.messages.insert(at + 1, Message::Results { results: fixed }),
        }
    }

    fn save(&self) -> Result<(), Trouble> {
        write(&self.path, &self.kept).map_err(|error| disk(&self.path, &error))
    }
}

fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !id.is_empty() && id.len() <= ID_BYTES_MAX && !id.starts_with('.') && id.bytes().all(is_plain)
}

fn lock(folder: &Path, id: &str) -> Result<File, Trouble> {
    let path = folder.join(format!("{id}.lock"));
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let opened =
        made.and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path));
    let file = opened.map_err(|error| disk(&path, &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Trouble::named(
            "session_in_use",
            format!("session `{id}` is in use by another process; wait for it to end"),
        )),
        Err(error) => Err(disk(&path, &error.into())),
    }
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Kept, Trouble> {
    serde_json::from_slice(bytes).map_err(|error| disk(path, &error.into()))
}

fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.sync_data()?;
    fs::rename(&beside, path)
}

fn disk(path: &Path, error: &io::Error) -> Trouble {
    Trouble::named("session_disk", format!("the session cannot be kept in `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::message::{Call, Part};
    use super::*;

    fn open(home: &Path, id: &str) -> Result<Session, Trouble> {
        Session::open(home, &contract::Session::New(id.to_owned()))
    }

    fn call(id: &str) -> Part {
        Part::Call(Call::new(id.to_owned(), "shell".to_owned(), "{}"))
    }

    #[test]
    fn a_crash_between_two_calls_leaves_one_unknown() {
        let home = tempfile::tempdir().unwrap();
        let mut session = open(home.path(), "a").unwrap();
        session.ask("go").unwrap();
        session.push(Message::Assistant { parts: vec![call("1"), call("2")] }).unwrap();
        session.answer(Answered { id: "1".to_owned(), ok: true, text: "fine".to_owned() }).unwrap();
        drop(session);
        let mut again = open(home.path(), "a").unwrap();
        again.ask("go").unwrap();
        let Message::Results { results } = &again.messages()[2] else { panic!("{:?}", again.messages()) };
        let said: Vec<_> = results.iter().map(|it| (it.id.as_str(), it.ok, it.text.as_str())).collect();
        assert_eq!(said, [("1", true, "fine"), ("2", false, INTERRUPTED)]);
        assert_eq!(again.messages().len(), 3, "the prompt is not put twice");
        again.ask("something else").unwrap();
        assert_eq!(again.messages().len(), 4);
    }

    #[test]
    fn an_answered_prompt_can_be_put_again() {
        let home = tempfile::tempdir().unwrap();
        let mut session = open(home.path(), "a").unwrap();
        session.ask("go").unwrap();
        session.close().unwrap();
        session.ask("go").unwrap();
        assert_eq!(session.messages().len(), 2);
    }

    #[test]
    fn a_session_has_one_user_and_a_plain_name() {
        let home = tempfile::tempdir().unwrap();
        let code = |result: Result<Session, Trouble>| result.err().and_then(|trouble| trouble.code);
        let held = open(home.path(), "a").unwrap();
        assert_eq!(code(open(home.path(), "a")).as_deref(), Some("session_in_use"));
        drop(held);
        assert!(open(home.path(), "a").is_ok());
        for id in ["", "../a", "a/b", ".a", "a\0"] {
            assert_eq!(code(open(home.path(), id)).as_deref(), Some("bad_session"), "{id}");
        }
    }

    #[test]
    fn what_is_not_there_or_not_ours_is_said() {
        let home = tempfile::tempdir().unwrap();
        let resume = contract::Session::Resume { id: "a".to_owned(), before: contract::Meter::default() };
        let code = |home: &Path| Session::open(home, &resume).err().and_then(|trouble| trouble.code);
        assert_eq!(code(home.path()).as_deref(), Some("session_not_found"));
        fs::write(home.path().join("sessions/a.json"), "{half").unwrap();
        assert_eq!(code(home.path()).as_deref(), Some("session_disk"));
    }
}
