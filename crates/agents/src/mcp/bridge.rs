//! Passes messages between our pipes and a server behind an address.

use indexmap::IndexMap;
use longhaul_core::Json;
use rmcp::RoleClient;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdout};

use crate::tool::headers_of;

/// Passes messages until the agent closes our standard input.
pub(super) fn serve(url: &str, headers: &IndexMap<String, String>) -> Result<(), String> {
    // It may be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let headers = headers_of(headers)?;
    let done = runtime.block_on(async {
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        pass(StreamableHttpClientTransport::from_config(config)).await
    });
    runtime.shutdown_background();
    done
}

async fn pass(mut server: impl Transport<RoleClient> + 'static) -> Result<(), String> {
    let mut asked = BufReader::new(tokio::io::stdin()).lines();
    let mut out = tokio::io::stdout();
    loop {
        tokio::select! {
            line = asked.next_line() => match line.map_err(|error| error.to_string())? {
                Some(line) => forward(&mut server, &line, &mut out).await?,
                None => break,
            },
            message = server.receive() => match message {
                Some(message) => write(&mut out, &serde_json::to_value(&message).map_err(|error| error.to_string())?).await?,
                None => return Err("the server closed the connection".to_owned()),
            },
        }
    }
    // The server may be gone already.
    let _ = server.close().await;
    Ok(())
}

/// Sends a line of the agent to the server. If that fails, the agent gets an error for its request.
async fn forward(server: &mut impl Transport<RoleClient>, line: &str, out: &mut Stdout) -> Result<(), String> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let told: Json = serde_json::from_str(line).unwrap_or_default();
    let sent = match serde_json::from_str::<TxJsonRpcMessage<RoleClient>>(line) {
        Ok(message) => server.send(message).await.map_err(|error| error.to_string()),
        Err(error) => Err(format!("the message cannot be read: {error}")),
    };
    match (sent, told.get("id").filter(|_| told.get("method").is_some())) {
        (Err(message), Some(id)) => {
            let error = json!({"code": -32603, "message": message});
            write(out, &json!({"jsonrpc": "2.0", "id": id, "error": error})).await
        }
        _ => Ok(()),
    }
}

async fn write(out: &mut Stdout, message: &Json) -> Result<(), String> {
    let line = format!("{message}\n");
    out.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
    out.flush().await.map_err(|error| error.to_string())
}
