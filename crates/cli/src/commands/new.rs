//! `longhaul new`: a workflow to begin with, and a test of it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_project::{Disk, disk};
use serde_json::json;

use crate::ui;

/// What can be begun with: its name, the workflow, and its tests.
const TEMPLATES: [(&str, &str, &str); 3] = [
    ("steps", include_str!("../new/steps.yaml"), include_str!("../new/steps.test.yaml")),
    ("loop", include_str!("../new/loop.yaml"), include_str!("../new/loop.test.yaml")),
    ("fan-out", include_str!("../new/fan-out.yaml"), include_str!("../new/fan-out.test.yaml")),
];

/// Write a workflow to begin with into this project, with a test of it
///
/// It goes to .longhaul/workflows and checks clean. Nothing that exists is overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the workflow: small letters, digits and dashes
    name: String,
    /// What to begin with: `steps`, `loop`, `fan-out`, or a workflow of `longhaul list`
    #[arg(long, default_value = "steps", value_name = "NAME")]
    from: String,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !is_fit(&args.name) {
        bail!(
            "`{}` cannot be the name of a workflow: begin with a small letter, and continue with those, digits and dashes",
            args.name
        );
    }
    let disk = Disk::current()?;
    let folder = disk.project.root.join(".longhaul/workflows");
    let file = |ending: &str| folder.join(format!("{}.{ending}", args.name));
    let (workflow, test) = texts(&disk, &args.from, &args.name)?;
    let mut written = vec![write(&file("yaml"), &workflow)?];
    if let Some(test) = test {
        written.push(write(&file("test.yaml"), &test)?);
    }
    let entry = disk.find(&args.name)?;
    let report = disk.check(&entry, None)?;
    if args.json {
        let files: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
        ui::print_json(&json!({"name": args.name, "from": args.from, "files": files, "ok": !report.has_errors()}))?;
    } else {
        written.iter().try_for_each(|file| ui::print_line(format!("{} {}", ui::good("+"), disk::shown(file))))?;
        ui::say(next(&args.name, written.len() > 1));
    }
    if report.has_errors() {
        return super::refuse(&report);
    }
    Ok(ExitCode::SUCCESS)
}

/// Names that are fit for files, commands and other workflows alike.
fn is_fit(name: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    name.len() <= 60 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(letters)
}

fn next(name: &str, tested: bool) -> String {
    let test = if tested {
        format!("longhaul test {name}             # its tests, without a model\n  ")
    } else {
        String::new()
    };
    format!(
        "next:\n  longhaul check {name}            # what is wrong, once you have changed it\n  {test}longhaul run {name} \"the task\""
    )
}

/// The workflow and its tests, under another name.
fn texts(disk: &Disk, from: &str, name: &str) -> Result<(String, Option<String>)> {
    if let Some((_, workflow, test)) = TEMPLATES.iter().find(|(known, ..)| *known == from) {
        return Ok((workflow.replace("NAME", name), Some(test.replace("NAME", name))));
    }
    let entry = disk.library.find(from).with_context(|| {
        let templates: Vec<&str> = TEMPLATES.iter().map(|(name, ..)| *name).collect();
        format!("there is no `{from}` to begin with: it can be {}, or a name of `longhaul list`", templates.join(", "))
    })?;
    let text = disk.text(&entry)?;
    let old = format!("name: {from}");
    let lines = text.lines().map(|line| if line == old { format!("name: {name}\n") } else { format!("{line}\n") });
    Ok((lines.collect(), None))
}

/// Writes a file that is not there yet.
fn write(file: &Path, text: &str) -> Result<PathBuf> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let made = std::fs::File::create_new(file);
    let mut made =
        made.with_context(|| format!("{} was not written; choose another name or move it away", disk::shown(file)))?;
    made.write_all(text.as_bytes())?;
    Ok(file.to_owned())
}
