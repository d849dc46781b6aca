//! Builds `web/` from its lock file, and writes a table of what came out.
//!
//! The sources are copied to the target folder and built there, so a source tree that cannot be written to
//! will do. Packages are those of `web/node_modules` if they are what the lock file says; else they are
//! fetched beside the copy, and found there the next time.
//!
//! **Invariant:** nothing is written outside `OUT_DIR`, and nothing runs again unless a source changed.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

/// What the pages are made of, in `web/`.
const SOURCES: [&str; 7] =
    ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "public", "src"];

/// The oldest Node.js that the build tool runs on, as `engines` in package.json says.
const OLDEST: (u32, u32) = (20, 19);

/// What to do about it, in lines that cargo prints.
type Trouble = Vec<String>;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_DASHBOARD").is_none() {
        return ExitCode::SUCCESS;
    }
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(lines) => {
            lines.iter().for_each(|line| println!("cargo::error={line}"));
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Trouble> {
    let here = folder("CARGO_MANIFEST_DIR")?;
    let web = here.join("../../web");
    let out = folder("OUT_DIR")?;
    let copy = out.join("web");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    println!("cargo::rerun-if-changed=tools");
    node_is_there()?;
    refresh(&web, &copy)?;
    let packages = packages(&here, &web, &copy)?;
    let vite = packages.join("vite/bin/vite.js");
    run(Command::new("node").arg(vite).args(["build", "--logLevel", "warn"]).current_dir(&copy))?;
    let table = run(Command::new("node").arg(here.join("tools/table.mjs")).arg(copy.join("dist")))?;
    fs::write(out.join("table.rs"), table.stdout).map_err(|error| trouble("table.rs", &error))
}

/// Node.js, and new enough.
fn node_is_there() -> Result<(), Trouble> {
    let Ok(said) = Command::new("node").arg("--version").output() else {
        return Err(without("there is no Node.js here, and the dashboard is built with it"));
    };
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if version_of(&version).is_none_or(|found| found < OLDEST) {
        return Err(without(&format!("Node.js is too old to build the dashboard: {version}")));
    }
    Ok(())
}

fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Both ways on: with Node.js, and without the dashboard.
fn without(what: &str) -> Trouble {
    let (major, minor) = OLDEST;
    vec![
        what.to_owned(),
        format!(
            "install Node.js {major}.{minor} or newer with npm (https://nodejs.org, or your system's `nodejs` and `npm`)"
        ),
        "or build everything but the dashboard: cargo build --no-default-features".to_owned(),
    ]
}

/// The sources as they are now; what was fetched beside them stays.
fn refresh(web: &Path, copy: &Path) -> Result<(), Trouble> {
    for gone in ["src", "public", "dist"] {
        remove(&copy.join(gone)).map_err(|error| trouble(gone, &error))?;
    }
    for source in SOURCES {
        copy_all(&web.join(source), &copy.join(source)).map_err(|error| trouble(source, &error))?;
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) }
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        return fs::write(to, fs::read(from)?);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The folder of the packages, fetched if need be; the copy finds them at its side.
fn packages(here: &Path, web: &Path, copy: &Path) -> Result<PathBuf, Trouble> {
    let (theirs, ours) = (web.join("node_modules"), copy.join("node_modules"));
    if ours.is_symlink() {
        fs::remove_file(&ours).map_err(|error| trouble("node_modules", &error))?;
    }
    if ours.exists() && is_right(here, web, &ours) {
        return Ok(ours);
    }
    if is_right(here, web, &theirs) {
        remove(&ours).and_then(|()| link(&theirs, &ours)).map_err(|error| trouble("node_modules", &error))?;
        return Ok(ours);
    }
    fetch(copy)?;
    Ok(ours)
}

/// Whether a folder has what the lock file says.
fn is_right(here: &Path, web: &Path, packages: &Path) -> bool {
    let said = Command::new("node")
        .arg(here.join("tools/right.mjs"))
        .args([&web.join("package-lock.json"), packages])
        .status();
    said.is_ok_and(|status| status.success())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from.canonicalize()?, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(from.canonicalize()?, to)
}

/// Only what the build needs: tests have more packages.
fn fetch(copy: &Path) -> Result<(), Trouble> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let flags = ["ci", "--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    match Command::new(npm).args(flags).current_dir(copy).output() {
        Err(_) => Err(without("there is no npm here, and it fetches what the dashboard is built with")),
        Ok(said) if said.status.success() => Ok(()),
        Ok(said) => {
            Err([without("npm ci could not fetch what the dashboard is built with; is there a network?"), told(&said)]
                .concat())
        }
    }
}

fn run(command: &mut Command) -> Result<Output, Trouble> {
    let said = command.output().map_err(|error| trouble("node", &error))?;
    if said.status.success() {
        return Ok(said);
    }
    Err([
        vec!["the dashboard does not build; to leave it out: cargo build --no-default-features".to_owned()],
        told(&said),
    ]
    .concat())
}

fn told(said: &Output) -> Trouble {
    let text = [&said.stdout[..], &said.stderr[..]].concat();
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

fn folder(name: &str) -> Result<PathBuf, Trouble> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| vec![format!("cargo does not set {name}")])
}

fn trouble(what: &str, error: &dyn std::fmt::Display) -> Trouble {
    vec![format!("{what}: {error}")]
}
