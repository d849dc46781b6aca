//! Serves the protocol over standard input and output, one message per line.
//!
//! **Invariant:** standard output carries only the protocol. A line that is not JSON gets an error as its answer, and
//! uses no more memory than one message may have.

use std::sync::Arc;

use anyhow::Result;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::app_state::AppState;
use crate::mcp::mcp_server::McpServer;
use crate::mcp::sessions::PipeSession;

/// The largest message.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The size of the buffer between the reader and the parser.
const BUFFER: usize = 64 * 1024;

/// Serves a client over standard input and output until it is gone or the state is closed. Open calls get no answer
/// then. Their records stay, and the attempts of this process are stopped properly, so that the next process can
/// continue.
pub async fn pipes(desk: AppState) -> Result<()> {
    let stop = desk.stop().clone();
    let session = Arc::new(PipeSession::default());
    let (transport, writing) = sifted(tokio::io::stdin(), tokio::io::stdout());
    let served = async {
        let service = Box::pin(
            McpServer::of_pipe(desk.clone(), Arc::clone(&session)).serve_with_ct(transport, stop.child_token()),
        )
        .await?;
        service.waiting().await?;
        anyhow::Ok(())
    };
    // A client that leaves before it identifies itself is not an error.
    let _ = served.await;
    if !stop.is_cancelled() {
        session.end(&desk).await;
    }
    desk.close().await;
    writing.abort();
    Ok(())
}

/// Both ends of a connection that passes only JSON.
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

/// Skips the rest of a line that is too long.
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

/// The error of a line that cannot be a message.
fn complaint(line: &[u8]) -> Option<String> {
    // Parse into a `Value`, because only that has a limited depth.
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(_)) => None,
        Ok(_) => Some(rejection(-32600, "Invalid Request: a message is an object")),
        Err(error) => Some(rejection(-32700, &format!("Parse error: {error}"))),
    }
}

fn rejection(code: i32, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": text}}).to_string() + "\n"
}

/// Writes whole lines from all senders.
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
