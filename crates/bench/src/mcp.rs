//! Measures tool calls over pipes, with many runs in the store: the cost of the protocol beyond the work.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::machine::commits_per_second;
use super::report::Figure;
use super::{Bench, crowd, plans};

/// The most time that a call may take beyond the work.
const ON_TOP_MS: f64 = 5.0;
const HOSTED: &str = "name: hosted\ndo:\n  - {id: a, prompt: a}\n";

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let folder = bench.folder.join("mcp");
    std::fs::create_dir_all(folder.join(".longhaul/workflows"))?;
    std::fs::write(folder.join(".longhaul/workflows/hosted.yaml"), HOSTED)?;
    let file = folder.join(".longhaul/longhaul.db");
    let (finished, calls) = bench.sizes.mcp;
    finish(bench, &file, finished).await?;
    let mut client = Client::start(bench, &folder, &file).await?;
    let mut answered = 0;
    let mut times = Vec::new();
    let run = client.call("start", json!({"workflow": "hosted"})).await?["run"].clone();
    for (tool, arguments) in [
        ("runs", json!({"limit": 20})),
        ("status", json!({"run": run})),
        ("next", json!({"run": run})),
        ("heartbeat", json!({"run": run, "step": "a", "attempt": 1})),
    ] {
        let mut took = Vec::new();
        for _ in 0..calls {
            let since = Instant::now();
            client.call(tool, arguments.clone()).await?;
            took.push(since.elapsed());
            answered += 1;
        }
        times.push((tool, median_ms(took)));
    }
    client.end().await?;
    let commit_ms = 1000.0 / commits_per_second(bench)?;
    let mut figures = vec![Figure::new("mcp", "answered", f64::from(answered), "calls").exactly(4 * calls)];
    for (tool, ms) in times {
        // `next` and `heartbeat` record a claim each: that commit is the work.
        let work = if matches!(tool, "next" | "heartbeat") { commit_ms } else { 0.0 };
        let figure = Figure::new("mcp", format!("{tool}, median"), ms, "ms").at_most(work + ON_TOP_MS);
        figures.push(if work > 0.0 { figure.beside(work) } else { figure });
    }
    Ok(figures)
}

/// Makes a store with finished runs.
async fn finish(bench: &Bench, file: &Path, runs: usize) -> Result<()> {
    let engine = bench.engine(&bench.open(file)?);
    crowd::start_all(&engine, &plans::chain(1, 0)?, runs).await?;
    crowd::work_while(&engine, crowd::UNFINISHED).await
}

fn median_ms(mut took: Vec<Duration>) -> f64 {
    took.sort();
    took.get(took.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// A client of a server over pipes.
struct Client {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    requests: u64,
}

impl Client {
    async fn start(bench: &Bench, folder: &Path, store: &Path) -> Result<Self> {
        let mut command = tokio::process::Command::new(&bench.program);
        command.args(["mcp", "--store"]).arg(store).current_dir(folder).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("the server has no input")?;
        let output = BufReader::new(child.stdout.take().context("the server has no output")?).lines();
        let mut client = Self { child, input, output, requests: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        client.request("initialize", hello).await?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        Ok(self.input.write_all(format!("{message}\n").as_bytes()).await?)
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        while let Some(line) = self.output.next_line().await? {
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message["result"].clone());
            }
        }
        bail!("the server ended")
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        ensure!(result["isError"] == false, "{tool}: {result}");
        Ok(result["structuredContent"].clone())
    }

    async fn end(mut self) -> Result<()> {
        drop(self.input);
        self.child.wait().await?;
        Ok(())
    }
}
