//! `longhaul notify`: tests the channels, and lists what was sent.

use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_core::explain::moment;
use longhaul_core::notification::{ChannelRecord, MessageRecord};
use longhaul_runtime::Engine;
use serde_json::json;

use crate::engine_args::{self, AgentArgs, EngineArgs};
use crate::ui;

/// Test notifications, and list what was sent
///
/// `[notify]` in the settings says who hears what. A worker, `serve` or a run in the foreground sends the messages.
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
    /// Send a test message
    Test {
        /// The channel [default: all channels of `[notify]`]
        channel: Option<String>,
    },
    /// List messages, newest first: when, to which channels, and the result
    List {
        /// At most N messages
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: usize,
    },
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    engine_args::block_on(async {
        match &args.what {
            What::Test { channel } => {
                let engine = engine_args::open(&args.engine, &AgentArgs::default())?;
                test(&engine, channel.as_deref(), args.json).await
            }
            What::List { limit } => {
                let engine = engine_args::open_what_is_there(&args.engine)?;
                list(&engine, *limit, args.json).await
            }
        }
    })
}

async fn test(engine: &Engine, channel: Option<&str>, json: bool) -> Result<ExitCode> {
    let channels: Vec<String> = match channel {
        Some(channel) => vec![channel.to_owned()],
        None => engine.notify_rules().channels.clone(),
    };
    if channels.is_empty() {
        bail!(
            "notifications go nowhere: this machine has no desktop, and `[notify] channels` names no other channel; \
             docs/reference/settings.md shows how to add one"
        );
    }
    let (mut rows, mut is_well) = (Vec::new(), true);
    for channel in channels {
        let sent = engine.test_channel(&channel).await;
        is_well &= sent.is_ok();
        match &sent {
            Ok(()) if !json => ui::print_line(format!("{} {channel}: sent", ui::good("✓")))?,
            Err(failure) if !json => {
                ui::print_line(format!("{} {channel}: {}", ui::bad("✗"), ui::clean(&failure.message)))?;
            }
            _ => {}
        }
        rows.push(json!({"channel": channel, "ok": sent.is_ok(), "error": sent.err().map(|failure| failure.message)}));
    }
    if json {
        ui::print_json(&rows)?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn list(engine: &Engine, limit: usize, json: bool) -> Result<ExitCode> {
    let ledger = engine.notify_ledger().await?;
    let messages: Vec<&MessageRecord> = ledger.messages().rev().take(limit).collect();
    if json {
        ui::print_json(&messages)?;
        return Ok(ExitCode::SUCCESS);
    }
    if messages.is_empty() {
        ui::say("nothing was sent yet; longhaul notify test sends a message");
    }
    for message in messages {
        ui::print_line(format!("{}  {}", moment(message.at / 1000 * 1000), ui::clean(title(message))))?;
        for channel in &message.channels {
            ui::print_line(ui::dim(format!("    {}: {}", channel.channel, ui::clean(&went(message, channel)))))?;
        }
        if let Some(why) = &message.dropped {
            ui::print_line(ui::dim(format!("    not sent: {}", ui::clean(why))))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn title(message: &MessageRecord) -> &str {
    if message.title.is_empty() { &message.id } else { &message.title }
}

/// How a message went over one channel.
pub(super) fn went(message: &MessageRecord, channel: &ChannelRecord) -> String {
    let error = channel.error.as_deref().unwrap_or_default();
    match (channel.sent_at, channel.failed, message.next) {
        (Some(at), ..) => format!("sent {}", moment(at / 1000 * 1000)),
        (None, true, _) => format!("failed after {}: {error}", ui::count_of(channel.tries.into(), "attempt")),
        (None, false, Some(next)) if channel.tries > 0 => {
            format!("failed: {error}; tried again at {}", moment(next / 1000 * 1000))
        }
        _ => "is being sent".to_owned(),
    }
}
