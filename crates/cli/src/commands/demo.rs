//! `longhaul demo`: see it work, without a key, a network or a project.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use longhaul_app::{App, StartOrder};
use longhaul_core::Json;
use longhaul_core::event::{Answer, Envelope, Event, RunTrigger};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::state::State;
use longhaul_project::{Disk, Project};
use longhaul_runtime::{Engine, Message};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::run::Showing;
use crate::demo::folder::{BRANCH, Folder, STORE};
use crate::demo::{report, stage};
use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::init::agent::installed;
use crate::printer::OutputMode;
use crate::screen::terminal;
use crate::{identity, ui, width};

/// The id of the run in every demo.
const RUN: &str = "demo";
const WORKFLOW: &str = "code-review";
const TASK: &str = "Export the orders of a customer as CSV";

/// See Longhaul review a small repository; needs no key, no network
///
/// The demo makes a repository with a faulty change in a temporary folder. The built-in workflow `code-review` reviews it. Git, scripts,
/// store, gate and crash are real; only the agents' replies are recorded. The demo changes nothing outside that folder.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Kill the engine in the middle, then continue the run
    #[arg(long)]
    crash: bool,
    /// Accept the report without asking
    #[arg(long, short)]
    yes: bool,
    /// Print only the result, as JSON
    #[arg(long)]
    json: bool,
}

/// A demo in progress.
struct Demo<'a> {
    args: &'a Args,
    folder: &'a Folder,
    engine: Engine,
    run: RunId,
}

/// What survived the crash, by step.
#[derive(Debug, Default, Serialize)]
struct Crash {
    kept: Vec<String>,
    again: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let began = Instant::now();
    let folder = Folder::new()?;
    engine_args::block_on(async {
        let demo = Demo::start(args, &folder).await?;
        let Some((crash, report, accepted)) = demo.play().await? else {
            return Ok(ExitCode::from(engine_args::PARKED));
        };
        if args.json {
            let agents: Vec<&str> = installed().iter().map(|agent| agent.name()).collect();
            ui::print_json(&json!({
                "folder": folder.root(), "repository": folder.repository(), "run": demo.run, "report_file": folder.report(),
                "report": report, "accepted": accepted, "crash": crash, "agents": agents,
                "ms": began.elapsed().as_millis(),
            }))?;
        }
        Ok(ExitCode::SUCCESS)
    })
}

impl<'a> Demo<'a> {
    /// Records the run; nothing has run yet.
    async fn start(args: &'a Args, folder: &'a Folder) -> Result<Self> {
        let project = Project { root: folder.repository(), user: None };
        let startable = engine_args::plan(&Disk::new(project.clone()), WORKFLOW)?;
        let engine =
            engine_args::open_in(project, &EngineArgs::of(&folder.store()), &AgentArgs::scripted(folder.replies()))?;
        let order = StartOrder {
            task: TASK.to_owned(),
            run: RunId::new(RUN),
            trigger: Some(RunTrigger::manual()),
            ..StartOrder::default()
        };
        let run = App::new(engine.clone()).start(&startable, order, &identity::caller()).await?;
        Ok(Self { args, folder, engine, run })
    }

    /// Plays the whole demo; `None` if the user interrupted it.
    async fn play(&self) -> Result<Option<(Option<Crash>, Json, bool)>> {
        self.say(introduction(self.folder))?;
        self.say(typed(&["longhaul", "run", WORKFLOW]))?;
        let crash = if self.args.crash {
            Some(self.crash().await?)
        } else {
            self.drive().await?;
            None
        };
        let Some(path) = self.asking().await? else {
            ui::say(format!("stopped; `rm -r {}` clears up", self.folder.root().display()));
            return Ok(None);
        };
        let report = self.report(&path).await?;
        let accepted = self.decide(path).await?;
        self.drive().await?;
        self.say(farewell(self.folder))?;
        Ok(Some((crash, report, accepted)))
    }

    fn say(&self, text: impl std::fmt::Display) -> Result<()> {
        if self.args.json { Ok(()) } else { ui::print_line(text) }
    }

    /// Runs the workflow until it ends or asks.
    async fn drive(&self) -> Result<()> {
        if self.args.json {
            let is_patient = |state: &State| state.questions().next().is_none();
            self.engine.drive(&self.run, CancellationToken::new(), is_patient).await?;
        } else {
            let manner = if terminal::can_draw() { OutputMode::Tree } else { OutputMode::Lively };
            let after = self.engine.load(&self.run).await?.state.seq;
            let showing = Showing { manner, attended: false, after };
            super::run::show(&self.engine, &self.run, showing, (&CancellationToken::new(), None)).await?;
        }
        Ok(())
    }

    /// Kills the engine in the middle, continues, and reports which steps ran again.
    async fn crash(&self) -> Result<Crash> {
        let pid = stage::drive_and_kill(self.folder, RUN, !self.args.json)?;
        let news = format!("■ kill -9 {pid}: the engine is gone, in the middle of two reviews");
        self.say(format!("\n{}\n", ui::bad(news)))?;
        let before = self.events().await?;
        self.say(typed(&["longhaul", "resume", RUN]))?;
        self.drive().await?;
        let crash = Crash::of(&before, &self.events().await?);
        let [kept, again] = [&crash.kept, &crash.again].map(|steps| steps.join(", "));
        self.say(format!("\n{} {kept}", ui::good("Finished before the crash, and not done again:")))?;
        self.say(format!("{} {again}", ui::bold("Running when it happened, and started again:")))?;
        Ok(crash)
    }

    async fn events(&self) -> Result<Vec<Envelope>> {
        Ok(self.engine.events(&self.run, 0, 10_000).await?)
    }

    /// The step that asks.
    async fn asking(&self) -> Result<Option<StepPath>> {
        let state = self.engine.load(&self.run).await?.state;
        Ok(state.questions().next().map(|(step, _)| step.path.clone()))
    }

    /// Shows and stores the report.
    async fn report(&self, path: &StepPath) -> Result<Json> {
        let state = self.engine.load(&self.run).await?.state;
        let report = state.find(path).map(|step| step.outcome.result.output.clone()).unwrap_or_default();
        std::fs::write(self.folder.report(), report::markdown(&report))?;
        let width = width::columns().min(100);
        self.say(format!("\n{}", rule("The report", width)))?;
        report::lines(&report, width).into_iter().try_for_each(|line| self.say(line))?;
        self.say(rule("", width))?;
        Ok(report)
    }

    /// Asks the user and sends the decision to the run; returns whether the user accepted the report.
    async fn decide(&self, path: StepPath) -> Result<bool> {
        let unasked = self.args.yes || self.args.json;
        let asks = !unasked && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let accepted = if asks { is_accepted()? } else { true };
        if !asks {
            self.say("The demo accepts the report without asking:")?;
        }
        self.say(typed(&["longhaul", if accepted { "approve" } else { "deny" }, RUN]))?;
        let answer = if accepted { Answer::Approve } else { Answer::Deny { reason: None } };
        self.engine.tell(&self.run, Message::answer(path, answer, identity::caller()), None).await?;
        Ok(accepted)
    }
}

impl Crash {
    /// Compares the events before the crash with the events at the end.
    fn of(before: &[Envelope], after: &[Envelope]) -> Self {
        let started = |events: &[Envelope]| -> Vec<String> {
            let paths = events.iter().filter_map(|envelope| match &envelope.event {
                Event::AttemptStarted { path, .. } => Some(path.to_string()),
                _ => None,
            });
            paths.collect()
        };
        let (first, then) = (started(before), started(after.get(before.len()..).unwrap_or_default()));
        let (again, kept) = first.into_iter().partition(|step| then.contains(step));
        Self { kept, again }
    }
}

fn introduction(folder: &Folder) -> String {
    let text = format!(
        "A small repository was made in {}. Its branch `{BRANCH}` wants a review: three reviewers look at the change at once, a fourth merges \
         what they found, and you decide. What the agents say is recorded; git, scripts, store and gate are real.",
        folder.repository().display()
    );
    let lines = width::wrap(&text, width::columns().min(100));
    format!("{}\n\n{}\n", ui::bold("Longhaul, in a few seconds"), lines.join("\n"))
}

/// A command as the user would type it.
fn typed(words: &[&str]) -> String {
    format!("{} {}", ui::dim("$"), ui::bold(words.join(" ")))
}

fn is_accepted() -> Result<bool> {
    let mut out = ui::out();
    write!(out, "{} Accept this report? [Y/n] ", ui::bold("?"))?;
    out.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("the answer cannot be read")?;
    Ok(!matches!(line.trim().chars().next(), Some('n' | 'N')))
}

fn rule(title: &str, width: usize) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" {title} ") };
    let rest = width.saturating_sub(width::of(&title) + 2);
    ui::dim(format!("──{title}{}", "─".repeat(rest)))
}

fn farewell(folder: &Folder) -> String {
    let agents = installed();
    let found = match agents.as_slice() {
        [] => "none was found here; `longhaul agents` says what to install".to_owned(),
        agents => format!("found here: {}", agents.iter().map(|agent| agent.title()).collect::<Vec<_>>().join(", ")),
    };
    let agent = agents.first().map_or_else(String::new, |agent| format!(" --agent {}", agent.name()));
    let place = match ui::program().as_str() {
        "longhaul" => String::new(),
        program => format!("\n`longhaul` is not on your path yet; it is {program}"),
    };
    let line =
        |command: String, about: &str| format!("  {command:<32}{}\n", ui::dim(about)).trim_end().to_owned() + "\n";
    let around = [
        line(format!("cd {}", folder.repository().display()), ""),
        line(format!("longhaul status {RUN} --store ../{STORE}"), "# also: events, logs, outputs, watch"),
        line(format!("less {}", folder.report().display()), ""),
        line("longhaul demo --crash".to_owned(), "# kills the engine in the middle"),
        line(format!("rm -r {}", folder.root().display()), ""),
    ];
    let own = [
        line("cd your-repository".to_owned(), ""),
        line(format!("longhaul run {WORKFLOW}{agent}"), "# the change that is there"),
        line("longhaul list".to_owned(), "# what else there is"),
    ];
    let heads = [ui::bold("Look around"), ui::bold("The same with your own agent")];
    format!("\n{}\n{}\n{}\n  {found}\n{}{place}", heads[0], around.concat(), heads[1], own.concat())
}
