//! Runs all passes from text to plan, and collects the findings.

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

/// The code for keys without effect.
const NO_EFFECT: &str = "LH0514";

/// A file to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// The name of the file in diagnostics; its extension gives the format.
    pub file: String,
    /// The name of a workflow that does not name itself.
    pub name: String,
    /// The folder of its prompts and scripts.
    pub dir: String,
    /// The text of the file.
    pub text: String,
    /// The dialect, if the caller knows it; otherwise it is recognised by its keys.
    pub dialect: Option<Dialect>,
}

/// The result of checking a file.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The files that diagnostics point into.
    pub sources: Sources,
    /// The dialect of the file.
    pub dialect: Dialect,
    /// All findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The workflows in it; a file of our own has one.
    pub workflows: Vec<Checked>,
}

/// One workflow of a file.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The name of the workflow.
    pub name: String,
    /// The tree in native keys.
    pub native: Node,
    /// The plan, if there are no errors.
    pub plan: Option<Plan>,
    /// Whether a text needs the run's task: it reads `task` without a test or a default.
    pub reads_task: bool,
}

impl CheckReport {
    /// Whether there are errors, so that the workflows cannot run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Reads, checks and lowers a file.
pub fn check(request: CheckRequest, world: &dyn World) -> CheckReport {
    let mut sources = Sources::default();
    let format = Format::of(&request.file);
    let file = sources.add(request.file, request.text);
    let mut found = Vec::new();
    let Some(node) = source::read(&sources, file, format, &mut found) else {
        return CheckReport { sources, dialect: Dialect::Native, diagnostics: found, workflows: Vec::new() };
    };
    let misread: Vec<Span> = found.iter().map(|found| found.span).collect();
    let dialect = request.dialect.unwrap_or_else(|| Dialect::of(&node));
    let natives = dialect::to_native(dialect, node, &sources, &mut found);
    let mut workflows = Vec::new();
    for Native { name, node } in natives {
        let name = name.unwrap_or_else(|| request.name.clone());
        let tree = Tree { name: name.clone(), dir: request.dir.clone(), node: node.clone(), uses: HashMap::new() };
        let mut own = Vec::new();
        let (plan, reads_task) = check_tree(tree, Depth::Outermost, &mut sources, world, &mut own);
        // A misread part also has the wrong shape; that is not a second mistake.
        own.retain(|found| !misread.contains(&found.span));
        if dialect != Dialect::Native {
            soften(&mut own);
        }
        let broken = has_errors(&found) || has_errors(&own);
        if broken {
            // In a workflow that cannot run, keys without effect do not matter.
            own.retain(|found| found.code != NO_EFFECT);
        }
        found.append(&mut own);
        workflows.push(Checked { name, native: node, plan: plan.filter(|_| !broken), reads_task });
    }
    CheckReport { sources, dialect, diagnostics: tidy(found), workflows }
}

/// Whether to check the used workflows themselves.
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
) -> (Option<Plan>, bool) {
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
    let plan = if has_errors(out) { None } else { lower::lower(&model, &texts, world) };
    (plan, reads_task(&texts))
}

/// Whether a text of the file reads `task` and tests it nowhere.
fn reads_task(texts: &texts::Texts<'_>) -> bool {
    texts.all.iter().filter_map(|text| text.outcome.as_ref().ok()).any(|analysis| {
        let mut reads = analysis.reads.iter().filter(|read| read.root == "task").peekable();
        reads.peek().is_some() && reads.all(|read| !read.guarded)
    })
}

/// LH0413: a used workflow has errors.
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
        // Only a message is kept, so no finding points into the files that were read here.
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

/// In a file of another system, a key without effect is only a note: its author had to write it.
fn soften(found: &mut [Diagnostic]) {
    found.iter_mut().filter(|found| found.code == NO_EFFECT).for_each(|found| found.severity = Severity::Note);
}

/// Sorts by place and removes duplicates: an alias can make the same place be checked twice.
fn tidy(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(|a, b| (a.span, a.code).cmp(&(b.span, b.code)).then_with(|| a.message.cmp(&b.message)));
    found.dedup_by(|a, b| a.span == b.span && a.code == b.code && a.message == b.message);
    found
}

/// The report on a file that is too large.
pub fn too_large(file: impl Into<String>) -> CheckReport {
    let mut sources = Sources::default();
    let id = sources.add(file, "");
    let message = format!("this file is larger than {} MiB", source::FILE_BYTES_MAX >> 20);
    let diagnostic = Diagnostic::error("LH0102", Span::new(id, 0, 0), message)
        .label("not read")
        .help("a workflow is a small text; keep data in files of their own and read them in a step");
    CheckReport { sources, dialect: Dialect::Native, diagnostics: vec![diagnostic], workflows: Vec::new() }
}

/// The report on a file that is not UTF-8 from a byte on; `text` is the part that can be shown.
pub fn not_utf8(file: impl Into<String>, text: &str, valid: usize) -> CheckReport {
    let mut sources = Sources::default();
    let id = sources.add(file, text);
    let diagnostics = vec![source::not_utf8(&sources, id, valid)];
    CheckReport { sources, dialect: Dialect::Native, diagnostics, workflows: Vec::new() }
}
