//! Tests that programs of the previous version, which call other functions of the same tables, keep the contract too.
//!
//! It redirects the functions of this program to the older ones.
use std::sync::Arc;

use longhaul_store::conformance::server;
use longhaul_store::{Postgres, PostgresOptions, Store, conformance};
use tokio::runtime::Handle;

/// The current functions, and those of programs of version 2.
const SINCE: [(&str, &str); 2] = [("append_2", "append_1"), ("greet_2", "greet_1")];

fn as_before() -> (Arc<dyn Store>, ()) {
    let text = server::shared().address();
    let address = text.parse().unwrap();
    let open = Postgres::open(&address, PostgresOptions::default());
    let store = tokio::task::block_in_place(|| Handle::current().block_on(open)).unwrap();
    let schema = text.rsplit_once('=').unwrap().1;
    for (now, before) in SINCE {
        let lead = format!("DROP FUNCTION {now}; ALTER FUNCTION {before} RENAME TO {now};");
        server::shared().sql(&format!("SET search_path = {schema}; {lead}"));
    }
    (Arc::new(store), ())
}

conformance!(older, as_before);
