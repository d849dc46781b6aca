//! `longhaul personas` and `longhaul skills`: lists the roles and the skills for agents.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use longhaul_lang::diagnostic::plain;
use longhaul_lang::world::{NameKind, same_name};
use longhaul_project::Project;
use longhaul_project::disk;
use serde_json::{Value, json};

use crate::{ui, width};
use longhaul_project::cards::{self, Card};

/// The arguments of both commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the text of this one instead of the list
    name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

struct Row {
    card: Card,
    hides: Vec<Card>,
}

pub(crate) fn run(args: &Args, kind: NameKind) -> Result<ExitCode> {
    let project = Project::current()?;
    match &args.name {
        Some(name) => one(&project, kind, name, args.json)?,
        None => list(&rows(cards::all(&project, kind)), args.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn one(project: &Project, kind: NameKind, name: &str, as_json: bool) -> Result<()> {
    let Some(card) = cards::find(project, kind, name) else {
        let list = if kind == NameKind::Persona { "personas" } else { "skills" };
        bail!("there is no `{name}`; `longhaul {list}` shows what there is");
    };
    if as_json {
        return ui::print_json(&card_json(&card, &[]));
    }
    ui::print_line(plain(&card.described().unwrap_or_default().text))
}

/// One row per name: the first card wins and hides the others.
fn rows(cards: Vec<Card>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for card in cards {
        match rows.iter_mut().find(|row| same_name(&row.card.name, &card.name)) {
            Some(row) => row.hides.push(card),
            None => rows.push(Row { card, hides: Vec::new() }),
        }
    }
    rows.sort_by(|a, b| a.card.name.cmp(&b.card.name));
    rows
}

fn list(rows: &[Row], as_json: bool) -> Result<()> {
    if as_json {
        return ui::print_json(&rows.iter().map(|row| card_json(&row.card, &row.hides)).collect::<Vec<_>>());
    }
    let mut out = ui::out();
    let width = rows.iter().map(|row| row.card.name.chars().count()).max().unwrap_or(0);
    for Row { card, hides } in rows {
        let name = ui::bold(format!("{:width$}", plain(&card.name)));
        let may = card.described().and_then(|described| described.sandbox).unwrap_or_default();
        let about = width::seen(&plain(&card.description()), width + 23);
        writeln!(out, "{name}  {:<8}  {:<9}  {about}", card.origin.word(), plain(&may))?;
        for hidden in hides {
            let text = format!("hides {} ({})", plain(&disk::shown(&hidden.file)), hidden.origin.word());
            writeln!(out, "{:width$}  {}", "", ui::dim(text))?;
        }
    }
    Ok(())
}

fn card_json(card: &Card, hides: &[Card]) -> Value {
    let described = card.described().unwrap_or_default();
    let hides: Vec<Value> =
        hides.iter().map(|card| json!({"origin": card.origin, "file": disk::shown(&card.file)})).collect();
    json!({
        "name": card.name, "origin": card.origin, "file": disk::shown(&card.file), "description": card.description(),
        "sandbox": described.sandbox, "model": described.model, "text": described.text, "hides": hides,
    })
}
