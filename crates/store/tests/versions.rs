//! Tests that database functions of each version stay unchanged, because older programs work beside newer ones.
//!
//! `tests/versions/N.txt` lists what version N of the tables added. A line there never changes: a changed function gets
//! the next number. `UPDATE_SNAPSHOTS=1` writes the lines of the newest version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use longhaul_store::conformance::server;
use longhaul_store::{Postgres, PostgresOptions};

/// Functions with their arguments, results and bodies; columns with their types.
const THERE: &str = "
    SELECT format('function %s(%s) gives %s, does %s', proname, pg_get_function_arguments(pg_proc.oid),
        pg_get_function_result(pg_proc.oid), left(md5(prosrc), 12))
    FROM pg_proc WHERE pronamespace = current_schema::regnamespace
    UNION ALL
    SELECT format('column %s.%s %s%s%s', table_name, column_name, data_type, CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END,
        CASE WHEN column_default IS NOT NULL THEN ' default' ELSE '' END)
    FROM information_schema.columns WHERE table_schema = current_schema
    UNION ALL
    SELECT format('sequence %s', sequence_name) FROM information_schema.sequences
    WHERE sequence_schema = current_schema AND sequence_name NOT LIKE '%\\_seq'";

fn file(version: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/versions/{version}.txt"))
}

fn said(version: usize) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file(version)).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_older_programs_call_is_still_there() {
    let address = server::shared().address();
    Postgres::open(&address.parse().unwrap(), PostgresOptions::default()).await.unwrap();
    let schema = address.rsplit_once('=').unwrap().1;
    let sql = |statement: &str| server::shared().sql(&format!("SET search_path = {schema}; {statement}"));
    let there: BTreeSet<String> = sql(THERE).lines().map(|line| line.replace(&format!("{schema}."), "")).collect();
    let newest: usize = sql("SELECT max(version) FROM schema_version").parse().unwrap();
    let before: BTreeSet<String> = (1..newest).flat_map(said).collect();
    let gone: Vec<&String> = before.difference(&there).collect();
    assert!(gone.is_empty(), "programs of an older version call this, and it is not there as it was: {gone:#?}");
    let added: BTreeSet<String> = there.difference(&before).cloned().collect();
    let table = |line: &str| {
        line.strip_prefix("column ").and_then(|rest| rest.split_once('.')).map(|(table, _)| table.to_owned())
    };
    let known: BTreeSet<String> = before.iter().filter_map(|line| table(line)).collect();
    let unfilled =
        added.iter().find(|line| line.ends_with("not null") && table(line).is_some_and(|table| known.contains(&table)));
    assert_eq!(unfilled, None, "programs of an older version do not fill this");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(file(newest), added.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    assert_eq!(said(newest), added, "UPDATE_SNAPSHOTS=1 writes what version {newest} adds");
}
