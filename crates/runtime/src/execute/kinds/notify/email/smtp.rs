//! One letter to one server, as RFC 5321 has it; in private as RFC 3207 and 8314 have it; after a login as RFC 4954 has it.
//!
//! **Invariant:** a password is said only under TLS. What was heard before TLS counts for nothing after it.

use std::io;

use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::super::invalid;
use super::letter::{Letter, base64};
use super::tls;
use crate::channels::{Login, Privacy, Server};

/// Bytes of one answer, with all its lines.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Hands a letter over. The letter has been checked: its addresses fit into a command.
pub(super) async fn send(server: &Server, letter: &Letter, text: &str) -> Result<(), Failure> {
    if server.login.is_some() && server.privacy == Privacy::Open {
        return Err(invalid("a password is not sent in the open; set `tls` of the channel to `starttls` or `tls`"));
    }
    let stream = TcpStream::connect(&server.address).await.map_err(|error| broken(&error))?;
    match server.privacy {
        Privacy::Open => greeted(Talk::new(stream)).await?.deliver(server, letter, text).await,
        Privacy::StartTls => {
            let stream = greeted(Talk::new(stream)).await?.leave_the_open().await?;
            Talk::new(tls::wrap(stream, server).await?).deliver(server, letter, text).await
        }
        Privacy::Tls => {
            let stream = tls::wrap(stream, server).await?;
            greeted(Talk::new(stream)).await?.deliver(server, letter, text).await
        }
    }
}

/// A talk in which the server has said hello.
async fn greeted<S: AsyncRead + AsyncWrite + Unpin>(mut talk: Talk<S>) -> Result<Talk<S>, Failure> {
    talk.expect(220).await?;
    Ok(talk)
}

/// The letter as data: a line that begins with a dot gets another one.
fn stuffed(text: &str) -> String {
    text.split_inclusive("\r\n")
        .map(|line| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() })
        .collect()
}

struct Talk<S> {
    stream: BufReader<S>,
}

impl Talk<TcpStream> {
    /// Agrees with the server to continue under TLS.
    async fn leave_the_open(mut self) -> Result<TcpStream, Failure> {
        let offered = self.introduce().await?;
        if !offered.iter().any(|line| line.eq_ignore_ascii_case("STARTTLS")) {
            return Err(Failure::new(ErrorClass::Failed, "the mail server does not offer STARTTLS"));
        }
        self.say("STARTTLS", 220).await?;
        if !self.stream.buffer().is_empty() {
            // Somebody in between wants it to be taken for what the server says in private.
            return Err(Failure::new(ErrorClass::Failed, "the mail server continued in the open after STARTTLS"));
        }
        Ok(self.stream.into_inner())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<S> {
    fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    async fn deliver(mut self, server: &Server, letter: &Letter, text: &str) -> Result<(), Failure> {
        let offered = self.introduce().await?;
        if let Some(login) = &server.login {
            self.log_in(login, &offered).await?;
        }
        self.say(&format!("MAIL FROM:<{}>", letter.from), 250).await?;
        for to in &letter.to {
            self.say(&format!("RCPT TO:<{to}>"), 250).await?;
        }
        self.say("DATA", 354).await?;
        self.say(&format!("{}.", stuffed(text)), 250).await?;
        // The letter has been taken; how the server says goodbye does not matter.
        let _ = self.say("QUIT", 221).await;
        Ok(())
    }

    /// Says who is there; answers what the server offers.
    async fn introduce(&mut self) -> Result<Vec<String>, Failure> {
        match self.say("EHLO localhost", 250).await {
            Ok(lines) => Ok(lines),
            Err(_) => self.say("HELO localhost", 250).await.map(|_| Vec::new()),
        }
    }

    async fn log_in(&mut self, login: &Login, offered: &[String]) -> Result<(), Failure> {
        let password = login.password.value().map_err(invalid)?;
        let ways: Vec<String> = offered.iter().filter_map(|line| auth_ways(line)).flatten().collect();
        let offers = |way: &str| ways.iter().any(|offered| offered.eq_ignore_ascii_case(way));
        if offers("PLAIN") {
            let both = base64(format!("\0{}\0{password}", login.user).as_bytes());
            self.say(&format!("AUTH PLAIN {both}"), 235).await?;
        } else if offers("LOGIN") {
            self.say("AUTH LOGIN", 334).await?;
            self.say(&base64(login.user.as_bytes()), 334).await?;
            self.say(&base64(password.as_bytes()), 235).await?;
        } else {
            return Err(Failure::new(ErrorClass::Failed, "the mail server offers neither AUTH PLAIN nor AUTH LOGIN"));
        }
        Ok(())
    }

    async fn say(&mut self, line: &str, expected: u16) -> Result<Vec<String>, Failure> {
        let sent = self.stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).await;
        sent.map_err(|error| broken(&error))?;
        self.stream.get_mut().flush().await.map_err(|error| broken(&error))?;
        self.expect(expected).await
    }

    /// Reads an answer of one line or several; answers them without their code.
    async fn expect(&mut self, expected: u16) -> Result<Vec<String>, Failure> {
        let mut answer = (&mut self.stream).take(ANSWER_BYTES_MAX);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = answer.read_until(b'\n', &mut line).await.map_err(|error| broken(&error))?;
            let text = String::from_utf8_lossy(&line);
            let code = text.get(..3).and_then(|code| code.parse::<u16>().ok());
            lines.push(text.get(4..).unwrap_or_default().trim().to_owned());
            match (code, text.get(3..4)) {
                _ if read == 0 => return Err(broken(&io::ErrorKind::UnexpectedEof.into())),
                (Some(_), Some("-")) => {}
                (Some(code), _) if code == expected => return Ok(lines),
                (code, _) => return Err(refused(code, text.trim())),
            }
        }
    }
}

/// The ways to log in that a line of an answer offers.
fn auth_ways(line: &str) -> Option<Vec<String>> {
    let mut words = line.split_whitespace();
    words.next().filter(|word| word.eq_ignore_ascii_case("AUTH"))?;
    Some(words.map(str::to_owned).collect())
}

fn refused(code: Option<u16>, answer: &str) -> Failure {
    let class = if matches!(code, Some(400..=499)) { ErrorClass::Transient } else { ErrorClass::Failed };
    let answer: String = answer.chars().filter(|c| !c.is_control()).take(200).collect();
    Failure::new(class, format!("the mail server answered: {answer}"))
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorClass::Transient, format!("the mail server cannot be reached: {error}"))
}
