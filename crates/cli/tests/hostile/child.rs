//! Runs the binary on a folder, with limits on memory and time.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const ADDRESS_SPACE_KB: u32 = 600_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with one file, `w.yaml`.
pub(crate) fn folder_with(text: impl AsRef<[u8]>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.yaml"), text).unwrap();
    folder
}

/// Runs the binary in a folder. Its home is that folder too, so that it sees nothing of the machine.
pub(crate) fn run(folder: &Path, args: &[&str]) -> Output {
    let limited = format!("ulimit -v {ADDRESS_SPACE_KB}; exec \"$0\" \"$@\"");
    let (out, err) = (folder.join(".stdout"), folder.join(".stderr"));
    let mut child = Command::new("/bin/sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_longhaul")])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env_remove("XDG_STATE_HOME")
        .env("PATH", "/nowhere")
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => {
                child.kill().unwrap();
                panic!("{args:?} did not end within {PATIENCE:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let output = Output { status, stdout: fs::read(&out).unwrap(), stderr: fs::read(&err).unwrap() };
    fs::remove_file(out).unwrap();
    fs::remove_file(err).unwrap();
    output
}

/// Everything that was printed, after a check that the program exited by itself.
pub(crate) fn said(output: &Output) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(matches!(output.status.code(), Some(0..=2)), "{:?}: {text:.2000}", output.status);
    assert!(!text.contains("panicked"), "{text:.2000}");
    text
}

/// The codes of the findings about `w.yaml`, each once, and the output.
#[track_caller]
pub(crate) fn refused_in(folder: &Path, path: &str) -> (Vec<String>, String) {
    let output = run(folder, &["check", path]);
    let text = said(&output);
    assert!(matches!(output.status.code(), Some(1 | 2)), "not refused: {text:.2000}");
    let codes = text.lines().filter_map(|line| line.strip_prefix("error[")?.split(']').next());
    let mut codes: Vec<String> = codes.map(str::to_owned).collect();
    codes.dedup();
    (codes, text)
}

/// Asserts that a text is refused with one kind of finding.
#[track_caller]
pub(crate) fn refused(text: impl AsRef<[u8]>, code: &str) -> String {
    let folder = folder_with(text);
    let (codes, text) = refused_in(folder.path(), "w.yaml");
    assert_eq!(codes, [code], "{text:.2000}");
    text
}
