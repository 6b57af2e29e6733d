//! All configured servers of a run.

use super::catalogue::Catalogue;
use super::client_handler::OnProgress;
use super::connection::ConnectionContext;
use super::result_text::ResultText;
pub use super::server::ServerNews;
use super::server::{AcceptedTool, OnChange, Server};
use super::server_config::{Endpoint, ServerConfig};
use crate::chat::{Digest, ServerOffer, ServerReport, ToolSpec};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Receives news when the offered tools change. Returns false once its session is closed.
pub type Listener = Box<dyn Fn(ServerNews) -> bool + Send + Sync>;

/// All configured servers. Dropping it ends their connections.
pub struct ServerPool {
    /// Servers of the user's settings.
    user_servers: Vec<Arc<Server>>,
    /// Servers of the open session's project, which the user trusts.
    project_servers: Mutex<Vec<Arc<Server>>>,
    catalogue: Catalogue,
    context: ConnectionContext,
    on_change: OnChange,
    listeners: Arc<Mutex<Vec<Listener>>>,
    notices: Vec<String>,
}

/// A tool that a server offers.
#[derive(Clone)]
pub struct OfferedTool {
    server: Arc<Server>,
    tool: Arc<AcceptedTool>,
}

impl ServerPool {
    /// Creates the servers of the user's settings with the tools that were accepted before. None is connected.
    pub fn new(configs: Vec<ServerConfig>, catalogue: Catalogue, context: ConnectionContext) -> Self {
        let listeners = Arc::<Mutex<Vec<Listener>>>::default();
        let all_listeners = listeners.clone();
        let on_change: OnChange = Arc::new(move |news| {
            let mut listeners = all_listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.retain(|listener| listener(news.clone()));
        });
        let new_server = |config| Server::new(config, catalogue.clone(), context.clone(), on_change.clone());
        let (user_servers, notices): (Vec<_>, Vec<_>) = configs.into_iter().map(new_server).unzip();
        let mut notices: Vec<String> = notices.into_iter().flatten().collect();
        notices.dedup();
        let project_servers = Mutex::default();
        Self { user_servers, project_servers, catalogue, context, on_change, listeners, notices }
    }

    /// Replaces the servers of the project. Those with the same configuration stay connected. A server of the user with
    /// the same name takes precedence.
    pub fn set_project_servers(&self, configs: Vec<ServerConfig>) {
        let mut project_servers = self.project_servers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |config: &ServerConfig| self.user_servers.iter().all(|server| server.config.name != config.name);
        let find_or_create = |config: ServerConfig| {
            let same = project_servers.iter().find(|server| server.config == config).cloned();
            same.unwrap_or_else(|| {
                Server::new(config, self.catalogue.clone(), self.context.clone(), self.on_change.clone()).0
            })
        };
        *project_servers = configs.into_iter().filter(is_free).map(find_or_create).collect();
    }

    /// Tells all receivers that the offered tools changed.
    pub fn announce_change(&self) {
        (self.on_change)(ServerNews::default());
    }

    fn servers(&self) -> impl Iterator<Item = Arc<Server>> {
        let project_servers = self.project_servers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.user_servers.clone().into_iter().chain(project_servers)
    }

    /// Returns notices for the user about the accepted tools.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Describes all servers for the user. Reads a file.
    pub fn reports(&self) -> Vec<ServerReport> {
        self.servers().map(|server| server.report()).collect()
    }

    /// Connects in parallel to the servers with changed tools whose new definitions are unknown.
    pub async fn load_changes(&self) {
        futures::future::join_all(self.servers().map(Server::load_change)).await;
    }

    /// Accepts the changed tools of a server as the user has read them. Returns their number. Writes a file.
    ///
    /// # Errors
    /// A sentence for the user. Nothing is accepted then.
    pub fn accept_change(&self, name: &str, digest: &Digest) -> Result<usize, String> {
        self.find_server(name)?.accept_change(digest)
    }

    /// Returns the names of all servers, each with its resources and prompts.
    pub fn offers(&self) -> Vec<(String, ServerOffer)> {
        self.servers().map(|server| (server.config.name.clone(), server.offer())).collect()
    }

    /// Reads a resource of a server as text.
    ///
    /// # Errors
    /// A sentence for the user.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<String, String> {
        self.find_server(server)?.read_resource(uri).await
    }

    /// Returns the messages of a prompt of a server as one text.
    ///
    /// # Errors
    /// A sentence for the user.
    pub async fn get_prompt(
        &self,
        server: &str,
        prompt: &str,
        arguments: &[(String, String)],
    ) -> Result<String, String> {
        self.find_server(server)?.get_prompt(prompt, arguments).await
    }

    fn find_server(&self, name: &str) -> Result<Arc<Server>, String> {
        let server = self.servers().find(|server| server.config.name == name);
        server.ok_or_else(|| format!("There is no MCP server {name}."))
    }

    /// Adds a receiver of changes.
    pub fn add_listener(&self, listener: Listener) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Returns the tools to offer now. Of several with the same name only the first is offered.
    pub fn offered_tools(&self) -> Vec<OfferedTool> {
        let mut offered: Vec<OfferedTool> = Vec::new();
        for server in self.servers() {
            for tool in server.offered_tools() {
                if offered.iter().all(|other| other.spec().name != tool.spec.name) {
                    offered.push(OfferedTool { server: server.clone(), tool });
                }
            }
        }
        offered
    }

    /// Connects in parallel, after a delay, to the servers that were never connected. Requires a tokio runtime.
    pub fn start_discovery(&self, delay: Duration) {
        for server in self.servers().filter(|server| !server.is_known()) {
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                server.discover().await;
            });
        }
    }

    /// Connects in parallel to the servers that were never connected, and waits for them.
    pub async fn discover(&self) {
        let unknown = self.servers().filter(|server| !server.is_known());
        futures::future::join_all(unknown.map(Server::discover)).await;
    }
}

impl OfferedTool {
    /// Returns what the model receives.
    pub fn spec(&self) -> &ToolSpec {
        &self.tool.spec
    }

    /// Returns the name of the server.
    pub fn server_name(&self) -> &str {
        &self.server.config.name
    }

    /// Returns where the server is reached.
    pub fn endpoint(&self) -> &Endpoint {
        &self.server.config.endpoint
    }

    /// Returns the name by which the server knows the tool, for a text of the program.
    pub fn display_name(&self) -> String {
        self.tool.definition.display_name()
    }

    /// Returns the digest of the accepted definition.
    pub fn digest(&self) -> &Digest {
        &self.tool.digest
    }

    /// Returns whether a server that the user trusts says that the tool only reads.
    pub fn is_read_only(&self) -> bool {
        self.server.config.is_trusted && self.tool.definition.claims_read_only()
    }

    /// Returns the time limit of a call.
    pub fn call_limit(&self) -> Duration {
        self.server.config.call_limit + self.server.config.discovery_limit
    }

    /// Calls the tool. Dropping the future cancels the call at the server.
    ///
    /// # Errors
    /// A text for the model.
    pub async fn call(&self, arguments: Map<String, Value>, on_progress: OnProgress) -> Result<ResultText, String> {
        self.server.call(&self.tool, arguments, on_progress).await
    }
}
