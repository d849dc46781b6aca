//! Databases that are not there, that refuse, or that have no store yet.

use std::net::TcpListener;

use longhaul_store::conformance::proxy::{Line, Proxy};
use longhaul_store::conformance::server;

use crate::postgres::machine::Machine;

const WORK: &str = "name: work\ndo:\n  - {id: one, run: 'printf one'}\n";

fn has(schema: &str) -> bool {
    let found = server::shared().sql(&format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{schema}'"));
    found.contains('1')
}

#[test]
fn what_only_looks_makes_no_tables() {
    let address = server::shared().address();
    let machine = Machine::new("alpha", WORK, &address);
    let absent = address.replace("schema=", "schema=absent_");
    let schema = absent.split("schema=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    assert!(absent != address, "{address}");
    let looking: [&[&str]; 6] = [
        &["store", "check", "--store", &absent],
        &["store", "backup", "new.db", "--store", &absent],
        &["store", "copy", &absent, "new.db"],
        &["store", "logins", "--store", &absent],
        &["runs", "--store", &absent],
        &["workers", "--store", &absent],
    ];
    for args in looking {
        let told = machine.trial.longhaul(args, None);
        assert!(
            told.code != 0 && told.stderr.contains("there is no store at postgres://"),
            "{args:?}: {}",
            told.stderr
        );
    }
    assert!(!has(&schema) && !machine.trial.path().join("new.db").exists());
    // What the environment names is made by the first call.
    let told = machine.trial.longhaul(&["runs"], None);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(machine.trial.longhaul(&["store", "check"], None).stderr.contains("all is well"));
}

#[test]
fn a_doctor_tries_the_database_and_makes_nothing() {
    let address = server::shared().address();
    let machine = Machine::new("alpha", WORK, &address);
    let told = machine.trial.longhaul(&["doctor"], None);
    assert!(told.code == 0 && told.stdout.contains(", which the first run makes"), "{}", told.stdout);
    machine.trial.longhaul(&["runs"], None);
    let told = machine.trial.longhaul(&["doctor"], None);
    assert!(told.code == 0 && told.stdout.contains("✓ store"), "{}", told.stdout);
    assert!(!told.stdout.contains("which the first run makes"), "{}", told.stdout);
    // A port that was free a moment ago, so nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let deaf = format!("postgres://me:geheim@127.0.0.1:{port}/x");
    let told = machine.trial.longhaul(&["doctor", "--store", &deaf], None);
    assert!(told.code == 1 && told.stdout.contains("✗ store"), "{}", told.stdout);
    assert!(told.stdout.contains("cannot be reached") && !told.stdout.contains("geheim"), "{}", told.stdout);
}

/// What is behind the @ of a password would be taken for the host.
#[test]
fn a_password_with_an_at_sign_is_told_how_to_be_written() {
    let machine = Machine::new("alpha", WORK, "x.db");
    let told = machine.trial.longhaul(&["runs", "--store", "postgres://me:ge@heim@127.0.0.1/x"], None);
    assert!(told.code != 0 && told.stderr.contains("%40") && !told.stderr.contains("heim"), "{}", told.stderr);
}

#[test]
fn whether_a_server_is_well_is_told_soon_while_the_database_says_nothing() {
    let server = server::shared();
    let proxy = Proxy::to(server.socket());
    let machine = Machine::new("alpha", WORK, &proxy.through(&server.address()));
    let node = machine.serve(&["--no-drive"]);
    assert_eq!(node.client.get("/health").status, 200);
    proxy.set(Line::Deaf);
    let health = node.client.get("/health");
    assert_eq!((health.status, &health.json()["code"]), (503, &serde_json::json!("LH0709")));
    assert!(health.json()["title"].as_str().unwrap().contains("within 2 s"), "{}", health.body);
    assert_eq!(node.client.get("/health/live").status, 200, "the server itself is there");
    proxy.set(Line::Open);
    proxy.cut();
    while node.client.get("/health/ready").status != 200 {}
}
