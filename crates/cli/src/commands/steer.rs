//! `longhaul tell` and `longhaul budget`: steer a run while it is open.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use longhaul_app::{App, RunCommand};
use longhaul_core::duration::{format_ms, parse_ms};
use longhaul_core::event::{Amount, BudgetChange};
use longhaul_core::view::{self, RunBudget};

use super::tell::print;
use crate::engine_args::{self, EngineArgs};
use crate::{identity, ui};

/// Tell the agent of a step something, in its conversation
///
/// The next turn of the step carries the text, marked as the message of a person. If a turn is running and ends without it, the step gets
/// one more turn. If the step has not started, its first prompt contains the text. At a review, the agent makes another result, and the
/// review is asked again.
#[derive(Debug, clap::Args)]
pub(crate) struct TellArgs {
    /// The id of the run, or its first characters
    run: String,
    /// The step, as `longhaul status` names it; its id alone if only one such step is open
    step: String,
    /// The text; `-` reads it from standard input
    #[arg(required = true, num_args = 1..)]
    text: Vec<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Change the limits of a run; a run that is paused at one of them continues
///
/// A number with `+` adds to the limit, a number alone is the new limit. Without an option, the command prints the limits and
/// what the run has used of them. If the run failed at the limit, change the limit and then run `longhaul retry RUN`.
#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The id of the run, or its first characters
    run: String,
    /// Money in US dollars: 20, or +5
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    usd: Option<Amount<f64>>,
    /// Tokens, read and written: 500000, or +100000
    #[arg(long, value_name = "NUMBER", value_parser = count)]
    tokens: Option<Amount<u64>>,
    /// Executed steps: 200, or +50
    #[arg(long, value_name = "NUMBER", value_parser = count)]
    steps: Option<Amount<u64>>,
    /// Time since the start of the run: 8h, or +30m
    #[arg(long, value_name = "TIME", value_parser = span)]
    duration: Option<Amount<u64>>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn tell(args: &TellArgs) -> Result<ExitCode> {
    let text = match args.text.as_slice() {
        [only] if only == "-" => from_stdin()?,
        words => words.join(" "),
    };
    engine_args::block_on(async {
        let app = App::new(engine_args::open_what_is_there(&args.engine)?);
        let run = app.find(&args.run).await?;
        let command = RunCommand::Tell { step: args.step.clone(), text };
        let applied = app.command(&run, command, &identity::caller()).await;
        print(&run, applied.map_err(Into::into), args.json)
    })
}

fn from_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input cannot be read as text")?;
    Ok(text)
}

pub(crate) fn budget(args: &BudgetArgs) -> Result<ExitCode> {
    let BudgetArgs { usd, tokens, steps, duration, .. } = *args;
    let change = BudgetChange { usd, tokens, steps, duration_ms: duration };
    engine_args::block_on(async {
        let app = App::new(engine_args::open_what_is_there(&args.engine)?);
        let (run, loaded) = app.load(&args.run).await?;
        if change == BudgetChange::default() {
            let budget = view::budget(&loaded.plan.0, &loaded.state, app.engine().now_ms());
            return shown(&budget, args.json);
        }
        let applied = app.command(&run, RunCommand::Budget(change), &identity::caller()).await;
        print(&run, applied.map_err(Into::into), args.json)
    })
}

fn shown(budget: &RunBudget, json: bool) -> Result<ExitCode> {
    if json {
        ui::print_json(budget)?;
    } else {
        ui::print_line(table(budget).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(budget: &RunBudget) -> String {
    let line = |name: &str, used: String, limit: Option<String>| {
        let limit = limit.map_or_else(|| "no limit".to_owned(), |limit| format!("of {limit}"));
        format!("{name:<10} {used:>12}  {limit}\n")
    };
    let usd = |usd: f64| format!("${usd:.2}");
    [
        line("usd", usd(budget.usd.used), budget.usd.limit.map(usd)),
        line("tokens", budget.tokens.used.to_string(), budget.tokens.limit.map(|limit| limit.to_string())),
        line("steps", budget.steps.used.to_string(), budget.steps.limit.map(|limit| limit.to_string())),
        line("duration", format_ms(whole_seconds(budget.duration_ms.used)), budget.duration_ms.limit.map(format_ms)),
    ]
    .concat()
}

fn whole_seconds(ms: u64) -> u64 {
    ms / 1000 * 1000
}

/// An amount, and whether it is added to the limit.
fn amount<T>(text: &str, read: impl Fn(&str) -> Option<T>, what: &str) -> Result<Amount<T>, String> {
    let found = match text.strip_prefix('+') {
        Some(more) => read(more).map(Amount::By),
        None => read(text).map(Amount::To),
    };
    found.ok_or_else(|| format!("`{text}` is not {what}"))
}

fn money(text: &str) -> Result<Amount<f64>, String> {
    let read = |text: &str| text.trim_start_matches('$').parse().ok().filter(|usd: &f64| usd.is_finite() && *usd > 0.0);
    amount(text, read, "an amount such as 20 or +5")
}

fn count(text: &str) -> Result<Amount<u64>, String> {
    amount(text, |text| text.replace('_', "").parse().ok(), "a number such as 200 or +50")
}

fn span(text: &str) -> Result<Amount<u64>, String> {
    amount(text, parse_ms, "a time such as 8h or +30m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_plus_is_added() {
        assert_eq!(money("+5"), Ok(Amount::By(5.0)));
        assert_eq!(money("$20"), Ok(Amount::To(20.0)));
        assert_eq!(count("+1_000"), Ok(Amount::By(1000)));
        assert_eq!(span("+30m"), Ok(Amount::By(1_800_000)));
        for wrong in ["", "+", "-5", "nan", "inf", "five", "0"] {
            assert!(money(wrong).is_err(), "{wrong}");
        }
        assert_eq!(span("soon"), Err("`soon` is not a time such as 8h or +30m".to_owned()));
    }
}
