//! `longhaul consent`: what was let pass, what waits for it, and what was decided.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_core::consent::{Entry, Grant, Key, Span};
use longhaul_core::duration::parse_ms;
use longhaul_core::explain::moment;
use longhaul_runtime::{Engine, Recorded, RunConsent};
use serde_json::{Value, json};

use crate::office::{self, AgentArgs, EngineArgs};
use crate::{identity, ui};

/// Look at consent, give it, and take it back
///
/// Rules are in the settings, under `[policy]`: what is allowed, asked for, denied, by risk, service and action. What must be
/// asked for passes if somebody has granted it. What is denied is not lifted by a grant.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List grants that hold, runs that have consent by being started, and what waits for an answer
    List,
    /// Let something pass
    Grant(GrantArgs),
    /// Take consent back, also from runs
    Revoke {
        /// The number of a grant, or what it is for
        what: String,
    },
    /// Print every decision with its rule, every grant, and what was taken back
    Log {
        /// Only the newest so many
        #[arg(long, short = 'n', default_value_t = 100)]
        limit: usize,
    },
}

#[derive(Debug, clap::Args)]
struct GrantArgs {
    /// An action such as `github:merge`, or `workflow_class:NAME` for the runs of a workflow
    #[arg(required_unless_present = "operation")]
    what: Option<String>,
    /// For one time
    #[arg(long, conflicts_with_all = ["always", "ttl"])]
    once: bool,
    /// For a day
    #[arg(long, conflicts_with = "ttl")]
    always: bool,
    /// For so long [default: 5m; 15m for a workflow]
    #[arg(long = "for", value_name = "DURATION", id = "ttl")]
    ttl: Option<String>,
    /// For this session of a client alone; with nothing else said, as long as it lasts
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Answer what waits under this number, for the session that asked
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["what", "session", "ttl"])]
    operation: Option<u64>,
    /// With --operation: say no
    #[arg(long, requires = "operation")]
    deny: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    office::block_on(async {
        let engine = office::open(&args.engine, &AgentArgs::default())?;
        match &args.what {
            What::List => list(&engine, args.json).await?,
            What::Log { limit } => log(&engine, *limit, args.json).await?,
            What::Grant(grant) => {
                let by = person()?;
                give(&engine, grant, by, args.json).await?;
            }
            What::Revoke { what } => {
                let by = person()?;
                revoke(&engine, what, by, args.json).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Who gives and takes consent: nobody who was started by a step.
fn person() -> Result<Option<String>> {
    let origin = identity::origin();
    match origin.inside.first() {
        Some(run) => bail!("a step of {run} cannot give or take consent; let a person do it outside of the run"),
        None => Ok(origin.user),
    }
}

async fn give(engine: &Engine, args: &GrantArgs, by: Option<String>, json: bool) -> Result<()> {
    let now = engine.now_ms();
    let span = span(args);
    let grant = match (args.operation, &args.what) {
        (Some(operation), _) if args.deny => {
            engine.dismiss(operation, by).await?;
            return tell(json, &json!({"dismissed": operation}), &format!("{operation} is denied"));
        }
        (Some(operation), _) => {
            let span = if args.always { Span::Always } else { Span::Once };
            let grant = engine.ledger().await?.grant_for(operation, span, now, by);
            grant.with_context(|| format!("nothing is pending under {operation}; see: longhaul consent list"))?
        }
        (None, Some(what)) => named(args, what.parse()?, span, now, by)?,
        (None, None) => bail!("what is granted? longhaul consent grant ACTION"),
    };
    let said = format!("granted: {} for {}{}", grant.span.word(), grant.key, until(grant.until));
    let value = json!(grant);
    let id = engine.grant(grant, args.operation).await?;
    tell(json, &with_id(value, id), &format!("{said}; take it back with: longhaul consent revoke {id}"))
}

fn span(args: &GrantArgs) -> Span {
    match (args.once, args.always, &args.ttl, &args.session) {
        (true, ..) => Span::Once,
        (_, true, ..) => Span::Always,
        (_, _, None, Some(_)) => Span::Session,
        _ => Span::Temporary,
    }
}

fn named(args: &GrantArgs, key: Key, span: Span, now: i64, by: Option<String>) -> Result<Grant> {
    if let Key::Run { .. } = key {
        bail!("a run has its consent by being started; grant `workflow_class:NAME`, or the action");
    }
    let ttl = args.ttl.as_deref().map(|text| parse_ms(text).with_context(|| format!("`{text}` is not a duration")));
    let ttl = ttl.transpose()?.and_then(|ms| i64::try_from(ms).ok());
    let until = span.until(&key, now, ttl);
    Ok(Grant { key, span, session: args.session.clone(), fingerprint: None, until, by })
}

async fn revoke(engine: &Engine, what: &str, by: Option<String>, json: bool) -> Result<()> {
    if let Ok(id) = what.parse::<u64>() {
        engine.revoke_grant(id, by).await?;
        return tell(json, &json!({"revoked": id}), &format!("grant {id} holds no more"));
    }
    let runs = engine.revoke(what.parse()?, by).await?;
    let told = if runs.is_empty() { String::new() } else { format!("; {} told", ui::count(runs.len(), "run")) };
    tell(json, &json!({"revoked": what, "runs": runs}), &format!("nothing is granted for {what} any more{told}"))
}

async fn list(engine: &Engine, json: bool) -> Result<()> {
    let (ledger, runs, now) = (engine.ledger().await?, engine.run_consents().await?, engine.now_ms());
    let runs: Vec<RunConsent> = runs.into_iter().map(|(_, run)| run).filter(|run| run.grant.live).collect();
    if json {
        let grants: Vec<Value> = ledger.live(now).map(|(id, grant)| with_id(json!(grant), id)).collect();
        let pending: Vec<Value> = ledger
            .pending()
            .map(|(id, pending)| {
                with_id(json!({"request": pending.request, "rule": pending.rule, "since": pending.since}), id)
            })
            .collect();
        let run = |run: &RunConsent| json!({"key": run.key, "until": run.until, "suspended": run.grant.suspended});
        let runs: Vec<Value> = runs.iter().map(run).collect();
        return ui::print_json(&json!({"grants": grants, "runs": runs, "pending": pending}));
    }
    for (id, grant) in ledger.live(now) {
        let session = grant.session.as_ref().map_or_else(String::new, |session| format!(", session {session}"));
        ui::print_line(format!("{id:>5}  {:<10} {}{session}{}", grant.span.word(), grant.key, until(grant.until)))?;
    }
    for run in &runs {
        let suspended = if run.grant.suspended { ", suspended" } else { "" };
        ui::print_line(format!("       {:<10} {}{suspended}{}", "run", run.key, until(run.until)))?;
    }
    for (id, pending) in ledger.pending() {
        let action = &pending.request.action;
        ui::print_line(format!(
            "{id:>5}  {:<10} {}, {} risk; longhaul consent grant --operation {id}",
            "pending", action.name, action.risk
        ))?;
    }
    Ok(())
}

async fn log(engine: &Engine, limit: usize, json: bool) -> Result<()> {
    let log = engine.consent_log().await?;
    let newest = &log[log.len().saturating_sub(limit)..];
    if json {
        return ui::print_json(&newest);
    }
    newest.iter().try_for_each(|recorded| ui::print_line(line(recorded)))
}

fn line(recorded: &Recorded) -> String {
    let by = |by: &Option<String>| by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    let said = match &recorded.entry {
        Entry::Decided { request, verdict, rule, .. } => {
            let run = request.run.as_ref().map_or_else(String::new, |run| format!(" in {run}"));
            let session = request.session.as_ref().map_or_else(String::new, |session| format!(" in session {session}"));
            format!("{} {}, {} risk{run}{session} ({rule})", verdict.word(), request.action.name, request.action.risk)
        }
        Entry::Granted { grant, .. } => format!("granted {} for {}{}", grant.span.word(), grant.key, by(&grant.by)),
        Entry::Dismissed { operation, by: who } => format!("denied {operation}{}", by(who)),
        Entry::Revoked { grant: Some(id), by: who, .. } => format!("revoked grant {id}{}", by(who)),
        Entry::Revoked { key, by: who, .. } => {
            format!("revoked {}{}", key.as_ref().map_or_else(String::new, Key::to_string), by(who))
        }
    };
    format!("{:>5}  {}  {said}", recorded.id, moment(recorded.at / 1000 * 1000))
}

fn until(until: Option<i64>) -> String {
    until.map_or_else(String::new, |until| format!(", until {}", moment(until / 1000 * 1000)))
}

fn with_id(mut value: Value, id: u64) -> Value {
    value["id"] = json!(id);
    value
}

fn tell(json: bool, value: &Value, text: &str) -> Result<()> {
    if json {
        return ui::print_json(value);
    }
    ui::say(text);
    Ok(())
}
