//! `longhaul explain`: the manual's page for a code.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_lang::codes;
use serde_json::json;

use crate::ui;

/// Explain an error code of the checker, such as LH0207
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The code [default: list all codes]
    code: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.code {
        Some(code) => one(code, args.json)?,
        None => all(args.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn one(code: &str, json: bool) -> Result<()> {
    let Some(entry) = codes::find(code) else {
        bail!("there is no code `{code}`; `longhaul explain` lists them all");
    };
    if json {
        return ui::print_json(&json!({"code": entry.code, "title": entry.title(), "page": entry.page}));
    }
    Ok(write!(ui::out(), "{}", entry.page)?)
}

fn all(json: bool) -> Result<()> {
    if json {
        let entry = |entry: &codes::CodeEntry| json!({"code": entry.code, "title": entry.title()});
        return ui::print_json(&codes::ALL.iter().map(entry).collect::<Vec<_>>());
    }
    let mut out = ui::out();
    for entry in codes::ALL {
        writeln!(out, "{}  {}", entry.code, entry.title())?;
    }
    Ok(())
}
