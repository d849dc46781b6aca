//! Measures many watchers of one busy run over HTTP: whether each sees everything, and the cost for the engine.
//!
//! The watchers are a process of their own, like browsers. Rounds with and without them alternate, so that both run
//! under the same conditions.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use longhaul_core::id::RunId;
use longhaul_core::origin::Origin;
use longhaul_core::plan::Plan;
use longhaul_project::Project;
use longhaul_runtime::{Engine, StartRequest};
use longhaul_server::http::{self, Keys, Role, Site};
use longhaul_server::{AppState, ServerSetup};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout};
use tokio_util::sync::CancellationToken;

use super::report::Figure;
use super::{Bench, plans};

/// The share of its speed that a watched run must keep.
const KEPT: f64 = 0.9;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let (watchers, steps, rounds) = bench.sizes.watched;
    let engine = bench.engine(&bench.store("watched")?);
    let plan = plans::paced(steps)?;
    let stop = CancellationToken::new();
    let (address, token) = served(bench, &engine, &stop).await?;
    let (mut alone, mut watched, mut seen, mut events) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..rounds {
        alone.push(driven(&engine, &begun(&engine, &plan).await?).await?);
        let run = begun(&engine, &plan).await?;
        let mut crowd = Crowd::gather(address, &token, &run, watchers).await?;
        let took = driven(&engine, &run).await?;
        let last = engine.row(&run).await?.context("the run is gone")?.last_seq;
        seen += crowd.saw().await?;
        events += last * watchers as u64;
        watched.push(took);
    }
    stop.cancel();
    let per_run = events as f64 / (watchers * rounds) as f64;
    let rate = |took: &mut Vec<Duration>| per_run / median(took).as_secs_f64();
    let (alone, watched) = (rate(&mut alone), rate(&mut watched));
    let what = format!("events with {watchers} watchers");
    Ok(vec![
        Figure::new("watched", "seen", seen as f64, "events").exactly(usize::try_from(events)?),
        Figure::new("watched", what, watched, "/s").beside(alone).at_least(KEPT * alone),
    ])
}

async fn begun(engine: &Engine, plan: &Plan) -> Result<RunId> {
    Ok(engine.start(plan, StartRequest::default()).await?)
}

/// How long a run takes.
async fn driven(engine: &Engine, run: &RunId) -> Result<Duration> {
    let since = Instant::now();
    engine.drive(run, CancellationToken::new(), |_| true).await?;
    Ok(since.elapsed())
}

fn median(took: &mut [Duration]) -> Duration {
    took.sort();
    took.get(took.len() / 2).copied().unwrap_or(Duration::MAX)
}

/// Starts a server in this process, and returns its address and token.
async fn served(bench: &Bench, engine: &Engine, stop: &CancellationToken) -> Result<(SocketAddr, String)> {
    let data_dir = bench.folder.join("serve");
    std::fs::create_dir_all(&data_dir)?;
    let setup = ServerSetup {
        engine: engine.clone(),
        origin: Origin::default(),
        project: Project::around(&bench.folder),
        data_dir: data_dir.clone(),
        tool_per_workflow: false,
        compat: Vec::new(),
        stop: stop.clone(),
    };
    let keys = Keys::of(&data_dir);
    let token = keys.mint(Role::Viewer, 0, None)?.token;
    let (hosts, store) = (Vec::new(), "bench".to_owned());
    let site = Site { desk: AppState::new(setup), keys, hosts, store, drives: false };
    let listener = http::listen("127.0.0.1:0".parse()?, true).await?;
    let address = listener.local_addr()?;
    tokio::spawn(http::serve(site, listener));
    Ok((address, token))
}

/// The process of the watchers.
struct Crowd {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Crowd {
    /// Waits until every watcher is connected and has seen the first event.
    async fn gather(address: SocketAddr, token: &str, run: &RunId, watchers: usize) -> Result<Self> {
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        let at = format!("{address} {token} {run} {watchers}");
        command.args(["--watch", &at]).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("nobody speaks")?).lines();
        ensure!(lines.next_line().await?.as_deref() == Some("ready"), "those who watch did not come");
        Ok(Self { child, lines })
    }

    /// The number of events that all watchers saw, each once and in order.
    async fn saw(&mut self) -> Result<u64> {
        let line = self.lines.next_line().await?.context("those who watch are gone")?;
        self.child.wait().await?;
        Ok(line.parse()?)
    }
}

/// Watches a run many times, and prints how many events were seen.
pub(crate) async fn watch(at: &str) -> Result<()> {
    let parts: Vec<&str> = at.split(' ').collect();
    let [address, token, run, watchers] = parts.as_slice() else { anyhow::bail!("`{at}` is not where to watch") };
    let mut streams = Vec::new();
    for _ in 0..watchers.parse::<usize>()? {
        let mut lines = opened(address, token, run).await?;
        ensure!(next(&mut lines).await? == Some((1, false)), "it does not begin with the first event");
        streams.push(lines);
    }
    crate::ui::print_line("ready")?;
    let tasks: Vec<_> = streams.into_iter().map(|lines| tokio::spawn(counted(lines))).collect();
    let mut seen = 0;
    for task in tasks {
        seen += task.await??;
    }
    crate::ui::print_line(seen)
}

async fn opened(address: &str, token: &str, run: &str) -> Result<Lines<BufReader<TcpStream>>> {
    let mut stream = TcpStream::connect(address).await?;
    let head =
        format!("GET /api/v1/runs/{run}/stream HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    Ok(BufReader::with_capacity(1 << 16, stream).lines())
}

/// Counts events up to the end of the run; a missing or repeated one is an error.
async fn counted(mut lines: Lines<BufReader<TcpStream>>) -> Result<u64> {
    let mut last = 1;
    while let Some((seq, is_last)) = next(&mut lines).await? {
        ensure!(seq == last + 1, "event {seq} came after {last}");
        last = seq;
        if is_last {
            break;
        }
    }
    Ok(last)
}

/// The number of the next event, and whether it ends the run.
async fn next(lines: &mut Lines<BufReader<TcpStream>>) -> Result<Option<(u64, bool)>> {
    let mut seq = None;
    while let Some(line) = lines.next_line().await? {
        if let Some(id) = line.strip_prefix("id: ") {
            seq = Some(id.parse()?);
        } else if let (Some(seq), Some(data)) = (seq, line.strip_prefix("data: ")) {
            return Ok(Some((seq, data.contains("\"event\":\"run_finished\""))));
        }
    }
    Ok(None)
}
