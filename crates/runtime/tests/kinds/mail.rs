//! Letters under TLS and after a login, against a mail server that follows a script.
//!
//! The server's certificate in `mail/` is its own authority: it is trusted only where a setting says so. Its key is for tests and
//! is no secret.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::plan::Outcome;
use longhaul_runtime::{Carrier, Channel, Login, Privacy, Server, Setting};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_rustls::TlsAcceptor;

use crate::kinds::bench::Bench;

const TELLS: &str = "steps:\n  - {id: tell, notify: email, text: hello}\n";
const PASSWORD: &str = "open sesame";

/// What the server does.
#[derive(Debug, Clone, Copy)]
struct Script {
    /// Whether it speaks TLS at once.
    private: bool,
    /// What it offers in the open.
    offers: &'static str,
    /// What it says once it has agreed to TLS, with what somebody in between has added.
    agrees: &'static str,
    /// The ways to log in that it offers in private.
    ways: &'static str,
}

const STARTTLS: Script =
    Script { private: false, offers: "STARTTLS", agrees: "220 continue", ways: "AUTH PLAIN LOGIN" };
const TLS: Script = Script { private: true, ..STARTTLS };

type Lines = Arc<Mutex<Vec<String>>>;

fn certificate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds/mail/server.pem")
}

fn acceptor() -> TlsAcceptor {
    let key = PrivateKeyDer::from_pem_file(certificate().with_extension("key")).unwrap();
    let chain = vec![CertificateDer::from_pem_file(certificate()).unwrap()];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsAcceptor::from(Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

/// A server; its port, and every line that it hears: in the open, or `tls:` before it.
async fn serve(script: Script) -> (u16, Lines) {
    serve_at("127.0.0.1", script).await
}

async fn serve_at(host: &str, script: Script) -> (u16, Lines) {
    let listener = TcpListener::bind((host, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that hangs up in the middle is what some tests are about.
            let _ = talk(stream, script, &kept).await;
        }
    });
    (port, lines)
}

async fn talk(stream: TcpStream, script: Script, kept: &Lines) -> std::io::Result<()> {
    if script.private {
        let mut stream = BufReader::new(acceptor().accept(stream).await?);
        stream.get_mut().write_all(b"220 hello\r\n").await?;
        return converse(&mut stream, "tls:", script, kept).await.map(drop);
    }
    let mut stream = BufReader::new(stream);
    stream.get_mut().write_all(b"220 hello\r\n").await?;
    if converse(&mut stream, "", script, kept).await? {
        let mut stream = BufReader::new(acceptor().accept(stream.into_inner()).await?);
        converse(&mut stream, "tls:", script, kept).await?;
    }
    Ok(())
}

/// Answers until the client leaves; true if it wants TLS.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufReader<S>,
    mark: &str,
    script: Script,
    kept: &Lines,
) -> std::io::Result<bool> {
    let mut data = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(false);
        }
        let line = line.trim_end().to_owned();
        kept.lock().await.push(format!("{mark}{line}"));
        let offered = if mark.is_empty() { script.offers } else { script.ways };
        let answer = match line.as_str() {
            "." => "250 taken".to_owned(),
            _ if data => continue,
            "EHLO localhost" => format!("250-here\r\n250 {offered}"),
            "STARTTLS" => script.agrees.to_owned(),
            "DATA" => "354 continue".to_owned(),
            "QUIT" => "221 bye".to_owned(),
            "AUTH PLAIN AG1lAG9wZW4gc2VzYW1l" | "b3BlbiBzZXNhbWU=" => "235 welcome".to_owned(),
            "AUTH LOGIN" | "bWU=" => "334 more".to_owned(),
            _ if line.starts_with("AUTH PLAIN") => "535 not you".to_owned(),
            _ => "250 fine".to_owned(),
        };
        data = line == "DATA";
        stream.get_mut().write_all(format!("{answer}\r\n").as_bytes()).await?;
        stream.get_mut().flush().await?;
        if line == "STARTTLS" {
            return Ok(true);
        }
    }
}

fn server(host: &str, port: u16, privacy: Privacy) -> Server {
    let login = Login { user: "me".to_owned(), password: Setting::Written(PASSWORD.to_owned()) };
    Server { address: format!("{host}:{port}"), privacy, login: Some(login), trust: Some(certificate()) }
}

/// Sends one letter; in its place, why not.
async fn send(server: Server) -> Result<(), String> {
    let (to, from) = (vec!["b@example.org".to_owned()], "a@example.org".to_owned());
    let bench = Bench::new().with_channel("email", Channel::Email { to, from, by: Carrier::Smtp(server) });
    let (_, outcome, state) = bench.run(TELLS, &[]).await;
    let message = state.finished.unwrap().message.unwrap_or_default();
    if outcome == Outcome::Success { Ok(()) } else { Err(message) }
}

/// Nothing of the letter or the password was said.
async fn is_silent(lines: &Lines) {
    let lines = lines.lock().await;
    let said = |line: &String| ["MAIL", "AUTH", "DATA"].iter().any(|word| line.contains(word));
    assert!(!lines.iter().any(said), "{lines:?}");
}

#[tokio::test]
async fn a_talk_that_begins_in_the_open_goes_on_in_private() {
    let (port, lines) = serve(STARTTLS).await;
    send(server("localhost", port, Privacy::StartTls)).await.unwrap();
    let lines = lines.lock().await.join("\n");
    let expected = "EHLO localhost\nSTARTTLS\ntls:EHLO localhost\ntls:AUTH PLAIN AG1lAG9wZW4gc2VzYW1l\ntls:MAIL FROM:<a@example.org>\n";
    assert!(lines.starts_with(expected), "{lines}");
    assert!(lines.ends_with("\ntls:hello\ntls:.\ntls:QUIT"), "{lines}");
}

#[tokio::test]
async fn a_talk_can_be_private_from_the_first_byte_and_log_in_the_old_way() {
    let (port, lines) = serve(Script { ways: "AUTH LOGIN", ..TLS }).await;
    send(server("localhost", port, Privacy::Tls)).await.unwrap();
    let lines = lines.lock().await.join("\n");
    let expected =
        "tls:EHLO localhost\ntls:AUTH LOGIN\ntls:bWU=\ntls:b3BlbiBzZXNhbWU=\ntls:MAIL FROM:<a@example.org>\n";
    assert!(lines.starts_with(expected), "{lines}");
}

#[tokio::test]
async fn nothing_is_said_to_a_server_that_nobody_vouches_for() {
    for (script, privacy) in [(STARTTLS, Privacy::StartTls), (TLS, Privacy::Tls)] {
        let (port, lines) = serve(script).await;
        let unknown = Server { trust: None, ..server("localhost", port, privacy) };
        let why = send(unknown).await.unwrap_err();
        assert!(
            why.contains("cannot be talked to in private") || why.contains("no certificate can be checked"),
            "{why}"
        );
        is_silent(&lines).await;
        // The certificate is for other names.
        let (port, lines) = serve_at("127.0.0.2", script).await;
        let why = send(server("127.0.0.2", port, privacy)).await.unwrap_err();
        assert!(why.contains("cannot be talked to in private"), "{why}");
        is_silent(&lines).await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_go_private_gets_no_letter() {
    let (port, lines) = serve(Script { offers: "SIZE 1000", ..STARTTLS }).await;
    let why = send(server("localhost", port, Privacy::StartTls)).await.unwrap_err();
    assert!(why.contains("does not offer STARTTLS"), "{why}");
    is_silent(&lines).await;
}

#[tokio::test]
async fn what_somebody_adds_before_tls_is_not_taken_for_the_servers_word() {
    let (port, lines) = serve(Script { agrees: "220 continue\r\n250 all is well", ..STARTTLS }).await;
    let why = send(server("localhost", port, Privacy::StartTls)).await.unwrap_err();
    assert!(why.contains("continued in the open"), "{why}");
    is_silent(&lines).await;
}

#[tokio::test]
async fn a_password_stays_where_it_is_if_others_could_read_it_or_nobody_takes_it() {
    let (port, lines) = serve(STARTTLS).await;
    let why = send(server("localhost", port, Privacy::Open)).await.unwrap_err();
    assert!(why.contains("a password is not sent in the open"), "{why}");
    is_silent(&lines).await;
    let (port, lines) = serve(Script { ways: "AUTH CRAM-MD5", ..TLS }).await;
    let why = send(server("localhost", port, Privacy::Tls)).await.unwrap_err();
    assert!(why.contains("neither AUTH PLAIN nor AUTH LOGIN"), "{why}");
    is_silent(&lines).await;
}

#[tokio::test]
async fn a_login_that_is_refused_tells_nobody_the_password() {
    let (port, lines) = serve(TLS).await;
    let wrong = "quite wrong";
    let login = Some(Login { user: "me".to_owned(), password: Setting::Written(wrong.to_owned()) });
    let why = send(Server { login, ..server("localhost", port, Privacy::Tls) }).await.unwrap_err();
    assert!(why.contains("535 not you") && !why.contains(wrong), "{why}");
    assert!(!lines.lock().await.iter().any(|line| line.contains("MAIL")));
}
