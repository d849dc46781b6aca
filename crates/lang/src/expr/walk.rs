//! Walks the statements of a template, with the names that each defines.

use longhaul_core::types::Type;
use minijinja::machinery::ast::{Expr, ForLoop, FromImport, IfCond, Macro, Stmt, WithBlock};

use super::extent::extent;
use super::facts::Fact;
use super::{Analysis, Include, NameScope, cost};

/// The state of a walk.
pub(super) struct Walker<'t, 's> {
    pub(super) text: &'t str,
    pub(super) scope: &'s dyn NameScope,
    pub(super) found: Analysis,
    pub(super) facts: Vec<Fact>,
    /// The least number of executions of the current place.
    pub(super) rounds: u64,
    bindings: Vec<Binding<'t>>,
    /// The number of conditions around the current place.
    conditions: usize,
    /// The types of the printed values, in order.
    emitted: Vec<Type>,
}

struct Binding<'t> {
    name: &'t str,
    value: Type,
    /// The least size of its text, in bytes.
    size: u64,
}

impl<'t, 's> Walker<'t, 's> {
    pub(super) fn new(text: &'t str, scope: &'s dyn NameScope, macros: Vec<&'t str>) -> Self {
        let bindings = macros.into_iter().map(|name| Binding { name, value: Type::Any, size: 0 }).collect();
        let found = Analysis::default();
        Self { text, scope, found, facts: Vec::new(), rounds: 1, bindings, conditions: 0, emitted: Vec::new() }
    }

    pub(super) fn finish(self) -> Analysis {
        self.found
    }

    /// The type of the last `{{ … }}`.
    pub(super) fn emitted(&self) -> Option<Type> {
        self.emitted.last().cloned()
    }

    /// The type of each `{{ … }}` that was walked.
    pub(super) fn emits(&self) -> &[Type] {
        &self.emitted
    }

    /// The type of a name that the template defines itself.
    pub(super) fn bound(&self, name: &str) -> Option<Type> {
        self.binding(name).map(|binding| binding.value.clone())
    }

    /// The least size of a defined name's text, in bytes.
    pub(super) fn size_of(&self, name: &str) -> u64 {
        self.binding(name).map_or(0, |binding| binding.size)
    }

    fn binding(&self, name: &str) -> Option<&Binding<'t>> {
        self.bindings.iter().rev().find(|binding| binding.name == name)
    }

    pub(super) fn statement(&mut self, statement: &Stmt<'t>) {
        match statement {
            Stmt::Template(template) => self.body(&template.children),
            Stmt::EmitExpr(emit) => {
                let value = self.value(&emit.expr);
                self.emitted.push(value);
            }
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::IfCond(condition) => self.condition(condition),
            Stmt::WithBlock(with) => self.with(with),
            Stmt::Set(set) => {
                let value = self.value(&set.expr);
                let size = cost::size(self, &set.expr);
                self.set(&set.target, value, size);
            }
            Stmt::SetBlock(set) => {
                self.inside(|walker| walker.body(&set.body));
                set.filter.as_ref().map(|filter| self.value(filter));
                self.set(&set.target, Type::String, 0);
            }
            Stmt::AutoEscape(block) => {
                self.value(&block.enabled);
                self.inside(|walker| walker.body(&block.body));
            }
            Stmt::FilterBlock(block) => {
                self.value(&block.filter);
                self.inside(|walker| walker.body(&block.body));
            }
            Stmt::Block(block) => self.inside(|walker| walker.body(&block.body)),
            Stmt::Import(import) => {
                self.template(&import.expr);
                self.set(&import.name, Type::Any, 0);
            }
            Stmt::FromImport(import) => self.import_names(import),
            Stmt::Extends(extends) => self.template(&extends.name),
            Stmt::Include(include) => self.template(&include.name),
            Stmt::Macro(declared) => self.declare(declared),
            Stmt::CallBlock(call) => {
                self.call(&call.call);
                self.declare(&call.macro_decl);
            }
            Stmt::Do(statement) => {
                self.call(&statement.call);
            }
        }
    }

    fn body(&mut self, statements: &[Stmt<'t>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// Walks a part with its own scope.
    fn inside(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.bindings.len();
        walk(self);
        self.bindings.truncate(before);
    }

    fn for_loop(&mut self, each: &ForLoop<'t>) {
        let list = self.value(&each.iter);
        self.must_iterate(&each.iter, &list);
        let item = cost::item_type(&list);
        let before = self.rounds;
        self.rounds = cost::rounds(self, &each.iter);
        self.inside(|walker| {
            walker.bind(&each.target, &item, 0);
            each.filter_expr.as_ref().map(|filter| walker.value(filter));
            walker.bindings.push(Binding { name: "loop", value: Type::Any, size: 0 });
            let facts = each.filter_expr.as_ref().map(|filter| walker.facts(filter, true)).unwrap_or_default();
            walker.knowing(facts, |walker| walker.body(&each.body));
        });
        self.rounds = before;
        self.conditionally(|walker| walker.body(&each.else_body));
    }

    fn condition(&mut self, condition: &IfCond<'t>) {
        self.value(&condition.expr);
        let holds = self.facts(&condition.expr, true);
        let fails = self.facts(&condition.expr, false);
        self.conditionally(|walker| {
            walker.knowing(holds, |walker| walker.body(&condition.true_body));
            walker.knowing(fails, |walker| walker.body(&condition.false_body));
        });
    }

    fn conditionally(&mut self, walk: impl FnOnce(&mut Self)) {
        self.conditions += 1;
        walk(self);
        self.conditions -= 1;
    }

    fn with(&mut self, with: &WithBlock<'t>) {
        self.inside(|walker| {
            for (target, expr) in &with.assignments {
                let value = walker.value(expr);
                let size = cost::size(walker, expr);
                walker.bind(target, &value, size);
            }
            walker.body(&with.body);
        });
    }

    fn declare(&mut self, declared: &Macro<'t>) {
        for default in &declared.defaults {
            self.value(default);
        }
        self.inside(|walker| {
            for argument in &declared.args {
                walker.bind(argument, &Type::Any, 0);
            }
            walker.body(&declared.body);
        });
    }

    fn import_names(&mut self, import: &FromImport<'t>) {
        self.template(&import.expr);
        for (name, alias) in &import.names {
            self.bind(alias.as_ref().unwrap_or(name), &Type::Any, 0);
        }
    }

    /// A `set`. Inside a condition it may or may not have happened.
    fn set(&mut self, target: &Expr<'t>, value: Type, size: u64) {
        let sure = self.conditions == 0;
        self.bind(target, if sure { &value } else { &Type::Any }, size);
    }

    fn bind(&mut self, target: &Expr<'t>, value: &Type, size: u64) {
        match target {
            Expr::Var(var) => self.bindings.push(Binding { name: var.id, value: value.clone(), size }),
            Expr::List(list) => {
                for item in &list.items {
                    self.bind(item, &Type::Any, 0);
                }
            }
            // `ns.x` changes a namespace. Either the name is defined, or the read shows the mistake.
            other => {
                self.chain(other, true);
            }
        }
    }

    fn template(&mut self, name: &Expr<'t>) {
        let names = match name {
            Expr::List(list) => list.items.as_slice(),
            Expr::Tuple(tuple) => tuple.items.as_slice(),
            single => std::slice::from_ref(single),
        };
        for name in names {
            self.value(name);
            let constant = match name {
                Expr::Const(constant) => constant.value.as_str().map(str::to_owned),
                _ => None,
            };
            self.found.includes.push(Include { name: constant, range: extent(self.text, name) });
        }
    }
}
