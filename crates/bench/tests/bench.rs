//! Tests that every workload of `longhaul-bench` does its work, at sizes too small to measure anything.

use std::process::Command;

use serde_json::Value;

#[test]
fn every_workload_completes_with_the_right_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul-bench"));
    let output = command.args(["--smoke", "--json", "--dir"]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let counted = |workload: &str| {
        let of = figures.iter().filter(|figure| figure["workload"] == workload);
        of.filter(|figure| figure["target"]["exactly"].is_number())
            .inspect(|figure| assert_eq!(figure["met"], true))
            .count()
    };
    for (workload, counts) in [
        ("chain", 1),
        ("fan-out", 1),
        ("crowd", 1),
        ("commands", 1),
        ("growth", 3),
        ("parked", 1),
        ("killed", 2),
        ("cold", 1),
        ("agent", 2),
        ("agents", 2),
        ("mcp", 1),
        ("watched", 1),
    ] {
        assert_eq!(counted(workload), counts, "{workload}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "everything is cleared up");
}

#[test]
fn every_workload_of_a_fleet_completes_with_the_right_counts() {
    let folder = tempfile::tempdir().unwrap();
    // If the server runs as another user, that user needs access.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul-bench"));
    let output = command.args(["--fleet", "--smoke", "--json", "--dir"]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let counts = figures.iter().filter(|figure| figure["target"]["exactly"].is_number());
    let counted: Vec<&str> =
        counts.filter(|figure| figure["met"] == true).filter_map(|figure| figure["workload"].as_str()).collect();
    // Three numbers of workers at two speeds of the disk.
    let steps = ["fleet-steps"; 6];
    assert_eq!(counted, [&steps[..], &["fleet-claims", "fleet-waiting", "fleet-fan-out", "fleet-idle"]].concat());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "everything is cleared up");
}
