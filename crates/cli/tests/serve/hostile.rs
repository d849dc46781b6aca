//! Tests requests that a program generates from the OpenAPI document: every answer is in the document, and the server
//! never fails.
//!
//! `scripts/install-schemathesis` fetches the program; without it this test is skipped, and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::serve::site::Project;

fn packages() -> Option<PathBuf> {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/schemathesis");
    let folder = std::env::var_os("LONGHAUL_SCHEMATHESIS_DIR").map_or_else(usual, PathBuf::from);
    Some(folder.join("packages")).filter(|_| folder.join("version").is_file())
}

#[test]
fn whatever_is_asked_the_document_knows_the_answer() {
    let Some(packages) = packages() else {
        eprintln!("skipped: schemathesis is not installed; scripts/install-schemathesis says why");
        return;
    };
    let project = Project::new();
    let server = project.serve(&[]);
    let token = server.first_token();
    let client = server.client(&token);
    client.make("/api/v1/runs", "k", &json!({"workflow": "gate"}));
    project.longhaul(&["run", "steps"]);
    let url = format!("http://{}", server.address);
    let output = Command::new("python3")
        .args(["-m", "schemathesis.cli", "run", &format!("{url}/api/v1/openapi.json"), "--url", &url, "--no-color"])
        .args(["--header", &format!("Authorization: Bearer {token}"), "--exclude-path-regex", "streams?$"])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--max-time", "40", "--seed", "7"])
        .args(["--warnings", "off", "--generation-database", "none", "--max-redirects", "1"])
        .env("PYTHONPATH", packages)
        .current_dir(project.path())
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert_eq!(client.get("/health").status, 200, "it is still well");
}
