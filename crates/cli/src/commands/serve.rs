//! `longhaul serve`: the API and the dashboard, with the engine behind them. `longhaul ui`: opens it.

mod place;
mod token;
pub(crate) mod ui;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use longhaul_core::id::RunId;
use longhaul_project::Project;
use longhaul_runtime::{Engine, Wanted};
use longhaul_server::http::{self, Keys, Role, Site};
use longhaul_server::{Desk, Setup};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::office::{self, AgentArgs, EngineArgs};
use crate::{identity, ui as terminal};
use place::Place;

/// Where it listens if nobody says otherwise.
const USUAL: &str = "127.0.0.1:8975";
/// How long a worker rests that could not reach the store.
const REST: Duration = Duration::from_secs(5);

/// Serve the API and the dashboard, and do the work of runs
///
/// Only this machine can reach it unless an address says otherwise, and only with a token, which is made at the first start and
/// shown once. Ctrl-C stops what is under way and records it; runs continue with the next start.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    about: Option<token::Command>,
    /// Where to listen [default: 127.0.0.1:8975, or the next port that is free]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Another name of this machine that requests may give
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Only show runs; somebody else does their work
    #[arg(long)]
    no_drive: bool,
    /// Print where it listens as JSON, in one line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(command) = &args.about {
        return token::run(command, &args.engine);
    }
    office::block_on_and_leave(async {
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        let engine = office::open(&args.engine, &args.agents)?;
        office::warn_of_no_project(&engine)?;
        let place = Place::of(&args.engine)?;
        let usual = args.listen.is_none();
        let listener = http::listen(args.listen.map_or_else(|| USUAL.parse(), Ok)?, !usual).await?;
        let address = listener.local_addr()?;
        let keys = Keys::of(&place.folder);
        let site = site(args, &engine, &place, &stop, keys.clone())?;
        let _standing = place.stand(&address)?;
        announce(args, address, &keys, engine.now_ms())?;
        let served = async {
            let served = http::serve(site, listener).await;
            stop.cancel();
            served
        };
        let (served, ()) = tokio::join!(served, driven(args, &engine, &stop));
        served?;
        Ok(ExitCode::SUCCESS)
    })
}

fn site(args: &Args, engine: &Engine, place: &Place, stop: &CancellationToken, keys: Keys) -> Result<Site> {
    let setup = Setup {
        engine: engine.clone(),
        origin: identity::origin(),
        project: Project::current()?,
        data_dir: place.folder.clone(),
        tool_per_workflow: false,
        compat: Vec::new(),
        stop: stop.clone(),
    };
    let (hosts, store) = (args.allow_host.clone(), place.store.clone());
    Ok(Site { desk: Desk::new(setup), keys, hosts, store, drives: !args.no_drive })
}

/// Does the work of runs and lets schedules fire, until it is stopped.
async fn driven(args: &Args, engine: &Engine, stop: &CancellationToken) {
    if args.no_drive {
        return;
    }
    let place = args.engine.clone();
    let find = move |wanted: Wanted<'_>| office::startable(&place, wanted);
    let told = |kept: Result<&RunId, &longhaul_runtime::Error>| terminal::say(office::kept(kept));
    let times = engine.keep_times(&find, stop.clone(), &told);
    let work = async {
        while !stop.is_cancelled() {
            let Err(error) = engine.work(stop.clone()).await else { continue };
            terminal::say(format!("no work is done: {error}; that is tried again in a while"));
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(REST) => {}
            }
        }
    };
    let (.., small) = tokio::join!(work, times, office::traced(engine, stop), office::kept_small(engine, stop));
    if let Err(error) = small {
        terminal::say(format!("old runs stay: {error:#}"));
    }
}

/// Says where it listens, and how to come in.
fn announce(args: &Args, address: SocketAddr, keys: &Keys, now: i64) -> Result<()> {
    let url = place::url(&address);
    // Whoever has keys was shown one; a second first start would be a way in.
    let login = match keys.all(now).is_empty() {
        true => Some(format!("{url}/login?token={}", keys.mint(Role::Admin, now, None)?.token)),
        false => None,
    };
    let project = Project::current()?.root;
    if args.json {
        let told = json!({"url": url, "login": login, "project": project, "version": env!("CARGO_PKG_VERSION"), "drives": !args.no_drive});
        return terminal::print_line(told);
    }
    terminal::say(format!(
        "longhaul {} serves {} at {}",
        env!("CARGO_PKG_VERSION"),
        project.display(),
        terminal::bold(&url)
    ));
    match &login {
        Some(login) => {
            terminal::say(format!("a token was made, and is shown only this once; open:\n  {}", terminal::bold(login)))
        }
        None => terminal::say("come in with the token that was shown at the first start, or: longhaul ui"),
    }
    if args.no_drive {
        terminal::say("it only shows runs; `longhaul worker` does their work");
    }
    if !address.ip().is_loopback() {
        terminal::say(
            "other machines can reach this; the token and what it gives are sent in the open unless something else encrypts them",
        );
    }
    // Asking each agent for its version takes a while, and nobody has to wait for it.
    drop(std::thread::Builder::new().spawn(|| terminal::say(super::agents::in_a_line())));
    Ok(())
}
