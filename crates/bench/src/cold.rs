//! Measures a whole process for a workflow that says hello.

use std::time::Instant;

use anyhow::{Result, ensure};

use super::Bench;
use super::machine::{commits_per_second, spawn_seconds};
use super::report::Figure;

const HELLO: &str = "name: hello\nsteps:\n  - id: greet\n    run: echo hello\n";

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let folder = bench.folder.join("cold");
    std::fs::create_dir_all(folder.join(".longhaul"))?;
    std::fs::write(folder.join("hello.yaml"), HELLO)?;
    let mut took = Vec::new();
    // The first one creates the store.
    for _ in 0..=bench.sizes.cold {
        let mut command = tokio::process::Command::new(&bench.program);
        command.args(["run", "hello.yaml", "--store", ".longhaul/longhaul.db"]).current_dir(&folder);
        let since = Instant::now();
        let output = command.stdin(std::process::Stdio::null()).output().await?;
        took.push(since.elapsed().as_secs_f64() * 1000.0);
        ensure!(output.status.success(), "hello failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let ran = took.len();
    took.remove(0);
    took.sort_by(f64::total_cmp);
    let machine = 1000.0 * spawn_seconds(bench.sizes.probes.min(100))? + 3000.0 / commits_per_second(bench)?;
    Ok(vec![
        Figure::new("cold", "done", ran as f64, "processes").exactly(bench.sizes.cold + 1),
        Figure::new("cold", "start to end of hello", took[took.len() / 2], "ms").beside(machine).at_most(30.0),
    ])
}
