//! Filters: what they need and what they give.

use longhaul_core::types::Type;
use minijinja::machinery::ast::{CallArg, Expr, Filter, Spanned};

use super::extent::{extent, written};
use super::scan::bytes;
use super::value::owned;
use super::walk::Walker;
use super::{Finding, FindingKind, cost, names};

/// Filters that go through the items of a list and make no sense for a text.
const LIST_ONLY: &[&str] = &["map", "select", "reject", "selectattr", "rejectattr", "groupby", "sum"];
/// Filters that need a list, a mapping or a text.
const MANY: &[&str] = &["first", "last", "join", "sort", "length", "count", "unique", "reverse", "list", "min", "max"];

impl<'t> Walker<'t, '_> {
    pub(super) fn filter(&mut self, filter: &Spanned<Filter<'t>>) -> Type {
        let softens = matches!(filter.name, "default" | "d");
        let operand = match &filter.expr {
            Some(operand) => self.value_or_nothing(operand, softens),
            // In `{% filter … %}` the operand is the text of the block.
            None => Type::String,
        };
        self.arguments(&filter.args);
        if !names::is_filter(filter.name) {
            let known = owned(names::filters());
            let kind = FindingKind::UnknownFilter { name: filter.name.to_owned(), known };
            self.unknown(bytes(filter.span()).start, filter.name, kind);
            return Type::Any;
        }
        if let Some(expr) = &filter.expr {
            self.check_operand(filter.name, expr, &operand);
        }
        cost::check_filter(self, filter);
        if softens { with_default(operand, default_type(&filter.args)) } else { result(filter.name, operand) }
    }

    fn check_operand(&mut self, name: &str, expr: &Expr<'t>, found: &Type) {
        let wrong = if LIST_ONLY.contains(&name) {
            all(found, is_single) && !all(found, |member| *member == Type::Null)
        } else {
            MANY.contains(&name) && all(found, |member| is_single(member) && !is_text(member))
        };
        if wrong {
            self.not_iterable(expr, found);
        }
    }

    /// Reports a loop over what cannot be a list.
    pub(super) fn must_iterate(&mut self, expr: &Expr<'t>, found: &Type) {
        if all(found, is_single) {
            self.not_iterable(expr, found);
        }
    }

    fn not_iterable(&mut self, expr: &Expr<'t>, found: &Type) {
        let what = written(self.text, expr);
        let kind = FindingKind::NotIterable { what, found: found.clone() };
        self.found.findings.push(Finding { range: extent(self.text, expr), kind });
    }
}

/// Whether every alternative but `null` is so, and there is one.
fn all(found: &Type, is_so: impl Fn(&Type) -> bool) -> bool {
    let mut members = found.members().iter().filter(|member| **member != Type::Null).peekable();
    members.peek().is_some() && members.all(is_so)
}

fn is_single(member: &Type) -> bool {
    match member {
        Type::Boolean | Type::Integer | Type::Number | Type::String => true,
        Type::Enum(values) => !values.iter().any(|value| value.is_array() || value.is_object() || value.is_null()),
        _ => false,
    }
}

fn is_text(member: &Type) -> bool {
    match member {
        Type::Enum(values) => values.iter().any(|value| value.is_string()),
        other => *other == Type::String,
    }
}

fn default_type(arguments: &[CallArg<'_>]) -> Type {
    match arguments.first() {
        None => Type::String,
        Some(CallArg::Pos(Expr::Const(constant))) => {
            serde_json::to_value(&constant.value).map_or(Type::Any, |value| Type::of(&value))
        }
        Some(CallArg::Pos(Expr::List(list))) if list.items.is_empty() => Type::array(Type::Any),
        Some(_) => Type::Any,
    }
}

fn with_default(operand: Type, default: Type) -> Type {
    let kept = operand.members().iter().filter(|member| **member != Type::Null).cloned();
    kept.fold(default, |all, member| member.or(all))
}

fn result(name: &str, operand: Type) -> Type {
    match name {
        "length" | "count" => Type::Integer,
        "int" => Type::Integer,
        "float" => Type::Number,
        "bool" => Type::Boolean,
        "lower" | "upper" | "trim" | "replace" | "join" | "string" | "tojson" | "json" | "indent" | "title" => {
            Type::String
        }
        "capitalize" | "pprint" | "format" | "escape" | "e" | "shell" | "outline" => Type::String,
        "safe" => operand,
        "lines" | "split" => Type::array(Type::String),
        "list" | "sort" | "unique" | "reverse" => same_list(operand),
        "first" | "last" | "min" | "max" if matches!(operand, Type::Array(_)) => operand.item().unwrap_or_default(),
        "map" => Type::array(Type::Any),
        "select" | "reject" | "selectattr" | "rejectattr" => match same_list(operand) {
            Type::Any => Type::array(Type::Any),
            list => list,
        },
        _ => Type::Any,
    }
}

fn same_list(operand: Type) -> Type {
    if matches!(operand, Type::Array(_)) { operand } else { Type::Any }
}
