//! `longhaul up`: the background engine of this user.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use longhaul_core::id::RunId;
use longhaul_project::state;
use longhaul_runtime::local_time;
use serde_json::json;

use crate::background::protocol::{Request, own_environment};
use crate::background::{Handed, Order, Status, client, install, supervisor};
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, ui};

/// How long the background engine may take to stop the steps of its workers.
const ENDING: Duration = Duration::from_secs(60);
/// How long a worker stays in a project that nobody asked about.
const IDLE_UNASKED_SECONDS: u64 = 15;

/// Continue the runs of this project in the background, without a terminal
///
/// Starts the background engine if it is not running. There is one per user, with a worker for each project that asked for one. It survives logout
/// and ends by itself when no run is left that could continue. It does not touch runs that somebody stopped. `longhaul run --detach` and a closed
/// terminal start it too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only tell what the background engine does; exit code 1 if there is none
    #[arg(long, group = "what")]
    status: bool,
    /// End it: running steps stop, and continue when an engine runs again
    #[arg(long, group = "what")]
    stop: bool,
    /// Let it start with the machine: a systemd user unit with linger, or a launchd agent
    #[arg(long, group = "what")]
    install: bool,
    /// Take that away again
    #[arg(long, group = "what")]
    uninstall: bool,
    /// With --install: only print what it would do
    #[arg(long, requires = "install")]
    print: bool,
    /// Be the background engine, in the foreground, for a service manager
    #[arg(long, group = "what")]
    foreground: bool,
    /// Continue the runs of all projects of this user
    #[arg(long, conflicts_with_all = ["status", "stop", "install", "uninstall"])]
    all: bool,
    /// End the worker after this many seconds without a run that could continue [default: 600]
    #[arg(long, value_name = "SECONDS")]
    idle: Option<u64>,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.foreground {
        return supervisor::run(if args.all { of_all(args)? } else { Vec::new() });
    }
    if (args.stop || args.install || args.uninstall) && !args.print && is_inside() {
        bail!("this is a step of a run, and the background engine works for all projects; call this outside of runs");
    }
    if args.install || args.uninstall {
        return installed(args);
    }
    engine_args::block_on(async {
        match (args.status, args.stop) {
            (true, _) => told(args, client::ask(&Request::Status).await?.and_then(|reply| reply.status).as_ref()),
            (_, true) => stopped(args).await,
            _ => started(args).await,
        }
    })
}

/// An order for each project of this user.
fn of_all(args: &Args) -> Result<Vec<Order>> {
    let order = |project| Order {
        project,
        store: None,
        options: args.agents.options(),
        environment: own_environment(),
        idle_seconds: Some(args.idle.unwrap_or(IDLE_UNASKED_SECONDS)),
        why: "the background engine was started for all projects".to_owned(),
    };
    Ok(state::projects()?.into_iter().map(order).collect())
}

/// Whether a step of a run calls this.
fn is_inside() -> bool {
    !identity::origin().inside.is_empty()
}

async fn started(args: &Args) -> Result<ExitCode> {
    if is_inside() {
        bail!("this is a step of a run, and a process that a step leaves is ended; call `longhaul up` outside of runs");
    }
    let mut orders = if args.all { of_all(args)? } else { Vec::new() };
    orders.push(Order { idle_seconds: args.idle, ..super::run::background_order(&args.engine, &args.agents)? });
    let mut last = None;
    for order in orders {
        last = Some(client::work(order).await?);
    }
    let Some(Handed { engine, worker }) = last else { bail!("there is no project") };
    if args.json {
        ui::print_json(&json!({"engine": engine, "worker": worker}))?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::say(format!("the background engine (process {}) has {}", engine.pid, worker.project.display()));
    ui::say(format!("log: {}", worker.log.display()));
    warned(&engine);
    Ok(ExitCode::SUCCESS)
}

fn told(args: &Args, status: Option<&Status>) -> Result<ExitCode> {
    if args.json {
        ui::print_json(&json!({"running": status.is_some(), "engine": status}))?;
    } else if let Some(status) = status {
        let since = local_time(status.since);
        ui::print_line(format!(
            "background engine, process {}, since {since}, log {}",
            status.pid,
            status.log.display()
        ))?;
        for worker in &status.workers {
            let process = worker.pid.map_or_else(|| "starts again soon".to_owned(), |pid| format!("process {pid}"));
            let restarts =
                if worker.restarts > 0 { format!(", died {} times", worker.restarts) } else { String::new() };
            let renewed = if worker.is_renewed { ", an earlier process lets its commands end" } else { "" };
            let project = worker.project.display();
            ui::print_line(format!("  {project}: {process}{restarts}{renewed}, log {}", worker.log.display()))?;
        }
        if status.is_ending {
            ui::say("it ends: its workers stop their steps");
        }
        warned(status);
    } else {
        ui::say("no background engine is running; longhaul up starts it");
    }
    Ok(if status.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program was updated while its engine was running.
fn warned(engine: &Status) {
    if engine.is_outdated {
        ui::say(
            "the background engine was started from an older longhaul; new workers use the new one; \
             replace it with: longhaul up --stop && longhaul up",
        );
    }
}

async fn stopped(args: &Args) -> Result<ExitCode> {
    let until = Instant::now() + ENDING;
    let mut ends: Option<Status> = None;
    loop {
        let request = if ends.is_some() { Request::Status } else { Request::Stop };
        let reply = client::ask(&request).await;
        match reply {
            // An error does not say that it has ended.
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => {}
            Ok(None) if !client::is_living()? => break,
            Ok(None) => {}
            Ok(Some(reply)) => match (&ends, reply.status) {
                // Another one was started meanwhile.
                (Some(ends), Some(now)) if ends.pid != now.pid => break,
                (None, now) => ends = now,
                _ => {}
            },
        }
        if Instant::now() >= until {
            bail!("the background engine still stops its steps; longhaul up --status tells when it is gone");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let Some(pid) = ends.map(|status| status.pid) else { return told(args, None) };
    if args.json {
        ui::print_json(&json!({"running": false, "ended": pid}))?;
    } else {
        ui::say("the background engine has ended; its runs are not stopped: the next engine continues them");
    }
    Ok(ExitCode::SUCCESS)
}

fn installed(args: &Args) -> Result<ExitCode> {
    let done = match (args.uninstall, args.print) {
        (true, _) => install::uninstall()?,
        (false, true) => {
            let plan = install::plan()?;
            let commands: String = plan.commands.iter().map(|command| format!("{}\n", command.join(" "))).collect();
            if args.json {
                ui::print_json(&json!({"file": plan.file, "text": plan.text, "commands": plan.commands}))?;
            } else {
                ui::deliver(&format!("# {}\n{}\n# then\n{commands}", plan.file.display(), plan.text), None)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        (false, false) => install::install(&install::plan()?)?,
    };
    let has_failed = done.iter().any(|line| line.starts_with("FAILED"));
    if args.json {
        ui::print_json(&json!({"done": done, "ok": !has_failed}))?;
    } else {
        done.iter().for_each(ui::say);
    }
    if !has_failed && args.install && !args.json {
        ui::say(
            "the background engine starts with the machine; it has the environment of the service manager, not of your shell",
        );
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Says who has a run, and how to watch and stop it.
pub(super) fn say_who_has(run: &RunId, handed: &Handed) {
    let Handed { engine, worker } = handed;
    ui::say(format!("the background engine has it (process {}); log: {}", engine.pid, worker.log.display()));
    ui::say(format!("watch it: longhaul watch {run}   stop it: longhaul stop {run}"));
    warned(engine);
}
