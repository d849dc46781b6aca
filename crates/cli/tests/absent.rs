//! Tests stores that do not exist: commands that only read create none, and say so.

use crate::binary;

use crate::binary::project::{Project, RUN};

const ECHO: &str = "name: w\ndo:\n  - {id: a, run: echo hello}\n";

#[test]
fn what_only_looks_at_a_store_makes_none() {
    let project = Project::new(ECHO);
    let looking: [&[&str]; 11] = [
        &["store", "check"],
        &["store", "backup", "copy.db"],
        &["runs"],
        &["status"],
        &["workers"],
        &["events", RUN],
        &["outputs", RUN],
        &["logs", RUN],
        &["watch", RUN],
        &["prune", "--older", "1d"],
        &["approve", RUN],
    ];
    std::fs::write(project.path("empty.db"), "").unwrap();
    for args in looking {
        for store in ["nix.db", "empty.db"] {
            let told = project.longhaul(&[args, &["--store", store]].concat());
            assert_ne!(told.code, 0, "{args:?}: {}", told.stderr);
            assert!(told.stderr.contains(&format!("there is no store at {store}")), "{args:?}: {}", told.stderr);
        }
    }
    let told = project.longhaul(&["store", "copy", "nix.db", "copy.db"]);
    assert!(told.code != 0 && told.stderr.contains("there is no store at nix.db"), "{}", told.stderr);
    for file in ["nix.db", "copy.db", ".longhaul/longhaul.db", ".longhaul/.gitignore", "no-such-home"] {
        assert!(!project.path(file).exists(), "{file} was made");
    }
    assert_eq!(std::fs::metadata(project.path("empty.db")).unwrap().len(), 0);
}

/// The first command creates the store of a project, and also the store that the environment names.
#[test]
fn the_store_that_is_meant_throughout_is_made_by_what_comes_first() {
    let project = Project::new(ECHO);
    let told = project.longhaul(&["store", "check"]);
    assert!(told.code != 0 && !project.state("longhaul.db").exists(), "{}", told.stderr);
    assert!(project.longhaul(&["runs"]).stderr.contains("longhaul.db yet"));
    project.ok(&["store", "check"]);
    let told = binary::told(project.command(&["runs"]).env("LONGHAUL_STORE", "other.db").output().unwrap());
    assert_eq!(told.code, 0, "{}", told.stderr);
    project.ok(&["store", "check", "--store", "other.db"]);
    project.ok(&["status", "--store", "other.db", "--help"]);
}

/// Each checkout creates one; what one of them commits must not disturb the others.
#[test]
fn git_does_not_see_what_is_made_in_passing() {
    let project = Project::new(ECHO);
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git").args(args).current_dir(project.path("")).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["add", "w.yaml"]);
    project.ok(&["run", "w.yaml", "--run-id", RUN]);
    assert_eq!(git(&["status", "--porcelain"]), "A  w.yaml\n");
    std::fs::write(project.path(".longhaul/config.toml"), "").unwrap();
    git(&["add", "."]);
    assert_eq!(git(&["status", "--porcelain"]), "A  .longhaul/config.toml\nA  w.yaml\n");
}

#[test]
fn trust_is_asked_for_only_where_something_needs_it() {
    let project = Project::new(ECHO);
    let write = |text: &str| std::fs::write(project.path(".longhaul/config.toml"), text).unwrap();
    write("[fleet]\nhost_grace = '5m'\n");
    let doctor = project.ok(&["doctor"]);
    assert!(doctor.contains("nothing in this project needs it") && !doctor.contains("not trusted"), "{doctor}");
    assert!(project.longhaul(&["trust", "--show"]).stderr.contains("nothing in it needs to be trusted"));
    std::fs::write(project.path(".mcp.json"), "{}").unwrap();
    assert!(project.ok(&["doctor"]).contains("its agent settings are not trusted"));
    let shown = project.longhaul(&["trust", "--show"]);
    assert!(shown.stdout.contains(".mcp.json") && shown.stderr.contains("not trusted"), "{}", shown.stderr);
    std::fs::remove_file(project.path(".mcp.json")).unwrap();
    write("[fleet]\ncarry = 'https://example.com/files.git'\n");
    assert!(project.longhaul(&["trust", "--show"]).stderr.contains("not trusted"));
}
