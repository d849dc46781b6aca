//! What was granted for a session ends with it, and the journal says so.

use serde_json::{Value, json};

use crate::binary::command;
use crate::mcp::wire::Pipes;
use crate::valet::office::{NOTICE, Office};

const DELETE: &str = "delete_workflow";

fn log(office: &Office) -> Vec<Value> {
    let told = office.longhaul(&["consent", "log", "--json"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    serde_json::from_str(&told.stdout).unwrap()
}

/// A grant that lasts, for the session that asked.
fn granted(office: &mut Office) {
    office.sync("one", NOTICE);
    office.sync("two", NOTICE);
    let why = office.refused(DELETE, json!({"workflow_id": "one"}));
    let operation = why.split("--operation ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let told = office.longhaul(&["consent", "grant", "--operation", &operation, "--always"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    office.done(DELETE, json!({"workflow_id": "one"}));
}

fn again(office: &mut Office) -> Pipes {
    let client = Pipes::open(command(office.path(), &["mcp", "--compat", "valet"]), "valet");
    std::mem::replace(&mut office.client, client)
}

#[test]
fn a_client_that_closes_its_pipe_leaves_no_grant() {
    let mut office = Office::new();
    granted(&mut office);
    let session = again(&mut office);
    assert_eq!(session.close(), 0);
    let last = log(&office).pop().unwrap();
    assert_eq!((&last["consent"], &last["by"]), (&json!("revoked"), &json!("the end of session pipe:valet")), "{last}");
    assert!(office.refused(DELETE, json!({"workflow_id": "two"})).contains("needs consent"));
}

#[test]
fn a_client_whose_server_was_killed_comes_back_to_its_session() {
    let mut office = Office::new();
    granted(&mut office);
    drop(again(&mut office));
    office.done(DELETE, json!({"workflow_id": "two"}));
}
