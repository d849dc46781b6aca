//! How a command that runs a run in the foreground is asked to leave it, and what becomes of the run.
//!
//! | asked by | becomes of the run |
//! |---|---|
//! | Ctrl-C, `q` | it is stopped, and stays stopped until somebody resumes it |
//! | a closed terminal, `b` | the background engine has it |
//! | SIGTERM | no engine has it; the next one continues it |
//!
//! A second request ends this process at once; its guard cleans up. A closed terminal does not count as one.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::pending;
use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use longhaul_core::id::RunId;
use longhaul_runtime::{Engine, Message};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::background::place::Place;
use crate::background::{self, Order};
use crate::engine_args::{self, PARKED};
use crate::{identity, ui};

/// A request to leave a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A person stops the run.
    Stop,
    /// The system ends this process.
    End,
    /// The terminal was closed.
    HangUp,
    /// A person wants the terminal back.
    Detach,
}

/// Sends a request for each signal that asks this process to leave. A process under `nohup` ignores a closed terminal.
pub(crate) fn requests() -> Result<(UnboundedSender<Leave>, UnboundedReceiver<Leave>)> {
    let (sender, receiver) = unbounded_channel();
    let kinds = [
        (SignalKind::interrupt(), Leave::Stop),
        (SignalKind::terminate(), Leave::End),
        (SignalKind::hangup(), Leave::HangUp),
    ];
    let is_heard = |leave: Leave, kind| leave != Leave::HangUp || !engine_args::ignores(kind);
    for (kind, leave) in kinds.into_iter().filter(|(kind, leave)| is_heard(*leave, *kind)) {
        let (mut signals, sender) = (signal(kind)?, sender.clone());
        tokio::spawn(async move { while signals.recv().await.is_some() && sender.send(leave).is_ok() {} });
    }
    Ok((sender, receiver))
}

/// Serves requests while the run is driven. `left` says how this process was asked to leave.
pub(crate) async fn serve(
    engine: &Engine,
    run: &RunId,
    requests: &mut UnboundedReceiver<Leave>,
    stop: &CancellationToken,
    (left, to): (&Cell<Option<Leave>>, Option<&Order>),
) -> Infallible {
    let Some(first) = requests.recv().await else { return pending().await };
    left.set(Some(first));
    let leave = async {
        match first {
            Leave::Stop => stopped(engine, run, stop).await,
            Leave::End => stop.cancel(),
            Leave::HangUp | Leave::Detach => match to {
                Some(to) => handed_over(engine, run, to).await,
                None => stop.cancel(),
            },
        }
        pending::<Infallible>().await
    };
    tokio::select! {
        never = leave => match never {},
        () = again(requests) => {
            crate::screen::terminal::restore();
            std::process::exit(PARKED.into());
        }
    }
}

/// Waits for another request. A closed terminal often sends its signal twice: from the kernel and from the shell.
async fn again(requests: &mut UnboundedReceiver<Leave>) {
    while requests.recv().await == Some(Leave::HangUp) {}
}

/// Hands the run to the background engine, and lets go of it. If there is none to be had, this process continues, also
/// without a terminal.
async fn handed_over(engine: &Engine, run: &RunId, to: &Order) {
    let order = Order { why: format!("{run} is handed over, because its terminal is gone or wanted"), ..to.clone() };
    match background::client::work(order).await {
        Ok(_) => engine.drain(),
        Err(error) => {
            let why = format!("{run} cannot be handed to the background engine: {error:#}");
            note(&why);
            ui::say(format!("{why}; this process continues it"));
        }
    }
}

/// Writes a line to the log of the background engine: there may be no terminal that shows it.
fn note(line: &str) {
    let log = Place::of_user().and_then(|place| background::place::opened_log(&place.log()));
    if let Ok(mut log) = log {
        let _ = writeln!(log, "{line}");
    }
}

/// Records that a person stops the run. The loop that drives it then stops its attempts.
async fn stopped(engine: &Engine, run: &RunId, stop: &CancellationToken) {
    let by = identity::caller().by().map(str::to_owned);
    if let Err(error) = engine.command(run, Message::Stop { by }, &identity::origin(), Duration::ZERO).await {
        ui::say(format!("it could not be recorded that you stop the run: {error}"));
        stop.cancel();
    }
}
