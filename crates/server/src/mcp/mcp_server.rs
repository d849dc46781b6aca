//! The MCP server: what it offers, and where each request goes.

use std::sync::Arc;

use axum::http::request::Parts;
use longhaul_lang::diagnostic::closest;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::app_state::AppState;
use crate::mcp::sessions::{self, PipeSession};
use crate::mcp::tool::{Call, Caller, TokenOf, response};
use crate::mcp::tools::{self, per_workflow};
use crate::mcp::{answers, compat, complete, prompts, resources};

const INSTRUCTIONS: &str = "Longhaul runs workflows of many steps and loses no result. \
Hosted: call `start` with a workflow and a task, do each step that you get exactly as its prompt says (a subagent per step is fine), \
submit its result with `submit`, and continue until the status is `succeeded` or `failed`; `next` returns all open steps again, also after \
an interruption. Engine-driven: `run` lets the engine call agents itself. \
At a gate a human decides: show what is to be approved, end your turn, and pass on their words with `answer`. Never decide yourself.";

/// The MCP server.
#[derive(Clone)]
pub(crate) struct McpServer {
    desk: AppState,
    /// The session, if there is only one client.
    pipe: Option<Arc<PipeSession>>,
}

impl McpServer {
    /// For clients that identify themselves in each request.
    pub(crate) fn new(desk: AppState) -> Self {
        Self { desk, pipe: None }
    }

    /// For the one client at the other end of a pipe.
    pub(crate) fn of_pipe(desk: AppState, pipe: Arc<PipeSession>) -> Self {
        Self { desk, pipe: Some(pipe) }
    }

    /// The caller, from the data of the protocol.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let name = context.client_info().map(|client| client.title.unwrap_or(client.name)).unwrap_or_default();
        let name: String = name.chars().filter(|letter| !letter.is_control()).take(80).collect();
        let name = if name.trim().is_empty() { "an MCP client".to_owned() } else { name };
        let parts = context.extensions.get::<Parts>();
        let session = match &self.pipe {
            Some(pipe) => Some(pipe.of(&name).to_owned()),
            None => parts.and_then(|parts| sessions::id(&parts.headers)),
        };
        let token = parts.and_then(|parts| parts.extensions.get::<TokenOf>());
        Caller::new(name, session, self.desk.origin(), token)
    }

    /// Reads the registry again and returns the state.
    async fn looked_up(&self) -> Result<&AppState, ErrorData> {
        self.desk.refresh_shelf().await.map_err(|problem| ErrorData::internal_error(problem.text, None))?;
        Ok(&self.desk)
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = tools::table().iter().map(|tool| answers::with(tool.described())).collect();
        if self.desk.tool_per_workflow() {
            tools.extend(per_workflow::tools(&self.desk));
        }
        tools.extend(compat::tools(&self.desk));
        tools
    }

    fn no_such_tool(&self, name: &str) -> ErrorData {
        let tools = self.tools();
        let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let help = closest(name, &known)
            .map_or_else(|| format!("the tools are: {}", known.join(", ")), |best| format!("did you mean `{best}`?"));
        ErrorData::invalid_params(format!("there is no tool `{name}`; {help}"), None)
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.looked_up().await?;
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call {
            state: self.looked_up().await?.clone(),
            caller: self.caller(&context),
            arguments: request.arguments.unwrap_or_default(),
            responses: request.input_responses.unwrap_or_default(),
            context,
        };
        if let Some(action) = compat::action(&self.desk, &request.name) {
            return Ok(compat::act(action, call).await);
        }
        let call = match compat::call(&request.name, call).await {
            Ok(reply) => return Ok(response(reply)),
            Err(call) => call,
        };
        if let Some(run) = &request.request_state {
            return Ok(response(Box::pin(tools::hosted::taken_up(&call, run)).await));
        }
        if let Some(tool) = tools::table().iter().find(|tool| tool.name == request.name) {
            return Ok(response((tool.call)(call).await));
        }
        match per_workflow::named(&self.desk, &request.name) {
            Some(workflow) => Ok(response(per_workflow::call(call, workflow).await)),
            None => Err(self.no_such_tool(&request.name)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(self.looked_up().await?).await.map(ListResourcesResult::with_all_items)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(self.looked_up().await?, &request.uri).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self.looked_up().await?)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self.looked_up().await?, &request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(&self.desk, &request).await
    }
}
