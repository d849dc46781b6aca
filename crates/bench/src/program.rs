//! Finds the `longhaul` program to measure.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The program that the user names, or the one that cargo built into the same folder as this one.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(named) = named {
        return named.canonicalize().with_context(|| format!("there is no program {}", named.display()));
    }
    let beside = std::env::current_exe()?.with_file_name("longhaul");
    if !beside.exists() {
        build(std::env::var_os("CARGO").as_deref(), &beside)?;
    }
    Ok(beside)
}

/// Builds the program with cargo, whose path cargo gives to the programs that it runs.
fn build(cargo: Option<&OsStr>, beside: &Path) -> Result<()> {
    let cargo = cargo.with_context(|| format!("there is no {}; name the program with --program", beside.display()))?;
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let status = Command::new(cargo).args(["build", "-p", "longhaul", "--profile", profile]).status()?;
    ensure!(status.success() && beside.exists(), "{} cannot be built", beside.display());
    Ok(())
}
