//! Tests the output of commands, as people and programs see it.

use crate::binary::project::{Project, RUN};
use crate::terminal::pty::Session;

/// Sets the clipboard and the title, clears the screen, moves back in the line, reverses the direction of writing.
const HOSTILE: &str = "name: w\ndo:\n  - id: a\n    run: |\n      \
    printf 'a\\033]52;c;eA==\\007\\033]0;title\\007\\033[2Jb\\rc\\302\\2332J\\342\\200\\256d\\te'\n";

const BYTES: &[u8] = b"a\x1b]52;c;eA==\x07\x1b]0;title\x07\x1b[2Jb\rc\xc2\x9b2J\xe2\x80\xaed\te";

fn on_a_terminal(project: &Project, args: &[&str]) -> String {
    let mut session = Session::start(&project.path(""), args, 100, 30, &[("TERM", "xterm")]);
    assert_eq!(session.wait(), 0);
    session.raw()
}

#[test]
fn a_terminal_obeys_nothing_that_commands_printed() {
    let project = Project::new(HOSTILE);
    assert_eq!(project.run().code, 0);
    for args in [&["logs", RUN][..], &["logs", RUN, "--json"], &["outputs", RUN, "a"], &["outputs", RUN, "a", "--json"]]
    {
        let raw = on_a_terminal(&project, args);
        for obeyed in ["\x1b]", "\x1b[2J", "\x07", "\u{9b}", "\u{202e}", "b\rc"] {
            assert!(!raw.contains(obeyed), "{args:?}: {raw:?}");
        }
        assert!(raw.contains("title"), "{args:?}: {raw:?}");
    }
}

#[test]
fn a_pipe_gets_what_commands_printed_byte_for_byte() {
    let project = Project::new(HOSTILE);
    assert_eq!(project.run().code, 0);
    let piped = |args: &[&str]| project.command(args).output().unwrap().stdout;
    assert_eq!(piped(&["logs", RUN]), BYTES);
    assert_eq!(piped(&["outputs", RUN, "a"]), [BYTES, b"\n"].concat());
}
