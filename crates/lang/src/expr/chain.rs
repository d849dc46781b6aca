//! Chains such as `plan.tasks[0].title`: the names they read, and fields that cannot exist.

use std::ops::Range;

use longhaul_core::types::Type;
use minijinja::machinery::ast::{Const, Expr, GetItem, UnaryOpKind};
use minijinja::value::ValueKind;

use super::scan::bytes;
use super::walk::Walker;
use super::{ChainLink, ExprFinding, FindingKind, Read, names};

/// An expression as its base and its links.
pub(super) struct Chain<'e, 't> {
    pub(super) base: &'e Expr<'t>,
    pub(super) links: Vec<Link<'e, 't>>,
    start: usize,
}

/// One step into a value.
pub(super) struct Link<'e, 't> {
    pub(super) key: ChainLink,
    subscript: Option<&'e Expr<'t>>,
    end: usize,
}

impl<'e, 't> Chain<'e, 't> {
    pub(super) fn of(text: &str, expr: &'e Expr<'t>) -> Self {
        let mut links = Vec::new();
        let mut base = expr;
        let mut start = usize::MAX;
        loop {
            let span = bytes(base.span());
            let (inner, link) = match base {
                Expr::GetAttr(e) => {
                    let name = span.end.saturating_sub(e.name.len())..span.end;
                    (&e.expr, Link { key: ChainLink::Field(e.name.to_owned(), name), subscript: None, end: span.end })
                }
                Expr::GetItem(e) => (&e.expr, item(text, e, span.end)),
                _ => break,
            };
            start = start.min(span.start);
            links.push(link);
            base = inner;
        }
        links.reverse();
        Self { base, links, start: start.min(bytes(base.span()).start) }
    }

    /// The name at the start of the chain, if there is one.
    pub(super) fn root(&self) -> Option<(&'t str, Range<usize>)> {
        match self.base {
            Expr::Var(var) => Some((var.id, bytes(var.span()))),
            _ => None,
        }
    }

    /// The range of the first `links` links.
    fn range(&self, links: usize) -> Range<usize> {
        let last = links.checked_sub(1).and_then(|last| self.links.get(last));
        self.start..last.map_or_else(|| bytes(self.base.span()).end, |link| link.end)
    }
}

fn item<'e, 't>(text: &str, item: &'e GetItem<'t>, end: usize) -> Link<'e, 't> {
    let subscript = &item.subscript_expr;
    let key = match subscript {
        Expr::Const(constant) => constant_key(text, constant, bytes(subscript.span())),
        Expr::UnaryOp(minus) if matches!((&minus.op, &minus.expr), (UnaryOpKind::Neg, Expr::Const(_))) => {
            ChainLink::Index
        }
        _ => ChainLink::Dynamic,
    };
    Link { key, subscript: Some(subscript), end }
}

fn constant_key(text: &str, constant: &Const, range: Range<usize>) -> ChainLink {
    match (constant.value.kind(), constant.value.as_str()) {
        (ValueKind::Number, _) => ChainLink::Index,
        (_, Some(name)) => {
            let inside = range.start + 1..range.end.saturating_sub(1);
            // Escapes and joined literals are longer than their value.
            let plain = text.get(inside.clone()) == Some(name);
            ChainLink::Field(name.to_owned(), if plain { inside } else { range })
        }
        _ => ChainLink::Dynamic,
    }
}

impl<'t> Walker<'t, '_> {
    /// Walks a chain; `soft` means that its last link may be undefined.
    pub(super) fn chain(&mut self, expr: &Expr<'t>, soft: bool) -> Type {
        let chain = Chain::of(self.text, expr);
        let mut found = match chain.root() {
            Some((name, range)) => self.root(&chain, name, range, soft),
            None => self.value(chain.base),
        };
        for link in &chain.links {
            if let Some(subscript) = link.subscript {
                self.value(subscript);
            }
        }
        for (at, link) in chain.links.iter().enumerate() {
            let forgiven = soft && at + 1 == chain.links.len() || self.is_known(&chain, at + 1);
            if !forgiven && found.may_be_item_error() {
                self.item_error(&chain, at);
            }
            found = match self.step(&found, &link.key) {
                Ok(found) => found,
                Err(known) => {
                    if !forgiven {
                        self.unknown_field(&chain, at, known);
                    }
                    Type::Any
                }
            };
        }
        found
    }

    fn root(&mut self, chain: &Chain<'_, 't>, name: &'t str, root_range: Range<usize>, soft: bool) -> Type {
        if let Some(bound) = self.bound(name) {
            return bound;
        }
        let known = self.scope.root(name);
        // A workflow may define a value `range`, which hides the function.
        if known.is_none() && (names::is_function(name) || names::BOUND.contains(&name)) {
            return Type::Any;
        }
        let path = chain.links.iter().map(|link| link.key.clone()).collect();
        let guarded = soft || self.is_guarded(chain);
        let range = chain.range(chain.links.len());
        self.found.reads.push(Read { root: name.to_owned(), path, range, root_range, guarded });
        known.unwrap_or_default()
    }

    fn step(&self, value: &Type, key: &ChainLink) -> Result<Type, Vec<String>> {
        let lists = value.members().iter().all(|member| matches!(member, Type::Array(_) | Type::Null));
        match key {
            ChainLink::Field(name, _) if may_miss(value) => value.field(name).or(Ok(Type::Any)),
            ChainLink::Field(name, _) => value.field(name),
            ChainLink::Index | ChainLink::Dynamic if lists => Ok(value.item().unwrap_or_default()),
            ChainLink::Index | ChainLink::Dynamic => Ok(Type::Any),
        }
    }

    /// Reports a field of an item that may be an error, unless a condition tells the two apart.
    fn item_error(&mut self, chain: &Chain<'_, 't>, at: usize) {
        let Some(Link { key: ChainLink::Field(field, range), .. }) = chain.links.get(at) else { return };
        if field != "error" && self.is_result(chain, at) {
            return;
        }
        let on = self.text.get(chain.range(at)).unwrap_or_default().to_owned();
        let kind = FindingKind::MayBeItemError { on, field: field.clone() };
        self.found.findings.push(ExprFinding { range: range.clone(), kind });
    }

    fn unknown_field(&mut self, chain: &Chain<'_, 't>, at: usize, known: Vec<String>) {
        let Some(Link { key: ChainLink::Field(field, range), .. }) = chain.links.get(at) else { return };
        let on = self.text.get(chain.range(at)).unwrap_or_default().to_owned();
        let kind = FindingKind::UnknownField { on, field: field.clone(), known };
        self.found.findings.push(ExprFinding { range: range.clone(), kind });
    }
}

/// Whether the type is too vague to say that a field does not exist.
fn may_miss(value: &Type) -> bool {
    value.members().iter().all(|member| *member == Type::Null)
        || value.members().iter().any(|member| matches!(member, Type::Enum(_)))
}
