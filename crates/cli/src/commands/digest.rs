//! `longhaul digest`: the report of a night.

use std::process::ExitCode;

use anyhow::Result;
use longhaul_app::digest::{OfProject, of_all};
use longhaul_core::digest::{Digest, DigestFormat};
use longhaul_core::duration::parse_ms;
use longhaul_core::notification::Zone;
use longhaul_runtime::{Clock, System};
use serde_json::json;

use crate::engine_args::{self, EngineArgs};
use crate::ui;

/// Report a night: what finished, failed, waits for you and cost
///
/// The report covers runs that ended in the given time, and all runs that are not over. Costs are those of a run since its start. `[notify] digest` in
/// the settings sends the report of the last day every day.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How far back to look, such as 12h or 3d
    #[arg(long, default_value = "12h", value_name = "TIME", value_parser = span)]
    since: i64,
    /// How to print it
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = format)]
    format: DigestFormat,
    /// Report on all your projects, not only on this one
    #[arg(long, conflicts_with = "store")]
    all: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

fn span(text: &str) -> Result<i64, String> {
    let ms = parse_ms(text).and_then(|ms| i64::try_from(ms).ok()).filter(|ms| *ms > 0);
    ms.ok_or_else(|| "not a time span such as 12h or 3d".to_owned())
}

fn format(text: &str) -> Result<DigestFormat, String> {
    text.parse().map_err(|error: longhaul_core::words::UnknownWord| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        if args.all {
            return all(args).await;
        }
        let engine = engine_args::open_what_is_there(&args.engine)?;
        let digest = engine.digest(engine.now_ms().saturating_sub(args.since)).await?;
        if args.json {
            ui::print_json(&digest)?;
        } else {
            print(&digest.render(args.format, &engine.notify_rules().zone))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn print(text: &str) -> Result<()> {
    ui::deliver(text, None)
}

async fn all(args: &Args) -> Result<ExitCode> {
    let reports = of_all(System.now_ms().saturating_sub(args.since)).await?;
    let zone = engine_args::zone();
    if args.json {
        let row = |of: &OfProject| match &of.digest {
            Ok(digest) => json!({"project": of.project, "digest": digest}),
            Err(error) => json!({"project": of.project, "error": format!("{error:#}")}),
        };
        ui::print_json(&reports.iter().map(row).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let told: Vec<&OfProject> = reports.iter().filter(|of| !of.digest.as_ref().is_ok_and(Digest::is_empty)).collect();
    if told.is_empty() {
        ui::say("no run finished in any project, and none is open");
    }
    told.iter().try_for_each(|of| print(&of_project(of, args.format, &zone)))?;
    Ok(ExitCode::SUCCESS)
}

fn of_project(of: &OfProject, format: DigestFormat, zone: &Zone) -> String {
    let folder = of.project.display();
    match &of.digest {
        Ok(digest) => format!("{}\n", digest.clone().of(&folder.to_string()).render(format, zone)),
        Err(error) => format!("{folder}\n  cannot be read: {error:#}\n"),
    }
}
