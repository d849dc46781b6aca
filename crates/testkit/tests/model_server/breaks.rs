//! Tests broken answers that are not even errors.

use std::io::Read as _;

use longhaul_testkit::model_server::{ModelServer, RequestOutcome};

use crate::model_server::client::{post, question, send, server};

fn outcome(server: &ModelServer) -> RequestOutcome {
    let log = server.wait(|log| log.first().is_some_and(|entry| entry.outcome.is_some()));
    log[0].outcome.unwrap()
}

#[test]
fn a_cut_answer_has_a_beginning_and_no_end() {
    for stream in [false, true] {
        let server = server("cut");
        let answer = post(&server, "/v1/messages", &question("anthropic", "go", stream, &[]));
        assert_eq!((answer.status, answer.is_complete), (200, false));
        assert!(answer.body.contains("msg_0001"), "{}", answer.body);
        assert_eq!(outcome(&server), RequestOutcome::Broken);
    }
}

#[test]
fn a_dropped_request_gets_nothing() {
    let server = server("drop");
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", true, &[]));
    assert_eq!((answer.status, answer.body.as_str()), (0, ""));
    assert_eq!(outcome(&server), RequestOutcome::Broken);
}

#[test]
fn a_hang_ends_when_the_client_goes() {
    let server = server("hang");
    let stream = send(&server, "POST", "/v1/messages", &question("anthropic", "go", true, &[]).to_string());
    assert_eq!(server.wait(|log| log.len() == 1)[0].outcome, None, "it hangs");
    drop(stream);
    assert_eq!(outcome(&server), RequestOutcome::ClientGone);
}

#[test]
fn a_stalled_answer_begins_and_ends_when_the_client_goes() {
    let server = server("stall");
    let mut stream = send(&server, "POST", "/v1/messages", &question("anthropic", "go", true, &[]).to_string());
    let mut beginning = [0; 400];
    stream.read_exact(&mut beginning).unwrap();
    assert!(String::from_utf8_lossy(&beginning).contains("message_start"));
    assert_eq!(server.log()[0].outcome, None, "it stalls");
    drop(stream);
    assert_eq!(outcome(&server), RequestOutcome::ClientGone);
}

#[test]
fn a_malformed_answer_is_complete_and_no_json() {
    for stream in [false, true] {
        let server = server("malformed");
        let answer = post(&server, "/v1/messages", &question("anthropic", "go", stream, &[]));
        assert!(answer.is_complete);
        let text = answer.body.lines().next().unwrap().trim_start_matches("data: ");
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
    }
}

#[test]
fn garbage_is_a_page() {
    let server = server("garbage");
    let answer = post(&server, "/v1/messages", &question("anthropic", "go", false, &[]));
    assert!(answer.headers.contains("text/html") && answer.body.starts_with("<html>"));
}
