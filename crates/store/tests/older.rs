//! Programs of the version before call other functions of the same tables, and the contract holds for them, too.
//!
//! What this program calls is made to lead to what they call.
use std::sync::Arc;

use longhaul_store::conformance::server;
use longhaul_store::{Postgres, PostgresOptions, Store, conformance};
use tokio::runtime::Handle;

/// What is called now, and what was called by programs of version 2.
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
