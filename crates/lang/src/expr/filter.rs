//! Filters: their operands and results.

use longhaul_core::types::Type;
use minijinja::machinery::ast::{CallArg, Expr, Filter, Spanned};

use super::extent::{extent, written};
use super::scan::bytes;
use super::value::owned;
use super::walk::Walker;
use super::{ExprFinding, FindingKind, cost, names};

/// Filters over the items of a list. They make no sense for a text.
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
        if filter.name == "map" {
            self.check_map(filter, &operand);
        }
        match filter.name {
            _ if softens => with_default(operand, default_type(&filter.args)),
            "selectattr" | "rejectattr" if keeps_results(filter) => result(filter.name, operand).without_item_errors(),
            _ => result(filter.name, operand),
        }
    }

    /// `map(attribute='x')` reads a field of every item.
    fn check_map(&mut self, filter: &Spanned<Filter<'t>>, operand: &Type) {
        let has_default = filter.args.iter().any(|arg| matches!(arg, CallArg::Kwarg("default", _)));
        let field = filter.args.iter().find_map(|arg| match arg {
            CallArg::Kwarg("attribute", Expr::Const(constant)) => Some((constant.value.as_str()?, constant.span())),
            _ => None,
        });
        let Some((field, span)) = field.filter(|_| !has_default) else { return };
        if operand.item().is_some_and(|item| item.may_be_item_error()) {
            let field = field.split('.').next().unwrap_or_default().to_owned();
            let on = filter.expr.as_ref().map(|expr| written(self.text, expr)).unwrap_or_default();
            let kind = FindingKind::MayBeItemError { on: format!("{on}[…]"), field };
            self.found.findings.push(ExprFinding { range: bytes(span), kind });
        }
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

    /// Reports a loop over a value that cannot be a list.
    pub(super) fn must_iterate(&mut self, expr: &Expr<'t>, found: &Type) {
        if all(found, is_single) {
            self.not_iterable(expr, found);
        }
    }

    fn not_iterable(&mut self, expr: &Expr<'t>, found: &Type) {
        let what = written(self.text, expr);
        let kind = FindingKind::NotIterable { what, found: found.clone() };
        self.found.findings.push(ExprFinding { range: extent(self.text, expr), kind });
    }
}

/// Whether all alternatives but `null` satisfy `is_so`, and there is at least one.
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

/// Whether `selectattr` or `rejectattr` leaves only items that are no errors.
fn keeps_results(filter: &Filter<'_>) -> bool {
    let word = |at: usize| match filter.args.get(at) {
        Some(CallArg::Pos(Expr::Const(constant))) => constant.value.as_str(),
        _ => None,
    };
    let selects = filter.name == "selectattr";
    match (word(0), word(1), filter.args.len()) {
        (Some("error"), Some("undefined"), 2) => selects,
        (Some("error"), Some("defined"), 2) | (Some("error"), None, 1) => !selects,
        (Some(_), Some("defined"), 2) | (Some(_), None, 1) => selects,
        (Some(_), Some("undefined"), 2) => !selects,
        _ => false,
    }
}

fn same_list(operand: Type) -> Type {
    if matches!(operand, Type::Array(_)) { operand } else { Type::Any }
}
