//! Tests runs that are archived into files, and restored.

use std::time::Duration;

use longhaul_config::Retention;

use super::*;

/// A text that becomes a blob, and bytes that are not text.
const WORK: &str = r#"
name: w
do:
  - {id: long, run: 'head -c 40000 /dev/zero | tr "\0" x; echo said', output: long}
  - {id: bytes, run: 'printf "\377\000end"; printf "\001\002" >&2'}
outputs: {long: long}
"#;

fn put_away(project: &Project) -> PathBuf {
    project.ok(&["prune", "--older", "0s", "--archive", "away", "--yes"]);
    assert_eq!(project.longhaul(&["status", RUN]).code, 2);
    assert!(!project.state("runs").join(RUN).exists());
    project.path("away").join(format!("{RUN}.longhaul.gz"))
}

/// Everything that people can see.
fn seen(project: &Project) -> Vec<String> {
    let status = project.json(&["status", RUN, "--json"]);
    let outputs = project.ok(&["outputs", RUN, "--json"]);
    let logs = project.ok(&["logs", RUN]);
    let stdout = std::fs::read(project.attempt_file("steps/bytes/@1/stdout")).unwrap();
    vec![text(&status["status"]), status["steps"].to_string(), outputs, logs, format!("{stdout:?}")]
}

#[test]
fn what_is_put_away_comes_back_as_it_was() {
    let project = Project::new(WORK);
    assert_eq!(project.run().code, 0);
    let (before, mut events) = (seen(&project), project.events());
    let file = put_away(&project);
    assert_eq!(project.json(&["import", file.to_str().unwrap(), "--json"])["runs"][0], RUN);
    assert_eq!(seen(&project), before);
    let mut after = project.events();
    assert_eq!(after.pop().unwrap()["event"], "imported");
    assert_eq!(after, events.split_off(0));
    project.refuses(&["import", file.to_str().unwrap()], "is there already");
    assert_eq!(project.ok(&["prune", "--older", "1h", "--yes"]), "", "it came back just now");
    project.ok(&["store", "check"]);
}

#[test]
fn a_file_that_is_not_what_was_written_is_refused() {
    let project = Project::new(WORK);
    project.run();
    let file = put_away(&project);
    let whole = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8], why: &str| {
        std::fs::write(&file, bytes).unwrap();
        let told = project.longhaul(&["import", file.to_str().unwrap()]);
        assert_eq!(told.code, 2, "{}", told.stdout);
        assert!(told.stderr.contains(why), "{}", told.stderr);
        assert_eq!(project.longhaul(&["status", RUN]).code, 2);
        assert!(!project.state("runs").join(RUN).exists());
    };
    refused(&whole[..whole.len() / 2], "is not an archive of a run");
    refused(b"hello", "is not an archive of a run: it is damaged");
    let mut other = whole.clone();
    other[whole.len() / 2] ^= 1;
    refused(&other, "is not an archive of a run");
    std::fs::write(&file, whole).unwrap();
    // An error in one file does not prevent the import of the others.
    std::fs::write(project.path("bad"), "hello").unwrap();
    let told = project.longhaul(&["import", "bad", file.to_str().unwrap()]);
    assert!(told.code == 2 && told.stderr.contains("bad: not imported: "), "{}", told.stderr);
    assert!(told.stderr.contains(&format!("{RUN} is back")), "{}", told.stderr);
    project.ok(&["status", RUN]);
    let left = std::fs::read_dir(project.state("")).unwrap().flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("importing")));
}

/// The moment at which the archive is written, the files of the run are gone, and the store still has the run.
#[test]
fn who_is_killed_between_writing_and_forgetting_loses_nothing() {
    let project = Project::new(WORK);
    project.run();
    let before = seen(&project);
    let prune = ["prune", "--older", "0s", "--archive", "away", "--yes"];
    let killed = project.command(&prune).env("LONGHAUL_FAILPOINT", "remove:before:1").output().unwrap();
    assert!(!killed.status.success());
    project.ok(&["status", RUN]);
    let file = put_away(&project);
    project.ok(&["import", file.to_str().unwrap()]);
    assert_eq!(seen(&project), before);
}

/// Two processes check at the same moment: one gets the turn, and every run is deleted once.
#[test]
fn of_several_one_keeps_the_store_small() {
    let project = Project::new("name: w\ndo: [{run: 'true'}]\n");
    for run in ["old-1", "old-2", "old-3"] {
        project.ok(&["run", "w.yaml", "--run-id", run]);
    }
    let away = project.path("away");
    let removed = project.inside(async |engine| {
        let retention = Retention { finished: Some(Duration::ZERO), keep: 1, archive: Some(away.clone()) };
        let (one, other) = tokio::join!(engine.tidy(&retention), engine.tidy(&retention));
        let third = engine.tidy(&retention).await.unwrap();
        (one.unwrap() + other.unwrap(), third)
    });
    assert_eq!(removed, (2, 0));
    let mut files: Vec<_> = std::fs::read_dir(&away).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["old-1.longhaul.gz", "old-2.longhaul.gz"]);
    let runs = project.json(&["runs", "--json"]);
    let names: Vec<&str> = runs.as_array().unwrap().iter().filter_map(|run| run["run"].as_str()).collect();
    assert_eq!(names, ["old-3"], "and nothing of how that was done");
}
