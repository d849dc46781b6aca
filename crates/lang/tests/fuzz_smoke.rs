//! The bodies of the fuzz targets on generated text and on mutated files of the repository.
//!
//! Cases are the same in every run; `PROPTEST_CASES` asks for more of them.

#![expect(clippy::disallowed_methods, reason = "a test may read the files it mutates")]
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare its files must fail")]

#[path = "../../../fuzz/bodies.rs"]
mod bodies;

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// Pieces that mean something to one of the readers.
const PIECES: &[&str] = &[
    "\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "'",
    "\"",
    "|\n",
    ">-\n",
    "---\n",
    "!!x ",
    "{{ ",
    " }}",
    "{% ",
    " %}",
    "{# ",
    " #}",
    "(",
    ")",
    " | ",
    ".",
    " if ",
    " else ",
    "for a in ",
    "endfor",
    "endif",
    "set ",
    "x",
    "task",
    "steps",
    "do",
    "nodes",
    "start",
    "id",
    "run",
    "prompt",
    "output",
    "schema",
    "depends_on",
    "next",
    "when",
    "to",
    "repeat",
    "until",
    "max",
    "for_each",
    "parallel",
    "switch",
    "cases",
    "default",
    "workflow",
    "inputs",
    "outputs",
    "with",
    "type",
    "name",
    "agent",
    "vars",
    "$(",
    "`",
    "<<E\n",
    "E\n",
    "\\",
    "é",
    "\u{1b}",
    "\u{feff}",
    "\r\n",
    "\t",
    "\0",
    "1",
    "true",
    "null",
    "10**9",
    "range(",
    "[[",
    "]]",
    " = ",
    "\"\"\"",
    "## ",
];

fn files_below(folder: &Path, found: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.extend(std::fs::read_to_string(&path)),
        }
    }
}

fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["tests/dialects", "tests/broken", "examples", "workflows"] {
        files_below(&root.join(folder), &mut found);
    }
    assert!(found.len() > 20, "the seeds are gone");
    found
}

fn generated() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

/// A seed with a few places replaced by pieces, or cut out, or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0usize..12, proptest::sample::select(PIECES), 0usize..3);
    (proptest::sample::select(seeds()), proptest::collection::vec(change, 1..6)).prop_map(|(mut text, changes)| {
        for (at, length, piece, repeat) in changes {
            let start = text.floor_char_boundary(at.index(text.len() + 1));
            let end = text.floor_char_boundary(start + length).max(start);
            text.replace_range(start..end, &piece.repeat(repeat));
        }
        text
    })
}

/// Runs a body on the same texts every time.
fn smoke(body: fn(&str)) {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 300;
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let texts = prop_oneof![generated(), mutated()];
    let outcome = TestRunner::new_with_rng(config, rng).run(&texts, |text| {
        body(&text);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

macro_rules! smoke {
    ($($name:ident => $body:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            smoke(bodies::$body);
        }
    )*};
}

smoke! {
    any_text_can_be_read => yaml,
    any_template_can_be_analysed => template,
    any_shell_text_can_be_lowered => shell,
    formatting_twice_is_formatting_once => format,
    any_text_can_be_checked_as_native => check_native,
    any_text_can_be_checked_as_agent007 => check_agent007,
    any_text_can_be_checked_as_workhorse => check_workhorse,
    any_text_can_be_checked_as_valet => check_valet,
    any_text_can_be_checked_as_work_buddy => check_work_buddy,
}
