//! Settings of the tools.

use super::doc_sources::DocFolder;
use super::project_programs::ProjectPrograms;
use crate::browser::executable::BrowserProgram;
use crate::chat::CommandSandbox;
use crate::web::client::WebClient;
use crate::web::target::PrivateHosts;
use std::sync::Arc;

/// Settings of tools.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// Default timeout of a command, in seconds.
    pub default_timeout: u64,
    /// Maximum timeout of a command, in seconds.
    pub max_timeout: u64,
    /// Sandbox of commands that do not request the network.
    pub sandbox: CommandSandbox,
    /// True if commands may request the network.
    pub allow_network: bool,
    /// True if the tools that send requests of their own are offered: `web_fetch` and `run_mcp_tool`.
    pub has_requests: bool,
    /// The client of all tools that send requests, with the hosts in private networks that these tools and the browser may
    /// request. It has one pool of connections.
    pub web: Arc<WebClient>,
    /// The browser; `None` if none is installed or it is turned off.
    pub browser: Option<BrowserProgram>,
    /// Names such as `tail` that may mean a program of the project.
    pub project_programs: ProjectPrograms,
    /// Folders of the tools for documents, in addition to the project; `None` if these tools are turned off.
    pub doc_folders: Option<Vec<DocFolder>>,
}

impl Default for ToolSettings {
    /// Returns settings with the timeouts that the user's settings have by default, so that tools have the texts that most
    /// sessions send.
    fn default() -> Self {
        Self {
            default_timeout: 30,
            max_timeout: 600,
            sandbox: CommandSandbox::Unspecified,
            allow_network: true,
            has_requests: true,
            web: Arc::new(WebClient::new(PrivateHosts::default())),
            browser: None,
            project_programs: ProjectPrograms::default(),
            doc_folders: None,
        }
    }
}
