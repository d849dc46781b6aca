//! The way of a file from text to plan, and what is found on it.

use std::collections::HashMap;

use longhaul_core::plan::Plan;

use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{self, Dialect, Native};
use crate::model::{self, Forest, Model, Tree};
use crate::order::Orders;
use crate::scope::Scopes;
use crate::source::{self, Format, Node, Sources, Span};
use crate::world::World;
use crate::{check as rules, conform, lower, texts};

/// The code of what is read and not acted upon.
const NO_EFFECT: &str = "LH0514";

/// A file to be checked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// As diagnostics name the file; its ending says how to read it.
    pub file: String,
    /// What a workflow without a name of its own is called.
    pub name: String,
    /// Where its prompts and scripts are.
    pub dir: String,
    /// What it says.
    pub text: String,
    /// The dialect, where the caller knows better than the tell-tale keys.
    pub dialect: Option<Dialect>,
}

/// Everything there is to say about a file.
#[derive(Debug, Clone)]
pub struct Report {
    /// The files that diagnostics point into.
    pub sources: Sources,
    /// How the file was read.
    pub dialect: Dialect,
    /// All findings, in the order of the files' text.
    pub diagnostics: Vec<Diagnostic>,
    /// The workflows in it; only a store of units has more than one.
    pub workflows: Vec<Checked>,
}

/// One workflow of a file.
#[derive(Debug, Clone)]
pub struct Checked {
    /// What it is called.
    pub name: String,
    /// The tree in native keys.
    pub native: Node,
    /// The plan, if nothing is wrong.
    pub plan: Option<Plan>,
}

impl Report {
    /// Whether anything keeps the workflows from running.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Reads, checks and lowers a file.
pub fn check(request: Request, world: &dyn World) -> Report {
    let mut sources = Sources::default();
    let format = Format::of(&request.file);
    let file = sources.add(request.file, request.text);
    let mut found = Vec::new();
    let Some(node) = source::read(&sources, file, format, &mut found) else {
        return Report { sources, dialect: Dialect::Native, diagnostics: found, workflows: Vec::new() };
    };
    let misread: Vec<Span> = found.iter().map(|found| found.span).collect();
    let dialect = request.dialect.unwrap_or_else(|| Dialect::of(&node));
    let natives = dialect::to_native(dialect, node, &sources, &mut found);
    let mut workflows = Vec::new();
    for Native { name, node } in natives {
        let name = name.unwrap_or_else(|| request.name.clone());
        let tree = Tree { name: name.clone(), dir: request.dir.clone(), node: node.clone(), uses: HashMap::new() };
        let mut own = Vec::new();
        let plan = check_tree(tree, Depth::Outermost, &mut sources, world, &mut own);
        // What could not be read as it was meant does not fit either, and that is no second mistake.
        own.retain(|found| !misread.contains(&found.span));
        if dialect != Dialect::Native {
            soften(&mut own);
        }
        let broken = has_errors(&found) || has_errors(&own);
        if broken {
            // Of what cannot run at all nobody need know which part of it would have no effect.
            own.retain(|found| found.code != NO_EFFECT);
        }
        found.append(&mut own);
        workflows.push(Checked { name, native: node, plan: plan.filter(|_| !broken) });
    }
    Report { sources, dialect, diagnostics: tidy(found), workflows }
}

/// Whether the workflows that a workflow uses are checked for their own sake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outermost,
    Used,
}

fn check_tree(
    tree: Tree,
    depth: Depth,
    sources: &mut Sources,
    world: &dyn World,
    out: &mut Vec<Diagnostic>,
) -> Option<Plan> {
    conform::workflow(&tree.node, out);
    let forest = model::load(tree, sources, world);
    let model = model::build(&forest, out);
    let orders = Orders::of(&model);
    let mut scopes = Scopes::new(&model, &orders);
    let texts = texts::collect(&model, &mut scopes, sources, world);
    let context = rules::Context {
        model: &model,
        forest: &forest,
        orders: &orders,
        scopes: &scopes,
        texts: &texts,
        sources: &*sources,
        world,
    };
    rules::run(&context, out);
    if depth == Depth::Outermost && !forest.is_cut {
        used_workflows(&forest, &model, sources, world, out);
    }
    if has_errors(out) { None } else { lower::lower(&model, &texts, world) }
}

/// LH0413: a workflow that this one uses has mistakes of its own.
fn used_workflows(
    forest: &Forest,
    model: &Model<'_>,
    sources: &mut Sources,
    world: &dyn World,
    out: &mut Vec<Diagnostic>,
) {
    for tree in forest.trees.iter().skip(1) {
        let mut found = Vec::new();
        let copy =
            Tree { name: tree.name.clone(), dir: tree.dir.clone(), node: tree.node.clone(), uses: HashMap::new() };
        let known = sources.len();
        check_tree(copy, Depth::Used, sources, world, &mut found);
        // Only a message is taken over, so nothing points into the files that were read for this.
        sources.truncate(known);
        let Some(first) = found.iter().find(|diagnostic| diagnostic.severity == Severity::Error) else { continue };
        let user =
            model.own_steps().filter_map(|(_, step)| step.action.value().filter(|_| step.action.key() == "workflow"));
        let place = user.into_iter().find(|node| node.as_text() == Some(&tree.name));
        let span = place.map_or(forest.trees[0].node.span, |node| node.span);
        out.push(
            Diagnostic::error("LH0413", span, format!("the workflow `{}` has mistakes: {}", tree.name, first.message))
                .label("cannot be used like this")
                .help(format!("run `longhaul check {}`", tree.name)),
        );
    }
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Who brings a file of another system did not choose its keys: what has no effect is worth knowing, no more.
fn soften(found: &mut [Diagnostic]) {
    found.iter_mut().filter(|found| found.code == NO_EFFECT).for_each(|found| found.severity = Severity::Note);
}

/// In the order of the text, each once: an alias can make the same place be looked at twice.
fn tidy(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(|a, b| (a.span, a.code).cmp(&(b.span, b.code)).then_with(|| a.message.cmp(&b.message)));
    found.dedup_by(|a, b| a.span == b.span && a.code == b.code && a.message == b.message);
    found
}

/// The report on a file that is too large to be read at all.
pub fn too_large(file: impl Into<String>) -> Report {
    let mut sources = Sources::default();
    let id = sources.add(file, "");
    let message = format!("this file is larger than {} MiB", source::FILE_BYTES_MAX >> 20);
    let diagnostic = Diagnostic::error("LH0102", Span::new(id, 0, 0), message)
        .label("not read")
        .help("a workflow is a small text; keep data in files of their own and read them in a step");
    Report { sources, dialect: Dialect::Native, diagnostics: vec![diagnostic], workflows: Vec::new() }
}

/// The report on a file that is not UTF-8 from a byte on; `text` is what can be shown of it.
pub fn not_utf8(file: impl Into<String>, text: &str, valid: usize) -> Report {
    let mut sources = Sources::default();
    let id = sources.add(file, text);
    let diagnostics = vec![source::not_utf8(&sources, id, valid)];
    Report { sources, dialect: Dialect::Native, diagnostics, workflows: Vec::new() }
}
