//! Tests the client of the library that the server uses, over both transports: a whole hosted workflow.

use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::mcp::project::Project;

type Client = RunningService<RoleClient, ClientConfig>;

fn who() -> ClientConfig {
    ClientConfig::new(ClientCapabilities::default(), Implementation::new("library", "1"))
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    assert_eq!(result.is_error, Some(false), "{result:?}");
    result.structured_content.unwrap()
}

async fn whole(client: &Client) {
    assert!(client.list_all_tools().await.unwrap().len() >= 16);
    let mut picture = call(client, "start", json!({"workflow": "relay", "task": "a house"})).await;
    let run = picture["run"].clone();
    loop {
        picture = match (picture["ready"].get(0).cloned(), picture["status"].as_str().unwrap()) {
            (Some(step), _) => {
                let done = json!({"run": run, "step": step["path"], "attempt": step["attempt"], "output": "done"});
                call(client, "submit", done).await
            }
            (None, "awaiting-approval") => call(client, "answer", json!({"run": run, "decision": "approve"})).await,
            (None, status) => return assert_eq!(status, "succeeded", "{picture}"),
        };
    }
}

#[tokio::test]
async fn over_pipes() {
    let project = Project::new();
    let command = tokio::process::Command::from(project.command(&[]));
    let client = who().serve(TokioChildProcess::new(command).unwrap()).await.unwrap();
    whole(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn over_http() {
    // Only the first of several tests can install it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let project = Project::new();
    let web = project.web(&[]);
    let config = StreamableHttpClientTransportConfig::with_uri(web.url.as_str()).auth_header(project.token());
    let client = who().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap();
    whole(&client).await;
    client.cancel().await.unwrap();
}
