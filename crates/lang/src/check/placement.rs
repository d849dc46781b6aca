//! LH0206: a key that has no meaning in its body.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::model::Order;

pub(super) fn check(context: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in context.model.own_steps() {
        let order = context.model.body(step.body).order;
        let misplaced: &[(&str, &str)] = match order {
            Order::Graph => &[],
            Order::Sequence => &[
                ("depends_on", "`do` runs in written order; use `steps:` for a graph"),
                ("next", "`do` runs in written order; use `nodes:` to go back, or `steps:` to choose"),
                ("rewind", "use `repeat` to run steps of a sequence again"),
            ],
            Order::Machine => &[
                ("depends_on", "a state machine follows `next`; use `steps:` for a graph"),
                ("rewind", "a state machine goes back with `next`"),
                ("run_if", "a state machine has no dependencies"),
            ],
        };
        for (key, help) in misplaced {
            if let Some((node, _)) = step.node.entry(key) {
                out.push(
                    Diagnostic::error("LH0206", node.span, format!("`{key}` has no meaning in this body"))
                        .label(format!("in {}", body_words(order)))
                        .help(*help),
                );
            }
        }
        gotos(step, order, out);
    }
}

fn gotos(step: &crate::model::Step<'_>, order: Order, out: &mut Vec<Diagnostic>) {
    for key in ["on_error", "on_deny"] {
        let goto = step.node.get(key).and_then(|node| node.entry("goto"));
        if let Some((node, _)) = goto.filter(|_| order != Order::Machine) {
            out.push(
                Diagnostic::error("LH0206", node.span, "`goto` has no meaning in this body")
                    .label(format!("in {}", body_words(order)))
                    .help("only a state machine (`start:` and `nodes:`) has nodes to go to"),
            );
        }
    }
}

fn body_words(order: Order) -> &'static str {
    match order {
        Order::Graph => "a graph (`steps:`)",
        Order::Sequence => "a sequence (`do:`)",
        Order::Machine => "a state machine (`nodes:`)",
    }
}
