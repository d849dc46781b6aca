//! Tests that reading a workflow executes nothing and writes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::hostile::child::{run, said};

const WORKFLOW: &str = "\
name: trap
defaults: {env: {X: $(touch evil-env)}}
triggers: [{cron: '* * * * *'}]
on_failure: {notify: command, text: $(touch evil-notify)}
do:
  - run: touch evil-run
  - run: {script: scripts/trap.sh}
    id: script
  - run: {python: \"open('evil-python', 'w')\"}
    id: python
  - prompt: {file: prompts/trap.md}
    review: true
  - tool: python.trap
  - notify: $(touch evil-channel)
    to: terminal
";

/// Every path below a folder with its size, mode and time of change.
fn listing(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let about = entry.path().symlink_metadata().unwrap();
            let changed = about.modified().unwrap();
            lines.push(format!(
                "{} {} {:o} {changed:?}",
                entry.path().display(),
                about.len(),
                about.permissions().mode()
            ));
            if about.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    lines.sort();
    lines
}

fn set_modes(folder: &Path, file: u32, dir: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => set_modes(&entry.path(), file, dir),
            false => fs::set_permissions(entry.path(), fs::Permissions::from_mode(file)).unwrap(),
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(dir)).unwrap();
}

/// A project in which everything executable would leave a trace.
fn trap(home: &Path) {
    let project = home.join("project");
    let write = |path: &str, text: &str| {
        let path = project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".longhaul/workflows/trap/workflow.yaml", WORKFLOW);
    write(".longhaul/workflows/trap/scripts/trap.sh", "#!/bin/sh\ntouch evil-script\n");
    write(".longhaul/workflows/trap/prompts/trap.md", "{{ task }} $(touch evil-prompt)\n");
    write(
        ".longhaul/config.toml",
        "[tools.trap]\ncommand = \"touch evil-tool\"\n[agents.trap]\ncommand = \"touch evil-agent\"\n",
    );
    write(".mcp.json", r#"{"mcpServers": {"trap": {"command": "touch", "args": ["evil-server"]}}}"#);
    write(".git/hooks/post-checkout", "#!/bin/sh\ntouch evil-hook\n");
    set_modes(home, 0o555, 0o555);
}

#[test]
fn looking_leaves_no_trace() {
    let home = tempfile::tempdir().unwrap();
    let work = tempfile::tempdir().unwrap();
    trap(home.path());
    let before = listing(home.path());
    assert!(before.len() > 10, "{before:?}");
    let path = home.path().join("project/.longhaul/workflows/trap/workflow.yaml");
    let path = path.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["check", path],
        &["check", "--json", path],
        &["check", path.trim_end_matches("/workflow.yaml")],
        &["list"],
        &["show", path],
        &["show", "--json", path],
        &["graph", path],
        &["convert", path],
        &["fmt", "--check", path],
        &["schema"],
        &["explain", "LH0102"],
    ];
    for args in commands {
        said(&run(work.path(), args));
    }
    assert_eq!(listing(home.path()), before);
    assert_eq!(listing(work.path()), Vec::<String>::new());
    let project = home.path().join("project");
    set_modes(home.path(), 0o644, 0o755);
    let before = listing(&project);
    for args in [&["check"] as &[&str], &["list"], &["show", "trap"], &["graph", "trap"], &["check", "trap"]] {
        let text = said(&run(&project, args));
        assert!(text.contains("trap"), "{text}");
    }
    // The project's folder holds the child's output for a moment, which changes its time.
    let inside = |lines: Vec<String>| lines.into_iter().filter(|line| !line.ends_with("project")).collect::<Vec<_>>();
    assert_eq!(inside(listing(&project)), inside(before));
}
