//! The tests that every store must pass: one for each clause of the contract in [`Store`].
//!
//! `conformance!(name, constructor)` makes a module of tests. The constructor returns an empty `Arc<dyn Store>` and a
//! guard that is dropped after the test (a folder, or `()`).
//!
//! **Invariant:** a clause uses only [`Store`], so it also tests stores that do not exist yet.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod appends;
pub mod crowds;
pub mod encrypted;
pub mod fleet;
pub mod keeping;
pub mod lists;
pub mod mail;
pub mod proxy;
pub mod server;
pub mod tasks;
pub mod timers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_core::id::RunId;

use crate::{
    Append, Claim, Error, EventId, Head, InboxMessage, NewEvent, NewMessage, NewTask, RunRow, Store, StoredEvent, Task,
    TaskEnd, Timer, WorkerId,
};

/// Makes a module `$name` with one test for each clause; `$make()` returns `(Arc<dyn Store>, guard)`.
#[macro_export]
macro_rules! conformance {
    (@ $make:expr; $($subject:ident: [$($clause:ident),* $(,)?])*) => {
        $( $crate::conformance!(@@ $make; $subject; $($clause)*); )*
    };
    (@@ $make:expr; $subject:ident; $($clause:ident)*) => {
        $(
            #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $clause() {
                let (store, _guard) = $make();
                $crate::conformance::$subject::$clause(store).await;
            }
        )*
    };
    ($name:ident, $make:expr) => {
        mod $name {
            $crate::conformance!(@ $make;
                appends: [
                    an_append_makes_a_run,
                    a_run_is_not_made_twice,
                    a_run_is_not_made_without_head_or_event,
                    an_unknown_run_is_neither_appended_to_nor_read,
                    seqs_have_no_gaps,
                    a_stale_append_is_refused_with_the_actual_seq,
                    an_append_ahead_of_its_run_is_refused,
                    a_conflict_changes_nothing_at_all,
                    a_fenced_append_changes_nothing_at_all,
                    a_second_try_is_recognised,
                    a_second_try_is_recognised_when_the_run_has_gone_on,
                    a_second_try_with_more_events_is_a_conflict,
                    an_event_id_is_not_used_twice,
                    an_append_names_nothing_twice,
                    events_come_in_order_after_a_seq_up_to_a_limit,
                    bodies_are_kept_byte_for_byte,
                    bodies_above_the_limit_are_refused,
                    a_head_stays_until_another_is_given,
                ]
                lists: [
                    runs_come_newest_first_in_pages,
                    runs_are_chosen_by_what_their_heads_say,
                    a_prefix_is_plain_text,
                    a_page_after_an_unknown_run_is_refused,
                    runs_are_chosen_by_when_they_were_created_and_changed,
                    runs_are_unattended_without_a_task_that_waits_or_is_held,
                ]
                tasks: [
                    the_holder_ends_its_task,
                    only_the_task_of_the_key_ends,
                    another_worker_is_fenced,
                    a_worker_without_the_task_is_fenced,
                    another_attempt_is_fenced,
                    a_task_ends_once,
                    an_unknown_task_is_fenced,
                    a_task_of_another_run_is_not_touched,
                    a_task_ends_without_its_holder_but_at_its_attempt,
                    after_a_takeover_the_old_holder_is_fenced,
                    a_lease_that_has_run_out_is_held_until_somebody_ends_it,
                    an_open_key_is_not_started_again,
                    a_key_is_ended_and_started_in_one_append,
                    a_task_started_with_a_worker_is_leased_from_the_last_event,
                    a_claim_takes_the_oldest_up_to_the_limit,
                    a_held_task_is_not_claimed_even_when_its_lease_has_run_out,
                    one_of_many_claimers_gets_the_task,
                    renewing_answers_only_what_is_held,
                    expired_leases_come_longest_ended_first,
                ]
                fleet: [
                    a_claim_takes_only_what_it_has_all_labels_for,
                    a_claim_for_a_run_takes_nothing_else,
                    the_run_with_the_fewest_tasks_at_work_goes_first,
                    caps_are_counted_over_all_that_is_held,
                    caps_hold_however_many_claim_at_once,
                    what_nobody_holds_is_listed,
                    a_glance_tells_what_there_is_to_do,
                    a_glance_that_finds_nothing_new_tells_nobody,
                    workers_are_listed_while_they_are_there,
                    workers_that_are_silent_for_long_are_forgotten,
                ]
                mail: [
                    a_message_is_accepted_once_for_ever,
                    one_of_many_senders_is_accepted,
                    an_inbox_is_in_order_and_of_one_run,
                    a_message_is_consumed_exactly_once,
                    a_message_of_another_run_is_not_consumed,
                    a_message_for_an_unknown_run_is_refused_and_not_remembered,
                    a_message_above_the_limit_is_refused,
                    runs_with_mail_come_oldest_message_first,
                    what_was_ever_posted_is_listed_in_pages,
                    what_is_remembered_counts_as_posted,
                ]
                timers: [
                    timers_come_longest_due_first_up_to_a_limit,
                    a_timer_set_again_is_moved,
                    a_cleared_timer_is_gone,
                    timers_of_two_runs_do_not_meet,
                    a_timer_of_another_run_is_refused,
                    the_next_timer_is_known,
                    the_timers_of_a_run_are_listed,
                ]
                keeping: [
                    a_blob_lives_while_a_run_refers_to_it,
                    the_blobs_of_a_run_are_listed,
                    a_blob_with_a_false_hash_is_refused,
                    a_blob_above_the_limit_is_refused,
                    only_the_newest_snapshot_is_kept,
                    a_snapshot_ahead_of_its_run_is_refused,
                    a_run_is_restored_from_its_snapshot_on,
                    a_removed_run_is_gone_with_everything,
                    removing_a_run_leaves_the_others,
                    an_unknown_run_is_not_removed,
                    a_healthy_store_has_no_problems,
                ]
                crowds: [
                    one_of_many_appenders_wins_each_seq,
                    one_of_many_makers_makes_the_run,
                    a_hundred_runs_move_at_once,
                    refusals_do_not_touch_their_neighbours,
                    watchers_hear_of_every_write,
                    who_watches_for_work_hears_of_runs_messages_and_tasks,
                    watchers_do_not_hear_of_what_wrote_nothing,
                ]
            );
            use super::*;
        }
    };
}

/// The store under test.
pub type Given = Arc<dyn Store>;

/// The id of a run.
pub fn id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

/// The id of a worker.
pub fn worker(name: &str) -> WorkerId {
    WorkerId::new(name)
}

/// An event with a new id.
pub fn event(body: &str) -> NewEvent {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let id = (u128::from(std::process::id()) << 64) | u128::from(LAST.fetch_add(1, Ordering::Relaxed));
    NewEvent { id: EventId(id), at_ms: 1_000, body: body.to_owned() }
}

/// The append that creates a run.
pub fn making(run: &RunId) -> Append {
    let head = Head { workflow: "build".to_owned(), status: "running".to_owned(), ..Head::default() };
    Append { head: Some(head), ..Append::new(run.clone(), 0, vec![event("{}")]) }
}

/// Creates a run and returns its id.
pub async fn made(store: &Given, name: &str) -> RunId {
    store.append(making(&id(name))).await.unwrap();
    id(name)
}

/// Appends one event, with the changes that `edit` makes, at the end of the run.
pub async fn advance(store: &Given, run: &RunId, edit: impl FnOnce(&mut Append)) -> Result<u64, Error> {
    let last = store.run(run).await.unwrap().map_or(0, |row| row.last_seq);
    let mut append = Append::new(run.clone(), last, vec![event("{}")]);
    edit(&mut append);
    store.append(append).await
}

/// A task that no worker holds.
pub fn task(key: &str, attempt: u32) -> NewTask {
    NewTask { key: key.to_owned(), attempt, worker: None, lease_ms: 0, labels: Vec::new() }
}

/// A task that `name` holds from 1,000 to 2,000.
pub fn held(key: &str, attempt: u32, name: &str) -> NewTask {
    NewTask { worker: Some(worker(name)), lease_ms: 1_000, ..task(key, attempt) }
}

/// The end of a task, by the worker `name`, or regardless of the holder.
pub fn end(key: &str, attempt: u32, name: Option<&str>) -> TaskEnd {
    TaskEnd { key: key.to_owned(), attempt, worker: name.map(worker) }
}

/// Starts a task in a run.
pub async fn start(store: &Given, run: &RunId, task: NewTask) {
    advance(store, run, |append| append.tasks_started.push(task)).await.unwrap();
}

/// Ends a task in a run.
pub async fn finish(store: &Given, run: &RunId, end: TaskEnd) -> Result<u64, Error> {
    advance(store, run, |append| append.tasks_ended.push(end)).await
}

/// The error for a fenced task.
pub fn fenced(key: &str) -> Result<u64, Error> {
    Err(Error::Fenced { key: key.to_owned() })
}

/// A message for a run.
pub fn message(run: &RunId, source: &str, dedup: &str) -> NewMessage {
    let body = format!("{source} {dedup}");
    NewMessage { run: run.clone(), source: source.to_owned(), dedup: dedup.to_owned(), body, at_ms: 5 }
}

/// A timer of a run.
pub fn timer(run: &RunId, id: &str, due_ms: i64) -> Timer {
    Timer { run: run.clone(), id: id.to_owned(), due_ms }
}

/// Sets a timer of a run.
pub async fn set(store: &Given, run: &RunId, id: &str, due_ms: i64) {
    advance(store, run, |append| append.timers_set.push(timer(run, id, due_ms))).await.unwrap();
}

/// All that a store shows of a run.
#[derive(Debug, PartialEq)]
pub struct Everything {
    row: Option<RunRow>,
    events: Vec<StoredEvent>,
    tasks: Vec<Task>,
    inbox: Vec<InboxMessage>,
    timers: Vec<Timer>,
    snapshot: Option<(u64, Vec<u8>)>,
}

/// All that `store` shows of `run`.
pub async fn everything(store: &Given, run: &RunId) -> Everything {
    let mut timers = store.due(i64::MAX, 1_000).await.unwrap();
    timers.retain(|timer| timer.run == *run);
    Everything {
        row: store.run(run).await.unwrap(),
        events: store.read(run, 0, 1_000).await.unwrap_or_default(),
        tasks: store.tasks(run).await.unwrap(),
        inbox: store.inbox(run).await.unwrap(),
        timers,
        snapshot: store.snapshot(run).await.unwrap(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_clause_is_left_out_of_the_list() {
        let list = include_str!("conformance.rs");
        let subjects = [
            include_str!("conformance/appends.rs"),
            include_str!("conformance/crowds.rs"),
            include_str!("conformance/fleet.rs"),
            include_str!("conformance/keeping.rs"),
            include_str!("conformance/lists.rs"),
            include_str!("conformance/mail.rs"),
            include_str!("conformance/tasks.rs"),
            include_str!("conformance/timers.rs"),
        ];
        for line in subjects.iter().flat_map(|text| text.lines()) {
            if let Some((name, _)) = line.strip_prefix("pub async fn ").and_then(|rest| rest.split_once('(')) {
                assert!(list.contains(&format!(" {name},\n")), "{name} is not run");
            }
        }
    }
}
