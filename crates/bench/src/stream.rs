//! An agent that only prints, at a steady pace: the output of Claude Code, without a model.
//!
//! It is this program, started by a script of two lines, because it must answer `--version` like the real one.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

/// Lines per second.
pub(super) const PACE: u32 = 100;
/// The file that ends it.
const ENOUGH: &str = "enough";

/// Makes the program for the agent's settings.
pub(super) fn program(folder: &Path) -> Result<PathBuf> {
    let (file, this) = (folder.join("talker"), std::env::current_exe()?);
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 9.9.9; exit; fi\nexec '{}' --talk '{}'\n",
        this.display(),
        folder.display()
    );
    std::fs::write(&file, script)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700))?;
    Ok(file)
}

/// Ends all printing agents of a folder.
pub(super) fn end(folder: &Path) -> Result<()> {
    Ok(std::fs::write(folder.join(ENOUGH), "")?)
}

/// Prints until the file exists, and then the number of lines.
pub(crate) fn talk(folder: &Path) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"type": "system", "subtype": "init", "session_id": "bench", "model": "none"}))?;
    let (since, enough) = (Instant::now(), folder.join(ENOUGH));
    let mut said = 0;
    // The benchmark may have ended and removed the folder.
    while folder.exists() && !enough.exists() {
        said += 1;
        writeln!(out, "{}", line(said))?;
        out.flush()?;
        // By the clock, not by the pause, so that a busy machine does not slow it down.
        std::thread::sleep((Duration::from_secs(1) / PACE * said).saturating_sub(since.elapsed()));
    }
    let usage = json!({"input_tokens": 1, "output_tokens": said});
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "bench", "result": said.to_string(), "usage": usage, "total_cost_usd": 0.01});
    Ok(writeln!(out, "{result}")?)
}

fn line(number: u32) -> serde_json::Value {
    let text = format!("line {number} of a long story about a change that took many small steps to make");
    let message = json!({"id": "m", "model": "none", "content": [{"type": "text", "text": text}]});
    json!({"type": "assistant", "session_id": "bench", "message": message})
}
