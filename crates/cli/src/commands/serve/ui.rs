//! `longhaul ui`: opens the dashboard of this project, and serves it first if nobody does.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use longhaul_runtime::{Clock, System};
use longhaul_server::http::{Keys, Role};
use serde_json::json;

use super::place::{Place, Standing};
use super::token::refuse_inside;
use crate::office::EngineArgs;
use crate::ui;

/// How long a browser stays signed in.
const SIGNED_IN_MS: i64 = 30 * 24 * 3600 * 1000;
/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a server may take to start.
const STARTING: Duration = Duration::from_secs(20);

/// Open the dashboard of this project in a browser; a server is started if none runs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only print the address
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print the address as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    refuse_inside()?;
    let place = Place::of(&args.engine)?;
    let url = match running(&place) {
        Some(standing) => standing.url,
        None => begun(&place, &args.engine)?,
    };
    let now = System.now_ms();
    let token = Keys::of(&place.folder).mint(Role::Admin, now, Some(now + SIGNED_IN_MS))?.token;
    let login = format!("{url}/login?token={token}");
    if args.json {
        ui::print_json(&json!({"url": url, "login": login}))?;
    } else if args.print || !opened(&login) {
        ui::print_line(&login)?;
    } else {
        ui::say(format!("opened {url}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A server of this project that answers. Notes of those that do not are old.
fn running(place: &Place) -> Option<Standing> {
    let (mut alive, gone): (Vec<_>, Vec<_>) =
        place.standing().into_iter().partition(|(_, standing)| is_well(&standing.url).unwrap_or(false));
    for (file, _) in gone {
        let _ = std::fs::remove_file(file);
    }
    alive.pop().map(|(_, standing)| standing)
}

/// Whether something at an address says that it is well.
fn is_well(url: &str) -> Result<bool> {
    let address = url.strip_prefix("http://").context("not an address of ours")?;
    let mut stream = TcpStream::connect_timeout(&address.parse()?, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

/// Starts a server that outlives this command.
fn begun(place: &Place, engine: &EngineArgs) -> Result<String> {
    let log = longhaul_agents::private::create(&place.folder.join("log"))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    if let Some(store) = engine.store_arg() {
        command.env("LONGHAUL_STORE", store);
    }
    // Ctrl-C in this terminal is not for it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("a server cannot be started")?;
    let until = Instant::now() + STARTING;
    loop {
        if let Some(standing) = running(place) {
            ui::say(format!("a server was started (process {}); end it with: kill {}", standing.pid, standing.pid));
            return Ok(standing.url);
        }
        if child.try_wait()?.is_some() || Instant::now() > until {
            bail!("the server did not start; see {}", place.folder.join("log").display());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Hands an address of ours to whatever opens addresses here.
fn opened(login: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet =
        |command: &mut Command| command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet(Command::new(opener).arg(login)).is_ok_and(|status| status.success())
}
