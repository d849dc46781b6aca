//! `longhaul consent`: shows grants, waiting requests and past decisions.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use longhaul_core::consent::{ConsentEntry, ConsentKey, Grant, GrantSpan};
use longhaul_core::duration::parse_ms;
use longhaul_core::explain::moment;
use longhaul_runtime::{Engine, Recorded, RunConsent};
use serde_json::{Value, json};

use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::{identity, ui};

/// Show, grant and revoke consent to actions
///
/// The rules are in the settings, under `[policy]`. By risk, service and action they say what is allowed, asked and denied.
/// A grant allows an action that the policy asks about. A grant cannot allow an action that the policy denies.
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
    /// List valid grants, runs that have consent from their start, and requests that wait for an answer
    List,
    /// Allow an action, or the runs of a workflow
    Grant(GrantArgs),
    /// Revoke consent, also from runs
    Revoke {
        /// The number of a grant, or the action it is for
        what: String,
    },
    /// Print every decision with its rule, every grant and every revocation
    Log {
        /// Only the newest N entries
        #[arg(long, short = 'n', default_value_t = 100)]
        limit: usize,
    },
}

#[derive(Debug, clap::Args)]
struct GrantArgs {
    /// An action such as `github:merge`, or `workflow_class:NAME` for the runs of a workflow
    #[arg(required_unless_present = "operation")]
    what: Option<String>,
    /// Allow it once
    #[arg(long, conflicts_with_all = ["always", "ttl"])]
    once: bool,
    /// Allow it for a day
    #[arg(long, conflicts_with = "ttl")]
    always: bool,
    /// Allow it for this time [default: 5m; 15m for a workflow]
    #[arg(long = "for", value_name = "DURATION", id = "ttl")]
    ttl: Option<String>,
    /// Allow it for this session of a client only, for as long as the session lasts unless you give a time
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Answer the request with this number, for the session that asked
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["what", "session", "ttl"])]
    operation: Option<u64>,
    /// With --operation: deny the request
    #[arg(long, requires = "operation")]
    deny: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
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

/// The person who grants or revokes consent; an error in a process that a step started.
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
            let span = if args.always { GrantSpan::Always } else { GrantSpan::Once };
            let grant = engine.ledger().await?.grant_for(operation, span, now, by);
            grant.with_context(|| format!("nothing is pending under {operation}; see: longhaul consent list"))?
        }
        (None, Some(what)) => named(args, what.parse()?, span, now, by)?,
        (None, None) => bail!("name the action: longhaul consent grant ACTION"),
    };
    let said = format!("granted: {} for {}{}", grant.span.word(), grant.key, until(grant.until));
    let value = json!(grant);
    let id = engine.grant(grant, args.operation).await?;
    tell(json, &with_id(value, id), &format!("{said}; revoke it with: longhaul consent revoke {id}"))
}

fn span(args: &GrantArgs) -> GrantSpan {
    match (args.once, args.always, &args.ttl, &args.session) {
        (true, ..) => GrantSpan::Once,
        (_, true, ..) => GrantSpan::Always,
        (_, _, None, Some(_)) => GrantSpan::Session,
        _ => GrantSpan::Temporary,
    }
}

fn named(args: &GrantArgs, key: ConsentKey, span: GrantSpan, now: i64, by: Option<String>) -> Result<Grant> {
    if let ConsentKey::Run { .. } = key {
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
        return tell(json, &json!({"revoked": id}), &format!("grant {id} is revoked"));
    }
    let runs = engine.revoke(what.parse()?, by).await?;
    let told = if runs.is_empty() { String::new() } else { format!("; {} told", ui::count(runs.len(), "run")) };
    tell(json, &json!({"revoked": what, "runs": runs}), &format!("all grants for {what} are revoked{told}"))
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
        ConsentEntry::Decided { request, verdict, rule, .. } => {
            let run = request.run.as_ref().map_or_else(String::new, |run| format!(" in {run}"));
            let session = request.session.as_ref().map_or_else(String::new, |session| format!(" in session {session}"));
            format!("{} {}, {} risk{run}{session} ({rule})", verdict.word(), request.action.name, request.action.risk)
        }
        ConsentEntry::Granted { grant, .. } => {
            format!("granted {} for {}{}", grant.span.word(), grant.key, by(&grant.by))
        }
        ConsentEntry::Dismissed { operation, by: who } => format!("denied {operation}{}", by(who)),
        ConsentEntry::Revoked { grant: Some(id), by: who, .. } => format!("revoked grant {id}{}", by(who)),
        ConsentEntry::Revoked { key, by: who, .. } => {
            format!("revoked {}{}", key.as_ref().map_or_else(String::new, ConsentKey::to_string), by(who))
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
