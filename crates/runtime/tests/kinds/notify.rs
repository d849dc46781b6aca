//! `notify` and `on_failure`, against servers and programs that write down what they get.

use std::sync::Arc;

use longhaul_core::Json;
use longhaul_core::event::Event;
use longhaul_core::plan::Outcome;
use longhaul_runtime::{Carrier, Channel, Privacy, Pulse, Server, Setting};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc};

use crate::kinds::bench::{Bench, finish, plan, start};

/// Text that tries to be more than text.
const HOSTILE: &str = "\"quoted\" 'single' $(touch owned) `x`\n.\nline\\two <!channel>";

/// Answers every request with a status; hands over what was posted.
async fn web(status: &'static str) -> (String, mpsc::UnboundedReceiver<Json>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/secret-path", listener.local_addr().unwrap());
    let (sender, posted) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            sender.send(serde_json::from_slice(&body).unwrap()).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.get_mut().write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, posted)
}

/// A mail server that keeps every line; it refuses recipients that begin with `no`.
async fn mail() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&lines);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            converse(stream, &kept).await;
        }
    });
    (address, lines)
}

async fn converse(stream: TcpStream, kept: &Mutex<Vec<String>>) {
    let mut stream = BufReader::new(stream);
    stream.get_mut().write_all(b"220-hello\r\n220 there\r\n").await.unwrap();
    let mut data = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return;
        }
        assert!(line.ends_with("\r\n") && line.matches('\r').count() == 1, "{line:?}");
        let line = line.trim_end_matches("\r\n").to_owned();
        kept.lock().await.push(line.clone());
        let answer = match line.split(' ').next().unwrap() {
            "." if data => {
                data = false;
                "250 taken"
            }
            _ if data => continue,
            "EHLO" => "250-here\r\n250 SIZE 1000000",
            "RCPT" if line.contains("<no") => "550 no such user",
            "DATA" => {
                data = true;
                "354 continue"
            }
            "QUIT" => "221 bye",
            _ => "250 fine",
        };
        stream.get_mut().write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
    }
}

/// One step that notifies, with what is said given as inputs.
fn telling(channel: &str, more: &str) -> String {
    format!(
        "inputs: {{title: string, text: string}}\nsteps:\n  - id: tell\n    notify: {channel}\n    title: \"{{{{ title }}}}\"\n    text: \"{{{{ text }}}}\"\n{more}"
    )
}

fn written(url: &str) -> Setting {
    Setting::Written(url.to_owned())
}

fn failure(state: &longhaul_core::state::State) -> String {
    state.finished.as_ref().unwrap().message.clone().unwrap_or_default()
}

#[tokio::test]
async fn a_webhook_gets_run_step_title_and_text_as_they_are() {
    let (url, mut posted) = web("204 No Content").await;
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url: written(&url) });
    let (run, outcome, _) = bench.run(&telling("webhook", ""), &[("title", "a \"b\""), ("text", HOSTILE)]).await;
    assert_eq!(outcome, Outcome::Success);
    let expected = json!({"run": run, "step": "tell", "title": "a \"b\"", "text": HOSTILE});
    assert_eq!(posted.recv().await.unwrap(), expected);
}

#[tokio::test]
async fn slack_gets_one_text_that_calls_nobody() {
    let (url, mut posted) = web("200 OK").await;
    let bench = Bench::new().with_channel("slack", Channel::Slack { url: written(&url) });
    bench.run(&telling("slack", ""), &[("title", "T"), ("text", "<!channel> & co")]).await;
    assert_eq!(posted.recv().await.unwrap(), json!({"text": "*T*\n&lt;!channel&gt; &amp; co"}));
}

#[tokio::test]
async fn a_refusal_fails_the_step_without_telling_the_address() {
    let (url, _posted) = web("403 Forbidden").await;
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url: written(&url) });
    let (_, outcome, state) = bench.run(&telling("webhook", ""), &[("title", "t"), ("text", "x")]).await;
    assert_eq!(outcome, Outcome::Failure);
    let message = failure(&state);
    assert!(message.contains("`webhook` was not told: the server answered 403"), "{message}");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = written(&format!("http://{closed}/secret-path"));
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url });
    let (_, _, state) = bench.run(&telling("webhook", ""), &[("title", "t"), ("text", "x")]).await;
    assert!(!failure(&state).contains("secret-path"), "{}", failure(&state));
}

#[tokio::test]
async fn an_address_can_come_from_the_environment_and_must_then_be_set() {
    let url = Setting::Env("LONGHAUL_TEST_NEVER_SET".to_owned());
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url });
    let (_, _, state) = bench.run(&telling("webhook", ""), &[("title", "t"), ("text", "x")]).await;
    assert!(failure(&state).contains("`LONGHAUL_TEST_NEVER_SET` is not set"), "{}", failure(&state));
}

#[tokio::test]
async fn one_channel_that_fails_keeps_no_other_from_being_told() {
    let (url, mut posted) = web("200 OK").await;
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url: written(&url) });
    let (_, outcome, state) = bench.run(&telling("[command, webhook]", ""), &[("title", "t"), ("text", "x")]).await;
    assert_eq!(outcome, Outcome::Failure);
    assert!(failure(&state).contains("add `[channels.command]`"), "{}", failure(&state));
    assert_eq!(posted.recv().await.unwrap()["text"], "x");
}

#[tokio::test]
async fn a_command_gets_the_text_on_its_input_and_the_title_in_a_variable() {
    let bench = Bench::new();
    let program = bench.program("teller", "#!/bin/sh\ncat > got\nprintf '%s' \"$LONGHAUL_TITLE|$1\" > title\n");
    let command = vec![program.display().to_string(), "$(touch owned)".to_owned()];
    let bench = bench.with_channel("command", Channel::Command { command });
    let title = "a\r\nBcc: \"b\"";
    let (_, outcome, _) = bench.run(&telling("command", ""), &[("title", title), ("text", HOSTILE)]).await;
    assert_eq!(outcome, Outcome::Success);
    assert_eq!(std::fs::read_to_string(bench.file("got")).unwrap(), HOSTILE);
    assert_eq!(std::fs::read_to_string(bench.file("title")).unwrap(), format!("{title}|$(touch owned)"));
    assert!(!bench.file("owned").exists());
}

#[tokio::test]
async fn a_command_that_fails_fails_the_step() {
    let command = vec!["sh".to_owned(), "-c".to_owned(), "exit 7".to_owned()];
    let bench = Bench::new().with_channel("command", Channel::Command { command });
    let (_, _, state) = bench.run(&telling("command", ""), &[("title", "t"), ("text", "x")]).await;
    assert!(failure(&state).contains("exit code 7"), "{}", failure(&state));
}

fn open(address: String) -> Carrier {
    Carrier::Smtp(Server { address, privacy: Privacy::Open, login: None, trust: None })
}

fn email(by: Carrier) -> Channel {
    Channel::Email { to: vec!["b@example.org".to_owned()], from: "a@example.org".to_owned(), by }
}

#[tokio::test]
async fn a_mail_server_gets_a_letter_with_its_dots_doubled() {
    let (address, lines) = mail().await;
    let bench = Bench::new().with_channel("email", email(open(address)));
    let (_, outcome, _) = bench.run(&telling("email", ""), &[("title", "Größe"), ("text", "one\n.\n..two")]).await;
    assert_eq!(outcome, Outcome::Success);
    let lines = lines.lock().await.join("\n");
    assert!(lines.starts_with("EHLO localhost\nMAIL FROM:<a@example.org>\nRCPT TO:<b@example.org>\nDATA\n"), "{lines}");
    assert!(lines.contains("\nSubject: =?utf-8?B?R3LDtsOfZQ==?=\n"), "{lines}");
    assert!(lines.ends_with("\n\none\n..\n...two\n.\nQUIT"), "{lines}");
}

#[tokio::test]
async fn a_step_can_name_the_recipients_and_hears_of_those_who_are_refused() {
    let (address, lines) = mail().await;
    let bench = Bench::new().with_channel("email", email(open(address)));
    let to = "    to: c@example.org, nobody@example.org\n";
    let (_, outcome, state) = bench.run(&telling("email", to), &[("title", "t"), ("text", "x")]).await;
    assert_eq!(outcome, Outcome::Failure);
    assert!(failure(&state).contains("550 no such user"), "{}", failure(&state));
    let lines = lines.lock().await;
    assert!(lines.iter().any(|line| line == "RCPT TO:<c@example.org>"), "{lines:?}");
    assert!(!lines.iter().any(|line| line == "DATA"), "{lines:?}");
}

#[tokio::test]
async fn a_title_that_would_open_a_header_reaches_no_carrier() {
    let (address, lines) = mail().await;
    let bench = Bench::new().with_channel("email", email(open(address)));
    let title = "hello\r\nBcc: victim@example.org";
    let (_, outcome, state) = bench.run(&telling("email", ""), &[("title", title), ("text", "x")]).await;
    assert_eq!(outcome, Outcome::Failure);
    assert!(failure(&state).contains("line break"), "{}", failure(&state));
    assert!(lines.lock().await.is_empty());
}

#[tokio::test]
async fn sendmail_gets_sender_recipients_and_the_letter() {
    let bench = Bench::new();
    let program = bench.program("sendmail", "#!/bin/sh\nprintf '%s\\n' \"$@\" > args\ncat > letter\n");
    let bench = bench.with_channel("email", email(Carrier::Sendmail(program)));
    let (_, outcome, _) = bench.run(&telling("email", ""), &[("title", "t"), ("text", ".\nBcc: x@y\n")]).await;
    assert_eq!(outcome, Outcome::Success);
    assert_eq!(std::fs::read_to_string(bench.file("args")).unwrap(), "-i\n-f\na@example.org\nb@example.org\n");
    let letter = std::fs::read_to_string(bench.file("letter")).unwrap();
    let (headers, body) = letter.split_once("\n\n").unwrap();
    assert!(headers.contains("\nSubject: t\n") && !headers.contains("Bcc"), "{headers}");
    assert_eq!(body, ".\nBcc: x@y\n");
    assert!(!letter.contains('\r'));
}

#[tokio::test]
async fn what_needs_no_configuration_is_said_where_the_engine_runs() {
    let bench = Bench::new();
    let engine = bench.engine();
    let mut pulse = engine.pulse();
    let run = start(&engine, &plan(&telling("owner", "")), &[("title", "T"), ("text", "done")]).await;
    finish(&engine, &run).await;
    let said = loop {
        if let Pulse::Notice(_, step, text) = pulse.recv().await.unwrap() {
            break format!("{step}|{text}");
        }
    };
    assert_eq!(said, "tell|T: done");
}

const FAILS: &str = "on_failure: {notify: webhook, text: \"{{ task }} broke\"}\nsteps:\n  - id: a\n    run: exit 3\n";

#[tokio::test]
async fn a_run_that_fails_tells_once_and_one_that_succeeds_does_not() {
    let (url, mut posted) = web("200 OK").await;
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url: written(&url) });
    let engine = bench.engine();
    let run = start(&engine, &plan(FAILS), &[]).await;
    let (outcome, _) = finish(&engine, &run).await;
    assert_eq!(outcome, Outcome::Failure);
    let told = posted.try_recv().unwrap();
    assert_eq!((&told["text"], &told["step"]), (&json!("the task broke"), &json!("on_failure")));
    finish(&engine, &run).await;
    finish(&bench.engine(), &run).await;
    bench.run(&FAILS.replace("exit 3", "exit 0"), &[]).await;
    assert!(posted.try_recv().is_err());
}

#[tokio::test]
async fn without_a_text_the_reason_is_told() {
    let (url, mut posted) = web("200 OK").await;
    let bench = Bench::new().with_channel("webhook", Channel::Webhook { url: written(&url) });
    bench.run("on_failure: {notify: webhook}\nsteps:\n  - id: a\n    run: exit 3\n", &[]).await;
    assert!(posted.recv().await.unwrap()["text"].as_str().unwrap().contains("exit code 3"));
}

#[tokio::test]
async fn an_on_failure_that_fails_is_only_recorded() {
    let bench = Bench::new();
    let engine = bench.engine();
    let run = start(&engine, &plan(FAILS), &[]).await;
    let (outcome, _) = finish(&engine, &run).await;
    assert_eq!(outcome, Outcome::Failure);
    let last = engine.events(&run, 0, 100).await.unwrap().pop().unwrap().event;
    let Event::OnFailureEnded { attempt: 1, error: Some(error) } = last else { panic!("{last:?}") };
    assert!(error.message.starts_with("the channel `webhook` was not told"), "{}", error.message);
    assert!(bench.store.tasks(&run).await.unwrap().is_empty());
}
