//! Finds the type of an expression, and the mistakes in it.

use longhaul_core::types::Type;
use minijinja::machinery::ast::{BinOp, BinOpKind, Call, CallArg, CallType, Expr, Spanned, Test, UnaryOpKind};
use minijinja::value::{Value, ValueKind};

use super::extent::extent;
use super::scan::bytes;
use super::walk::Walker;
use super::{ExprFinding, FindingKind, cost, names};

impl<'t> Walker<'t, '_> {
    /// Walks an expression that must be defined.
    pub(super) fn value(&mut self, expr: &Expr<'t>) -> Type {
        self.value_or_nothing(expr, false)
    }

    /// Walks an expression; `soft` means that it may be undefined.
    pub(super) fn value_or_nothing(&mut self, expr: &Expr<'t>, soft: bool) -> Type {
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => self.chain(expr, soft),
            Expr::Const(constant) => constant_type(&constant.value),
            Expr::Slice(slice) => {
                for bound in [&slice.start, &slice.stop, &slice.step].into_iter().flatten() {
                    self.value(bound);
                }
                sliced(self.value(&slice.expr))
            }
            Expr::UnaryOp(op) => {
                let operand = self.value(&op.expr);
                if matches!(op.op, UnaryOpKind::Not) { Type::Boolean } else { number(&operand, &operand) }
            }
            Expr::BinOp(op) => self.binary(op),
            Expr::Compare(compare) => {
                self.value(&compare.expr);
                for op in &compare.ops {
                    self.value(&op.expr);
                }
                Type::Boolean
            }
            Expr::IfExpr(_) => self.ternary(expr, soft),
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => self.test(test),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => Type::array(self.items(&list.items)),
            Expr::Tuple(tuple) => Type::array(self.items(&tuple.items)),
            Expr::Map(map) => {
                self.items(&map.keys);
                self.map(&map.keys, &map.values)
            }
        }
    }

    fn items(&mut self, items: &[Expr<'t>]) -> Type {
        let mut all: Option<Type> = None;
        for item in items {
            let next = self.value(item);
            all = Some(all.map_or(next.clone(), |before| before.or(next)));
        }
        all.unwrap_or_default()
    }

    fn map(&mut self, keys: &[Expr<'t>], values: &[Expr<'t>]) -> Type {
        let mut known = Vec::new();
        for (key, value) in keys.iter().zip(values) {
            let value = self.value(value);
            if let Expr::Const(key) = key {
                known.extend(key.value.as_str().map(|key| (key.to_owned(), value)));
            }
        }
        if known.len() == keys.len() { Type::closed(known) } else { Type::open_object() }
    }

    fn ternary(&mut self, expr: &Expr<'t>, soft: bool) -> Type {
        let Expr::IfExpr(choice) = expr else { return Type::Any };
        self.value(&choice.test_expr);
        let facts = self.facts(&choice.test_expr, true);
        let yes = self.knowing(facts, |walker| walker.value_or_nothing(&choice.true_expr, soft));
        let facts = self.facts(&choice.test_expr, false);
        let Some(no) = &choice.false_expr else { return Type::Any };
        yes.or(self.knowing(facts, |walker| walker.value_or_nothing(no, soft)))
    }

    fn binary(&mut self, op: &Spanned<BinOp<'t>>) -> Type {
        let logic = matches!(op.op, BinOpKind::ScAnd | BinOpKind::ScOr);
        let bare = matches!(op.op, BinOpKind::ScOr) && matches!(op.left, Expr::Var(_));
        let left = self.value_or_nothing(&op.left, bare);
        let facts = if logic { self.facts(&op.left, matches!(op.op, BinOpKind::ScAnd)) } else { Vec::new() };
        let right = self.knowing(facts, |walker| walker.value(&op.right));
        self.check_comparison(op, &left, &right);
        self.check_size(op);
        match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => left.or(right),
            BinOpKind::Concat => Type::String,
            BinOpKind::Add => sum(left, right),
            BinOpKind::Sub | BinOpKind::FloorDiv | BinOpKind::Rem | BinOpKind::Mul => number(&left, &right),
            BinOpKind::Div if number(&left, &right) != Type::Any => Type::Number,
            BinOpKind::Div | BinOpKind::Pow => Type::Any,
            BinOpKind::Eq | BinOpKind::Ne | BinOpKind::Lt | BinOpKind::Lte => Type::Boolean,
            BinOpKind::Gt | BinOpKind::Gte | BinOpKind::In => Type::Boolean,
        }
    }

    fn test(&mut self, test: &Spanned<Test<'t>>) -> Type {
        self.value_or_nothing(&test.expr, matches!(test.name, "defined" | "undefined"));
        self.arguments(&test.args);
        if !names::is_test(test.name) {
            let known = owned(names::tests());
            self.unknown(
                bytes(test.span()).start,
                test.name,
                FindingKind::UnknownTest { name: test.name.to_owned(), known },
            );
        }
        Type::Boolean
    }

    /// Walks the arguments of a call, a filter or a test.
    pub(super) fn arguments(&mut self, arguments: &[CallArg<'t>]) {
        for argument in arguments {
            match argument {
                CallArg::Pos(e) | CallArg::Kwarg(_, e) | CallArg::PosSplat(e) | CallArg::KwargSplat(e) => self.value(e),
            };
        }
    }

    /// Reports an unknown name at its start.
    pub(super) fn unknown(&mut self, start: usize, name: &str, kind: FindingKind) {
        self.found.findings.push(ExprFinding { range: start..start + name.len(), kind });
    }

    /// Walks a call.
    pub(super) fn call(&mut self, call: &Spanned<Call<'t>>) -> Type {
        let found = match call.identify_call() {
            CallType::Function(name) => self.function(name, call),
            CallType::Method(receiver, name) => {
                self.value(receiver);
                method(name)
            }
            CallType::Block(_) => Type::String,
            CallType::Object(callee) => {
                self.value(callee);
                Type::Any
            }
        };
        self.arguments(&call.args);
        found
    }

    fn function(&mut self, name: &'t str, call: &Spanned<Call<'t>>) -> Type {
        let data = self.bound(name).is_some() || names::BOUND.contains(&name);
        if !data && !names::is_function(name) {
            if self.scope.root(name).is_some() && !names::ELSEWHERE.contains(&name) {
                return self.value(&call.expr);
            }
            let known = owned(names::functions());
            let start = bytes(call.expr.span()).start;
            self.unknown(start, name, FindingKind::UnknownFunction { name: name.to_owned(), known });
        }
        match name {
            "range" if !data => {
                cost::check_range(self, call, extent(self.text, &call.expr).start);
                Type::array(Type::Integer)
            }
            "compare" | "ordered" if !data => Type::Boolean,
            _ => Type::Any,
        }
    }
}

/// A slice of a list or a text has the same type; for other types it is unknown.
fn sliced(whole: Type) -> Type {
    if matches!(whole, Type::Array(_) | Type::String) { whole } else { Type::Any }
}

pub(super) fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn method(name: &str) -> Type {
    match name {
        "upper" | "lower" | "strip" | "lstrip" | "rstrip" | "title" | "capitalize" | "replace" | "join" => Type::String,
        "startswith" | "endswith" => Type::Boolean,
        "split" | "splitlines" => Type::array(Type::String),
        _ => Type::Any,
    }
}

fn constant_type(value: &Value) -> Type {
    match value.kind() {
        ValueKind::None => Type::Null,
        ValueKind::Bool => Type::Boolean,
        ValueKind::Number if value.is_integer() => Type::Integer,
        ValueKind::Number => Type::Number,
        ValueKind::String => Type::String,
        _ => Type::Any,
    }
}

fn number(left: &Type, right: &Type) -> Type {
    match (left, right) {
        (Type::Integer, Type::Integer) => Type::Integer,
        (Type::Integer | Type::Number, Type::Integer | Type::Number) => Type::Number,
        _ => Type::Any,
    }
}

fn sum(left: Type, right: Type) -> Type {
    match (left, right) {
        (Type::String, Type::String) => Type::String,
        (Type::Array(left), Type::Array(right)) => Type::array(left.or(*right)),
        (left, right) => number(&left, &right),
    }
}
