//! Tests that text from files never reaches the terminal as a control sequence.

use std::fs;

use crate::hostile::child::{folder_with, run, said};

const EVIL: &str = "do:\n- {id: \"a\\e[31m\", run: x, \"wr\\e[2Jng\": 1}\n- {depends_on: \"\\r\\e]0;t\\a\", prompt: \"{{ x\\e }}\"}\n\
    - {agent: \"\\u202evil\\x9b1m\", prompt: x}\n- workflow: \"\\e[31mx\"\n- prompt: {file: \"\\e[31m/x\"}\n\"k\\n\\e\": 1\n";

const FAIR: &str = "name: \"n\\e[2J\\nm\"\ndescription: \"d\\e[31m\\u202e\\n\"\n\
    inputs: {x: {type: string, default: \"\\e[1m\", description: \"\\e]0;x\\a\"}}\ndo: [{run: \"echo \\e {{ x }}\", name: \"\\e[2J\"}]\n";

/// Asserts that only text, line breaks and our own colours were printed.
#[track_caller]
fn clean(text: &str) {
    let hostile = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(hostile), "{text:?}");
}

#[test]
fn no_command_prints_control_characters_of_a_file() {
    for text in [EVIL, FAIR] {
        let folder = folder_with(text);
        let library = folder.path().join(".longhaul/workflows");
        fs::create_dir_all(&library).unwrap();
        fs::write(library.join("w.yaml"), text).unwrap();
        fs::write(library.join("x\u{1b}[2J\n.yaml"), text).unwrap();
        let commands: &[&[&str]] =
            &[&["check", "w.yaml"], &["check"], &["list"], &["show", "w"], &["graph", "w"], &["show", "no\u{1b}\nne"]];
        for args in commands {
            clean(&said(&run(folder.path(), args)));
        }
    }
}
