//! Runs the built-in workflows to their ends: `tests/builtin` has a chapter for each path through them.
//!
//! A chapter has a project, the replies of the scripted agent, and the answers of people. It then lists which agents were
//! called, what people were asked, how the run ended, and what is left in the project. Together the chapters take every
//! route of every state machine. `UPDATE_SNAPSHOTS=1` writes the result of each chapter into its file; read it before you
//! commit it. `CHAPTER=…` runs only the chapters with that text in their title.
//!
//! **Invariant:** the real binary, real commands and real git; only the agents are scripted.

mod chapter;
mod play;
mod routes;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chapter::{Chapter, rewritten};
use play::Played;

/// The number of chapters at once: they wait for processes most of the time.
const AT_ONCE: usize = 4;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files() -> Vec<PathBuf> {
    let folder = root().join("tests/builtin");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The result of each chapter, in order.
fn played(chapters: &[Chapter]) -> Vec<Played> {
    let left = Mutex::new((0..chapters.len()).collect::<Vec<_>>());
    let came = Mutex::new(vec![Played::default(); chapters.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(at) = left.lock().unwrap().pop() else { break };
                    let one = play::play(&chapters[at]);
                    came.lock().unwrap()[at] = one;
                }
            });
        }
    });
    came.into_inner().unwrap()
}

#[test]
fn every_way_through_a_built_in_workflow_comes_out_as_it_says() {
    let only = std::env::var("CHAPTER").unwrap_or_default();
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let (mut wrong, mut ways) = (Vec::new(), BTreeSet::new());
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let chapters: Vec<Chapter> =
            Chapter::all(&text).into_iter().filter(|chapter| update || chapter.title.contains(&only)).collect();
        let came = played(&chapters);
        ways.extend(came.iter().flat_map(|came| came.ways.clone()));
        let came: Vec<String> = came.into_iter().map(|came| came.seen).collect();
        for (chapter, came) in chapters.iter().zip(&came).filter(|(chapter, came)| chapter.seen != **came) {
            let expected = &chapter.seen;
            wrong.push(format!("{}: {}\n--- expected\n{expected}--- came\n{came}", file.display(), chapter.title));
        }
        if update {
            std::fs::write(&file, rewritten(&text, &came)).unwrap();
        }
    }
    assert!(wrong.is_empty() || update, "{}", wrong.join("\n"));
    let untaken: Vec<String> =
        routes::all().into_iter().filter(|(_, way)| !ways.contains(way)).map(routes::in_words).collect();
    assert!(untaken.is_empty() || !only.is_empty(), "no chapter goes\n{}", untaken.join("\n"));
}
