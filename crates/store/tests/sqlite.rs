//! Tests that the store in a file keeps the contract.
use std::sync::Arc;

use longhaul_store::{Sqlite, SqliteOptions, Store, conformance};
use tempfile::TempDir;

fn temporary() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("store.db"), SqliteOptions::default()).unwrap();
    (Arc::new(store), folder)
}

conformance!(sqlite, temporary);
