//! Comparisons with constants that can never be equal.

use longhaul_core::Json;
use longhaul_core::types::Type;
use minijinja::machinery::ast::{BinOp, BinOpKind, Expr, UnaryOpKind};

use super::extent::{extent, written};
use super::walk::Walker;
use super::{ExprFinding, FindingKind};

impl<'t> Walker<'t, '_> {
    pub(super) fn check_comparison(&mut self, op: &BinOp<'t>, left: &Type, right: &Type) {
        match op.op {
            BinOpKind::Eq | BinOpKind::Ne => {
                self.check_equal(&op.left, left, &op.right);
                self.check_equal(&op.right, right, &op.left);
            }
            BinOpKind::In => {
                let options = match &op.right {
                    Expr::List(list) => list.items.as_slice(),
                    Expr::Tuple(tuple) => tuple.items.as_slice(),
                    _ => &[],
                };
                for option in options {
                    self.check_equal(&op.left, left, option);
                }
            }
            _ => {}
        }
    }

    fn check_equal(&mut self, value: &Expr<'t>, found: &Type, other: &Expr<'t>) {
        // A comparison of two constants is intended, not a mistake about data.
        let (Some(constant), None) = (constant(other), constant(value)) else { return };
        if let Some(kind) = never_equal(found, constant, || written(self.text, value)) {
            self.found.findings.push(ExprFinding { range: extent(self.text, other), kind });
        }
    }
}

/// The value of a literal. Only a sign is applied; nothing else is computed.
fn constant(expr: &Expr<'_>) -> Option<Json> {
    match expr {
        Expr::Const(constant) => serde_json::to_value(&constant.value).ok(),
        Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Neg) => match constant(&op.expr)? {
            Json::Number(n) => {
                n.as_i64().and_then(i64::checked_neg).map(Json::from).or(n.as_f64().map(|n| Json::from(-n)))
            }
            _ => None,
        },
        _ => None,
    }
}

fn never_equal(found: &Type, right: Json, left: impl Fn() -> String) -> Option<FindingKind> {
    // People compare with `null` to ask whether there is a value, but schemas rarely mention `null`.
    if right.is_null() || found.members().iter().any(|member| may_equal(member, &right)) {
        return None;
    }
    let all = |is_so: fn(&Json) -> bool, types: &[Type]| {
        found.members().iter().all(|member| match member {
            Type::Null => true,
            Type::Enum(values) => values.iter().all(is_so),
            other => types.contains(other),
        })
    };
    let left = left();
    match right {
        Json::String(right) if is_truth(&right) && all(Json::is_boolean, &[Type::Boolean]) => {
            Some(FindingKind::TextForBoolean { left, right })
        }
        Json::String(right)
            if right.trim().parse::<f64>().is_ok() && all(Json::is_number, &[Type::Integer, Type::Number]) =>
        {
            Some(FindingKind::TextForNumber { left, right })
        }
        right => Some(FindingKind::NeverEqual { left, left_type: found.clone(), right }),
    }
}

fn is_truth(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

fn may_equal(member: &Type, constant: &Json) -> bool {
    match member {
        Type::Any => true,
        Type::Null => false,
        // The engine compares booleans with numbers as 0 and 1.
        Type::Boolean | Type::Integer | Type::Number => constant.is_boolean() || constant.is_number(),
        Type::String => constant.is_string(),
        Type::Enum(values) => values.iter().any(|value| equal(value, constant)),
        Type::Array(_) => constant.is_array(),
        Type::Object(_) => constant.is_object(),
        Type::Union(members) => members.iter().any(|member| may_equal(member, constant)),
    }
}

fn equal(value: &Json, constant: &Json) -> bool {
    let number = |json: &Json| json.as_f64().or(json.as_bool().map(|truth| f64::from(u8::from(truth))));
    match (number(value), number(constant)) {
        (Some(value), Some(constant)) => value == constant,
        _ => value == constant,
    }
}
