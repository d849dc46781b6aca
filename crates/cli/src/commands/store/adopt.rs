//! `longhaul store adopt`: takes over a store that lies in a folder, such as the `.longhaul` of a project.
//!
//! Earlier versions kept the store there. A checkout can bring one along, so it is taken over only when a person says so, and what
//! is open in it stays paused until a person lets it continue.
//!
//! **Invariant:** the folder is read once, by this command alone. Links in it are not followed; keys, cached results and homes of
//! agents are left behind.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use longhaul_agents::private;
use longhaul_core::id::RunId;
use longhaul_project::{Project, place, state};
use longhaul_runtime::{Engine, Message, System};
use longhaul_store::{Options, Query, Sqlite, Store};
use serde_json::json;

use crate::{identity, ui};

/// What there is to take over.
struct Found {
    runs: usize,
    open: Vec<RunId>,
    triggers: usize,
}

pub(super) async fn adopt(folder: Option<&Path>, is_meant: bool, is_json: bool) -> Result<ExitCode> {
    let project = Project::current()?;
    let folder = folder.map_or_else(|| project.root.join(".longhaul"), Path::to_owned);
    let from = folder.join(place::FILE);
    verify(&folder, &from)?;
    let to = state::of(&project)?.join(place::FILE);
    refuse_full(&to).await?;
    let found = if is_meant { take(&project, &folder, &to).await? } else { look(&from).await?.1 };
    if is_json {
        let told = json!({"from": from, "to": to, "runs": found.runs, "open": found.open, "triggers": found.triggers, "adopted": is_meant});
        ui::print_json(&told)?;
    } else {
        say(&found, (&from, &to), is_meant)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn say(found: &Found, (from, to): (&Path, &Path), is_meant: bool) -> Result<()> {
    found.open.iter().try_for_each(|run| ui::print_line(format!("{run}  open")))?;
    let (runs, triggers) = (ui::count(found.runs, "run"), ui::count(found.triggers, "trigger"));
    let from = from.display();
    match is_meant {
        false => ui::say(format!(
            "{from} has {runs}, of which {} open, and {triggers}; do it with --yes, if you know where that file comes from",
            found.open.len()
        )),
        true => {
            ui::say(format!("{runs} and {triggers} are taken over into {}; {from} has another name now", to.display()));
            if !found.open.is_empty() {
                ui::say("open runs are paused; look at each, then: longhaul unpause RUN");
            }
        }
    }
    Ok(())
}

/// Refuses what this user has not made: a file of another, a link, or something that git brought along.
fn verify(folder: &Path, file: &Path) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    for path in [folder, file] {
        let about = path.symlink_metadata().with_context(|| format!("there is no store at {}", file.display()))?;
        if about.is_symlink() {
            bail!("{} is a link; name the folder that it leads to", path.display());
        }
        if about.uid() != me {
            bail!("{} belongs to user {}, not to you; nothing of it is taken over", path.display(), about.uid());
        }
    }
    if is_tracked(file) {
        bail!(
            "{} is part of the repository: it came with the checkout, and the work in it is somebody else's; nothing of it is taken over",
            file.display()
        );
    }
    Ok(())
}

fn is_tracked(file: &Path) -> bool {
    let (folder, name) = (file.parent().unwrap_or(Path::new(".")), file.file_name().unwrap_or_default());
    let mut git = Command::new("git");
    git.args(["-c", "core.fsmonitor=false", "-C"]).arg(folder).args(["ls-files", "--error-unmatch", "--"]).arg(name);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

/// A store in which there are runs already is not written over.
async fn refuse_full(to: &Path) -> Result<()> {
    if !to.exists() {
        return Ok(());
    }
    match look(to).await?.1.runs {
        0 => Ok(()),
        count => bail!(
            "{} has {} already; `longhaul store copy FROM TO` brings the runs of one store into another",
            to.display(),
            ui::count(count, "run")
        ),
    }
}

/// What a store holds, whatever its lists say about it.
async fn look(file: &Path) -> Result<(Engine, Found)> {
    let store =
        Sqlite::open(file, Options::default()).with_context(|| format!("{} cannot be opened", file.display()))?;
    let store: Arc<dyn Store> = Arc::new(store);
    let clock = System;
    super::refuse_busy(store.as_ref(), &clock).await.with_context(|| format!("{} is in use", file.display()))?;
    let engine = Engine::new(store, Arc::new(clock), longhaul_runtime::Options::default());
    let rows = engine.list(Query { limit: usize::MAX >> 1, ..Query::default() }).await?;
    let mut open = Vec::new();
    for row in &rows {
        // A run that cannot be read cannot be carried on either.
        if !engine.is_over(&row.run).await.unwrap_or(true) {
            open.push(row.run.clone());
        }
    }
    let triggers = engine.shelf().await?.triggers().filter(|(_, armed)| armed.trigger.enabled).count();
    Ok((engine, Found { runs: rows.len(), open, triggers }))
}

/// Copies the store and the files about its runs; the store has its name only when everything in it is paused.
async fn take(project: &Project, folder: &Path, to: &Path) -> Result<Found> {
    let (from, state) = (folder.join(place::FILE), state::made(project)?);
    let beside = state.join("adopting.db");
    let _ = std::fs::remove_file(&beside);
    // What was left of a crash is put right by opening it.
    drop(look(&from).await?);
    Sqlite::back_up(&from, &beside)?;
    let (engine, found) = look(&beside).await?;
    for run in &found.open {
        let by = identity::caller().who.name().map(str::to_owned);
        // One that is paused already stays so.
        let _ = engine.tell(run, Message::Pause { by }, None).await;
    }
    drop(engine);
    copy_files(&folder.join("runs"), &state.join("runs"))?;
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(PathBuf::from(format!("{}{ending}", to.display())));
    }
    std::fs::rename(&beside, to).with_context(|| to.display().to_string())?;
    std::fs::rename(&from, from.with_extension("db.adopted")).with_context(|| from.display().to_string())?;
    Ok(found)
}

/// Copies plain files and folders; what is something else is left out.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    let about = |path: &Path| path.symlink_metadata().ok();
    if !about(from).is_some_and(|about| about.is_dir()) {
        return Ok(());
    }
    private::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        match about(&path) {
            Some(about) if about.is_dir() => copy_files(&path, &to.join(name))?,
            Some(about) if about.is_file() => {
                std::io::copy(&mut std::fs::File::open(&path)?, &mut private::create(&to.join(name))?)?;
            }
            _ => {}
        }
    }
    Ok(())
}
