//! A run that cannot be read is found, exported as far as it goes, ended and forgotten; others continue.

use super::*;

/// Two runs that wait; one of them is damaged by `sql`.
fn damaged(sql: &str) -> Project {
    let project = Project::new("name: w\ndo:\n  - {id: one, run: echo one}\n  - {id: go, approve: \"Go?\"}\n");
    for run in [RUN, "other"] {
        project.in_store(&["run", "w.yaml", "--run-id", run]);
    }
    rusqlite::Connection::open(project.path("s.db")).unwrap().execute_batch(sql).unwrap();
    project
}

impl Project {
    fn in_store(&self, args: &[&str]) -> Told {
        told(self.command(args).env("LONGHAUL_STORE", self.path("s.db")).output().unwrap())
    }
}

const NEWER: &str = "
    CREATE TEMP TABLE before AS SELECT * FROM event;
    UPDATE event SET body = '{\"event\":\"plan_replaced\",\"plan\":1}' WHERE seq = 3 AND run = (SELECT number FROM run WHERE id = 'run-1');";

#[test]
fn a_damaged_run_is_named_ended_and_forgotten() {
    let project = damaged(NEWER);
    let check = project.in_store(&["store", "check"]);
    assert_eq!(
        (check.code, check.stdout.contains(RUN), check.stdout.contains("other")),
        (1, true, false),
        "{}",
        check.stdout
    );
    assert_eq!(project.in_store(&["status", "other"]).code, 0, "others are read as before");
    let export = project.in_store(&["export", RUN]);
    let export: Value = serde_json::from_str(&export.stdout).unwrap();
    assert_eq!(export["events"].as_array().unwrap().len(), 2, "{export}");
    let cancelled = project.in_store(&["cancel", RUN]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.stderr);
    assert!(project.in_store(&["runs"]).stdout.contains("cancelled"));
    let pruned = project.in_store(&["prune", "--older", "0s", "--yes"]);
    assert_eq!((pruned.code, pruned.stdout.contains(RUN)), (0, true), "{}", pruned.stderr);
    let check = project.in_store(&["store", "check"]);
    assert_eq!(check.code, 0, "{}", check.stdout);
}

#[test]
fn rows_beside_the_events_are_held_against_them() {
    for (sql, why) in [
        ("UPDATE run SET status = 'runnjng' WHERE id = 'run-1'", "lists show runnjng"),
        ("UPDATE run SET workflow = CAST(x'ff41' AS TEXT) WHERE id = 'run-1'", "is not text"),
        ("UPDATE run SET summary = '{' WHERE id = 'run-1'", "cannot be read"),
        ("INSERT INTO timer SELECT number, 'retry:x', 5 FROM run WHERE id = 'run-1'", "its timers"),
        (
            "INSERT INTO task (run, key, attempt, lease_until_ms, labels) SELECT number, 'x@1', 1, 0, '[]' FROM run WHERE id = 'run-1'",
            "its tasks",
        ),
    ] {
        let project = damaged(sql);
        let check = project.in_store(&["store", "check"]);
        assert_eq!((check.code, check.stdout.contains(why)), (1, true), "{sql}: {}{}", check.stdout, check.stderr);
        assert!(project.in_store(&["runs"]).stdout.contains("other"), "{sql}");
    }
}

#[test]
fn a_snapshot_of_another_layout_is_not_believed() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: all, for_each: 'range(300) | list', do: [{id: w, set: {x: 1}}]}\n  - {id: go, approve: \"Go?\"}\n",
    );
    project.in_store(&["run", "w.yaml", "--run-id", RUN]);
    let status = || {
        let told = project.in_store(&["status", RUN, "--json"]);
        text(&serde_json::from_str::<Value>(&told.stdout).unwrap()["status"])
    };
    let db = rusqlite::Connection::open(project.path("s.db")).unwrap();
    let bytes: Vec<u8> = db.query_row("SELECT bytes FROM snapshot", [], |row| row.get(0)).unwrap();
    let mut snapshot: Value = serde_json::from_slice(&bytes).unwrap();
    assert!(snapshot["layout"].is_number());
    let state = snapshot["state"].take();
    let older = [state.clone(), serde_json::json!({"layout": 0, "state": state})];
    for older in older {
        let mut older = older;
        let state = if older["state"].is_object() { &mut older["state"] } else { &mut older };
        state["paused"] = serde_json::json!(true);
        db.execute("UPDATE snapshot SET bytes = ?1", [older.to_string().into_bytes()]).unwrap();
        assert_eq!(status(), "waiting");
    }
}
