//! A worker and a server that speak to the database over encrypted connections, because it takes no others.

use longhaul_store::conformance::encrypted::Encrypted;
use serde_json::json;

use crate::postgres::machine::Machine;

const WORK: &str = "
name: work
do:
  - {id: one, run: printf one}
  - {id: go, approve: Continue?}
  - {id: two, run: printf two}
";

#[test]
fn work_is_done_over_encrypted_connections() {
    let encrypted = Encrypted::start();
    let options = format!("sslmode=verify-full&sslrootcert={}", encrypted.authority().display());
    let address = encrypted.address("localhost", &options);
    let (alpha, beta) = (Machine::new("alpha", WORK, &address), Machine::new("beta", WORK, &address));
    let (node, _worker) = (alpha.serve(&["--no-drive"]), beta.worker());
    let run = node.start("key");
    let mut stream = node.client.stream(&format!("/api/v1/runs/{run}/stream"), &[]);
    stream.until("question_asked");
    node.tell(&run, "answer", &json!({"path": "go", "answer": "approve"}));
    stream.until("run_finished");
    assert_eq!(node.run(&run)["status"], "succeeded");
    let open = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                WHERE application_name = 'longhaul' AND NOT ssl";
    assert_eq!(encrypted.server.sql(open), "0");
    // Who does not know its authority is told so, and what to look at.
    let stranger = Machine::new("gamma", WORK, &address.replace("authority", "stranger"));
    let told = stranger.trial.longhaul(&["worker"], None);
    assert_ne!(told.code, 0);
    assert!(told.stderr.contains("invalid peer certificate"), "{}", told.stderr);
}
