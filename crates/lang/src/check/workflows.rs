//! LH0408 to LH0411, LH0414: sub-workflows that do not exist or are not the project's, get the wrong inputs, or use themselves.

use std::collections::HashSet;

use longhaul_core::plan::UnitIx;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::expr;
use crate::model::{Step, Unit, Use, WORKFLOWS_MAX};
use crate::source::{Node, Span};
use crate::world::Kind;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (ix, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "workflow") {
        let Some((node, name)) = step.action.value().and_then(|node| Some((node, node.as_text()?))) else { continue };
        let unit = context.model.unit_of(ix);
        match unit.known.get(name) {
            Some(used) => inputs(step, node, context.model.unit(*used), out),
            None => out.push(not_found(context, unit, node, name)),
        }
    }
    recursion(context, out);
    if context.forest.is_cut {
        out.extend(context.forest.trees.first().map(|tree| too_many(tree.node.span)));
    }
}

fn too_many(span: Span) -> Diagnostic {
    Diagnostic::error("LH0102", span, format!("this workflow reaches more than {WORKFLOWS_MAX} others"))
        .label("through those that it uses")
        .help("use fewer workflows, or fewer that use others")
}

fn not_found(context: &Context<'_, '_>, unit: &Unit<'_>, node: &Node, name: &str) -> Diagnostic {
    if expr::is_template(name) {
        return Diagnostic::error("LH0408", node.span, "the name of a sub-workflow cannot be computed")
            .label("a template")
            .help("use `switch` to choose between several, so that each can be checked");
    }
    match context.forest.trees.first().and_then(|tree| tree.uses.get(name)) {
        Some(Use::Broken(why)) => {
            return Diagnostic::error("LH0408", node.span, format!("the workflow `{name}` cannot be read: {why}"))
                .label("found, but not readable")
                .help(format!("run `longhaul check {name}`"));
        }
        Some(Use::Outside) => {
            return Diagnostic::error("LH0414", node.span, format!("the workflow `{name}` is outside the project"))
                .label("leads out of the project")
                .help("copy it into the project, or into `~/.longhaul/workflows` and use it by its name");
        }
        Some(Use::Tree(_)) | None => {}
    }
    let own = unit.known.keys().map(String::as_str);
    let found = context.world.names(Kind::Workflow).iter().map(String::as_str);
    Diagnostic::error("LH0408", node.span, format!("there is no workflow `{name}`")).label("not found").did_you_mean(
        name,
        own.chain(found),
        |_| Some("`longhaul list` shows what can be found; or define it under `workflows:` in this file".to_owned()),
    )
}

fn inputs(step: &Step<'_>, node: &Node, used: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let declared = used.node.get("inputs").and_then(Node::entries).unwrap_or_default();
    let given = step.node.get("with").and_then(Node::entries).unwrap_or_default();
    let names = |entries: &'_ [(Node, Node)]| -> HashSet<String> {
        entries.iter().filter_map(|(key, _)| Some(key.scalar()?.to_owned())).collect()
    };
    let (given_names, declared_names) = (names(given), names(declared));
    for (key, input) in declared {
        let required = input.get("default").is_none() && input.get("required").and_then(Node::as_bool) != Some(false);
        let Some(name) = key.scalar().filter(|name| required && !given_names.contains(*name)) else { continue };
        let place = step.node.entry("with").map_or(node.span, |(key, _)| key.span);
        out.push(
            Diagnostic::error("LH0409", place, format!("`{}` needs the input `{name}`", used.name))
                .label(format!("no `{name}` here"))
                .help(format!("add it: `with: {{{name}: …}}`")),
        );
    }
    let open = used.compat.contains(&longhaul_core::plan::Compat::OpenInputs);
    for (key, _) in given.iter().filter(|_| !open) {
        let name = key.scalar().unwrap_or_default();
        if name == "task" || declared_names.contains(name) {
            continue;
        }
        let known: Vec<&str> =
            std::iter::once("task").chain(declared.iter().filter_map(|(known, _)| known.scalar())).collect();
        out.push(
            Diagnostic::error("LH0410", key.span, format!("`{}` has no input `{name}`", used.name))
                .label("unknown input")
                .did_you_mean(name, known, |known| Some(format!("it has: {}", known.join(", ")))),
        );
    }
}

/// A unit that reaches itself. Reported where the file's own unit starts the circle, or leads into one of
/// other files.
fn recursion(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let uses = uses(context);
    let endless = endless(&uses);
    let mut looked_at: HashSet<(UnitIx, UnitIx)> = HashSet::new();
    for (ix, step) in context.model.own_steps().filter(|(_, step)| step.action.key() == "workflow") {
        let unit = context.model.body(step.body).unit;
        let name = step.action.value().and_then(Node::as_text).unwrap_or_default();
        let Some(used) = context.model.unit_of(ix).known.get(name).filter(|used| endless[used.at()]) else { continue };
        if !looked_at.insert((unit, *used)) {
            continue;
        }
        let foreign = !context.model.unit(*used).own;
        let way = path(&uses, *used, unit).or_else(|| foreign.then(|| circle(&uses, &endless, *used)));
        if let Some(way) = way {
            let names: Vec<&str> =
                std::iter::once(unit).chain(way).map(|unit| context.model.unit(unit).name.as_str()).collect();
            let span: Span = step.action.value().map_or(step.span, |node| node.span);
            out.push(
                Diagnostic::error("LH0411", span, format!("a workflow cannot use itself: {}", names.join(" → ")))
                    .label("leads back here")
                    .help("use `repeat` or a state machine to do steps again"),
            );
        }
    }
}

/// Which units can continue into others for ever: those that are left when all that end are taken away.
fn endless(uses: &[Vec<UnitIx>]) -> Vec<bool> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); uses.len()];
    for (at, used) in uses.iter().enumerate() {
        used.iter().for_each(|used| users[used.at()].push(at));
    }
    let mut open: Vec<usize> = uses.iter().map(Vec::len).collect();
    let mut ended: Vec<usize> = (0..uses.len()).filter(|at| open[*at] == 0).collect();
    while let Some(at) = ended.pop() {
        for user in &users[at] {
            open[*user] -= 1;
            if open[*user] == 0 {
                ended.push(*user);
            }
        }
    }
    open.into_iter().map(|open| open > 0).collect()
}

/// The way from a unit into a circle and once round.
fn circle(uses: &[Vec<UnitIx>], endless: &[bool], from: UnitIx) -> Vec<UnitIx> {
    let mut way = vec![from];
    let mut seen = HashSet::from([from]);
    let mut at = from;
    while let Some(next) = uses[at.at()].iter().find(|next| endless[next.at()]) {
        way.push(*next);
        if !seen.insert(*next) {
            break;
        }
        at = *next;
    }
    way
}

/// Which units each unit uses.
fn uses(context: &Context<'_, '_>) -> Vec<Vec<UnitIx>> {
    let mut uses = vec![Vec::new(); context.model.units.len()];
    for step in context.model.steps.iter().filter(|step| step.action.key() == "workflow") {
        let unit = context.model.body(step.body).unit;
        let name = step.action.value().and_then(Node::as_text).unwrap_or_default();
        uses[unit.at()].extend(context.model.unit(unit).known.get(name));
    }
    uses
}

fn path(uses: &[Vec<UnitIx>], from: UnitIx, to: UnitIx) -> Option<Vec<UnitIx>> {
    let mut before: std::collections::HashMap<UnitIx, UnitIx> = std::collections::HashMap::from([(from, from)]);
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(unit) = queue.pop_front() {
        if unit == to {
            let mut way = vec![unit];
            let mut at = unit;
            while before[&at] != at {
                at = before[&at];
                way.push(at);
            }
            way.reverse();
            return Some(way);
        }
        for next in &uses[unit.at()] {
            if !before.contains_key(next) {
                before.insert(*next, unit);
                queue.push_back(*next);
            }
        }
    }
    None
}
