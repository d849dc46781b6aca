//! `core`, `lang` and `draw` stay pure: what they are built from cannot reach a clock, a file or a network.

use std::process::Command;

/// Crates whose presence means that something other than arguments is read, each with the reason.
const BANNED: &[(&str, &str)] = &[
    ("tokio", "an async runtime"),
    ("mio", "system events"),
    ("async-std", "an async runtime"),
    ("rusqlite", "SQL"),
    ("libsqlite3-sys", "SQL"),
    ("tokio-postgres", "SQL"),
    ("sqlx", "SQL"),
    ("reqwest", "the network"),
    ("hyper", "the network"),
    ("chrono", "the clock"),
    ("time", "the clock"),
    ("rand", "randomness"),
    ("notify", "files"),
    ("walkdir", "files"),
    ("ignore", "files"),
    ("tempfile", "files"),
    ("etcetera", "the environment"),
    ("dirs", "the environment"),
    ("clap", "the command line"),
];

fn tree(package: &str, edges: &str) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", package, "--edges", edges, "--prefix", "none"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_pure_crates_reach_nothing_outside() {
    for package in ["longhaul-core", "longhaul-lang", "longhaul-draw"] {
        let tree = tree(package, "normal");
        let names: Vec<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.contains(&"serde"), "cargo tree of {package} tells nothing");
        for (name, reach) in BANNED {
            assert!(!names.contains(name), "{package} reaches {reach} through {name}");
        }
    }
}

#[test]
fn calendars_come_without_the_clock() {
    let tree = tree("longhaul-lang", "normal,features");
    assert!(tree.contains("jiff feature \"alloc\""), "cargo tree tells nothing about jiff");
    for feature in ["jiff feature \"tz-system\"", "jiff feature \"tzdb-zoneinfo\"", "jiff feature \"std\""] {
        assert!(!tree.contains(feature), "{feature} reads the system's clock or files");
    }
}
