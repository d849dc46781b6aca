//! Tests how commands end, and that they leave nothing behind.

use std::time::Duration;

use longhaul_agents::process::{Chunk, ProcessEnd, run};
use tokio_util::sync::CancellationToken;

use crate::process::bench::{Bench, NONE, block_on, cancel_at, eventually, finish, runs};

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(50);

#[test]
fn the_exit_code_is_the_commands_own() {
    for code in [0, 1, 42, 255] {
        let output = finish(Bench::new().script(&format!("exit {code}"))).unwrap();
        assert_eq!((output.ended, output.survivors), (ProcessEnd::Exited(code), vec![]));
    }
}

#[test]
fn a_command_that_was_killed_by_somebody_else_says_by_which_signal() {
    assert_eq!(finish(Bench::new().script("kill -9 $$")).unwrap().ended, ProcessEnd::Signalled(9));
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let bench = Bench::new();
    let mut command = bench.script("sleep 3600");
    command.timeout = Some(SHORT);
    assert_eq!(finish(command).unwrap().ended, ProcessEnd::TimedOut);
    assert_eq!(bench.left(), NONE);
}

#[test]
fn a_command_in_time_is_not_touched_by_its_timeout() {
    let bench = Bench::new();
    let mut command = bench.script("exit 3");
    command.timeout = Some(LONG);
    assert_eq!(finish(command).unwrap().ended, ProcessEnd::Exited(3));
}

#[test]
fn a_command_that_closes_its_output_is_waited_for() {
    let bench = Bench::new();
    let output = finish(bench.script("exec >&- 2>&-; sleep 0.1; exit 3")).unwrap();
    assert_eq!(output.ended, ProcessEnd::Exited(3));
    let mut command = bench.script("exec >&- 2>&-; exec sleep 3600");
    command.timeout = Some(SHORT);
    assert_eq!(finish(command).unwrap().ended, ProcessEnd::TimedOut);
}

#[test]
fn a_cancelled_command_may_say_good_bye() {
    let bench = Bench::new();
    let mut command = bench.script("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    command.grace = LONG;
    let output = cancel_at("ready", command);
    assert_eq!((output.ended, output.stdout.text_lossy().as_str()), (ProcessEnd::Cancelled, "ready\nbye\n"));
    assert_eq!(bench.left(), NONE);
}

#[test]
fn a_stopped_command_hears_that_it_shall_end() {
    let bench = Bench::new();
    let mut command = bench.script("trap 'echo bye; exit 0' TERM; echo ready; kill -STOP $$; sleep 3600");
    command.grace = LONG;
    assert_eq!(cancel_at("ready", command).stdout.text_lossy(), "ready\nbye\n");
}

#[test]
fn a_command_that_ignores_the_request_is_killed_after_the_grace() {
    let bench = Bench::new();
    let mut command = bench.script("trap '' TERM; echo ready; while :; do sleep 1; done");
    command.grace = SHORT;
    let output = cancel_at("ready", command);
    assert_eq!((output.ended, output.survivors), (ProcessEnd::Cancelled, vec![]));
    assert_eq!(bench.left(), NONE);
}

#[test]
fn a_command_that_is_blocked_on_its_output_while_it_ends_can_finish_writing() {
    let bench = Bench::new();
    // A megabyte is far more than a pipe holds.
    let mut command =
        bench.script("trap 'head -c 1000000 /dev/zero; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    command.grace = LONG;
    assert_eq!(cancel_at("ready", command).stdout.total, 1_000_006);
}

#[test]
fn a_command_that_was_cancelled_before_it_started_never_starts() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let output = block_on(run(bench.script("touch started"), cancel, |_| {})).unwrap();
    assert_eq!((output.ended, output.pid), (ProcessEnd::Cancelled, 0));
    assert!(!bench.path("started").exists());
}

#[test]
fn a_grandchild_that_holds_the_pipe_is_ended_and_not_waited_for() {
    let bench = Bench::new();
    let output = finish(bench.script("sleep 3600 & echo $! > pid; echo done")).unwrap();
    assert_eq!((output.ended, output.stdout.text_lossy().as_str()), (ProcessEnd::Exited(0), "done\n"));
    assert!(!runs(bench.pid_in("pid")));
}

#[test]
fn what_left_the_session_is_ended_with_the_command() {
    for signals in ["", "trap '' TERM HUP; "] {
        let bench = Bench::new();
        let mut command = bench.script(&format!(
            "(setsid sh -c '{signals}echo $$ > pid; mv pid there; while :; do sleep 1; done' &)
             until [ -f there ]; do sleep 0.01; done; echo done"
        ));
        command.grace = SHORT;
        let output = finish(command).unwrap();
        assert_eq!((output.ended, output.stdout.text_lossy().as_str()), (ProcessEnd::Exited(0), "done\n"));
        assert!(!runs(bench.pid_in("there")), "{signals}");
        assert_eq!((bench.left(), output.survivors), (vec![], vec![]), "{signals}");
    }
}

#[test]
fn a_child_without_its_mark_is_ended_when_its_parent_is() {
    let bench = Bench::new();
    // The child is in another session and has no environment, but its parent is still visible.
    let command = bench.script("setsid env -i sh -c 'echo $$ > pid; mv pid there; while :; do sleep 1; done' & wait");
    let cancel = CancellationToken::new();
    let watch = async {
        while !bench.path("there").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (output, ()) = block_on(async { tokio::join!(run(command, cancel.clone(), |_| {}), watch) });
    assert_eq!(output.unwrap().ended, ProcessEnd::Cancelled);
    assert!(!runs(bench.pid_in("there")));
}

#[test]
fn a_tree_that_keeps_forking_is_ended() {
    let bench = Bench::new();
    let mut command = bench.script(
        "trap '' TERM; echo ready
         fork() { while :; do (setsid sh -c 'trap \"\" TERM; sleep 0.05; sleep 3600' &) ; sleep 0.01; done; }
         fork & fork",
    );
    command.grace = SHORT;
    let output = cancel_at("ready", command);
    assert_eq!(output.survivors, NONE);
    assert_eq!(bench.left(), NONE);
}

#[test]
fn commands_side_by_side_do_not_end_each_other() {
    let outputs = block_on(async {
        let many = (0..20).map(|number| {
            let script = format!("(setsid sleep 3600 &); sleep 0.0{}; echo {number}; exit {number}", number % 7);
            tokio::spawn(async move {
                let bench = Bench::new();
                (run(bench.script(&script), CancellationToken::new(), |_| {}).await.unwrap(), bench.left())
            })
        });
        let mut outputs = Vec::new();
        for one in many.collect::<Vec<_>>() {
            outputs.push(one.await.unwrap());
        }
        outputs
    });
    for (number, (output, left)) in (0..).zip(outputs) {
        assert_eq!((output.ended, output.stdout.text_lossy()), (ProcessEnd::Exited(number), format!("{number}\n")));
        assert_eq!(left, NONE);
    }
}

#[test]
fn an_orphan_belongs_to_the_command_whose_session_or_mark_it_has() {
    let (older, younger) = (Bench::new(), Bench::new());
    let marked = older.script(
        "(setsid sh -c 'echo $$ > pid; mv pid there; exec sleep 3600' &)
         until [ -f go ]; do sleep 0.01; done; kill -0 $(cat there) && echo alive",
    );
    // Without a mark, but in its session. While the older command runs, exclusion decides nothing.
    let shed = younger.script(
        "(env -i /bin/sh -c 'echo $$ > pid; mv pid there; exec /bin/sleep 3600' &)
         until [ -f there ]; do sleep 0.01; done",
    );
    let beside = async {
        while !older.path("there").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let output = run(shed, CancellationToken::new(), |_| {}).await.unwrap();
        let is_left = runs(younger.pid_in("there"));
        std::fs::write(older.path("go"), "").unwrap();
        (output.ended, is_left)
    };
    let (output, beside) = block_on(async { tokio::join!(run(marked, CancellationToken::new(), |_| {}), beside) });
    assert_eq!(beside, (ProcessEnd::Exited(0), false));
    assert_eq!(output.unwrap().stdout.text_lossy(), "alive\n");
    assert!(!runs(older.pid_in("there")));
}

#[test]
fn a_dropped_future_takes_its_processes_along() {
    let bench = Bench::new();
    let command = bench.script("trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 3600' &); echo ready; sleep 3600");
    block_on(async {
        let ready = tokio::sync::Notify::new();
        let on_output = |_: Chunk<'_>| ready.notify_one();
        tokio::select! {
            output = run(command, CancellationToken::new(), on_output) => panic!("{output:?}"),
            () = ready.notified() => {}
        }
    });
    eventually("all gone", || bench.left().is_empty());
}
