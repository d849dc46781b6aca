//! Tests what commands print and read, in every unpleasant form.

use std::fs;

use longhaul_agents::machine::Shortage;
use longhaul_agents::process::{Chunk, ProcessEnd, run};
use tokio_util::sync::CancellationToken;

use crate::process::bench::{Bench, NONE, block_on, finish};

#[test]
fn output_is_whole_on_disk_and_cut_in_memory() {
    let bench = Bench::new();
    let mut command = bench.script("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo oops >&2");
    command.keep_bytes = 64;
    let output = finish(command).unwrap();
    let expected: String = (0..3000).map(|number| format!("line {number}\n")).collect();
    assert_eq!(bench.stdout_file(), expected.as_bytes());
    assert_eq!(fs::read(bench.path("stderr")).unwrap(), b"oops\n");
    assert_eq!((output.stdout.total, output.stdout.dropped), (expected.len() as u64, 0));
    assert_eq!(output.stdout.head, expected.as_bytes()[..32]);
    assert_eq!(output.stdout.tail, expected.as_bytes()[expected.len() - 32..]);
    assert_eq!(output.stderr.text_lossy(), "oops\n");
}

/// Some programs write what fits into the pipe and exit, without waiting for a reader.
#[test]
fn a_program_that_leaves_at_once_has_said_everything() {
    let bench = Bench::new();
    let leaving = "printf begin; exec dd if=/dev/zero of=/dev/stdout oflag=nonblock bs=300000 count=1";
    let output = finish(bench.script(leaving)).unwrap();
    assert_eq!(output.stdout.total, 300_005, "{}", output.stderr.text_lossy());
}

#[test]
fn whoever_listens_hears_everything_once_and_in_order() {
    let bench = Bench::new();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let listen = |chunk: Chunk<'_>| match chunk {
        Chunk::Stdout(bytes) => out.extend_from_slice(bytes),
        Chunk::Stderr(bytes) => err.extend_from_slice(bytes),
        Chunk::Short(_) | Chunk::Room => {}
    };
    let command = bench.script("head -c 3000000 /dev/urandom | tee copy; echo oops >&2");
    block_on(run(command, CancellationToken::new(), listen)).unwrap();
    assert!(out == fs::read(bench.path("copy")).unwrap(), "{} bytes, but others", out.len());
    assert_eq!(err, b"oops\n");
}

#[test]
fn a_gigabyte_in_one_line_needs_neither_memory_nor_disk() {
    let bench = Bench::new();
    let mut command = bench.script("head -c 1073741824 /dev/zero | tr '\\0' x; printf end");
    command.disk_bytes_max = 1_000_000;
    let before = memory_kb();
    let output = finish(command).unwrap();
    assert_eq!(output.ended, ProcessEnd::Exited(0));
    assert_eq!((output.stdout.total, output.stdout.dropped), (1_073_741_827, 1_072_741_827));
    assert_eq!(output.stdout.head.len() + output.stdout.tail.len(), 256 << 10);
    assert!(output.stdout.tail.ends_with(b"xend"));
    assert_eq!(fs::metadata(bench.path("stdout")).unwrap().len(), 1_000_000);
    let grown_kb = memory_kb().saturating_sub(before);
    assert!(grown_kb < 100_000, "{grown_kb} kB more at the peak");
}

/// The peak memory of this process.
fn memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn broken_text_arrives_as_it_is() {
    let bench = Bench::new();
    let output = finish(bench.script(r"printf 'a\377\000\303b'")).unwrap();
    assert_eq!(bench.stdout_file(), b"a\xFF\0\xC3b");
    assert_eq!(output.stdout.text_lossy(), "a\u{FFFD}\0\u{FFFD}b");
}

#[test]
fn a_large_stdin_arrives_whole() {
    let bench = Bench::new();
    let mut command = bench.script("cat");
    command.stdin = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    let stdin = command.stdin.clone();
    assert_eq!(finish(command).unwrap().ended, ProcessEnd::Exited(0));
    assert!(bench.stdout_file() == stdin);
}

#[test]
fn a_command_that_does_not_read_a_large_stdin_ends_all_the_same() {
    for script in ["exit 4", "exec <&-; echo closed; sleep 0.05; exit 4", "head -c 10 > /dev/null; exit 4"] {
        let bench = Bench::new();
        let mut command = bench.script(script);
        command.stdin = vec![b'x'; 1_000_000];
        assert_eq!(finish(command).unwrap().ended, ProcessEnd::Exited(4), "{script}");
    }
}

#[test]
fn a_command_without_stdin_reads_the_end() {
    assert_eq!(finish(Bench::new().script("read line; exit $?")).unwrap().ended, ProcessEnd::Exited(1));
}

#[test]
fn a_command_waits_for_a_full_disk_until_it_is_cancelled() {
    let bench = Bench::new();
    let mut command = bench.script("echo kept; exec sleep 3600");
    command.stdout_file = "/dev/full".into();
    let cancel = CancellationToken::new();
    let mut short = Vec::new();
    let listen = |chunk: Chunk<'_>| {
        if let Chunk::Short(shortage) = chunk {
            short.push(shortage);
            cancel.cancel();
        }
    };
    let output = block_on(run(command, cancel.clone(), listen)).unwrap();
    assert_eq!((output.ended, short), (ProcessEnd::Cancelled, vec![Shortage::Space]));
    assert_eq!(output.stdout.text_lossy(), "kept\n");
    assert_eq!(bench.left(), NONE);
}
