//! `longhaul fmt`: the canonical layout, comments kept.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_lang::diagnostic::render;
use longhaul_lang::format;
use longhaul_lang::source::Sources;
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::{self, Origin};
use serde_json::json;

use crate::ui;

/// Lay workflow files out in the canonical way; comments are kept
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, folders or names; `-` reads standard input and prints; without any, all workflows of the project
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Change nothing; exit with 1 if a file is not laid out like this
    #[arg(long)]
    check: bool,
    /// Print as JSON which files were changed
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.paths == ["-"] {
        let text = laid_out("<stdin>", &disk::from_stdin()?)?;
        write!(ui::out(), "{text}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut changed = Vec::new();
    let mut failed = false;
    for file in files(args)? {
        match one(&file, args.check) {
            Ok(true) => changed.push(disk::shown(&file)),
            Ok(false) => {}
            Err(error) => {
                ui::complain(&error);
                failed = true;
            }
        }
    }
    report(args, &changed)?;
    Ok(ExitCode::from(u8::from(failed || (args.check && !changed.is_empty()))))
}

fn report(args: &Args, changed: &[String]) -> Result<()> {
    if args.json {
        return ui::print_json(&json!({"changed": changed}));
    }
    let verb = if args.check { "would change" } else { "changed" };
    for file in changed {
        writeln!(ui::out(), "{verb} {file}")?;
    }
    Ok(())
}

fn files(args: &Args) -> Result<Vec<PathBuf>> {
    let disk = Disk::current()?;
    let mut files: Vec<PathBuf> = Vec::new();
    for path in &args.paths {
        let folder = Path::new(path);
        if folder.is_dir() && library::file_in(folder).is_none() {
            files.extend(library::in_folder(Origin::Path, folder).into_iter().map(|entry| entry.file));
            continue;
        }
        let entry = disk.find(path)?;
        if entry.origin == Origin::Builtin {
            bail!("`{path}` is built in and cannot be changed; `longhaul convert {path}` prints it");
        }
        if entry.origin == Origin::Shelf {
            bail!("`{path}` is on the shelf and no file; `longhaul versions {path} --text` prints it");
        }
        files.push(entry.file);
    }
    if args.paths.is_empty() {
        let own = disk.library.all().into_iter().filter(|entry| entry.origin == Origin::Project);
        files.extend(own.map(|entry| entry.file));
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    Ok(files)
}

/// Whether a file was, or would be, changed.
fn one(file: &Path, only_check: bool) -> Result<bool> {
    let name = disk::shown(file);
    let before = disk::text_of(file)?;
    let after = laid_out(&name, &before)?;
    let changed = before != after;
    if changed && !only_check {
        replace(file, &after).with_context(|| format!("{name} cannot be written"))?;
    }
    Ok(changed)
}

/// Through a file beside it, so that a crash leaves the old text or the new one.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, text)?;
    std::fs::set_permissions(&beside, std::fs::metadata(file)?.permissions())?;
    std::fs::rename(&beside, file)
}

fn laid_out(name: &str, text: &str) -> Result<String> {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let mut found = Vec::new();
    match format::format(&sources, file, &mut found) {
        Some(text) => Ok(text),
        None => {
            if let Some(first) = found.first() {
                ui::say(render(first, &sources, true));
            }
            bail!("{name} cannot be read")
        }
    }
}
