//! `longhaul serve`: serves the API and the dashboard, and runs workflows. `longhaul ui`: opens the dashboard.

mod place;
mod token;
pub(crate) mod ui;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use longhaul_project::Project;
use longhaul_runtime::{Engine, Wanted};
use longhaul_server::http::{self, Keys, Role, Site, TokenRequest, is_name};
use longhaul_server::{AppState, ServerSetup};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, ui as terminal};
use place::Place;

/// The default address.
const USUAL: &str = "127.0.0.1:8975";
/// How long a worker waits after it could not reach the store.
const REST: Duration = Duration::from_secs(5);

/// Serve the API and the dashboard, and run workflows
///
/// Only this machine can reach it unless you give another address. Every request needs a token; the first start makes one and
/// shows it once. Ctrl-C stops the running steps and records that; the runs continue at the next start.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    about: Option<token::Command>,
    /// The address to listen at [default: 127.0.0.1:8975, or the next free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Another name of this machine that requests may use
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Only show runs; another process runs them
    #[arg(long)]
    no_drive: bool,
    /// Print the address as JSON, in one line
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
    engine_args::block_on_and_leave(async {
        let stop = CancellationToken::new();
        engine_args::stop_on_signals(stop.clone())?;
        let engine = engine_args::open(&args.engine, &args.agents)?;
        engine_args::warn_of_no_project(&engine)?;
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
    let setup = ServerSetup {
        engine: engine.clone(),
        origin: identity::origin(),
        project: Project::current()?,
        data_dir: place.folder.clone(),
        tool_per_workflow: false,
        compat: Vec::new(),
        stop: stop.clone(),
    };
    let (hosts, store) = (args.allow_host.clone(), place.store.clone());
    Ok(Site { desk: AppState::new(setup), keys, hosts, store, drives: !args.no_drive })
}

/// Runs workflows and fires schedules, until it is stopped.
async fn driven(args: &Args, engine: &Engine, stop: &CancellationToken) {
    if args.no_drive {
        return;
    }
    let place = args.engine.clone();
    let find = move |wanted: Wanted<'_>| engine_args::startable(&place, wanted);
    let told =
        |kept: Result<&longhaul_runtime::Fired, &longhaul_runtime::Error>| terminal::say(engine_args::kept(kept));
    let times = engine.keep_times(&find, stop.clone(), &told);
    let work = async {
        while !stop.is_cancelled() {
            let Err(error) = engine.work(stop.clone()).await else { continue };
            terminal::say(format!("the worker stopped: {error}; it tries again in a few seconds"));
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(REST) => {}
            }
        }
    };
    let notified = engine_args::notified(engine, stop, false);
    let (.., small) =
        tokio::join!(work, times, notified, engine_args::traced(engine, stop), engine_args::kept_small(engine, stop));
    if let Err(error) = small {
        terminal::say(format!("old runs cannot be removed: {error:#}"));
    }
}

/// A token for the user at this command line, who sees it.
fn own_token(name: &str, until: Option<i64>) -> TokenRequest {
    let user = identity::origin().user.filter(|user| is_name(user));
    TokenRequest { role: Role::Admin, user, name: Some(name.to_owned()), until }
}

/// Prints the address, and how to sign in.
fn announce(args: &Args, address: SocketAddr, keys: &Keys, now: i64) -> Result<()> {
    let url = place::url(&address);
    // If tokens exist, somebody has already seen one. Another "first start" would let anybody sign in.
    let login = match keys.all(now).is_empty() {
        true => Some(format!("{url}/login?token={}", keys.make(own_token("first", None), now)?.token)),
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
        None => terminal::say("sign in with the token from the first start, or run: longhaul ui"),
    }
    if args.no_drive {
        terminal::say("it only shows runs; `longhaul worker` does their work");
    }
    if !address.ip().is_loopback() {
        terminal::say(
            "other machines can reach this; the token and what it gives are sent in the open unless something else encrypts them",
        );
    }
    // Asking each agent for its version takes time, so this runs in the background.
    drop(std::thread::Builder::new().spawn(|| terminal::say(super::agents::in_a_line())));
    Ok(())
}
