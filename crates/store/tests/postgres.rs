//! Tests that the store in a database keeps the contract.
use std::sync::Arc;

use longhaul_store::conformance::server;
use longhaul_store::{Postgres, PostgresOptions, Store, conformance};
use tokio::runtime::Handle;

fn of_its_own() -> (Arc<dyn Store>, ()) {
    let address = server::shared().address().parse().unwrap();
    let open = Postgres::open(&address, PostgresOptions::default());
    let store = tokio::task::block_in_place(|| Handle::current().block_on(open)).unwrap();
    (Arc::new(store), ())
}

conformance!(postgres, of_its_own);
