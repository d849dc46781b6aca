//! Finds the address of a dashboard that runs on this machine.

use std::path::Path;

/// The address of a running server, from the notes that servers leave beside the runs.
pub(super) fn of_server(runs_dir: &Path) -> Option<String> {
    let notes = std::fs::read_dir(runs_dir.parent()?.join("serve")).ok()?.flatten();
    let running = notes.filter(|note| note.file_name().to_string_lossy().starts_with("at-")).filter_map(|note| {
        let standing: serde_json::Value = serde_json::from_slice(&std::fs::read(note.path()).ok()?).ok()?;
        let is_alive = Path::new("/proc").join(standing["pid"].as_u64()?.to_string()).exists();
        let url = standing["url"].as_str().filter(|_| is_alive)?;
        Some(url.to_owned())
    });
    running.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_runs_has_an_address() {
        let home = tempfile::tempdir().unwrap();
        let runs = home.path().join("runs");
        assert_eq!(of_server(&runs), None);
        std::fs::create_dir(home.path().join("serve")).unwrap();
        let note = |pid: u64| format!(r#"{{"pid": {pid}, "url": "http://127.0.0.1:{pid}"}}"#);
        std::fs::write(home.path().join("serve/at-0.json"), note(4_000_000_000)).unwrap();
        std::fs::write(home.path().join("serve/at-x.json"), "{").unwrap();
        assert_eq!(of_server(&runs), None);
        let own = u64::from(std::process::id());
        std::fs::write(home.path().join("serve/at-1.json"), note(own)).unwrap();
        assert_eq!(of_server(&runs), Some(format!("http://127.0.0.1:{own}")));
    }
}
