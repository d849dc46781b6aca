//! One letter to one server, as RFC 5321 has it.

use std::io;

use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::letter::Letter;

/// Bytes of one answer, with all its lines.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Hands a letter over. The letter has been checked: its addresses fit into a command.
pub(super) async fn send(server: &str, letter: &Letter, text: &str) -> Result<(), Failure> {
    let stream = TcpStream::connect(server).await.map_err(|error| broken(&error))?;
    let mut talk = Talk { stream: BufReader::new(stream) };
    talk.expect(220).await?;
    if talk.say("EHLO localhost", 250).await.is_err() {
        talk.say("HELO localhost", 250).await?;
    }
    talk.say(&format!("MAIL FROM:<{}>", letter.from), 250).await?;
    for to in &letter.to {
        talk.say(&format!("RCPT TO:<{to}>"), 250).await?;
    }
    talk.say("DATA", 354).await?;
    talk.say(&format!("{}.", stuffed(text)), 250).await?;
    // The letter has been taken; how the server says goodbye does not matter.
    let _ = talk.say("QUIT", 221).await;
    Ok(())
}

/// The letter as data: a line that begins with a dot gets another one.
fn stuffed(text: &str) -> String {
    text.split_inclusive("\r\n")
        .map(|line| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() })
        .collect()
}

struct Talk {
    stream: BufReader<TcpStream>,
}

impl Talk {
    async fn say(&mut self, line: &str, expected: u16) -> Result<(), Failure> {
        let sent = self.stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).await;
        sent.map_err(|error| broken(&error))?;
        self.expect(expected).await
    }

    /// Reads an answer of one line or several.
    async fn expect(&mut self, expected: u16) -> Result<(), Failure> {
        let mut answer = (&mut self.stream).take(ANSWER_BYTES_MAX);
        loop {
            let mut line = Vec::new();
            let read = answer.read_until(b'\n', &mut line).await.map_err(|error| broken(&error))?;
            let text = String::from_utf8_lossy(&line);
            let code = text.get(..3).and_then(|code| code.parse::<u16>().ok());
            match (code, text.get(3..4)) {
                _ if read == 0 => return Err(broken(&io::ErrorKind::UnexpectedEof.into())),
                (Some(_), Some("-")) => {}
                (Some(code), _) if code == expected => return Ok(()),
                (code, _) => return Err(refused(code, text.trim())),
            }
        }
    }
}

fn refused(code: Option<u16>, answer: &str) -> Failure {
    let class = if matches!(code, Some(400..=499)) { ErrorClass::Transient } else { ErrorClass::Failed };
    let answer: String = answer.chars().filter(|c| !c.is_control()).take(200).collect();
    Failure::new(class, format!("the mail server answered: {answer}"))
}

fn broken(error: &io::Error) -> Failure {
    Failure::new(ErrorClass::Transient, format!("the mail server can not be reached: {error}"))
}
