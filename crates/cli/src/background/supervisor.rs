//! The process of the background engine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use longhaul_runtime::{Clock, System};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::place::{Place, own_id};
use super::protocol::{Order, Reply, Request, Status, receive, send};
use super::workers::{Turn, Worker};
use crate::engine_args;
use crate::ui;

/// How long a worker stays without anything to do.
pub(crate) const IDLE_SECONDS: u64 = 600;
/// How often the supervisor looks after its workers.
const LOOK: Duration = Duration::from_millis(100);
/// How long it stays without any worker. A caller that has just started it needs time to ask.
const EMPTY: Duration = Duration::from_secs(5);
/// How long a caller may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long workers may take to stop their steps, before they are killed.
pub(super) const ENDING: Duration = Duration::from_secs(30);

struct Supervisor {
    place: Place,
    workers: Vec<Worker>,
    since: i64,
    program: Program,
    stop: CancellationToken,
}

/// Runs the background engine, until it has nothing to do or is asked to end. `first` are orders without a caller.
pub(crate) fn run(first: Vec<Order>) -> Result<ExitCode> {
    engine_args::block_on(async {
        let place = Place::of_user()?;
        let Some(_lock) = place.lock()? else {
            ui::say("a background engine is running already");
            return Ok(ExitCode::SUCCESS);
        };
        let path = place.socket()?;
        // The lock is ours, so nobody listens there any more.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).with_context(|| path.display().to_string())?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let stop = CancellationToken::new();
        engine_args::stop_on_signals(stop.clone())?;
        ui::say(format!("background engine, process {}, longhaul {}", std::process::id(), env!("CARGO_PKG_VERSION")));
        let workers = first.into_iter().map(|order| Worker::new(&place, order)).collect();
        let supervisor = Supervisor { place, workers, since: System.now_ms(), program: Program::own(), stop };
        supervisor.serve(&listener).await;
        // Nobody must find a socket that answers no more.
        let _ = std::fs::remove_file(&path);
        Ok(ExitCode::SUCCESS)
    })
}

impl Supervisor {
    async fn serve(mut self, listener: &UnixListener) {
        let mut used_at = std::time::Instant::now();
        while !self.stop.is_cancelled() {
            tokio::select! {
                Ok((stream, _)) = listener.accept() => self.served(stream).await,
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => {}
            }
            self.workers.retain_mut(|worker| worker.turn() == Turn::Stays);
            if !self.workers.is_empty() {
                used_at = std::time::Instant::now();
            } else if used_at.elapsed() >= EMPTY {
                return ui::say("no worker is left; the background engine ends");
            }
        }
        ui::say("the background engine ends; its workers stop their steps");
        self.end(listener).await;
    }

    /// Ends all workers, and answers meanwhile.
    async fn end(&mut self, listener: &UnixListener) {
        self.workers.iter_mut().for_each(Worker::ask_to_end);
        let mut kill_at = std::time::Instant::now() + ENDING;
        loop {
            self.workers.retain_mut(Worker::is_running);
            if self.workers.is_empty() {
                return;
            }
            if std::time::Instant::now() >= kill_at {
                self.workers.iter_mut().for_each(Worker::kill);
                kill_at += ENDING;
            }
            tokio::select! {
                Ok((stream, _)) = listener.accept() => self.served(stream).await,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    async fn served(&mut self, stream: UnixStream) {
        let served = tokio::time::timeout(PATIENCE, self.answer(stream)).await;
        if let Ok(Err(error)) = served {
            ui::say(format!("a request was refused: {error:#}"));
        }
    }

    async fn answer(&mut self, mut stream: UnixStream) -> Result<()> {
        let caller = stream.peer_cred()?.uid();
        anyhow::ensure!(caller == own_id(), "user {caller} is not the one that this engine works for");
        let reply = match receive(&mut stream).await? {
            Request::Status => self.reply(None),
            Request::Stop => {
                self.stop.cancel();
                self.reply(None)
            }
            Request::Work(_) if self.stop.is_cancelled() => {
                let error = "the background engine ends and takes no more orders; try again when it has ended";
                Reply { error: Some(error.to_owned()), ..self.reply(None) }
            }
            Request::Work(order) if !order.project.is_dir() => {
                let error = format!("{} is not a folder", order.project.display());
                Reply { error: Some(error), ..self.reply(None) }
            }
            Request::Work(order) => {
                let at = self.work(order).await;
                self.reply(Some(at))
            }
        };
        send(&mut stream, &reply).await
    }

    /// Gives an order to the worker of its project. Returns its place in the list.
    async fn work(&mut self, order: Order) -> usize {
        let at = self.workers.iter().position(|worker| worker.is_of(&order));
        match at {
            Some(at) => self.workers[at].serve(order).await,
            None => self.workers.push(Worker::new(&self.place, order)),
        }
        let at = at.unwrap_or(self.workers.len() - 1);
        self.workers[at].turn();
        at
    }

    fn reply(&self, worker: Option<usize>) -> Reply {
        let status = Status {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            is_outdated: self.program.has_changed(),
            is_ending: self.stop.is_cancelled(),
            since: self.since,
            log: self.place.log(),
            workers: self.workers.iter().map(Worker::status).collect(),
        };
        let worker = worker.and_then(|at| status.workers.get(at).cloned());
        Reply { status: Some(status), worker, error: None }
    }
}

/// The program that this process was started from.
struct Program {
    path: PathBuf,
    made: Option<SystemTime>,
}

impl Program {
    fn own() -> Self {
        let path = std::env::current_exe().unwrap_or_default();
        Self { made: made(&path), path }
    }

    fn has_changed(&self) -> bool {
        made(&self.path) != self.made
    }
}

fn made(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|about| about.modified()).ok()
}
