//! Tests templates and expressions that cost more than they seem to.

use crate::hostile::child::refused;

/// A workflow whose prompt is this text.
fn prompt(text: &str) -> String {
    format!("do:\n  - set: {{y: 1}}\n  - prompt: |\n      {text}\n")
}

fn condition(text: &str) -> String {
    format!("do:\n  - set: {{y: 1}}\n  - run: echo\n    when: {text:?}\n")
}

#[test]
fn work_without_end_is_refused() {
    let loops = "{% for a in range(100000) %}".repeat(6) + "x" + &"{% endfor %}".repeat(6);
    for text in [&loops, "{{ 'x' * 1000000000 }}", "{{ range(10**9) }}"] {
        refused(prompt(text), "LH0318");
    }
}

#[test]
fn deep_expressions_are_refused() {
    let deep = [("(", "1", ")"), ("[", "1", "]"), ("not ", "1", ""), ("-", "1", ""), ("y|default(", "1", ")")];
    for (open, inside, close) in deep {
        let (open, close) = (open.repeat(10_000), close.repeat(10_000));
        refused(prompt(&format!("{{{{ {open}{inside}{close} }}}}")), "LH0301");
        refused(condition(&format!("{open}{inside}{close}")), "LH0302");
    }
    refused(prompt(&format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000))), "LH0301");
    refused(prompt(&format!("{{{{ y{} }}}}", "|upper".repeat(30_000))), "LH0301");
    refused(prompt(&format!("{{{{ y{} }}}}", ".z".repeat(100_000))), "LH0301");
    refused(prompt(&("{% if y %}".repeat(10_000) + &"{% endif %}".repeat(10_000))), "LH0301");
}

#[test]
fn long_texts_are_refused_unread() {
    for text in ["{{".repeat(500_000), "{#".repeat(500_000), "{{ y }}".repeat(150_000)] {
        refused(prompt(&text), "LH0318");
    }
    refused(condition(&("y == 1 and ".repeat(95_000) + "true")), "LH0318");
    refused(condition(&"y".repeat(1_000_000)), "LH0318");
    refused(format!("do:\n  - run: \"{}\"\n", "$( ".repeat(300_000)), "LH0318");
}

#[test]
fn many_unknown_names_in_one_text_are_told_in_part() {
    let names: String = (0..4_000).map(|at| format!("{{{{ zz{at} }}}}")).collect();
    let text = refused(prompt(&names), "LH0303");
    assert!(text.contains("100 errors"), "{:.500}", text);
}

#[test]
fn a_text_of_braces_below_the_limit_is_a_mistake_like_any_other() {
    refused(prompt(&"{{".repeat(100_000)), "LH0301");
}
