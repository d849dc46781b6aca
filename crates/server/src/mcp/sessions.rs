//! Sessions of clients: over HTTP in files, so that a server that was killed knows its clients again; over a pipe by the client's name.
//!
//! **Invariant:** what was granted for a session is taken back when its client ends it, and that is recorded. A session that broke off
//! is not ended: the client may come back to it.

use std::path::PathBuf;
use std::sync::OnceLock;
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
    // A store that can not be written now leaves grants that nobody comes back for.
    let _ = desk.engine().end_session(session).await;
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

    /// The file of a session. An id is given by us, but comes back from outside.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let is_id = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_id.then(|| self.folder.join(format!("{id}.json")))
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
