//! `longhaul mcp`: workflows as tools of an editor or an agent, over the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use longhaul_agents::private;
use longhaul_project::Project;
use longhaul_server::{Desk, Doors, Setup, Token, ToolSet};
use tokio_util::sync::CancellationToken;

use crate::office::{self, AgentArgs, EngineArgs};
use crate::{identity, ui};

/// Serve the Model Context Protocol: workflows as tools of an editor or an agent
///
/// Over standard input and output, as editors start it, or over HTTP. There a client needs the token that is made at the first
/// start; only this machine can reach it unless an address says otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Over HTTP instead, at this address
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8974")]
    http: Option<SocketAddr>,
    /// Another name of this machine that requests may give
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// A page that may call, such as http://localhost:6274
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// One tool for each workflow beside the others, with its inputs as arguments
    #[arg(long)]
    tool_per_workflow: bool,
    /// Tools with the names, arguments and answers of other systems, too: agent007, valet, work-buddy
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    compat: Vec<ToolSet>,
    #[command(flatten)]
    agents: AgentArgs,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // What was under way has come to its end by then; a read from a terminal never would.
    office::block_on_and_leave(async {
        let stop = CancellationToken::new();
        office::stop_on_signals(stop.clone())?;
        let setup = Setup {
            engine: office::open(&args.engine, &args.agents)?,
            origin: identity::origin(),
            project: Project::current()?,
            data_dir: data_dir(&args.engine)?,
            tool_per_workflow: args.tool_per_workflow,
            compat: args.compat.clone(),
            stop,
        };
        serve(args, setup).await?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn serve(args: &Args, setup: Setup) -> Result<()> {
    let Some(address) = args.http else {
        ui::say("serving over standard input and output; it ends with them");
        return longhaul_server::pipes(Desk::new(setup)).await;
    };
    let file = setup.data_dir.join("token");
    let token = Token::of(&file).with_context(|| format!("the token cannot be had from {}", file.display()))?;
    let secret = token.is_new.then(|| token.reveal().to_owned());
    let doors = Doors { address, token, hosts: args.allow_host.clone(), origins: args.allow_origin.clone() };
    let ready = |url: &str| {
        if let Some(secret) = &secret {
            ui::say(format!("a token was made, and is shown only this once: {secret}"));
        }
        ui::say(format!("clients show the token in {} (Authorization: Bearer …)", file.display()));
        if !address.ip().is_loopback() {
            ui::say(
                "other machines can reach this; the token and what it gives are sent in the open unless something else encrypts them",
            );
        }
        ui::say(format!("serving at {url}"));
    };
    longhaul_server::protocol_over_http(Desk::new(setup), doors, ready).await
}

/// Where the server keeps what is its own, and nobody commits.
fn data_dir(args: &EngineArgs) -> Result<PathBuf> {
    let folder = office::data_dir(args)?.join("mcp");
    private::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}
