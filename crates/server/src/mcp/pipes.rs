//! The protocol over standard input and output, a message a line.
//!
//! **Invariant:** standard output carries nothing but the protocol. A line that is no JSON is answered as one, and costs no more
//! memory than a message may have.

use std::sync::Arc;

use anyhow::Result;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::desk::Desk;
use crate::mcp::face::Face;
use crate::mcp::sessions::PipeSession;

/// The largest message.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What is under way between reading and understanding.
const BUFFER: usize = 64 * 1024;

/// Serves a client over standard input and output until it is gone, or the desk is closed. Calls that are open then are not answered any
/// more; what they had recorded stays, and what this process was doing is stopped in order, for the next one to continue with.
pub async fn pipes(desk: Desk) -> Result<()> {
    let stop = desk.stop().clone();
    let session = Arc::new(PipeSession::default());
    let (transport, writing) = sifted(tokio::io::stdin(), tokio::io::stdout());
    let served = async {
        let service =
            Box::pin(Face::of_pipe(desk.clone(), Arc::clone(&session)).serve_with_ct(transport, stop.child_token()))
                .await?;
        service.waiting().await?;
        anyhow::Ok(())
    };
    // A client that is gone before it said who it is has nothing to complain about.
    let _ = served.await;
    if !stop.is_cancelled() {
        session.end(&desk).await;
    }
    desk.close().await;
    writing.abort();
    Ok(())
}

/// Both ends of a conversation in which only JSON reaches the other side.
fn sifted<R, W>(
    input: R,
    output: W,
) -> ((tokio::io::DuplexStream, tokio::io::DuplexStream), tokio::task::JoinHandle<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (understood, reading) = tokio::io::duplex(BUFFER);
    let (said, saying) = tokio::io::duplex(BUFFER);
    let (complain, complaints) = mpsc::channel(16);
    tokio::spawn(sift(BufReader::new(input), understood, complain));
    let writing = tokio::spawn(write(BufReader::new(saying), complaints, output));
    ((reading, said), writing)
}

async fn sift(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut understood: impl AsyncWrite + Unpin,
    complain: mpsc::Sender<String>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let limit = MESSAGE_BYTES_MAX as u64 + 1;
        let read = (&mut input).take(limit).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        let complaint = if line.len() > MESSAGE_BYTES_MAX {
            skip_line(&mut input).await;
            Some(rejection(-32700, &format!("Parse error: a message of more than {MESSAGE_BYTES_MAX} bytes")))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            complaint(&line)
        };
        let sent = match complaint {
            Some(rejection) => complain.send(rejection).await.is_ok(),
            None => understood.write_all(&line).await.is_ok(),
        };
        if !sent {
            return;
        }
    }
}

/// Reads on to the end of a line that is too long.
async fn skip_line(input: &mut BufReader<impl AsyncRead + Unpin>) {
    while let Ok(bytes @ [_, ..]) = input.fill_buf().await {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let count = end.map_or(bytes.len(), |end| end + 1);
        input.consume(count);
        if end.is_some() {
            return;
        }
    }
}

/// What is wrong with a line, if it can be no message.
fn complaint(line: &[u8]) -> Option<String> {
    // Into a value, because only that is done to a limited depth.
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(_)) => None,
        Ok(_) => Some(rejection(-32600, "Invalid Request: a message is an object")),
        Err(error) => Some(rejection(-32700, &format!("Parse error: {error}"))),
    }
}

fn rejection(code: i32, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": text}}).to_string() + "\n"
}

/// Writes whole lines, whoever they are from.
async fn write(
    mut saying: BufReader<impl AsyncRead + Unpin>,
    mut complaints: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) {
    let mut line = Vec::new();
    let mut complaining = true;
    loop {
        tokio::select! {
            read = saying.read_until(b'\n', &mut line) => {
                if !matches!(read, Ok(1..)) || output.write_all(&line).await.is_err() {
                    return;
                }
                line.clear();
            }
            complaint = complaints.recv(), if complaining => match complaint {
                Some(text) if output.write_all(text.as_bytes()).await.is_err() => return,
                Some(_) => {}
                None => complaining = false,
            },
        }
        if output.flush().await.is_err() {
            return;
        }
    }
}
