//! What a command is handed: its arguments, its environment, its folder; and what cannot be handed over.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;

use longhaul_agents::process::{Ended, Error, InheritEnv};
use proptest::prelude::*;

use crate::process::bench::{Bench, finish};

fn environment(bench: &Bench, inherit: InheritEnv, more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut command = bench.command("/usr/bin/env").arg("-0");
    command.inherit_env = inherit;
    command.env = more.iter().map(|(name, value)| (name.into(), value.into())).collect();
    assert_eq!(finish(command).unwrap().ended, Ended::Exited(0));
    let text = String::from_utf8(bench.stdout_file()).unwrap();
    let entries = text.split_terminator('\0').map(|entry| entry.split_once('=').unwrap());
    entries.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn with_marks(bench: &Bench, entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    let marks = [("LONGHAUL_ENGINE", bench.mark.engine.as_str()), ("LONGHAUL_ATTEMPT", bench.mark.attempt.as_str())];
    entries.iter().chain(&marks).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn nothing_is_inherited_that_was_not_asked_for() {
    let bench = Bench::new();
    let odd = [("A", "1"), ("B", "two\nlines = $HOME `x`"), ("A", "2"), ("LONGHAUL_ENGINE", "forged")];
    let expected = with_marks(&bench, &[("A", "2"), ("B", "two\nlines = $HOME `x`")]);
    assert_eq!(environment(&bench, InheritEnv::Nothing, &odd), expected);
}

#[test]
fn only_the_named_variables_are_inherited() {
    let bench = Bench::new();
    let path = std::env::var("PATH").unwrap();
    let only = InheritEnv::Only(vec!["PATH".to_owned(), "LONGHAUL_NOT_SET".to_owned()]);
    assert_eq!(environment(&bench, only, &[("A", "1")]), with_marks(&bench, &[("PATH", &path), ("A", "1")]));
}

#[test]
fn all_is_inherited_and_can_be_replaced() {
    let bench = Bench::new();
    let mut expected: BTreeMap<String, String> = std::env::vars().collect();
    expected.extend(with_marks(&bench, &[("HOME", "/nowhere")]));
    assert_eq!(environment(&bench, InheritEnv::All, &[("HOME", "/nowhere")]), expected);
}

/// What the kernel says that the program was called with.
fn arguments_seen(args: &[OsString]) -> Vec<Vec<u8>> {
    let bench = Bench::new();
    let mut command = bench.script("cat /proc/$$/cmdline; exit 0").arg("probe");
    command.args.extend_from_slice(args);
    assert_eq!(finish(command).unwrap().ended, Ended::Exited(0));
    let seen = bench.stdout_file();
    seen[..seen.len() - 1].split(|byte| *byte == 0).skip(4).map(<[u8]>::to_vec).collect()
}

#[test]
fn hostile_arguments_arrive_byte_for_byte() {
    let hostile =
        ["", " ", "$(touch x)", "`x`", "';'", "\"", "\\", "-rf", "--upload-pack=x", "a\nb", "*", "~", "%s", "é"];
    let args: Vec<OsString> = hostile.iter().map(OsString::from).collect();
    assert_eq!(arguments_seen(&args), hostile.map(|arg| arg.as_bytes().to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_arguments_arrive_byte_for_byte(args in prop::collection::vec(prop::collection::vec(1u8.., 0..50), 0..8)) {
        let handed: Vec<OsString> = args.iter().cloned().map(OsString::from_vec).collect();
        prop_assert_eq!(arguments_seen(&handed), args);
    }
}

#[test]
fn it_runs_where_it_was_told_to_and_in_a_session_of_its_own() {
    let bench = Bench::new();
    let output =
        finish(bench.script("pwd -P; cut -d' ' -f6 /proc/$$/stat; echo $$; echo >/dev/tty && echo tty")).unwrap();
    let folder = bench.folder.path().canonicalize().unwrap();
    let (pid, text) = (output.pid, output.stdout.text_lossy());
    assert_eq!(text, format!("{}\n{pid}\n{pid}\n", folder.display()));
}

#[test]
fn what_can_not_be_started_says_why() {
    let bench = Bench::new();
    assert!(
        matches!(finish(bench.command("longhaul-no-such-program")), Err(Error::NotFound { program }) if program == "longhaul-no-such-program")
    );
    assert!(matches!(finish(bench.command("/no/such/program")), Err(Error::NotFound { .. })));
    let plain = bench.path("plain");
    fs::write(&plain, "echo").unwrap();
    assert!(matches!(finish(bench.command(&plain)), Err(Error::NotExecutable { .. })));
    fs::write(&plain, "#!/no/such/shell\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(finish(bench.command(&plain)), Err(Error::NotExecutable { .. })));
    let mut command = bench.script("true");
    command.cwd = Some(plain.clone());
    assert!(matches!(finish(command), Err(Error::BadCwd { path }) if path == plain));
}

#[test]
fn what_no_process_can_be_handed_is_refused() {
    let bench = Bench::new();
    assert!(matches!(finish(bench.script("true").arg("x".repeat(3_000_000))), Err(Error::TooLong { .. })));
    assert!(matches!(finish(bench.script("true").arg(OsStr::from_bytes(b"a\0b"))), Err(Error::BadArgument { .. })));
    for name in ["", "A=B", "A\0"] {
        let mut command = bench.script("true");
        command.env = vec![(name.into(), "1".into())];
        assert!(matches!(finish(command), Err(Error::BadArgument { .. })), "{name:?}");
    }
}

#[test]
fn a_file_that_can_not_be_made_is_said_before_anything_starts() {
    let bench = Bench::new();
    let mut command = bench.script("touch started");
    std::fs::write(bench.path("file"), "").unwrap();
    command.stderr_file = bench.path("file/no/folder");
    assert!(matches!(finish(command), Err(Error::Disk { .. })));
    assert!(!bench.path("started").exists());
}

#[test]
fn files_and_their_folder_are_made_when_there_is_something_to_keep() {
    let bench = Bench::new();
    let mut command = bench.script("echo oops >&2");
    (command.stdout_file, command.stderr_file) = (bench.path("a/b/stdout"), bench.path("a/b/stderr"));
    finish(command).unwrap();
    assert_eq!(std::fs::read(bench.path("a/b/stderr")).unwrap(), b"oops\n");
    assert!(!bench.path("a/b/stdout").exists());
    let mut silent = bench.script("true");
    silent.stdout_file = bench.path("c/stdout");
    finish(silent).unwrap();
    assert!(!bench.path("c").exists());
}
