//! Sessions of clients. Over HTTP they are in files, so that a restarted server knows its clients. Over a pipe they go
//! by the client's name.
//!
//! **Invariant:** when a client ends its session, the grants of the session are revoked, and that is recorded. A lost
//! connection does not end a session: the client may come back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use longhaul_agents::private;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

use crate::app_state::AppState;

/// How long to keep a session that was not ended.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The session of a request, if it has one.
pub(crate) fn id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

/// The session of the client at the other end of a pipe, once the client has identified itself.
#[derive(Debug, Default)]
pub(crate) struct PipeSession(OnceLock<String>);

impl PipeSession {
    /// The id of the session. The same client has the same id, also after a restart.
    pub(crate) fn of(&self, client: &str) -> &str {
        self.0.get_or_init(|| format!("pipe:{client}"))
    }

    /// Ends the session when the client closes the pipe.
    pub(crate) async fn end(&self, desk: &AppState) {
        if let Some(session) = self.0.get() {
            end(desk, session).await;
        }
    }
}

/// Revokes the grants of a session.
async fn end(desk: &AppState, session: &str) {
    // If the store fails, the grants stay, but no client uses them.
    let _ = desk.engine().end_session(session).await;
}

/// The most sessions of one token. Above that, the oldest one ends.
const OF_ONE_MAX: usize = 64;

/// The token that started each session, oldest first. Files keep it for the next server.
pub(crate) struct Owners {
    folder: PathBuf,
    known: Mutex<Vec<(String, String)>>,
}

impl Owners {
    /// Reads the owners from the folder of sessions.
    pub(crate) fn of(desk: &AppState) -> Self {
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

    /// Whether a key may use a session. The key that started it may. A session without a known owner is open to all.
    pub(crate) fn may_use(&self, session: &str, key: &str) -> bool {
        let known = self.known().iter().find(|(id, _)| id == session).map(|(_, owner)| owner.clone());
        let kept = || std::fs::read_to_string(file(&self.folder, session, "owner")?).ok();
        known.or_else(kept).is_none_or(|owner| owner == key)
    }

    /// Notes that a key started a session. Returns the sessions that are too many.
    pub(crate) fn own(&self, session: &str, key: &str) -> Vec<String> {
        let mut known = self.known();
        if known.iter().any(|(id, _)| id == session) {
            return Vec::new();
        }
        if let Some(file) = file(&self.folder, session, "owner") {
            // If this fails, the next server treats the session as open to all.
            let _ = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(file, key));
        }
        known.push((session.to_owned(), key.to_owned()));
        let own: Vec<String> = known.iter().filter(|(_, owner)| owner == key).map(|(id, _)| id.clone()).collect();
        own.iter().take(own.len().saturating_sub(OF_ONE_MAX)).cloned().collect()
    }

    /// Sessions whose key is no longer valid.
    pub(crate) fn orphans(&self, holds: impl Fn(&str) -> bool) -> Vec<String> {
        let known = self.known().clone();
        let keys: HashSet<&str> = known.iter().map(|(_, key)| key.as_str()).collect();
        let gone: HashSet<&str> = keys.into_iter().filter(|key| !holds(key)).collect();
        known.iter().filter(|(_, key)| gone.contains(key.as_str())).map(|(id, _)| id.clone()).collect()
    }

    /// Forgets a session that is over.
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

/// The file of a session. We create ids, but clients send them back, so check them.
fn file(folder: &Path, id: &str, kind: &str) -> Option<PathBuf> {
    let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| folder.join(format!("{id}.{kind}")))
}

/// The folder with a file for each session.
pub(crate) struct Sessions {
    folder: PathBuf,
    desk: AppState,
}

impl Sessions {
    /// The sessions of a server. Removes old ones.
    pub(crate) fn of(desk: &AppState) -> Self {
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
