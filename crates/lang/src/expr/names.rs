//! The filters, tests and functions that exist: the engine's and Longhaul's.

use longhaul_core::catalog::names;

const FILTERS: &[&str] = &[
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

const TESTS: &[&str] = &[
    "!=",
    "<",
    "<=",
    "==",
    ">",
    ">=",
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

const FUNCTIONS: &[&str] = &["debug", "dict", "namespace", "range"];

/// Names that the engine itself defines in some places.
pub(super) const BOUND: &[&str] = &["loop", "caller", "self", "super"];

/// Functions of other implementations of the template language. They are never data.
pub(super) const ELSEWHERE: &[&str] = &["cycler", "joiner", "lipsum"];

/// All filters.
pub fn filters() -> Vec<&'static str> {
    both(FILTERS, names::FILTERS)
}

/// All tests.
pub fn tests() -> Vec<&'static str> {
    both(TESTS, names::TESTS)
}

/// All functions.
pub fn functions() -> Vec<&'static str> {
    both(FUNCTIONS, names::FUNCTIONS)
}

pub(super) fn is_filter(name: &str) -> bool {
    FILTERS.contains(&name) || has(names::FILTERS, name)
}

pub(super) fn is_test(name: &str) -> bool {
    TESTS.contains(&name) || has(names::TESTS, name)
}

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || has(names::FUNCTIONS, name)
}

fn has(table: &[(&str, &str)], name: &str) -> bool {
    table.iter().any(|(known, _)| *known == name)
}

fn both(engine: &[&'static str], product: &[(&'static str, &str)]) -> Vec<&'static str> {
    let mut all: Vec<_> = engine.iter().copied().chain(product.iter().map(|(name, _)| *name)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    fn holds(question: &str, name: &str) -> bool {
        let answer =
            Environment::new().compile_expression(&format!("'{name}' is {question}")).unwrap().eval(()).unwrap();
        answer.is_true()
    }

    #[test]
    fn the_engine_knows_what_the_tables_say_it_knows() {
        let missing: Vec<_> = super::FILTERS.iter().filter(|name| !holds("filter", name)).collect();
        assert!(missing.is_empty(), "no such filters: {missing:?}");
        let missing: Vec<_> = super::TESTS.iter().filter(|name| !holds("test", name)).collect();
        assert!(missing.is_empty(), "no such tests: {missing:?}");
        let globals: Vec<_> = Environment::new().globals().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(globals, super::FUNCTIONS);
    }
}
