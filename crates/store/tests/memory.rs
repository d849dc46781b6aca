//! Tests that the reference store keeps the contract.

use std::sync::Arc;

use longhaul_store::{Memory, Store, conformance};

fn empty() -> (Arc<dyn Store>, ()) {
    (Arc::new(Memory::new()), ())
}

conformance!(memory, empty);
