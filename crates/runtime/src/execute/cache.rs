//! Results that are used again instead of being made again.
//!
//! A result is kept under the hash of everything it depends on, in a file beside the runs. Only what succeeded is kept.
//!
//! **Invariant:** a file that is not whole, not ours or too old is as good as none. Whatever goes wrong here, the work is
//! done.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use blake3::{Hash, Hasher};
use longhaul_agents::private;
use longhaul_core::Json;
use longhaul_core::event;
use longhaul_core::plan::SEMANTICS;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::execute::kinds::{Attempt, files};

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The hash again: a file under another name is not ours.
    key: String,
    created_at: i64,
    result: event::Result,
}

/// The place of one result.
pub(crate) struct Entry {
    file: PathBuf,
    key: String,
    ttl_ms: Option<u64>,
    now_ms: i64,
    refresh: bool,
}

/// The place of an attempt's result; `None` if it is not to be kept. The error is a pattern of files that makes no sense.
pub(crate) async fn entry(attempt: &Attempt) -> Result<Option<Entry>, String> {
    let Some(cache) = &attempt.cache else { return Ok(None) };
    let (root, patterns) = (attempt.cwd(), cache.files.clone());
    let script = attempt.text("script").map(|script| attempt.workflow_dir.join(script));
    let said = said(attempt);
    let hashing = tokio::task::spawn_blocking(move || key(&said, &root, &patterns, script.as_deref()));
    let key = hashing.await.map_err(|error| error.to_string())??.to_hex().to_string();
    Ok(Some(Entry {
        file: attempt.shared.artifacts.cache().join(format!("{key}.json")),
        key,
        ttl_ms: cache.ttl_ms,
        now_ms: attempt.shared.clock.now_ms(),
        refresh: attempt.shared.options.refresh_cache,
    }))
}

/// Everything but files that a result depends on.
fn said(attempt: &Attempt) -> Json {
    let start = &attempt.start;
    json!({
        "semantics": SEMANTICS, "kind": start.kind, "params": start.params, "env": start.env, "cwd": start.cwd,
        "inputs": start.cache_inputs, "output": attempt.output, "agent": attempt.shared.options.agent,
    })
}

fn key(said: &Json, root: &Path, patterns: &[String], script: Option<&Path>) -> Result<Hash, String> {
    let mut hasher = Hasher::new();
    add(&mut hasher, said.to_string().as_bytes());
    if let Some(script) = script {
        add_file(&mut hasher, "", script);
    }
    for pattern in patterns {
        add(&mut hasher, pattern.as_bytes());
        for file in files::matching(root, pattern)? {
            add_file(&mut hasher, &file, &root.join(&file));
        }
    }
    Ok(hasher.finalize())
}

/// Adds one thing so that no two lists of things are the same bytes.
fn add(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

/// Adds a file by name and content. One that cannot be read is another thing than an empty one.
fn add_file(hasher: &mut Hasher, name: &str, file: &Path) {
    add(hasher, name.as_bytes());
    let mut content = Hasher::new();
    let read = std::fs::File::open(file).and_then(|file| content.update_reader(file).map(drop));
    match read {
        Ok(()) => add(hasher, content.finalize().as_bytes()),
        Err(_) => add(hasher, b"unreadable"),
    }
}

impl Entry {
    /// An earlier result that is still good.
    pub(crate) fn known(&self) -> Option<event::Result> {
        let text = std::fs::read(&self.file).ok().filter(|_| !self.refresh)?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        let age_ms = u64::try_from(self.now_ms - kept.created_at).ok();
        let fresh = self.ttl_ms.is_none_or(|ttl_ms| age_ms.is_some_and(|age_ms| age_ms < ttl_ms));
        // What was spent was spent then.
        (kept.key == self.key && fresh).then(|| event::Result { cached: true, usage: None, ..kept.result })
    }

    /// Keeps a result. That it cannot be kept costs only doing it again.
    pub(crate) fn keep(&self, result: &event::Result) {
        let kept = Kept { key: self.key.clone(), created_at: self.now_ms, result: result.clone() };
        let _ = self.write(&kept);
    }

    /// Through a file of a name of its own: two processes may keep the same result at once.
    fn write(&self, kept: &Kept) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        private::create_dir_all(folder)?;
        let beside = self.file.with_extension(format!("{}.tmp", Uuid::new_v4().simple()));
        private::create_new(&beside)?.write_all(&serde_json::to_vec(kept).map_err(io::Error::other)?)?;
        std::fs::rename(&beside, &self.file)
    }
}
