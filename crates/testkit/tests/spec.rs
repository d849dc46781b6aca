//! Runs the chapters of `tests/spec`, which define the meaning of the language.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p longhaul-testkit --test all spec::` writes the result of each chapter into its file;
//! read it before you commit it.
use std::path::{Path, PathBuf};

use longhaul_testkit::{Chapter, rewritten};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/spec");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_chapter_comes_out_as_it_says() {
    let only = std::env::var("CHAPTER").unwrap_or_default();
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let chapters = Chapter::all(&text);
        count += chapters.len();
        let came: Vec<String> =
            chapters.iter().map(|chapter| chapter.run().unwrap_or_else(|why| format!("BROKEN {why}\n"))).collect();
        for (chapter, came) in chapters.iter().zip(&came).filter(|(chapter, _)| chapter.title.contains(&only)) {
            if chapter.events != *came {
                wrong.push(format!(
                    "{}: {}\n--- expected\n{}--- came\n{came}",
                    file.display(),
                    chapter.title,
                    chapter.events
                ));
            }
        }
        if update {
            std::fs::write(&file, rewritten(&text, &came)).unwrap();
        }
    }
    assert!(count > 0, "no chapters were found");
    assert!(wrong.is_empty() || update, "{}", wrong.join("\n"));
}
