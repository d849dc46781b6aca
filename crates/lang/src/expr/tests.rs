//! Text in, printed analysis out.

use std::sync::LazyLock;

use longhaul_core::types::Type;
use serde_json::json;

use super::*;

struct Names;

static PLAN: LazyLock<Type> = LazyLock::new(|| {
    Type::from_schema(&json!({"type": "object", "properties": {
        "tasks": {"type": "array", "items": {"type": "object", "properties": {
            "title": {"type": "string"}, "done": {"type": "boolean"}}}},
        "names": {"type": "array", "items": {"type": "string"}},
        "status": {"enum": ["go", "stop"]},
        "maybe": {"enum": ["go", null]},
        "level": {"enum": [1, 2]},
        "note": {"type": ["string", "null"]},
        "ok": {"type": "boolean"}, "count": {"type": "integer"}, "score": {"type": "number"},
        "meta": {"type": "object"}}}))
});

impl NameScope for Names {
    fn root(&self, name: &str) -> Option<Type> {
        match name {
            "plan" => Some(PLAN.clone()),
            "task" => Some(Type::String),
            "any" | "debug" => Some(Type::Any),
            _ => None,
        }
    }
}

fn template(text: &str) -> Analysis {
    analyse(text, Language::Template, &Names).unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
}

fn expression(text: &str) -> Analysis {
    analyse(text, Language::Expression, &Names).unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
}

fn shown(finding: &FindingKind) -> String {
    match finding {
        FindingKind::UnknownField { on, field, known } => format!("`{on}` has no `{field}` of {}", known.len()),
        FindingKind::MayBeItemError { on, field } => format!("`{on}` may be an error without `{field}`"),
        FindingKind::NotIterable { what, found } => format!("`{what}` is {found}"),
        FindingKind::NeverEqual { left, left_type, right } => format!("`{left}` is {left_type}, never {right}"),
        FindingKind::TextForBoolean { left, right } => format!("boolean `{left}` and text {right}"),
        FindingKind::TextForNumber { left, right } => format!("number `{left}` and text {right}"),
        FindingKind::UnknownFilter { name, .. } => format!("no filter {name}"),
        FindingKind::UnknownTest { name, .. } => format!("no test {name}"),
        FindingKind::UnknownFunction { name, .. } => format!("no function {name}"),
        FindingKind::TooCostly { why } => format!("costly: {why}"),
    }
}

/// The findings, each with its source text.
#[track_caller]
fn finds(text: &str, expected: &str) {
    let findings = template(text).findings;
    let printed: Vec<_> = findings.iter().map(|f| format!("{} @ {}", shown(&f.kind), &text[f.range.clone()])).collect();
    assert_eq!(printed.join("; "), expected, "for {text:?}");
}

#[track_caller]
fn finds_nothing(texts: &[&str]) {
    for text in texts {
        finds(text, "");
    }
}

/// The names that are read: the chain as written, `?` if guarded, and its path.
#[track_caller]
fn reads(text: &str, expected: &str) {
    let reads = template(text).reads;
    let printed: Vec<_> = reads
        .iter()
        .map(|read| {
            assert_eq!(&text[read.root_range.clone()], read.root);
            let path: Vec<_> = read
                .path
                .iter()
                .map(|key| match key {
                    ChainLink::Field(name, range) => {
                        assert_eq!(&text[range.clone()], name);
                        format!(".{name}")
                    }
                    ChainLink::Index => "[0]".to_owned(),
                    ChainLink::Dynamic => "[*]".to_owned(),
                })
                .collect();
            let plain = format!("{}{}", read.root, path.concat());
            let written = &text[read.range.clone()];
            let guard = if read.guarded { "?" } else { "" };
            if written == plain { format!("{plain}{guard}") } else { format!("{plain}{guard} as {written}") }
        })
        .collect();
    assert_eq!(printed.join(", "), expected, "for {text:?}");
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    let error = analyse(text, Language::Template, &Names).expect_err(text);
    let help = error.help.map(|help| format!(" ({help})")).unwrap_or_default();
    assert_eq!(format!("{} @ {}{help}", error.message, &text[error.range]), expected, "for {text:?}");
}

#[test]
fn chains_are_read_as_written() {
    reads("{{ task }}", "task");
    reads("a {{ plan.tasks[0].title }} b", "plan.tasks[0].title");
    reads("{{ plan['tasks'][any.i] }}", "plan.tasks[*] as plan['tasks'][any.i], any.i");
    reads("{{ plan . tasks }}", "plan.tasks as plan . tasks");
    reads("é{{ any.x.0.y }}", "any.x[0].y as any.x.0.y");
    reads("{{ (any).x }}", "any.x as (any).x");
    reads("{{ any[-1] }}", "any[0] as any[-1]");
    reads("{{ -any.x }}", "any.x");
    reads("{{ any.x.upper() ~ any[1:2] }}", "any.x, any");
    reads("{{ [any.a, {'k': any.b}, (any.c, 1)] }}", "any.a, any.b, any.c");
    reads("{{ 'a' if any.a else any.b }}", "any.a, any.b");
    reads("{{ any.a == any.b and any.c not in any.d }}", "any.a, any.b, any.c, any.d");
    reads("{{ any.f(any.x, k=any.y) }}", "any, any.x, any.y");
    reads("{% if any.a %}{% elif any.b %}{% else %}{{ any.c }}{% endif %}", "any.a, any.b, any.c");
    reads("{{ missing }}", "missing");
    reads("{% raw %}{{ x }}{% endraw %}{# {{ y }} #}{{ task }}", "task");
    reads("{% filter upper %}{{ task }}{% endfilter %}", "task");
    reads("{{ any | join(any.sep) }}", "any, any.sep");
}

#[test]
fn names_that_the_template_binds_are_not_read() {
    reads("{% for t in plan.tasks %}{{ t.title }}{{ loop.index }}{% endfor %}{{ t }}", "plan.tasks, t");
    reads("{% for k, v in any.items() %}{{ k }}{{ v }}{% endfor %}", "any");
    reads("{% set x = task %}{{ x }}", "task");
    reads("{% set x %}{{ task }}{% endset %}{{ x }}", "task");
    reads("{% set x = x | default(1) %}{{ x }}", "x?");
    reads("{% set ns = namespace(n=0) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}", "");
    reads("{% with a = task, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}", "task, a");
    reads("{% macro m(a, b=any.d) %}{{ a }}{{ b }}{{ caller() }}{% endmacro %}{{ m(task) }}", "any.d, task");
    reads("{% call(u) m(task) %}{{ u }}{% endcall %}{% macro m(x) %}{{ x }}{% endmacro %}", "task");
    reads("{% import 'a.md' as a %}{% from 'b.md' import c as d, e %}{{ a.x() }}{{ d() }}{{ e }}", "");
    reads("{% block b %}{{ super() }}{{ self.b() }}{% endblock %}", "");
    reads("{% for i in range(3) %}{{ i }}{% endfor %}", "");
}

#[test]
fn places_where_undefined_is_fine_are_seen() {
    reads("{{ x | default('a') }}{{ x | d }}{{ x | upper | default('') }}", "x?, x?, x");
    reads("{{ x is defined }}{{ x.y is not defined }}{{ x is undefined }}{{ x is none }}", "x?, x.y?, x?, x");
    reads("{{ x is defined and x.y }}{{ x is undefined or x.y }}{{ x and x.y }}", "x?, x.y?, x?, x.y?, x, x.y?");
    reads("{% if x %}{{ x.y }}{{ z }}{% else %}{{ x }}{% endif %}{{ x }}", "x, x.y?, z, x, x");
    reads("{% if x is not defined %}{{ x }}{% else %}{{ x }}{% endif %}", "x?, x, x?");
    reads("{% if x.y is defined %}{{ x.y.z }}{{ x.q }}{{ x }}{% endif %}", "x.y?, x.y.z?, x.q, x?");
    reads("{{ x if x is defined else y }}{{ 'a' if x is undefined else x }}", "x?, x?, y, x?, x?");
    reads("{{ x or 'a' }}{{ x.y or 'a' }}", "x?, x.y");
    reads("{% if x | default(false) %}{{ x }}{% endif %}{% if x | default(1) %}{{ x }}{% endif %}", "x?, x?, x?, x");
    reads("{% for i in any if x is defined %}{{ x }}{% endfor %}", "any, x?, x?");
    reads("{{ (x if any else y) | default('') }}", "any, x?, y?");
}

#[test]
fn fields_that_can_not_exist_are_found() {
    finds("{{ plan.taks }}", "`plan` has no `taks` of 10 @ taks");
    finds("{{ plan['taks'] }}", "`plan` has no `taks` of 10 @ taks");
    finds("{{ plan.tasks[0].titel | upper }}", "`plan.tasks[0]` has no `titel` of 2 @ titel");
    finds("{% for t in plan.tasks %}{{ t.titel }}{% endfor %}", "`t` has no `titel` of 2 @ titel");
    finds("{% set t = plan.tasks | first %}{{ t.titel }}", "`t` has no `titel` of 2 @ titel");
    finds(
        "{{ plan.tasks.length }}{{ task.x }}",
        "`plan.tasks` has no `length` of 0 @ length; `task` has no `x` of 0 @ x",
    );
    finds("{{ plan.a.b.c }}", "`plan` has no `a` of 10 @ a");
    finds("{{ plan.a.b | default('') }}", "`plan` has no `a` of 10 @ a");
    finds("{% if plan is defined %}{{ plan.a }}{% endif %}", "`plan` has no `a` of 10 @ a");
    finds("{{ {'a': 1}.b }}", "`{'a': 1}` has no `b` of 1 @ b");
    finds_nothing(&[
        "{{ plan.a | default('') }}",
        "{{ plan.a is defined }}",
        "{% if plan.a is defined %}{{ plan.a.b }}{% endif %}",
        "{{ plan.meta.x.y }}",
        "{{ any.x.y }}",
        "{{ missing.x }}",
        "{{ plan.note.upper() }}",
        "{{ plan.status.x }}",
        "{% if any %}{% set t = plan %}{% endif %}{{ t.x }}",
        "{{ plan.tasks[0].title }}",
        "{{ {'a': 1, any: 2}.b }}",
    ]);
}

#[test]
fn comparisons_that_can_never_hold_are_found() {
    finds("{{ plan.status == 'done' }}", "`plan.status` is one of go, stop, never \"done\" @ 'done'");
    finds("{{ 'done' != plan.status }}", "`plan.status` is one of go, stop, never \"done\" @ 'done'");
    finds(
        "{% if plan.status in ['go', 'halt'] %}{% endif %}",
        "`plan.status` is one of go, stop, never \"halt\" @ 'halt'",
    );
    finds("{{ plan.status not in ('x',) }}", "`plan.status` is one of go, stop, never \"x\" @ 'x'");
    finds("{{ plan.ok == 'true' }}", "boolean `plan.ok` and text true @ 'true'");
    finds("{{ plan.ok == \"False\" }}", "boolean `plan.ok` and text False @ \"False\"");
    finds("{{ plan.count == '3' }}", "number `plan.count` and text 3 @ '3'");
    finds("{{ plan.tasks | length == '0' }}", "number `plan.tasks | length` and text 0 @ '0'");
    finds("{{ plan.level != -3 }}", "`plan.level` is one of 1, 2, never -3 @ -3");
    finds("{{ plan.ok == 'yes' }}", "`plan.ok` is a boolean, never \"yes\" @ 'yes'");
    finds("{{ task == 3 }}", "`task` is text, never 3 @ 3");
    finds("{{ plan.maybe == 'stop' }}", "`plan.maybe` is one of go, null, never \"stop\" @ 'stop'");
    finds_nothing(&[
        "{{ plan.status == 'go' }}",
        "{{ plan.level == 1.0 }}",
        "{{ plan.level == true }}",
        "{{ plan.ok == 1 }}",
        "{{ plan.count == 1.5 }}",
        "{{ task == none }}",
        "{{ any == 'x' }}",
        "{{ plan.note == 'x' }}",
        "{{ 'a' == 'b' }}",
        "{{ plan.status == any }}",
        "{{ plan.score == 1 }}",
        "{{ 'x' in plan.status }}",
        "{{ plan.status < 'x' }}",
        "{{ (plan.ok or task) == 'true' }}",
        "{{ plan.status | upper == 'GO' }}",
        "{{ plan.maybe == none }}",
        "{{ plan.status[:1] == 'g' }}",
        "{% set s = 'a' %}{% if any %}{% set s = 1 %}{% endif %}{{ s == 'a' }}",
    ]);
}

#[test]
fn loops_over_what_is_no_list_are_found() {
    finds("{% for x in task %}{% endfor %}", "`task` is text @ task");
    finds("{% for x in plan.count + 1 %}{% endfor %}", "`plan.count + 1` is a whole number @ plan.count + 1");
    finds("{% for x in plan.note %}{% endfor %}", "`plan.note` is text or null @ plan.note");
    finds("{{ task | map('upper') }}", "`task` is text @ task");
    finds("{{ plan.count | join(',') }}", "`plan.count` is a whole number @ plan.count");
    finds("{{ plan.ok | length }}", "`plan.ok` is a boolean @ plan.ok");
    finds_nothing(&[
        "{% for x in plan.meta %}{% endfor %}",
        "{% for x in any %}{% endfor %}",
        "{% for x in plan.tasks | default([]) %}{% endfor %}",
        "{% for x in task.split(',') %}{% endfor %}",
        "{% for x in task | lines %}{% endfor %}",
        "{{ task | length }}{{ task | first }}",
        "{{ any | sum }}{{ plan.tasks | map(attribute='title') | join(', ') }}",
        "{% for c in plan.note or [] %}{% endfor %}",
        "{% for k, v in plan.meta | dictsort %}{{ v }}{% endfor %}",
        "{% for x in none %}{% endfor %}",
    ]);
}

#[test]
fn unknown_filters_tests_and_functions_are_found() {
    finds("{{ task | uper }}", "no filter uper @ uper");
    finds("{{ task is defnied }}", "no test defnied @ defnied");
    finds("{{ now() }}{{ lipsum() }}", "no function now @ now; no function lipsum @ lipsum");
    finds_nothing(&[
        "{{ task | shell }}{{ any | json }}{{ any | outline }}",
        "{{ any is spelled('true') }}",
        "{{ compare(any, '<', '3') }}",
        "{{ task.whatever_method(1) }}",
        "{% macro m() %}{% endmacro %}{{ m() }}",
        "{{ any() }}",
        "{{ range(3) | list }}",
        "{{ any is divisibleby 3 }}{{ any is in [1] }}",
        "{% for x in any recursive %}{{ loop(x) }}{% endfor %}",
    ]);
    reads("{{ debug.x }}{{ range }}", "debug.x");
    reads("{{ lipsum() }}{{ now() }}{{ any() }}", "any");
}

#[test]
fn expressions_have_types() {
    for (text, expected) in [
        ("task", "text"),
        ("plan.tasks", "a list"),
        ("plan.tasks[0]", "a mapping"),
        ("plan.tasks[0].done", "a boolean"),
        ("plan.tasks | length", "a whole number"),
        ("1 + 2", "a whole number"),
        ("1 + 2.5", "a number"),
        ("3 / 2", "a number"),
        ("7 // 2", "a whole number"),
        ("'a' ~ 1", "text"),
        ("'a' + 'b'", "text"),
        ("not any", "a boolean"),
        ("any == 1", "a boolean"),
        ("1 < 2 < 3", "a boolean"),
        ("any is defined", "a boolean"),
        ("plan.ok or task", "a boolean or text"),
        ("task if any else 1", "text or a whole number"),
        ("task if any", "anything"),
        ("plan.note | default('')", "text"),
        ("missing | default(3)", "anything"),
        ("plan.names | first", "text"),
        ("plan.names | sort", "a list"),
        ("plan.names[1:]", "a list"),
        ("task[0]", "anything"),
        ("any | tojson", "text"),
        ("any | int", "a whole number"),
        ("[1, 'a']", "a list"),
        ("{'a': 1}", "a mapping"),
        ("{'a': 1}.a", "a whole number"),
        ("none", "null"),
        ("-plan.count", "a whole number"),
        ("range(3)", "a list"),
        ("task.split(',')", "a list"),
        ("any", "anything"),
        ("{{ plan.count }}", "a whole number"),
        ("[1] + ['a']", "a list"),
        ("'a' * 3", "anything"),
        ("plan.meta.x", "anything"),
        ("plan.score | round", "anything"),
        ("true", "a boolean"),
        ("plan.tasks | selectattr('done') | list", "a list"),
    ] {
        assert_eq!(expression(text).value.to_string(), expected, "for {text:?}");
    }
    for (text, expected) in [
        ("{{ plan.count }}", "a whole number"),
        (" {{ plan.ok }}\n", "a boolean"),
        ("n: {{ plan.count }}", "text"),
        ("{{ plan.count }}{{ plan.count }}", "text"),
        ("plain", "text"),
        ("{{ {'a': {}} }}", "a mapping"),
    ] {
        assert_eq!(template(text).value.to_string(), expected, "for {text:?}");
    }
}

#[test]
fn emits_tags_and_includes_are_placed() {
    let text = "a {{- x|d -}} {% if y is defined %}{# c #}{{y}}{% endif %}{% raw %}{{ z }}{% endraw %}{% include 'p.md' %}{{ {'a': {}} }}\n";
    let found = template(text);
    let emits: Vec<_> = found.emits.iter().map(|emit| (&text[emit.range.clone()], &text[emit.expr.clone()])).collect();
    assert_eq!(emits, [("{{- x|d -}}", "x|d"), ("{{y}}", "y"), ("{{ {'a': {}} }}", "{'a': {}}")]);
    let tags: Vec<_> = found.tags.iter().map(|tag| &text[tag.clone()]).collect();
    let expected =
        ["{% if y is defined %}", "{# c #}", "{% endif %}", "{% raw %}", "{% endraw %}", "{% include 'p.md' %}"];
    assert_eq!(tags, expected);
    let text = "{% include ['a.md', any.x] %}{% import 'b.md' as b %}{% extends any %}{% from 'c.md' import d %}";
    let includes: Vec<_> = template(text).includes.into_iter().map(|i| (i.name, text[i.range].to_owned())).collect();
    let expected = [("a.md", "'a.md'"), ("", "any.x"), ("b.md", "'b.md'"), ("", "any"), ("c.md", "'c.md'")];
    let expected = expected.map(|(name, at)| (Some(name.to_owned()).filter(|name| !name.is_empty()), at.to_owned()));
    assert_eq!(includes, expected);
}

#[test]
fn a_whole_expression_is_one_pair_of_braces_and_nothing_else() {
    for (text, inner) in [
        ("{{ x }}", "x"),
        (" {{ x.y }}\n", "x.y"),
        ("{{- x -}}", "x"),
        ("{{ {'a': {}} }}", "{'a': {}}"),
        ("{{ '}}' }}", "'}}'"),
        ("{{x}}", "x"),
    ] {
        let (found, range) = whole_expression(text).unwrap_or_else(|| panic!("{text:?}"));
        assert_eq!((found, &text[range]), (inner, inner));
    }
    for text in
        ["x", "{{ x }} y", "{{ x }}{{ y }}", "{% if x %}{% endif %}", "{{ }}", "{{ x", "{# #}{{ x }}", "{ x }", ""]
    {
        assert_eq!(whole_expression(text), None, "for {text:?}");
    }
    assert!(is_template("a {{ b") && is_template("{%") && is_template("${#a}") && !is_template("{ a } }} %}"));
}

#[test]
fn syntax_errors_say_what_to_do() {
    fails("a {{ b", "this `{{` is never closed @ {{ (write `}}` at its end)");
    fails("a {{ it's b", "this `{{` is never closed @ {{ (write `}}` at its end)");
    fails("{{ a {{ b }}", "this `{{` is never closed @ {{ (write `}}` at its end)");
    fails("{% if a", "this `{%` is never closed @ {% (write `%}` at its end)");
    fails("{{ a b }}", "`b` is not expected here @ b (join values with `~`, conditions with `and` or `or`)");
    fails("{{ a | }}", "a filter is missing after `|` @ |");
    fails("{{ a. }}", "a name is missing after `.` @ .");
    fails("{{ }}", "there is nothing between the braces @ {{ }} (write an expression)");
    fails("{% if x %}a", "this `{% if %}` is never closed @ {% if x %} (add `{% endif %}`)");
    fails(
        "{% for x in y %}{% if x %}{% endif %}",
        "this `{% for %}` is never closed @ {% for x in y %} (add `{% endfor %}`)",
    );
    fails("a {% endfor %}", "this `{% endfor %}` closes nothing @ endfor (delete it, or add what it should close)");
    fails(
        "{% if a %}{% endfor %}",
        "`{% endfor %}` is where `{% endif %}` is needed @ endfor (close `{% if %}` first)",
    );
    fails("{% else %}", "this `{% else %}` belongs to no `{% if %}` @ else (delete it, or add what it should close)");
    fails("{{ a = b }}", "`=` does not compare @ = (write `==`)");
    fails("{% if a = b %}{% endif %}", "`=` does not compare @ = (write `==`)");
    fails("{{ a === b }}", "`===` is not an operator @ === (write `==`)");
    fails("{{ a !== b }}", "`!==` is not an operator @ !== (write `!=`)");
    fails("{{ a && b }}", "`&&` is not an operator @ && (write `and`)");
    fails("{{ a || b }}", "`||` is not an operator @ || (write `or`)");
    fails("{{ !a }}", "`!` is not an operator @ ! (write `not`)");
    fails("{{ a ? b : c }}", "`?` is not an operator @ ? (write `a if condition else b`)");
    fails("{{ $a }}", "names have no `$` here @ $ (write the name alone)");
    fails("{{ any == null }}", "`null` is not a value here @ null (write `none`)");
    fails("{{ f(a }} b", "this `(` is never closed @ ( (add `)`)");
    fails("{{ [a, b }}", "this `[` is never closed @ [ (add `]`)");
    fails("{{ 'a }} b", "this quote is never closed @ ' (add the same quote at its end)");
    fails(
        "{{.Names}}",
        "nothing is before the `.` @ . (to write `{{` itself, put `{% raw %}` and `{% endraw %}` around it)",
    );
    fails(
        "${#a}",
        "this `{#` is never closed @ {# (write `#}` at its end; to write `{#` itself, put `{% raw %}` and `{% endraw %}` around it)",
    );
    fails("{% raw %}x", "this `{% raw %}` is never closed @ {% (add `{% endraw %}`)");
    fails("{{ a == }}", "something is missing after this @ ==");
    fails(
        "{% foo %}",
        "there is no tag `foo` @ foo (the tags are if, for, set, with, macro, call, include, import, from, filter, block, raw)",
    );
    fails("{% break %}", "`break` is outside of every loop @ break");
    finds_nothing(&["{ x }", "a } b", "}} %}", "{", "#}"]);
}

#[test]
fn ranges_of_an_expression_are_those_of_its_text() {
    for (text, chains) in [
        ("  plan.tasks[0]\n  and any.x ", vec!["plan.tasks[0]", "any.x"]),
        ("e_a.x == 'é' and any['é'].y", vec!["e_a.x", "any['é'].y"]),
        (" {{ any.x }} ", vec!["any.x"]),
    ] {
        let found = expression(text).reads;
        let written: Vec<_> = found.iter().map(|read| &text[read.range.clone()]).collect();
        assert_eq!(written, chains, "for {text:?}");
    }
}

#[test]
fn broken_expressions_are_reported_in_their_own_text() {
    for (text, expected) in [
        ("", "an expression is missing @ "),
        ("a b", "`b` is not expected here @ b"),
        ("a and", "something is missing after this @ and"),
        ("f(a", "this `(` is never closed @ ("),
        ("f(", "this `(` is never closed @ ("),
        ("a |", "a filter is missing after `|` @ |"),
        ("a.", "a name is missing after `.` @ ."),
        ("a is", "a name is missing here @ is"),
        ("a && b", "`&&` is not an operator @ &&"),
        ("a }} b", "`}}` is not expected here @ }}"),
    ] {
        let error = analyse(text, Language::Expression, &Names).expect_err(text);
        assert_eq!(format!("{} @ {}", error.message, &text[error.range]), expected, "for {text:?}");
    }
}

#[test]
fn depth_is_refused_quickly_and_without_overflow() {
    let deep = |open: &str, close: &str, n| format!("{{{{ {}1{} }}}}", open.repeat(n), close.repeat(n));
    let many = 20_000;
    for text in [
        deep("(", ")", many),
        deep("(", "", 100_000),
        deep("[", "]", many),
        deep("-", "", many),
        deep("not ", "", many),
        deep("1 + ", "", many),
        deep("a.", "", many),
        deep("", "|upper", many),
        deep("", "()", many),
        deep("a if b else ", "", 9_000),
        deep("{'a':", "}", many),
        "{% if a %}".repeat(9_000),
        format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(9_000)),
        format!("{{% set {}a{} = 1 %}}", "(".repeat(9_000), ")".repeat(9_000)),
    ] {
        let error = analyse(&text, Language::Template, &Names).expect_err("deep");
        assert!(error.message.contains("nested more deeply"), "{} for {text:.40}", error.message);
    }
}

#[test]
fn what_is_deep_but_allowed_is_read_on_a_small_stack() {
    let text = format!(
        "{}{}{}1{}{}{}",
        "{% if a %}".repeat(60),
        "{{ ",
        "(".repeat(40),
        ")".repeat(40),
        " ~ 1".repeat(150),
        " }}"
    ) + &"{% endif %}".repeat(60);
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(move || drop(analyse(&text, Language::Template, &Names))).unwrap().join().unwrap();
    let text = format!("{{% if a %}}{}{{% endif %}}{{{{ {}1 }}}}", "{% elif b %}".repeat(190), "1 + ".repeat(190));
    assert!(template(&text).findings.is_empty());
    let inner = format!("{{{{ {}1{} }}}}", "(not ".repeat(50), ")".repeat(50));
    let text = format!("{{% if a %}}{}{inner}{{% endif %}}", "{% elif b %}".repeat(190));
    assert!(template(&text).findings.is_empty());
}

#[test]
fn bombs_are_refused() {
    finds("{{ 'x' * 2000000 }}", "costly: it makes a text of at least 2000000 characters @ 'x' * 2000000");
    finds("{{ 200000 * [any] }}", "costly: it repeats something 200000 times @ 200000 * [any]");
    finds(
        "{{ ('xxxx' * 1000) * 1000 }}",
        "costly: it makes a text of at least 4000000 characters @ 'xxxx' * 1000) * 1000",
    );
    finds(
        "{% for i in range(1000000) %}{% endfor %}",
        "costly: it counts 1000000 numbers, and 100000 are the most @ range(1000000)",
    );
    finds(
        "{{ range(0, 999999999, 2) }}",
        "costly: it counts 499999999 numbers, and 100000 are the most @ range(0, 999999999, 2)",
    );
    finds(
        "{{ range(0, -900000, -1) }}",
        "costly: it counts 900000 numbers, and 100000 are the most @ range(0, -900000, -1)",
    );
    finds("{{ task | indent(99999999) }}", "costly: it pads to 99999999 characters @ indent(99999999)");
    finds("{{ '%999999d' | format(1) }}", "costly: it pads to 999999 characters @ format(1)");
    let nested =
        "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in [1, 2] %}{% endfor %}{% endfor %}{% endfor %}";
    finds(nested, "costly: with the loops around it, this runs 2000000 times @ [1, 2]");
    finds_nothing(&[
        "{{ 'x' * 80 }}",
        "{{ '-' * any }}",
        "{{ 3 * 1000000 }}",
        "{% for i in range(1000) %}{% endfor %}",
        "{{ any * 1000000 }}",
    ]);
    let doubled: String = (0..30).map(|n| format!("{{% set a{} = a{n} ~ a{n} %}}", n + 1)).collect();
    let found = template(&format!("{{% set a0 = 'ha' %}}{doubled}")).findings;
    assert!(matches!(found.as_slice(), [ExprFinding { kind: FindingKind::TooCostly { .. }, .. }, ..]));
    assert_eq!(template(&"{{ task }}".repeat(5_001)).findings.len(), 1);
    assert_eq!(template(&"{{ task }}".repeat(5_000)).findings.len(), 0);
    assert!(matches!(template(&"x".repeat(300_000)).findings[0].kind, FindingKind::TooCostly { .. }));
    assert!(template(&"x".repeat(200_000)).findings.is_empty());
}

#[test]
fn constants_are_never_computed() {
    drop(template("{{ 'x' * 99999999999 * 99999999 ~ 9 ** 99999999 }}{{ ('y' * 99999999999)[0] == 'y' }}"));
}

#[test]
fn long_texts_are_read_without_overflow() {
    for text in [
        "{% set a = 1 %}{{ a }}".repeat(2_400),
        format!("{{{{ [{}] }}}}", "any.x.y, ".repeat(20_000)),
        "{% if any.x %}{{ any.x.y ~ any.z }}{% endif %}".repeat(1_600),
        format!("{{{{ {} }}}}", "'x' ~ ".repeat(190) + "'x'").repeat(180),
        "{".repeat(200_000),
    ] {
        drop(analyse(&text, Language::Template, &Names));
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn is_read_or_refused_with_ranges_that_fit(text in "(\\{\\{|\\}\\}|\\{%|%\\}| |if|for|in|x|é|end|\\.|'|\"|\\||\\(|\\)|\\[|\\]|=|!|&|1|#|\\{|\\}|-|\\\\|\n|set|is|not|,){0,16}") {
            for language in [Language::Template, Language::Expression] {
                match analyse(&text, language, &Names) {
                    Err(error) => prop_assert!(text.get(error.range).is_some()),
                    Ok(found) => {
                        let reads = found.reads.iter().map(|read| read.range.clone());
                        let emits = found.emits.iter().flat_map(|emit| [emit.range.clone(), emit.expr.clone()]);
                        let findings = found.findings.iter().map(|finding| finding.range.clone());
                        for range in reads.chain(emits).chain(findings).chain(found.tags) {
                            prop_assert!(text.get(range).is_some());
                        }
                    }
                }
            }
        }
    }
}
