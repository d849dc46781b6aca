//! The facts from conditions: chains that are defined where a condition is true.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Filter, UnaryOpKind};

use super::ChainLink;
use super::chain::Chain;
use super::walk::Walker;

/// A chain that is defined: its root, and its links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fact(Vec<String>);

impl Fact {
    fn of(chain: &Chain<'_, '_>) -> Option<Self> {
        let (root, _) = chain.root()?;
        let mut path = vec![root.to_owned()];
        for link in &chain.links {
            match &link.key {
                ChainLink::Field(name, _) => path.push(format!(".{name}")),
                // Two subscripts may differ, so nothing is known after one.
                ChainLink::Index | ChainLink::Dynamic => break,
            }
        }
        Some(Self(path))
    }

    /// Whether one of the two chains is the start of the other.
    fn speaks_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }
}

impl<'t> Walker<'t, '_> {
    /// Whether a condition around the chain tests it, a part of it, or a longer chain.
    pub(super) fn is_guarded(&self, chain: &Chain<'_, 't>) -> bool {
        !self.facts.is_empty()
            && Fact::of(chain).is_some_and(|read| self.facts.iter().any(|fact| fact.speaks_of(&read)))
    }

    /// Whether the first `links` links of the chain are known to be defined.
    pub(super) fn is_known(&self, chain: &Chain<'_, 't>, links: usize) -> bool {
        if self.facts.is_empty() {
            return false;
        }
        let read = Fact::of(chain).map(|read| read.0).unwrap_or_default();
        let Some(part) = read.get(..=links) else { return false };
        self.facts.iter().any(|fact| fact.0.starts_with(part))
    }

    /// The chains that are defined if `condition` is `holds`.
    pub(super) fn facts(&self, condition: &Expr<'t>, holds: bool) -> Vec<Fact> {
        match condition {
            Expr::Test(test) if (test.name == "defined") == holds && matches!(test.name, "defined" | "undefined") => {
                self.fact(&test.expr)
            }
            Expr::Test(test) if (test.name == "undefined") == holds && matches!(test.name, "defined" | "undefined") => {
                self.absence(&test.expr)
            }
            Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => self.facts(&op.expr, !holds),
            Expr::BinOp(op) if matches!((op.op, holds), (BinOpKind::ScAnd, true) | (BinOpKind::ScOr, false)) => {
                let mut facts = self.facts(&op.left, holds);
                facts.extend(self.facts(&op.right, holds));
                facts
            }
            Expr::Filter(filter) if holds && falls_back_to_nothing(filter) => {
                filter.expr.as_ref().map(|operand| self.fact(operand)).unwrap_or_default()
            }
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) if holds => self.fact(condition),
            _ => Vec::new(),
        }
    }

    fn fact(&self, expr: &Expr<'t>) -> Vec<Fact> {
        Fact::of(&Chain::of(self.text, expr)).into_iter().collect()
    }

    /// That a field is not there.
    fn absence(&self, expr: &Expr<'t>) -> Vec<Fact> {
        let mut facts = self.fact(expr);
        facts.retain(|fact| fact.0.len() > 1);
        for last in facts.iter_mut().filter_map(|fact| fact.0.last_mut()) {
            *last = last.replacen('.', "!", 1);
        }
        facts
    }

    /// Whether a condition around the chain says that its first `links` links are no failed item: another field is there, or
    /// `error` is not.
    pub(super) fn is_result(&self, chain: &Chain<'_, 't>, links: usize) -> bool {
        let read = Fact::of(chain).map(|read| read.0).unwrap_or_default();
        let Some(item) = read.get(..=links) else { return false };
        let tells = |next: &String| next != ".error" && (next.starts_with('.') || next == "!error");
        self.facts.iter().any(|fact| fact.0.starts_with(item) && fact.0.get(links + 1).is_some_and(tells))
    }

    /// Walks with additional facts, and removes them again.
    pub(super) fn knowing<T>(&mut self, facts: Vec<Fact>, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.len();
        self.facts.extend(facts);
        let result = walk(self);
        self.facts.truncate(before);
        result
    }
}

/// `x | default(false)` and similar: true only if `x` is set.
fn falls_back_to_nothing(filter: &Filter<'_>) -> bool {
    let falsy = match filter.args.first() {
        None => true,
        Some(CallArg::Pos(Expr::Const(constant))) => !constant.value.is_true(),
        Some(CallArg::Pos(Expr::List(list))) => list.items.is_empty(),
        Some(CallArg::Pos(Expr::Map(map))) => map.keys.is_empty(),
        Some(_) => false,
    };
    matches!(filter.name, "default" | "d") && falsy
}
