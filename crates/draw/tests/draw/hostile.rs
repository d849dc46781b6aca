//! Tests text that tries to be more than text.

use longhaul_draw::{dot, mermaid, svg, tree};

use crate::json;

use crate::plans::full_of;

const HOSTILE: &[&str] = &[
    "\"] --> evil[\"x",
    "<script>alert(1)</script>",
    "</text></svg><img src=x onerror=alert(1)>",
    "a\nend\nclick n0 \"javascript:alert(1)\"",
    "`**md**` %%{init: {}}%% #quot; &quot; &#34;",
    "\\\" ]; evil [label=\"",
    "\u{1b}[2J\u{202e}rtl\u{0}\u{7}",
    "]]></style>{{ x }} |a| ;;; ---",
    "",
];

/// Only the words between the quotes may differ from the drawing of harmless text.
fn skeleton(text: &str) -> String {
    let mut out = String::new();
    let mut is_quoted = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if is_quoted => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            c if !is_quoted => out.push(c),
            _ => {}
        }
    }
    out
}

#[test]
fn in_mermaid_no_text_leaves_its_quotes() {
    let plain = skeleton(&mermaid(&full_of("x")));
    for text in HOSTILE.iter().filter(|text| !text.is_empty()) {
        let drawn = mermaid(&full_of(text));
        assert_eq!(skeleton(&drawn), plain, "{drawn}");
        for sign in ["<script", "<img", "`", "%%", "&quot;", "\u{1b}", "\\"] {
            assert!(!drawn.contains(sign), "{sign} in {drawn}");
        }
    }
}

#[test]
fn in_dot_no_text_leaves_its_quotes() {
    let plain = skeleton(&dot(&full_of("x")));
    for text in HOSTILE.iter().filter(|text| !text.is_empty()) {
        let drawn = dot(&full_of(text));
        assert_eq!(skeleton(&drawn), plain, "{drawn}");
        assert!(!drawn.contains("&quot;") && !drawn.contains("&#34;"), "{drawn}");
    }
}

#[test]
fn in_svg_no_text_becomes_markup() {
    let elements = |svg: &str| -> Vec<String> {
        let inside = svg.split('<').skip(1);
        inside.map(|tag| tag.split(|c: char| " >".contains(c)).next().unwrap_or_default().to_owned()).collect()
    };
    let plain = elements(&svg(&full_of("x")));
    for text in HOSTILE.iter().filter(|text| !text.is_empty()) {
        let drawn = svg(&full_of(text));
        assert_eq!(elements(&drawn), plain, "{drawn}");
        assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()), "{drawn:?}");
        assert!(!drawn.contains("href"), "{drawn}");
    }
}

#[test]
fn in_the_terminal_no_text_moves_the_cursor_or_adds_a_line() {
    let lines = tree(&full_of("x")).lines().count();
    for text in HOSTILE {
        let drawn = tree(&full_of(text));
        assert!(drawn.chars().all(|c| c == '\n' || !c.is_control()) && !drawn.contains('\u{202e}'), "{drawn:?}");
        assert_eq!(drawn.lines().count(), lines, "{drawn}");
    }
}

#[test]
fn text_without_a_word_in_it_still_gives_a_drawing() {
    let plan = full_of("");
    assert!(!mermaid(&plan).contains("\"\""), "{}", mermaid(&plan));
    assert!(dot(&plan).ends_with("}\n") && svg(&plan).ends_with("</svg>\n"));
    assert!(json(&plan).pointer("/layout/width").is_some());
}

#[test]
fn long_text_is_cut_and_says_so() {
    let drawn = tree(&full_of(&"long ".repeat(100)));
    assert!(drawn.lines().all(|line| line.chars().count() < 260) && drawn.contains('…'), "{drawn}");
}
