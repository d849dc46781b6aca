//! `longhaul init`: hooks Longhaul up with the editors and agents that are used here.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use longhaul_agents::drivers;
use longhaul_project::Project;
use longhaul_project::disk::{self, Disk};
use longhaul_project::library::Origin;
use longhaul_runtime::SCRIPTED;
use serde_json::json;

use super::list;
use crate::init::agent;
use crate::init::change::{Change, What, backup_of};
use crate::init::command::{Told, is_ours};
use crate::init::editor::{self, Editor, Scope};
use crate::init::entry::{Edit, NAME, Server};
use crate::ui;

/// Hook Longhaul up with your editor: MCP server and slash commands
///
/// Shows every change first. Files are edited in place and keep their comments; what was there before is kept beside them
/// as `*.longhaul.bak`. Done twice, it changes nothing the second time; `--remove` takes it all back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these: claude, codex, cursor, vscode, copilot, zed, gemini, opencode [default: those that are used here]
    #[arg(long = "editor", value_name = "NAME", value_delimiter = ',')]
    editors: Vec<String>,
    /// For yourself, in all projects, instead of for this project
    #[arg(long)]
    user: bool,
    /// Take everything out again
    #[arg(long)]
    remove: bool,
    /// Who does the project's prompts where nobody is named, or `none` [default: the first agent that is installed]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Write no slash commands
    #[arg(long)]
    no_commands: bool,
    /// Replace an entry or a file of our name that somebody else wrote
    #[arg(long, conflicts_with = "remove")]
    force: bool,
    /// Further arguments for `longhaul mcp`, such as `--mcp-arg=--compat=agent007`
    #[arg(long = "mcp-arg", value_name = "ARG", allow_hyphen_values = true)]
    mcp_args: Vec<String>,
    /// Make the changes without asking
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Print as JSON what changes, or would
    #[arg(long)]
    json: bool,
}

/// What is to be done, as it is put together.
#[derive(Default)]
struct Agenda {
    /// What every file that is touched is to hold; nothing if it is to go.
    files: BTreeMap<PathBuf, Option<String>>,
    /// What was left alone, and why.
    left: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let home = etcetera::choose_base_strategy().ok().map(|base| base.home_dir().to_owned());
    let project = Project::current()?;
    let scope = match (args.user, &home) {
        (false, _) => Scope::Project(project.root.clone()),
        (true, Some(home)) => Scope::User(home.clone()),
        (true, None) => bail!("there is no home folder: without `--user`, this project is hooked up"),
    };
    let editors = editors(args, &project.root, home.as_deref())?;
    let agenda = agenda(args, &scope, &editors)?;
    let changes = agenda.changes();
    let made = settle(args, &scope, &changes, &agenda.left)?;
    if args.json {
        let names: Vec<&str> = editors.iter().map(|editor| editor.name).collect();
        ui::print_json(&json!({"editors": names, "changes": changes, "left": agenda.left, "made": made}))?;
    }
    let refused = !agenda.left.is_empty() || !made && !args.dry_run && !changes.is_empty();
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Those that are named, else those that are used here.
fn editors(args: &Args, project: &Path, home: Option<&Path>) -> Result<Vec<&'static Editor>> {
    let known = || editor::ALL.iter().map(|editor| editor.name).collect::<Vec<_>>().join(", ");
    if !args.editors.is_empty() {
        let named = args.editors.iter().map(|name| {
            editor::named(name).with_context(|| format!("`{name}` is not an editor that is known here: {}", known()))
        });
        return named.collect();
    }
    let path: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let used: Vec<_> = editor::ALL.iter().filter(|editor| editor.is_used(project, home, &path)).collect();
    if used.is_empty() {
        bail!("no editor was found here: say which one with `--editor NAME` ({})", known());
    }
    Ok(used)
}

fn agenda(args: &Args, scope: &Scope, editors: &[&Editor]) -> Result<Agenda> {
    let server = server(args, scope)?;
    let disk = Disk::current()?;
    let rows = if args.no_commands && !args.remove { Vec::new() } else { list::rows(&disk, false) };
    let mut agenda = Agenda::default();
    for editor in editors {
        agenda.entry(args, scope, editor, &server)?;
        agenda.commands(args, scope, editor, &rows)?;
    }
    agenda.agent(args, scope)?;
    Ok(agenda)
}

/// How the server is started. A project's files are for everybody: they name the program, not its place, where that works.
fn server(args: &Args, scope: &Scope) -> Result<Server> {
    let this = std::env::current_exe().context("this program cannot be found")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).any(|folder| {
        let found = std::fs::canonicalize(folder.join(NAME)).ok();
        found.is_some() && found == std::fs::canonicalize(&this).ok()
    });
    let program =
        if on_path && matches!(scope, Scope::Project(_)) { NAME.to_owned() } else { this.display().to_string() };
    let arguments = std::iter::once("mcp".to_owned()).chain(args.mcp_args.iter().cloned()).collect();
    Ok(Server { program, arguments })
}

impl Agenda {
    /// What a file holds after everything so far.
    fn text(&self, file: &Path) -> Result<Option<String>> {
        if let Some(text) = self.files.get(file) {
            return Ok(text.clone());
        }
        match std::fs::read_to_string(file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", disk::shown(file))),
        }
    }

    fn entry(&mut self, args: &Args, scope: &Scope, editor: &Editor, server: &Server) -> Result<()> {
        let (file, shape) = (editor.entry_file(scope), editor.shape(scope));
        let before = self.text(&file)?;
        let text = before.as_deref().unwrap_or_default();
        let context = || format!("{} of {} is left as it is", scope.shown(&file), editor.title);
        if args.remove {
            if let Some(rest) = shape.take(text).with_context(context)? {
                let made_by_us = shape.is_bare(&rest) && !backup_of(&file).exists();
                self.files.insert(file, (!made_by_us).then_some(rest));
            }
            return Ok(());
        }
        match shape.put(text, server).with_context(context)? {
            Edit::Same => {}
            Edit::Taken(_) if !args.force => {
                self.left.push(format!("{} has another entry `{NAME}`: `--force` replaces it", scope.shown(&file)));
            }
            Edit::Written(text) | Edit::Taken(text) => {
                self.files.insert(file, Some(text));
            }
        }
        Ok(())
    }

    /// Who does prompts that name nobody, where the settings do not say yet.
    fn agent(&mut self, args: &Args, scope: &Scope) -> Result<()> {
        let file = scope.settings();
        let before = self.text(&file)?.unwrap_or_default();
        if args.remove {
            if let Some(rest) = agent::take(&before) {
                self.files.insert(file, Some(rest).filter(|rest| !rest.is_empty()));
            }
            return Ok(());
        }
        let chosen = args.agent.clone().or_else(|| agent::installed().first().map(|agent| agent.name().to_owned()));
        let Some(name) = chosen.filter(|name| name != "none") else { return Ok(()) };
        if args.agent.is_some() && drivers::by_name(&name).is_none() && name != SCRIPTED {
            let known: Vec<&str> = drivers::ALL.iter().map(|agent| agent.name()).collect();
            bail!("`{name}` is not an agent that is known here: {}", known.join(", "));
        }
        if let Some(after) = agent::put(&before, &name) {
            self.files.insert(file, Some(after));
        }
        Ok(())
    }

    fn commands(&mut self, args: &Args, scope: &Scope, editor: &Editor, rows: &[list::Row]) -> Result<()> {
        let Some(folder) = editor.command_folder(scope) else { return Ok(()) };
        if args.remove {
            return self.remove_commands(&folder);
        }
        for row in rows.iter().filter(|row| is_for(scope, row.entry.origin) && is_plain(&row.entry.name)) {
            let file = folder.join(editor.form.file(&row.entry.name));
            let text = editor.form.text(&Told { name: &row.entry.name, description: &row.description });
            match self.text(&file)? {
                Some(before) if before == text => {}
                Some(before) if !is_ours(&before) && !args.force => {
                    self.left.push(format!("{} is not ours: `--force` replaces it", scope.shown(&file)));
                }
                _ => drop(self.files.insert(file, Some(text))),
            }
        }
        Ok(())
    }

    /// All that we wrote, for whichever workflow.
    fn remove_commands(&mut self, folder: &Path) -> Result<()> {
        let Ok(files) = std::fs::read_dir(folder) else { return Ok(()) };
        for file in files.filter_map(Result::ok).map(|file| file.path()) {
            let named = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{NAME}-")));
            if named && self.text(&file)?.is_some_and(|text| is_ours(&text)) {
                self.files.insert(file, None);
            }
        }
        Ok(())
    }

    fn changes(&self) -> Vec<Change> {
        let change = |(file, after): (&PathBuf, &Option<String>)| {
            let before = std::fs::read_to_string(file).ok();
            Change::new(file.clone(), before, after.clone())
        };
        self.files.iter().map(change).filter(|change| change.before != change.after).collect()
    }
}

/// What a project holds is for those who work in it.
fn is_for(scope: &Scope, origin: Origin) -> bool {
    matches!(
        (scope, origin),
        (_, Origin::Builtin) | (Scope::Project(_), Origin::Project) | (Scope::User(_), Origin::User)
    )
}

/// Whether a name can be a file's and a command's.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'))
}

/// Shows the changes, and makes them if that is wanted. True if there is nothing left to do.
fn settle(args: &Args, scope: &Scope, changes: &[Change], left: &[String]) -> Result<bool> {
    for change in changes {
        ui::say(change.diff(&scope.shown(&change.file)));
    }
    left.iter().for_each(|left| ui::say(format!("{} {left}", ui::bad("left alone:"))));
    if changes.is_empty() {
        ui::say(if args.remove { "nothing of ours is there" } else { "everything is there already" });
        return Ok(true);
    }
    if args.dry_run || !args.yes && !is_wanted(changes.len())? {
        return Ok(false);
    }
    changes.iter().try_for_each(Change::make)?;
    changes.iter().filter(|change| args.remove && change.what == What::Edit).for_each(forget_backup);
    let done = ui::count(changes.len(), "file");
    ui::say(if args.remove {
        format!("{done} cleared up")
    } else {
        format!(
            "{done} written. Start your editor again and ask it to run a workflow; `longhaul init --remove` takes it back"
        )
    });
    Ok(true)
}

/// What a file is again needs no copy beside it.
fn forget_backup(change: &Change) {
    let backup = backup_of(&change.file);
    if std::fs::read_to_string(&backup).ok() == change.after {
        // A copy too many harms nobody.
        let _ = std::fs::remove_file(backup);
    }
}

fn is_wanted(files: usize) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        ui::say("nothing was changed: `--yes` makes these changes");
        return Ok(false);
    }
    ui::say(format!("change {}? [y/N]", ui::count(files, "file")));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
