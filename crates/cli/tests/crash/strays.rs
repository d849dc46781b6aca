//! Tests engines that are killed at random moments.

use std::process::Stdio;
use std::time::Duration;

use crate::binary::command;
use crate::crash::trial::{RUN, left, left_by_the_guard};

/// Pseudo-random numbers that are the same every time.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const STRAYS: &str = r#"
name: strays
steps:
  - {id: a, run: "(setsid sleep 300 & ) ; (sleep 300 &) ; sleep 300"}
  - {id: b, run: "setsid bash -c 'sleep 300 & exec sleep 300' & sleep 300"}
"#;

#[test]
fn a_killed_engine_leaves_no_process_behind() {
    let mut seeded = Seeded(20);
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".longhaul")).unwrap();
        std::fs::write(folder.path().join("strays.yaml"), STRAYS).unwrap();
        let mut command = command(folder.path(), &["run", "strays.yaml", "--run-id", RUN]);
        command.env("LOG", folder.path().join("log")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut engine = command.spawn().unwrap();
        // Half of the rounds start when something is running, however busy the machine is.
        while round % 2 == 0 && left(folder.path()).is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(seeded.below(if round % 2 == 0 { 20 } else { 300 })));
        engine.kill().unwrap();
        engine.wait().unwrap();
        assert_eq!(left_by_the_guard(folder.path()), Vec::<String>::new(), "round {round}");
    }
}
