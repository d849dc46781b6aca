//! What can happen to a file: damage, strangers, locks, no space, and how requests share a commit.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_store::conformance::{Given, advance, event, everything, id, made, making};
use longhaul_store::{Append, Blob, Error, Options, Sqlite};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::JoinHandle;

struct File {
    path: PathBuf,
    _folder: TempDir,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("store.db"), _folder: folder }
    }

    fn open(&self) -> Given {
        self.open_with(Options::default())
    }

    fn open_with(&self, options: Options) -> Given {
        Arc::new(Sqlite::open(&self.path, options).unwrap())
    }

    fn raw(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }
}

fn refusal(path: &Path) -> Error {
    Sqlite::open(path, Options::default()).err().unwrap()
}

#[tokio::test]
async fn what_was_stored_is_there_after_opening_again() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "kept").await;
    let before = everything(&store, &run).await;
    drop(store);
    assert!(!file.path.with_extension("db-wal").exists(), "a closed store is one file");
    assert_eq!(everything(&file.open(), &run).await, before);
}

#[tokio::test]
async fn a_store_that_was_never_closed_opens_again() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "kept").await;
    let before = everything(&store, &run).await;
    std::mem::forget(store);
    assert_eq!(everything(&file.open(), &run).await, before);
}

/// What is said once a file of an open store is gone or another one; nothing is acknowledged from then on.
async fn after(change: impl Fn(&File)) -> String {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "kept").await;
    let last = store.run(&run).await.unwrap().unwrap().last_seq;
    change(&file);
    let append = || store.append(Append::new(run.clone(), last, vec![event("{}")]));
    let first = append().await.unwrap_err();
    assert_eq!(append().await, Err(first.clone()), "nothing is accepted any more");
    first.to_string()
}

#[tokio::test]
async fn nothing_is_acknowledged_in_a_file_that_was_deleted_or_replaced() {
    let log = |file: &File| file.path.with_extension("db-wal");
    let gone = after(|file| std::fs::remove_file(&file.path).unwrap()).await;
    assert!(gone.contains("store.db was deleted or replaced"), "{gone}");
    let moved = after(|file| std::fs::rename(&file.path, file.path.with_extension("old")).unwrap()).await;
    assert!(moved.contains("store.db was deleted or replaced"), "{moved}");
    let replaced = after(|file| {
        std::fs::copy(&file.path, file.path.with_extension("new")).unwrap();
        std::fs::rename(file.path.with_extension("new"), &file.path).unwrap();
    });
    assert!(replaced.await.contains("store.db was deleted or replaced"));
    let cleaned = after(|file| std::fs::remove_dir_all(file.path.parent().unwrap()).unwrap()).await;
    assert!(cleaned.contains("store.db was deleted or replaced"), "{cleaned}");
    let without_log = after(|file| std::fs::remove_file(log(file)).unwrap()).await;
    assert!(without_log.contains("store.db-wal was deleted or replaced"), "{without_log}");
}

#[tokio::test]
async fn what_was_acknowledged_before_the_log_was_deleted_is_kept() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "kept").await;
    let before = everything(&store, &run).await;
    std::fs::remove_file(file.path.with_extension("db-wal")).unwrap();
    assert!(advance(&store, &run, |_| ()).await.is_err());
    drop(store);
    assert_eq!(everything(&file.open(), &run).await, before);
}

/// A run of five events and a neighbour; `damage` is done to the former.
async fn damaged(damage: &str) -> (Given, File) {
    let file = File::new();
    let store = file.open();
    let (run, _) = (made(&store, "hurt").await, made(&store, "well").await);
    for _ in 0..4 {
        advance(&store, &run, |append| append.events[0].body = "[\"abc\"]".to_owned()).await.unwrap();
    }
    let raw = file.raw();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    let hurt = "run = (SELECT number FROM run WHERE id = 'hurt')";
    assert!(raw.execute(&damage.replace("HURT", hurt), []).unwrap() > 0);
    (store, file)
}

#[tokio::test]
async fn damage_to_an_event_is_noticed_in_its_run_only() {
    for (damage, place) in [
        ("UPDATE event SET body = '[\"abd\"]' WHERE HURT AND seq = 3", "event 3 of run hurt"),
        ("UPDATE event SET body = CAST(x'22ff22' AS TEXT) WHERE HURT AND seq = 3", "event 3 of run hurt"),
        ("UPDATE event SET body = x'22' WHERE HURT AND seq = 3", "event 3 of run hurt"),
        ("UPDATE event SET at_ms = at_ms + 1 WHERE HURT AND seq = 2", "event 2 of run hurt"),
        ("UPDATE event SET id = randomblob(16) WHERE HURT AND seq = 1", "event 1 of run hurt"),
        ("UPDATE event SET checksum = randomblob(16) WHERE HURT AND seq = 5", "event 5 of run hurt"),
        ("DELETE FROM event WHERE HURT AND seq = 2", "event 2 of run hurt is missing"),
        ("DELETE FROM event WHERE HURT AND seq = 5", "event 5 of run hurt is missing"),
        ("DELETE FROM event WHERE HURT", "event 1 of run hurt is missing"),
    ] {
        let (store, _file) = damaged(damage).await;
        let read = store.read(&id("hurt"), 0, 100).await;
        assert!(matches!(&read, Err(Error::Corrupt(text)) if text.contains(place)), "{damage}: {read:?}");
        assert_eq!(store.read(&id("well"), 0, 100).await.unwrap().len(), 1);
        assert!(advance(&store, &id("well"), |_| ()).await.is_ok());
        let problems = store.check().await.unwrap();
        assert_eq!(problems.len(), 1, "{damage}: {problems:?}");
        assert!(problems[0].run == Some(id("hurt")) && problems[0].text.contains(place), "{problems:?}");
    }
}

#[tokio::test]
async fn a_page_that_starts_after_the_damage_begins_at_a_known_checksum() {
    let (store, _file) = damaged("UPDATE event SET body = '0' WHERE HURT AND seq = 2").await;
    assert_eq!(store.read(&id("hurt"), 0, 1).await.unwrap().len(), 1);
    assert!(matches!(store.read(&id("hurt"), 1, 1).await, Err(Error::Corrupt(_))));
    assert_eq!(store.read(&id("hurt"), 2, 100).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_run_whose_last_event_is_missing_is_not_continued() {
    let (store, _file) = damaged("DELETE FROM event WHERE HURT AND seq = 5").await;
    let refused = advance(&store, &id("hurt"), |_| ()).await;
    assert!(matches!(refused, Err(Error::Corrupt(text)) if text.contains("event 5 of run hurt")));
}

#[tokio::test]
async fn a_damaged_blob_is_not_given_out() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "blob").await;
    let blob = Blob::new("content");
    advance(&store, &run, |append| append.blobs = vec![blob.clone()]).await.unwrap();
    file.raw().execute("UPDATE blob SET bytes = CAST('Content' AS BLOB)", []).unwrap();
    assert!(matches!(store.blob(blob.hash).await, Err(Error::Corrupt(_))));
    assert_eq!(store.check().await.unwrap().len(), 1);
}

#[tokio::test]
async fn orphans_are_found() {
    let file = File::new();
    let store = file.open();
    made(&store, "some").await;
    let raw = file.raw();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO blob (hash, bytes) VALUES (zeroblob(32), x'');
         INSERT INTO timer (run, id, due_ms) VALUES (99, 'lost', 1);",
    )
    .unwrap();
    let found = store.check().await.unwrap();
    let texts: Vec<&str> = found.iter().map(|problem| problem.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("`timer`")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("no run refers to blob")), "{texts:?}");
}

#[tokio::test]
async fn a_changed_file_is_found_though_the_database_is_sound() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "page").await;
    for _ in 0..20 {
        advance(&store, &run, |append| append.events[0].body = "x".repeat(3_000)).await.unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&file.path).unwrap();
    for hole in bytes.chunks_mut(100).filter(|chunk| chunk.iter().all(|byte| *byte == b'x')) {
        hole.fill(b'y');
    }
    std::fs::write(&file.path, bytes).unwrap();
    let store = file.open();
    assert!(!store.check().await.unwrap().is_empty());
    assert!(matches!(store.read(&run, 0, 100).await, Err(Error::Corrupt(_))));
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let file = File::new();
    std::fs::write(&file.path, "Dear diary, ".repeat(1_000)).unwrap();
    assert!(matches!(refusal(&file.path), Error::Corrupt(_)));
    assert!(std::fs::read_to_string(&file.path).unwrap().starts_with("Dear diary"));
}

#[test]
fn the_database_of_another_program_is_refused_and_left_alone() {
    let file = File::new();
    file.raw().execute_batch("CREATE TABLE song (name TEXT)").unwrap();
    let before = std::fs::read(&file.path).unwrap();
    assert!(matches!(refusal(&file.path), Error::Corrupt(text) if text.contains("another program")));
    assert!(std::fs::read(&file.path).unwrap() == before);
}

#[test]
fn a_newer_version_is_refused_with_a_sentence() {
    let file = File::new();
    drop(file.open());
    file.raw().pragma_update(None, "user_version", 99).unwrap();
    let error = refusal(&file.path);
    assert_eq!(error, Error::TooNew { found: 99, known: 2 });
    assert!(error.to_string().contains("use a newer longhaul"));
}

#[test]
fn a_missing_folder_is_named() {
    let error = refusal(Path::new("/nowhere/at/all/store.db"));
    assert!(matches!(error, Error::Io(text) if text.contains("/nowhere/at/all/store.db")));
}

/// Sends all appends while another connection has the lock; answers when they are queued.
async fn queued(store: &Given, appends: Vec<Append>) -> Vec<JoinHandle<Result<u64, Error>>> {
    let send = |append| {
        let store = Arc::clone(store);
        tokio::spawn(async move { store.append(append).await })
    };
    let calls = appends.into_iter().map(send).collect();
    // One thread runs everything here: when this continues, each of the others has gone as far as it can.
    tokio::task::yield_now().await;
    calls
}

async fn outcomes(calls: Vec<JoinHandle<Result<u64, Error>>>) -> Vec<Result<u64, Error>> {
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(call.await.unwrap());
    }
    outcomes
}

#[tokio::test]
async fn what_waits_is_committed_at_once_and_a_conflict_costs_nobody_else() {
    let file = File::new();
    let store = file.open();
    let run = made(&store, "busy").await;
    let next = |expected| Append::new(run.clone(), expected, vec![event("{}")]);
    let watch = store.watch();
    let before = *watch.borrow();
    let raw = file.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let calls = queued(&store, vec![next(1), next(1), making(&id("other")), next(2), making(&run), next(3)]).await;
    raw.execute_batch("COMMIT").unwrap();
    let conflict = Err(Error::Conflict { actual: 2 });
    assert_eq!(outcomes(calls).await, [Ok(2), conflict, Ok(1), Ok(3), Err(Error::Exists), Ok(4)]);
    assert_eq!(*watch.borrow() - before, 1, "one commit");
    assert_eq!(store.read(&run, 0, 100).await.unwrap().len(), 4);
    assert_eq!(store.check().await, Ok(vec![]));
}

#[tokio::test]
async fn when_space_runs_out_all_who_share_the_commit_are_told_and_nothing_is_stored() {
    let file = File::new();
    let store = file.open_with(Options { bytes_max: Some(400 * 1024), ..Options::default() });
    let small = making(&id("small"));
    // Below the size that is hashed elsewhere, so that it is queued in order.
    let many = (0..3u8).map(|number| Blob::new(vec![number; 200_000])).collect::<Vec<_>>();
    let with = |name: &str, blob: &Blob| Append { blobs: vec![blob.clone()], ..making(&id(name)) };
    let large = [with("large-1", &many[0]), with("large-2", &many[1]), with("large-3", &many[2])];
    let raw = file.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let calls = queued(&store, [vec![small.clone()], large.to_vec()].concat()).await;
    raw.execute_batch("COMMIT").unwrap();
    assert!(outcomes(calls).await.iter().all(|outcome| *outcome == Err(Error::Full)));
    assert_eq!(store.runs(longhaul_store::Query::default()).await, Ok(vec![]));
    assert_eq!(store.append(small).await, Ok(1));
    assert_eq!(store.append(large[0].clone()).await, Ok(1));
    assert_eq!(store.append(large[1].clone()).await, Err(Error::Full));
    store.remove(&id("large-1")).await.unwrap();
    assert_eq!(store.append(large[1].clone()).await, Ok(1));
    assert_eq!(store.check().await, Ok(vec![]));
}

#[tokio::test]
async fn a_lock_that_stays_is_reported_and_forgotten_once_it_is_gone() {
    let file = File::new();
    let store = file.open_with(Options { busy_ms: 20, ..Options::default() });
    let raw = file.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let append = making(&id("busy"));
    assert_eq!(store.append(append.clone()).await, Err(Error::Busy));
    assert_eq!(store.run(&id("busy")).await, Ok(None));
    raw.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.append(append).await, Ok(1));
}

#[tokio::test]
async fn a_caller_who_goes_away_does_not_stop_the_others() {
    let file = File::new();
    let store = file.open();
    let raw = file.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let calls = queued(&store, vec![making(&id("gone")), making(&id("stays"))]).await;
    calls[0].abort();
    raw.execute_batch("COMMIT").unwrap();
    let [_, stays] = <[_; 2]>::try_from(calls).unwrap();
    assert_eq!(stays.await.unwrap(), Ok(1));
    assert!(store.run(&id("gone")).await.unwrap().is_some());
}
