//! Scripts in, scripts out. Then real shells run them.

use std::process::Command;

use proptest::prelude::*;

use super::{Lowered, ShellProblem, lower};
use crate::expr::{self, Language, NameScope};
use longhaul_core::types::Type;

struct Anything;

impl NameScope for Anything {
    fn root(&self, _: &str) -> Option<Type> {
        Some(Type::Any)
    }
}

pub(super) fn lowered(text: &str) -> Lowered {
    let analysis = expr::analyse(text, Language::Template, &Anything).unwrap();
    lower(text, &analysis.emits, &analysis.tags)
}

#[track_caller]
fn check(text: &str, script: &str) {
    let result = lowered(text);
    assert_eq!(result.script, script, "for {text:?}");
    assert_eq!(result.findings, [], "for {text:?}");
}

/// The findings of a text: the problem, and its part of the text.
fn findings(text: &str) -> Vec<String> {
    let named = |kind: &ShellProblem| match kind {
        ShellProblem::Tag(_) => "Tag".to_owned(),
        ShellProblem::Code(_) => "Code".to_owned(),
        ShellProblem::Query(_) => "Query".to_owned(),
        other => format!("{other:?}"),
    };
    let found = lowered(text).findings;
    found.iter().map(|finding| format!("{} {}", named(&finding.kind), &text[finding.range.clone()])).collect()
}

#[track_caller]
fn finds(text: &str, expected: &str) {
    assert_eq!(findings(text).join(", "), expected, "for {text:?}");
}

#[test]
fn a_reference_is_quoted_as_its_place_asks_for() {
    check("echo hello", "echo hello");
    check("echo {{ x }}", r#"echo "$LH_1""#);
    check("echo a{{ x }}b --n={{ y }}", r#"echo a"$LH_1"b --n="$LH_2""#);
    check(r#"echo "a {{ x }} b""#, r#"echo "a ${LH_1} b""#);
    check("echo 'a {{ x }} b'", r#"echo 'a '"$LH_1"' b'"#);
    check("echo $'a\\n{{ x }} b'", "echo $'a\\n'\"$LH_1\"$' b'");
    check("echo $(cat {{ x }})", r#"echo $(cat "$LH_1")"#);
    check(r#"echo "$(cat "{{ x }}" {{ y }})""#, r#"echo "$(cat "${LH_1}" "$LH_2")""#);
    check("echo `cat {{ x }}`", r#"echo `cat "$LH_1"`"#);
    check("cat <<EOF\na {{ x }}\nEOF\necho {{ y }}", "cat <<EOF\na ${LH_1}\nEOF\necho \"$LH_2\"");
    check("cat <<-EOF\n\ta {{ x }}\n\tEOF\necho {{ y }}", "cat <<-EOF\n\ta ${LH_1}\n\tEOF\necho \"$LH_2\"");
    check("cat <<A <<B\n{{ x }}\nA\n{{ y }}\nB\n", "cat <<A <<B\n${LH_1}\nA\n${LH_2}\nB\n");
    check("A={{ x }} B=\"{{ y }}\" cmd", r#"A="$LH_1" B="${LH_2}" cmd"#);
    check("echo > {{ x }} 2>&1", r#"echo > "$LH_1" 2>&1"#);
    check("[[ {{ x }} == a* ]] && echo yes", r#"[[ "$LH_1" == a* ]] && echo yes"#);
}

#[test]
fn one_expression_is_one_variable() {
    let result = lowered("echo {{ x }} '{{  x  }}' {{ x.y }}");
    assert_eq!(result.script, r#"echo "$LH_1" ''"$LH_1"'' "$LH_2""#);
    assert_eq!(result.bindings, [("LH_1".to_owned(), "x".to_owned()), ("LH_2".into(), "x.y".into())]);
}

#[test]
fn a_sign_before_a_value_does_not_change_the_reference() {
    check("echo ${{ x }}", r#"echo '$'"$LH_1""#);
    check(r#"echo "${{ x }}""#, r#"echo ""'$'"${LH_1}""#);
    check("echo $${{ x }}", r#"echo $$"$LH_1""#);
    check("echo \\{{ x }}", r#"echo "$LH_1""#);
    check(r#"echo "\{{ x }}""#, r#"echo "\\${LH_1}""#);
    check("cat <<E\n\\{{ x }} ${{ x }}\nE", "cat <<E\n\\\\${LH_1} \\$${LH_1}\nE");
}

#[test]
fn a_value_in_a_comment_is_dropped_and_not_computed() {
    let result = lowered("# do {{ x }}\necho a#{{ y }} # and {{ z }}");
    assert_eq!(result.script, "# do \necho a#\"$LH_1\" # and ");
    assert_eq!(result.bindings, [("LH_1".to_owned(), "y".to_owned())]);
}

#[test]
fn the_word_that_runs_is_found() {
    for text in [
        "{{ x }} a",
        "\n{{ x }}",
        "a | {{ x }}",
        "a || {{ x }}",
        "a && {{ x }}",
        "a; {{ x }}",
        "a & {{ x }}",
        "( {{ x }} )",
        "{ {{ x }}; }",
        "if a; then {{ x }}; fi",
        "while a; do {{ x }}; done",
        "if a; then b; else {{ x }}; fi",
        "! {{ x }}",
        "time {{ x }}",
        "exec {{ x }}",
        "env A=1 {{ x }}",
        "sudo -u root {{ x }}",
        "nohup {{ x }}",
        "a | xargs -n 1 {{ x }}",
        "A=1 {{ x }}",
        "{{ x }}/bin/tool",
        "./bin/{{ x }}",
        "\"{{ x }}\" a",
        "echo $({{ x }})",
        "echo \"`{{ x }}`\"",
        "f() { {{ x }}; }",
        "case a in b) {{ x }};; esac",
        "> out {{ x }}",
        "timeout 5 {{ x }}",
        "if {{ x }}; then b; fi",
        "if [[ a == b ]]; then {{ x }}; fi",
        "[[ a ]]\n{{ x }}",
        "function f { {{ x }}; }",
    ] {
        finds(text, "CommandWord {{ x }}");
    }
}

#[test]
fn words_that_do_not_run_are_fine() {
    for text in [
        "a {{ x }}",
        "A={{ x }}",
        "A={{ x }} b",
        "export A={{ x }}",
        "sudo -u {{ x }} id",
        "env -u {{ x }} id",
        "for i in {{ x }} b; do echo; done",
        "case {{ x }} in {{ x }}) echo;; {{ x }}|b) echo;; esac",
        "a=( {{ x }} b )",
        "a > {{ x }}",
        "2> {{ x }} a",
        "[ {{ x }} -eq 1 ]",
        "test {{ x }}",
        "[[ -n {{ x }} ]]",
        "a 2>&1 {{ x }}",
        "bash script.sh {{ x }}",
        "bash -c 'echo \"$1\"' _ {{ x }}",
        "python3 tool.py {{ x }}",
        "echo {{ x }} | cat",
        "a \\\n {{ x }}",
        "git commit -m \"a; {{ x }}\"",
        "ssh -i {{ x }} host",
        "timeout {{ x }} a",
        "bash -o {{ x }} a.sh",
        "[[ a == b && {{ x }} == c ]]",
        "cat <<< {{ x }}",
        "diff <(cat {{ x }}) b",
        "perl x.pl {{ x }}",
        "command -v {{ x }}",
        "echo {{ x }} | grep bash",
        "docker run --name node -p {{ x }}:80 image",
        "[[ a < {{ x }} ]]; b",
    ] {
        finds(text, "");
    }
}

#[test]
fn values_that_would_be_program_text_are_found() {
    for text in [
        "eval {{ x }}",
        "eval \"a {{ x }}\"",
        "sh -c {{ x }}",
        "bash -c 'echo {{ x }}'",
        "bash -lc \"{{ x }}\"",
        "zsh -c \"a {{ x }}\"",
        "python3 -c \"print('{{ x }}')\"",
        "perl -e 'print {{ x }}'",
        "perl -ne '{{ x }}'",
        "node -e \"{{ x }}\"",
        "node --eval={{ x }}",
        "php -r '{{ x }}'",
        "/bin/sh -e -c '{{ x }}'",
        "source <(echo {{ x }})",
        ". <(echo {{ x }})",
        "a | xargs -I{} sh -c 'a {} {{ x }}'",
        "docker exec c sh -c '{{ x }}'",
        "timeout 5 bash -c '{{ x }}'",
        "trap 'rm {{ x }}' EXIT",
        "ssh host {{ x }}",
        "ssh -i k host \"cd {{ x }}\"",
        "bash <<EOF\necho {{ x }}\nEOF",
        "python3 - <<EOF\n{{ x }}\nEOF",
        "bash <<< {{ x }}",
        "echo {{ x }} | sh",
        "eval \"$(a {{ x }})\"",
        "bash <(a {{ x }})",
        "echo \"{{ x }}\" | tee a | bash",
        "sudo bash -c '{{ x }}'",
        "find . -exec sh -c 'a {{ x }}' \\;",
        "su - me -c '{{ x }}'",
    ] {
        finds(text, "Code {{ x }}");
    }
}

#[test]
fn values_that_would_be_computed_are_found() {
    for text in [
        "echo $(( {{ x }} + 1 ))",
        "(( {{ x }} > 1 ))",
        "let a={{ x }}",
        "echo $(( (1) + \"{{ x }}\" ))",
        "a[{{ x }}]=1",
        "[[ {{ x }} -eq 1 ]]",
        "[[ 1 -lt {{ x }} ]]",
        "echo \"$(( {{ x }} ))\"",
    ] {
        finds(text, "Arithmetic {{ x }}");
    }
    finds("echo $(( 1 + (2) )) {{ x }}", "");
    finds("(( a > 1 )) && echo {{ x }}", "");
}

#[test]
fn values_in_other_impossible_places_are_found() {
    finds("cat <<'EOF'\n{{ x }}\nEOF\necho {{ y }}", "QuotedHeredoc {{ x }}");
    finds("cat <<\\EOF\n{{ x }}\nEOF", "QuotedHeredoc {{ x }}");
    finds("echo ${a:-{{ x }}}", "ParameterExpansion {{ x }}");
    finds("echo \"${a:-\"{{ x }}\"}\" {{ y }}", "ParameterExpansion {{ x }}");
    finds("{% if a %}echo{% endif %}", "Tag {% if a %}, Tag {% endif %}");
    finds("echo {# note #} a", "Tag {# note #}");
    finds("echo \\{% raw %}a{% endraw %}", "Tag {% raw %}");
    finds("cat <<{{ x }}\na\n", "QuotedHeredoc {{ x }}");
}

#[test]
fn raw_is_how_a_script_says_what_looks_like_a_template() {
    check("echo {% raw %}${#a[@]} {{ x }}{% endraw %} {{ y }}", "echo ${#a[@]} {{ x }} \"$LH_1\"");
}

#[test]
fn a_quoted_here_document_is_left_as_it_is() {
    let result = lowered("cat <<'EOF'\n{{ x }} $HOME\nEOF");
    assert_eq!((result.script.as_str(), result.bindings.len()), ("cat <<'EOF'\n{{ x }} $HOME\nEOF", 0));
}

/// Runs a lowered script with each variable set to `value`; returns its output.
#[expect(clippy::disallowed_methods, reason = "only a real shell can say what it makes of a script")]
fn run(shell: &str, text: &str, value: &str) -> String {
    let result = lowered(text);
    let mut command = Command::new(shell);
    command.arg("-c").arg(&result.script).env("HOME", "/wrong");
    for (name, _) in &result.bindings {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Scripts and their output; `@` is the value.
const SCRIPTS: &[(&str, &str)] = &[
    ("printf '%s\\n' {{ v }}", "@\n"),
    ("printf '%s\\n' \"{{ v }}\"", "@\n"),
    ("printf '%s\\n' 'a {{ v }} b'", "a @ b\n"),
    ("printf '%s\\n' a{{ v }}b x", "a@b\nx\n"),
    ("printf '%s\\n' --n={{ v }} --m=\"{{ v }}\"", "--n=@\n--m=@\n"),
    ("printf '%s\\n' \"$(printf '%s.' {{ v }})\"", "@.\n"),
    ("printf '%s\\n' \"$(printf '%s.' \"{{ v }}\")\"", "@.\n"),
    ("printf '%s\\n' \"`printf '%s.' {{ v }}`\"", "@.\n"),
    ("printf '%s\\n' `printf x`{{ v }}", "x@\n"),
    ("cat <<EOF\na {{ v }} b\nEOF", "a @ b\n"),
    ("cat <<-EOF\n\ta {{ v }} b\n\tEOF\nprintf '%s\\n' {{ v }}", "a @ b\n@\n"),
    ("cat <<EOF\n$(printf '%s.' {{ v }})\nEOF", "@.\n"),
    ("A={{ v }}; printf '%s\\n' \"$A\"", "@\n"),
    ("A={{ v }} sh -c 'printf \"%s\\n\" \"$A\"'", "@\n"),
    ("for i in {{ v }} b; do printf '%s\\n' \"$i\"; done", "@\nb\n"),
    ("case {{ v }} in {{ v }}) printf same;; *) printf other;; esac", "same"),
    ("# {{ v }}\nprintf '%s\\n' {{ v }} # {{ v }}", "@\n"),
    ("printf '%s\\n' ${{ v }} \"${{ v }}\" \\{{ v }} \"\\{{ v }}\"", "$@\n$@\n@\n\\@\n"),
    ("f() { printf '%s\\n' \"$1\"; }; f {{ v }}", "@\n"),
    ("(printf '%s\\n' {{ v }}) | cat", "@\n"),
    ("sh -c 'printf \"%s\\n\" \"$1\"' _ {{ v }}", "@\n"),
    ("if [ {{ v }} = \"{{ v }}\" ]; then printf '%s\\n' '{{ v }}'; fi", "@\n"),
];

fn hostile() -> Vec<String> {
    let short = [
        "plain",
        "",
        " ",
        "; echo HACK $(id)",
        "$(touch /tmp/never)",
        "'",
        "\"",
        "'\"'\"",
        "`id`",
        "a\nb",
        "$HOME",
        "${HOME}",
        "-rf",
        "*",
        "a * [b-c] ?",
        "\\",
        "\\n",
        "é 漢 🦀",
        "EOF",
        "x\nEOF\necho HACK",
        "&& echo HACK",
        "|cat",
        "#x",
        "!x",
        "{a,b}",
        "~",
        "%s%d",
        "\t x \t",
        "a'b\"c`d$e\\f",
    ];
    short.into_iter().map(str::to_owned).chain(["x'\"$`\\ ".repeat(14_000)]).collect()
}

#[test]
fn every_value_reaches_every_place_byte_for_byte() {
    let values = hostile();
    for shell in ["bash", "sh"] {
        for (script, expected) in SCRIPTS {
            for value in &values {
                // `[` reads some single words as operators, even quoted ones.
                if script.starts_with("if [") && matches!(value.as_str(), "!x" | "") {
                    continue;
                }
                let seen = run(shell, script, value);
                assert!(
                    seen == expected.replace('@', value),
                    "{shell}: {script:?} with {value:.40?} printed {seen:.80?}"
                );
            }
        }
    }
}

#[test]
fn bash_has_places_of_its_own() {
    for value in hostile() {
        for (script, expected) in [
            ("printf '%s\\n' $'a\\t{{ v }}\\t'", "a\t@\t\n"),
            ("[[ {{ v }} == \"{{ v }}\" ]] && printf '%s\\n' {{ v }}", "@\n"),
            ("a=( {{ v }} b ); printf '%s\\n' \"${a[0]}\" \"{% raw %}${#a[@]}{% endraw %}\"", "@\n2\n"),
            ("cat <<< {{ v }}", "@\n"),
            ("cat <(printf '%s\\n' {{ v }})", "@\n"),
        ] {
            assert!(run("bash", script, &value) == expected.replace('@', &value), "{script:?} with {value:.40?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_is_printed_as_it_is(value in "[^\\x00]{0,40}") {
        for (script, expected) in [
            ("printf %s {{ v }}", "@"),
            ("printf %s \"{{ v }}\"", "@"),
            ("printf %s 'a{{ v }}b'", "a@b"),
            ("cat <<E\n{{ v }}\nE", "@\n"),
        ] {
            prop_assert_eq!(run("sh", script, &value), expected.replace('@', &value));
        }
    }

    #[test]
    fn any_text_is_lowered_without_losing_its_emits(text in "[a\\-$'\"`(){}<>|&;#\\\\ \n\\[\\]=EOF]{0,30}") {
        let text = format!("{text}\u{1}").replace("{{", "{ {").replace("{%", "{ %").replace("{#", "{ #");
        let at = text.find('\u{1}').unwrap();
        let text = text.replace('\u{1}', "{{ x }}");
        let emits = [expr::Emit { range: at..at + 7, expr: at + 3..at + 4, is_number: false }];
        let result = lower(&text, &emits, &[]);
        let kept = result.script.contains("{{ x }}");
        prop_assert!(!kept || result.findings.iter().any(|finding| finding.kind == ShellProblem::QuotedHeredoc));
    }
}

#[test]
fn long_scripts_are_lowered_whole() {
    let line = "x".repeat(100_000);
    check(&format!("cat <<E\n{line} {{{{ x }}}}\nE"), &format!("cat <<E\n{line} ${{LH_1}}\nE"));
    let many = lowered(&"echo \"{{ x }}\" $(a '{{ y }}')\n".repeat(2_000));
    assert_eq!((many.bindings.len(), many.findings.len()), (2, 0));
}
