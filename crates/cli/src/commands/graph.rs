//! `longhaul graph`: a workflow as a picture.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use longhaul_core::plan::Plan;
use longhaul_project::disk::Disk;

use super::DialectArg;
use crate::ui;

/// Draw a workflow as text, Mermaid, Graphviz or SVG
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A name or a path
    name: String,
    /// The format
    #[arg(long, short, value_enum, default_value = "tree")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArg,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Text for the terminal
    Tree,
    /// For Markdown, GitHub and editors
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture for browsers
    Svg,
    /// Nodes, edges and positions
    Json,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let disk = Disk::current(longhaul_runtime::registry_of)?;
    let entry = disk.find(&args.name)?;
    let report = disk.check(&entry, args.dialect.dialect)?;
    if report.has_errors() {
        return super::refuse(&report);
    }
    let format = if args.json { Format::Json } else { args.format };
    let plans = report.workflows.iter().filter_map(|workflow| workflow.plan.as_ref());
    let pictures = plans.map(|plan| draw(plan, format)).collect::<Result<Vec<_>>>()?.join("\n");
    ui::deliver(&pictures, args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn draw(plan: &Plan, format: Format) -> Result<String> {
    Ok(match format {
        Format::Tree => longhaul_draw::tree(plan),
        Format::Mermaid => longhaul_draw::mermaid(plan),
        Format::Dot => longhaul_draw::dot(plan),
        Format::Svg => longhaul_draw::svg(plan),
        Format::Json => serde_json::to_string_pretty(&longhaul_draw::picture(plan))? + "\n",
    })
}
