//! Finds templates that would use far too much time or memory, as far as their constants show.
//!
//! Sizes are lower bounds: an unknown part counts as zero, so every finding is correct.

use longhaul_core::types::Type;
use minijinja::machinery::ast::{BinOp, BinOpKind, Call, CallArg, Expr, Filter, Spanned, UnaryOpKind};

use super::extent::extent;
use super::walk::Walker;
use super::{Analysis, ExprFinding, FindingKind};

const MAX_REPEAT: u64 = 100_000;
const MAX_SIZE: u64 = 1_000_000;
const MAX_ROUNDS: u64 = 1_000_000;
const MAX_TAGS: usize = 5_000;

impl<'t> Walker<'t, '_> {
    fn too_costly(&mut self, range: std::ops::Range<usize>, why: String) {
        self.found.findings.push(ExprFinding { range, kind: FindingKind::TooCostly { why } });
    }

    /// Reports repetitions and concatenations that make too much text.
    pub(super) fn check_size(&mut self, op: &Spanned<BinOp<'t>>) {
        if !matches!(op.op, BinOpKind::Mul | BinOpKind::Add | BinOpKind::Concat) {
            return;
        }
        let parts = size(self, &op.left).max(size(self, &op.right));
        let whole = joined(self, op);
        let times = repeated(op).filter(|times| *times > MAX_REPEAT);
        // A part that is too large was reported itself.
        let why = match times {
            _ if whole > MAX_SIZE && parts <= MAX_SIZE => format!("it makes a text of at least {whole} characters"),
            Some(times) => format!("it repeats something {times} times"),
            None => return,
        };
        let range = extent(self.text, &op.left).start..extent(self.text, &op.right).end;
        self.too_costly(range, why);
    }
}

/// How often a multiplication repeats a literal.
fn repeated(op: &BinOp<'_>) -> Option<u64> {
    match op.op {
        BinOpKind::Mul if makes_many(&op.left) => integer(&op.right),
        BinOpKind::Mul if makes_many(&op.right) => integer(&op.left),
        _ => None,
    }
}

/// Whether a literal is a text or a list. Multiplication repeats those.
fn makes_many(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Const(constant) => constant.value.as_str().is_some(),
        Expr::List(_) | Expr::Tuple(_) => true,
        _ => false,
    }
}

/// The least number of bytes or items of an expression.
pub(super) fn size(walker: &Walker<'_, '_>, expr: &Expr<'_>) -> u64 {
    match expr {
        Expr::Const(constant) => constant.value.as_str().map_or(0, |text| text.len() as u64),
        Expr::List(list) => list.items.len() as u64,
        Expr::Tuple(tuple) => tuple.items.len() as u64,
        Expr::Var(var) => walker.size_of(var.id),
        Expr::BinOp(op) => joined(walker, op),
        _ => 0,
    }
}

fn joined(walker: &Walker<'_, '_>, op: &BinOp<'_>) -> u64 {
    let (left, right) = (size(walker, &op.left), size(walker, &op.right));
    match op.op {
        BinOpKind::Add | BinOpKind::Concat => left.saturating_add(right),
        BinOpKind::Mul => match (integer(&op.left), integer(&op.right)) {
            (Some(times), None) => right.saturating_mul(times),
            (None, Some(times)) => left.saturating_mul(times),
            _ => 0,
        },
        _ => 0,
    }
}

/// The power or product of two written numbers: people write `10**9`.
fn computed(op: &BinOp<'_>) -> Option<u64> {
    let (Expr::Const(left), Expr::Const(right)) = (&op.left, &op.right) else { return None };
    let (left, right) = (left.value.as_usize()? as u64, right.value.as_usize()? as u64);
    match op.op {
        BinOpKind::Pow => Some(left.saturating_pow(u32::try_from(right).unwrap_or(u32::MAX))),
        BinOpKind::Mul => Some(left.saturating_mul(right)),
        _ => None,
    }
}

/// A whole number, written or computed from written ones.
fn integer(expr: &Expr<'_>) -> Option<u64> {
    match expr {
        Expr::Const(constant) if constant.value.is_integer() => {
            Some(constant.value.as_usize().map_or(u64::MAX, |n| n as u64))
        }
        Expr::BinOp(op) => computed(op),
        _ => None,
    }
}

fn signed(expr: &Expr<'_>) -> Option<i128> {
    match expr {
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Neg) => Some(-i128::from(integer(&op.expr)?)),
        other => Some(i128::from(integer(other)?)),
    }
}

/// The length of a `range(…)` of constants.
fn range_length(call: &Call<'_>) -> Option<u64> {
    let numbers: Option<Vec<i128>> = call
        .args
        .iter()
        .map(|argument| match argument {
            CallArg::Pos(expr) => signed(expr),
            _ => None,
        })
        .collect();
    let (from, to, step) = match numbers?.as_slice() {
        [to] => (0, *to, 1),
        [from, to] => (*from, *to, 1),
        [from, to, step] if *step != 0 => (*from, *to, *step),
        _ => return None,
    };
    let length = (to - from) / step;
    Some(u64::try_from(length.max(0)).unwrap_or(u64::MAX))
}

/// Reports a `range` with too many numbers.
pub(super) fn check_range(walker: &mut Walker<'_, '_>, call: &Spanned<Call<'_>>, start: usize) {
    if let Some(length) = range_length(call).filter(|length| *length > MAX_REPEAT) {
        let end = super::scan::bytes(call.span()).end;
        walker.too_costly(start..end, format!("it counts {length} numbers, and {MAX_REPEAT} are the most"));
    }
}

/// Reports `indent` and `format` with far too large widths.
pub(super) fn check_filter(walker: &mut Walker<'_, '_>, filter: &Spanned<Filter<'_>>) {
    let width = match (filter.name, filter.args.first(), &filter.expr) {
        ("indent", Some(CallArg::Pos(width) | CallArg::Kwarg(_, width)), _) => integer(width),
        ("format", _, Some(Expr::Const(pattern))) => pattern.value.as_str().and_then(widest),
        _ => None,
    };
    if let Some(width) = width.filter(|width| *width > MAX_REPEAT) {
        let range = super::scan::bytes(filter.span());
        walker.too_costly(range, format!("it pads to {width} characters"));
    }
}

fn widest(pattern: &str) -> Option<u64> {
    let runs = pattern.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.map(|run| run.parse().unwrap_or(u64::MAX)).max().filter(|_| pattern.contains('%'))
}

/// The least number of rounds of a loop over `iter`, multiplied by the loops around it.
pub(super) fn rounds<'t>(walker: &mut Walker<'t, '_>, iter: &Expr<'t>) -> u64 {
    let length = match iter {
        Expr::Call(call) if matches!(&call.expr, Expr::Var(var) if var.id == "range") => range_length(call),
        Expr::List(list) => Some(list.items.len() as u64),
        Expr::Tuple(tuple) => Some(tuple.items.len() as u64),
        _ => None,
    };
    let before = walker.rounds;
    let rounds = before.saturating_mul(length.unwrap_or(1).max(1));
    if rounds > MAX_ROUNDS && before <= MAX_ROUNDS {
        let range = extent(walker.text, iter);
        walker.too_costly(range, format!("with the loops around it, this runs {rounds} times"));
    }
    rounds
}

/// The type of the items of a value.
pub(super) fn item_type(list: &Type) -> Type {
    let lists = list.members().iter().all(|member| matches!(member, Type::Array(_) | Type::Null));
    if lists { list.item().unwrap_or_default() } else { Type::Any }
}

/// Reports a text with too many tags.
pub(super) fn too_many(analysis: &Analysis) -> Option<ExprFinding> {
    let count = analysis.emits.len() + analysis.tags.len();
    let first = analysis.emits.iter().map(|emit| &emit.range).chain(&analysis.tags).min_by_key(|range| range.start)?;
    let why = format!("it has {count} tags, and {MAX_TAGS} are the most");
    (count > MAX_TAGS).then(|| ExprFinding { range: first.clone(), kind: FindingKind::TooCostly { why } })
}
