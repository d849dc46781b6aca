//! Sessions of clients: over HTTP in files, so that a server that was killed knows its clients again; over a pipe by the client's name.
//!
//! **Invariant:** what was granted for a session is taken back when its client ends it, and that is recorded. A session that broke off
//! is not ended: the client may come back to it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use longhaul_agents::private;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

use crate::desk::Desk;

/// How long a session is known that nobody has ended.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The session of a request, where it has one.
pub(crate) fn id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

/// The session of the client at the other end of a pipe, once that has said who it is.
#[derive(Debug, Default)]
pub(crate) struct PipeSession(OnceLock<String>);

impl PipeSession {
    /// Its name: the same for the same client, also after a server was killed.
    pub(crate) fn of(&self, client: &str) -> &str {
        self.0.get_or_init(|| format!("pipe:{client}"))
    }

    /// The client has closed the pipe.
    pub(crate) async fn end(&self, desk: &Desk) {
        if let Some(session) = self.0.get() {
            end(desk, session).await;
        }
    }
}

/// Takes back what was granted for a session.
async fn end(desk: &Desk, session: &str) {
    // A store that cannot be written now leaves grants that nobody comes back for.
    let _ = desk.engine().end_session(session).await;
}

/// Sessions that one token has at once; whichever began first is ended for the next.
const OF_ONE_MAX: usize = 64;

/// Which token began which session, oldest first: also in files, for the next server.
pub(crate) struct Owners {
    folder: PathBuf,
    known: Mutex<Vec<(String, String)>>,
}

impl Owners {
    /// What is known in a folder of sessions.
    pub(crate) fn of(desk: &Desk) -> Self {
        let folder = desk.data_dir().join("sessions");
        let mut found: Vec<(SystemTime, String, String)> = Vec::new();
        for file in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(session) = name.strip_suffix(".owner") else { continue };
            let written = file.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            let Ok(key) = std::fs::read_to_string(file.path()) else { continue };
            found.push((written, session.to_owned(), key));
        }
        found.sort();
        Self { folder, known: Mutex::new(found.into_iter().map(|(_, session, key)| (session, key)).collect()) }
    }

    /// Whether a session may be used with a key: whoever began it may, and one that nobody is known to have begun is anybody's.
    pub(crate) fn may_use(&self, session: &str, key: &str) -> bool {
        let known = self.known().iter().find(|(id, _)| id == session).map(|(_, owner)| owner.clone());
        let kept = || std::fs::read_to_string(file(&self.folder, session, "owner")?).ok();
        known.or_else(kept).is_none_or(|owner| owner == key)
    }

    /// A key has begun a session; those that it has too many now.
    pub(crate) fn own(&self, session: &str, key: &str) -> Vec<String> {
        let mut known = self.known();
        if known.iter().any(|(id, _)| id == session) {
            return Vec::new();
        }
        if let Some(file) = file(&self.folder, session, "owner") {
            // Where it cannot be written, the next server takes the session for anybody's.
            let _ = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(file, key));
        }
        known.push((session.to_owned(), key.to_owned()));
        let own: Vec<String> = known.iter().filter(|(_, owner)| owner == key).map(|(id, _)| id.clone()).collect();
        own.iter().take(own.len().saturating_sub(OF_ONE_MAX)).cloned().collect()
    }

    /// Sessions whose key does not hold any more.
    pub(crate) fn orphans(&self, holds: impl Fn(&str) -> bool) -> Vec<String> {
        let known = self.known().clone();
        let keys: HashSet<&str> = known.iter().map(|(_, key)| key.as_str()).collect();
        let gone: HashSet<&str> = keys.into_iter().filter(|key| !holds(key)).collect();
        known.iter().filter(|(_, key)| gone.contains(key.as_str())).map(|(id, _)| id.clone()).collect()
    }

    /// A session is over.
    pub(crate) fn forget(&self, session: &str) {
        self.known().retain(|(id, _)| id != session);
        if let Some(file) = file(&self.folder, session, "owner") {
            let _ = std::fs::remove_file(file);
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file of a session. An id is given by us, but comes back from outside.
fn file(folder: &Path, id: &str, kind: &str) -> Option<PathBuf> {
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| folder.join(format!("{id}.{kind}")))
}

/// A folder with a file for each session.
pub(crate) struct Sessions {
    folder: PathBuf,
    desk: Desk,
}

impl Sessions {
    /// The sessions of a server; old ones are forgotten.
    pub(crate) fn of(desk: &Desk) -> Self {
        let folder = desk.data_dir().join("sessions");
        for file in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let written = file.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            if written.elapsed().is_ok_and(|age| age > KEPT) {
                let _ = std::fs::remove_file(file.path());
            }
        }
        Self { folder, desk: desk.clone() }
    }

    fn file(&self, id: &str) -> Option<PathBuf> {
        file(&self.folder, id, "json")
    }
}

#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(None) };
        match std::fs::read(file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let Some(file) = self.file(id) else { return Ok(()) };
        private::create_dir_all(&self.folder)?;
        Ok(private::replace(&file, &serde_json::to_vec(state)?)?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        if let Some(file) = self.file(id) {
            let _ = std::fs::remove_file(file);
            end(&self.desk, id).await;
        }
        Ok(())
    }
}
