//! Finds the place of an expression.
//!
//! In the parser's spans only the end is exact. The start comes from the leftmost leaf.

use std::ops::Range;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{Expr, UnaryOpKind};

use super::scan::bytes;

/// The bytes of an expression, without parentheses around it.
pub(super) fn extent(text: &str, expr: &Expr<'_>) -> Range<usize> {
    start(text, expr)..end(expr)
}

/// An expression as written.
pub(super) fn written(text: &str, expr: &Expr<'_>) -> String {
    text.get(extent(text, expr)).unwrap_or_default().to_owned()
}

fn start(text: &str, expr: &Expr<'_>) -> usize {
    let inner = match expr {
        Expr::Var(_) | Expr::Const(_) | Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => return at(expr.span()),
        Expr::GetAttr(e) => return at(e.span()).min(start(text, &e.expr)),
        Expr::GetItem(e) => return at(e.span()).min(start(text, &e.expr)),
        Expr::Slice(e) => return at(e.span()).min(start(text, &e.expr)),
        Expr::Call(e) => return at(e.span()).min(start(text, &e.expr)),
        Expr::UnaryOp(e) => {
            let sign = if matches!(e.op, UnaryOpKind::Not) { "not" } else { "-" };
            // `x is not y` and `x not in y` are negations too, but do not start with the operator.
            if text.get(at(e.span())..).is_some_and(|rest| rest.starts_with(sign)) {
                return at(e.span());
            }
            &e.expr
        }
        Expr::BinOp(e) => &e.left,
        Expr::Compare(e) => &e.expr,
        Expr::IfExpr(e) => &e.true_expr,
        Expr::Filter(e) => match &e.expr {
            Some(inner) => inner,
            None => return at(e.span()),
        },
        Expr::Test(e) => &e.expr,
    };
    start(text, inner)
}

fn at(span: Span) -> usize {
    bytes(span).start
}

fn end(expr: &Expr<'_>) -> usize {
    match expr {
        Expr::BinOp(e) => end(&e.right),
        Expr::Compare(e) => e.ops.last().map_or_else(|| end(&e.expr), |op| end(&op.expr)),
        Expr::IfExpr(e) => end(e.false_expr.as_ref().unwrap_or(&e.test_expr)),
        Expr::UnaryOp(e) => bytes(e.span()).end.max(end(&e.expr)),
        other => bytes(other.span()).end,
    }
}
