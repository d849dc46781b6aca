//! Sessions of clients over HTTP, in files: a server that was killed knows its clients again.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};

/// How long a session is known that nobody has ended.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// A folder with a file for each session.
pub(crate) struct Sessions {
    folder: PathBuf,
}

impl Sessions {
    /// The sessions of a server; old ones are forgotten.
    pub(crate) fn of(data_dir: &Path) -> Self {
        let folder = data_dir.join("sessions");
        for file in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let written = file.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            if written.elapsed().is_ok_and(|age| age > KEPT) {
                let _ = std::fs::remove_file(file.path());
            }
        }
        Self { folder }
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
        std::fs::create_dir_all(&self.folder)?;
        let beside = file.with_extension("tmp");
        std::fs::write(&beside, serde_json::to_vec(state)?)?;
        Ok(std::fs::rename(beside, file)?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        if let Some(file) = self.file(id) {
            let _ = std::fs::remove_file(file);
        }
        Ok(())
    }
}
