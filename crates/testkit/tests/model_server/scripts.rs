//! Reading scripts.

use longhaul_testkit::model_server::Script;

use crate::model_server::client::{said, server};

#[test]
fn texts_of_several_lines_keep_their_shape() {
    let server = server("# a remark\n\n  text <<END\none\n  two\nEND\n");
    assert_eq!(said(&server, "/v1/chat/completions", "go"), "one\n  two");
}

#[test]
fn what_makes_no_sense_is_named_with_its_line() {
    let bad = [
        ("nosuch x", "there is no step `nosuch`"),
        ("on nosuch", "`nosuch` of what?"),
        ("on nosuch x", "there is no condition `nosuch`"),
        ("on api soap", "there is no API `soap`"),
        ("overloaded\n+ text x", "`+` joins an answer to the answer before it"),
        ("+ overloaded", "there is no step `overloaded`"),
        ("text <<E\nx", "no line `E` closes this text"),
        ("tool T a", "expected KEY=VALUE, not `a`"),
        ("structured a:=b", "`a` is no JSON: expected value at line 1 column 1"),
        ("structured a='b", "a quote is not closed"),
        ("delay soon", "`soon` is no number of seconds"),
        ("hang -1", "`-1` is no number of seconds"),
        ("always delay 1", "this holds for all steps after it and cannot be repeated"),
        ("usage foo=1", "there are no `foo` tokens"),
        ("stream-error nosuch", "there is no failure `nosuch`"),
        ("usage-limit kind=odd", "`kind=odd` makes no sense here"),
        ("auth kind=window", "`kind=window` makes no sense here"),
    ];
    for (line, what) in bad {
        let error = format!("text ok\n{line}").parse::<Script>().unwrap_err();
        assert_eq!(error.what, what, "{line}");
        assert!(error.line >= 2, "{line}: {error}");
    }
}
