//! Asks the background engine, and starts it if it is not there.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use longhaul_agents::process::Outliving;
use tokio::net::UnixStream;

use super::place::{self, Place};
use super::protocol::{Order, Reply, Request, Status, WorkerStatus, receive, send};
use super::{install, place::own_id, supervisor};

/// How long the background engine may take to start.
const STARTING: Duration = Duration::from_secs(20);
/// How long it may take to answer. It starts a worker meanwhile.
const ANSWERING: Duration = Duration::from_secs(30);

/// How long to wait before it is started again.
const AGAIN: Duration = Duration::from_millis(500);

/// A run that the background engine has.
#[derive(Debug, Clone)]
pub(crate) struct Handed {
    /// The background engine.
    pub(crate) engine: Status,
    /// The worker of the project.
    pub(crate) worker: WorkerStatus,
}

/// Makes sure that the background engine has a worker for a project.
pub(crate) async fn work(order: Order) -> Result<Handed> {
    let reply = ask_or_start(&Request::Work(order)).await?;
    match (reply.error, reply.status, reply.worker) {
        (Some(error), ..) => bail!(error),
        (None, Some(engine), Some(worker)) => Ok(Handed { engine, worker }),
        _ => bail!("the background engine gave no answer; `longhaul up --stop` ends it"),
    }
}

/// Asks the background engine; `None` if there is none.
pub(crate) async fn ask(request: &Request) -> Result<Option<Reply>> {
    let path = Place::of_user()?.socket()?;
    let Some(mut stream) = connected(&path).await? else { return Ok(None) };
    let answer = async {
        send(&mut stream, request).await?;
        receive(&mut stream).await
    };
    let answer = tokio::time::timeout(ANSWERING, answer).await;
    answer.context("the background engine does not answer; `longhaul up --stop` ends it")?.map(Some)
}

/// Whether a background engine lives, also if nobody can reach it.
pub(crate) fn is_living() -> Result<bool> {
    Ok(Place::of_user()?.lock()?.is_none())
}

/// A connection to the socket of this user; `None` if nobody listens there.
async fn connected(path: &Path) -> Result<Option<UnixStream>> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    place::verify_socket(path)?;
    let stream = match UnixStream::connect(path).await {
        Ok(stream) => stream,
        // The process that made it is gone.
        Err(error) if is_nobody(&error) => return Ok(None),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    if stream.peer_cred()?.uid() != own_id() {
        bail!("{} is served by another user", path.display());
    }
    Ok(Some(stream))
}

fn is_nobody(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound)
}

async fn ask_or_start(request: &Request) -> Result<Reply> {
    // One that ends is replaced when it has ended.
    let until_ended = Instant::now() + supervisor::ENDING + STARTING;
    let mut until = Instant::now() + STARTING;
    let mut engine: Option<(Outliving, Instant)> = None;
    loop {
        match ask(request).await {
            Ok(Some(reply)) if is_ending(&reply) && Instant::now() < until_ended => {
                until = Instant::now() + STARTING;
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            Ok(Some(reply)) => return Ok(reply),
            Ok(None) => {}
            // It may have ended in the middle of the answer, because it had nothing to do.
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => {}
        }
        if Instant::now() >= until {
            bail!("the background engine did not start; see {}", Place::of_user()?.log().display());
        }
        // The one that was started may have found another one that was about to end.
        let is_gone = |(engine, at): &(Outliving, Instant)| engine.is_gone() && at.elapsed() > AGAIN;
        if engine.as_ref().is_none_or(is_gone) {
            engine = Some((started()?, Instant::now()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn is_ending(reply: &Reply) -> bool {
    reply.status.as_ref().is_some_and(|status| status.is_ending)
}

/// Starts the background engine, in a session of its own: no terminal can end it.
fn started() -> Result<Outliving> {
    let place = Place::of_user()?;
    let log = place::opened_log(&place.log())?;
    let mut command = match install::unit_is_there() {
        // The service manager of the user keeps it after the user has logged out.
        true => {
            let mut command = Command::new("systemctl");
            command.args(["--user", "start", install::UNIT]);
            command
        }
        false => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["up", "--foreground"]);
            command
        }
    };
    command.current_dir("/").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    Outliving::start(&mut command).context("the background engine cannot be started")
}
