//! Several processes on one file, and processes that die. The children are this very binary: see `child`.

#![cfg(unix)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::conformance::{Given, event, id, made, making};
use longhaul_store::{Append, Error, Options, Sqlite};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::task::JoinSet;

const ROLE: &str = "LONGHAUL_STORE_CHILD";
const FILE: &str = "LONGHAUL_STORE_FILE";
const CHILD: [&str; 3] = ["processes::child", "--exact", "--nocapture"];

/// What a child does; nothing when the tests are run by a person.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn child() {
    let (Ok(role), Ok(file)) = (std::env::var(ROLE), std::env::var(FILE)) else { return };
    match (role.as_str(), Sqlite::open(file, Options::default())) {
        ("die", store) => append_for_ever(Arc::new(store.unwrap())).await,
        ("compete", store) => append_fifty(Arc::new(store.unwrap())).await,
        ("fill", store) => append_until_refused(Arc::new(store.unwrap())).await,
        (_, store) => println!("say {:?}", store.map(|_| "opened")),
    }
}

/// Four runs at once. Ends only when something goes wrong.
async fn append_for_ever(store: Given) {
    let mut walks = JoinSet::new();
    for number in 0..4 {
        walks.spawn(walk(store.clone(), id(&format!("run-{number}"))));
    }
    match walks.join_next().await.unwrap().unwrap() {}
}

/// Tells of each append as soon as it is acknowledged.
async fn walk(store: Given, run: RunId) -> Infallible {
    let mut last = store.run(&run).await.unwrap().map_or(0, |row| row.last_seq);
    loop {
        let append = if last == 0 { making(&run) } else { Append::new(run.clone(), last, vec![event("{}")]) };
        last = store.append(append).await.unwrap();
        println!("say {run} {last}");
    }
}

async fn append_fifty(store: Given) {
    for _ in 0..50 {
        let mut expected = 1;
        let event = event("{}");
        while let Err(error) = store.append(Append::new(id("shared"), expected, vec![event.clone()])).await {
            let Error::Conflict { actual } = error else { panic!("{error}") };
            expected = actual;
        }
    }
}

async fn append_until_refused(store: Given) {
    let mut last = store.append(making(&id("full"))).await.unwrap();
    let body = "x".repeat(10_000);
    loop {
        match store.append(Append::new(id("full"), last, vec![event(&body)])).await {
            Ok(seq) => last = seq,
            Err(error) => {
                // Room is made, and still nothing is taken: nobody knows what the disk holds.
                setrlimit(Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
                let again = store.append(Append::new(id("full"), last, vec![event(&body)])).await;
                return println!("say {last}|{error:?}|{again:?}");
            }
        }
    }
}

fn spawn(role: &str, file: &Path, command: &mut Command) -> Child {
    command.env(ROLE, role).env(FILE, file).stdout(Stdio::piped()).spawn().unwrap()
}

fn this() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// What a child says, line by line. The harness may have begun the line.
fn said(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| line.split_once("say ").map(|(_, said)| said.to_owned()))
}

fn open(file: &Path) -> Given {
    Arc::new(Sqlite::open(file, Options::default()).unwrap())
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let mut acknowledged: HashMap<String, u64> = HashMap::new();
    for round in 0..12 {
        let mut child = spawn("die", &file, Command::new(this()).args(CHILD));
        let mut lines = said(&mut child);
        let mut note = |line: String| {
            // The last line may have been cut by the kill, within the number too.
            if let Some((run, seq)) = line.split_once(' ') {
                let known = acknowledged.entry(run.to_owned()).or_default();
                *known = (*known).max(seq.parse().unwrap_or(0));
            }
        };
        lines.by_ref().take(round * 7 + 1).for_each(&mut note);
        child.kill().unwrap();
        lines.for_each(&mut note);
        child.wait().unwrap();
        let store = open(&file);
        assert_eq!(store.check().await, Ok(vec![]));
        for (run, seq) in &acknowledged {
            let events = store.read(&id(run), 0, usize::MAX).await.unwrap();
            assert!(events.len() as u64 >= *seq, "round {round}: {run} has {}, {seq} was told", events.len());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_share_a_file_and_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let store = open(&file);
    let run = made(&store, "shared").await;
    let mut children: Vec<Child> = (0..2).map(|_| spawn("compete", &file, Command::new(this()).args(CHILD))).collect();
    append_fifty(store.clone()).await;
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let events = store.read(&run, 0, 1_000).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=151).collect::<Vec<u64>>());
    assert_eq!(store.check().await, Ok(vec![]));
}

#[tokio::test]
async fn a_new_file_may_be_opened_by_many_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let openers: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn({
                let file = file.clone();
                move || open(&file)
            })
        })
        .collect();
    let stores: Vec<Given> = openers.into_iter().map(|opener| opener.join().unwrap()).collect();
    let run = made(&stores[0], "seen").await;
    for store in &stores {
        assert!(store.run(&run).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_watcher_hears_of_what_others_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let (here, there) = (open(&file), open(&file));
    let mut watch = here.watch();
    for name in ["first", "second"] {
        made(&there, name).await;
        // A bound, not a measure: without the look at the file it would wait for ever.
        tokio::time::timeout(Duration::from_secs(60), watch.changed()).await.unwrap().unwrap();
        assert!(here.run(&id(name)).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_disk_that_refuses_stops_the_store_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let script = "trap '' XFSZ; ulimit -S -f 600; exec \"$0\" \"$@\"";
    let mut child = spawn("fill", &file, Command::new("sh").args(["-c", script]).arg(this()).args(CHILD));
    let line = said(&mut child).last().unwrap();
    child.wait().unwrap();
    let [last, error, again] = line.split('|').collect::<Vec<_>>().try_into().unwrap();
    assert!(error.starts_with("Io("), "{line}");
    assert_eq!(again, format!("Err({error})"));
    let store = open(&file);
    let last: u64 = last.parse().unwrap();
    assert!(last > 1);
    assert_eq!(store.check().await, Ok(vec![]));
    let there = store.run(&id("full")).await.unwrap().unwrap().last_seq;
    assert!(there == last || there == last + 1, "{there} events, {last} were acknowledged");
    assert_eq!(store.append(Append::new(id("full"), there, vec![event("{}")])).await, Ok(there + 1));
}

/// Root may write anywhere, so the child is somebody else then, with a copy of this binary that it can reach.
fn say_as_anybody(folder: &Path, file: &Path) -> String {
    let exe = folder.join("child");
    std::fs::copy(this(), &exe).unwrap();
    let mut command = Command::new(&exe);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let mut child = spawn("open", file, command.args(CHILD));
    let said = said(&mut child).last().unwrap();
    child.wait().unwrap();
    said
}

#[test]
fn a_folder_that_cannot_be_written_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    mode(folder.path(), 0o755);
    drop(open(&locked.join("store.db")));
    mode(&locked.join("store.db"), 0o444);
    mode(&locked, 0o555);
    for name in ["new.db", "store.db"] {
        assert_eq!(say_as_anybody(folder.path(), &locked.join(name)), "Err(ReadOnly)", "{name}");
    }
    mode(&locked, 0o755);
}
