//! Settings of the tools.

use crate::browser::executable::BrowserProgram;
use crate::chat::CommandSandbox;
use crate::web::target::PrivateHosts;

/// Settings of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// Default timeout of a command, in seconds.
    pub default_timeout: u64,
    /// Maximum timeout of a command, in seconds.
    pub max_timeout: u64,
    /// Sandbox of commands that do not request the network.
    pub sandbox: CommandSandbox,
    /// True if commands may request the network.
    pub allow_network: bool,
    /// Hosts in private networks that `web_fetch` may request; `None` if it is not offered.
    pub web: Option<PrivateHosts>,
    /// The browser; `None` if none is installed or it is turned off.
    pub browser: Option<BrowserProgram>,
    /// Hosts in private networks that the browser may request.
    pub browser_hosts: PrivateHosts,
    /// True if `PATH` has a folder in the project, so that a name such as `tail` may mean a program of the project.
    pub has_project_programs: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            default_timeout: 30,
            max_timeout: 120,
            sandbox: CommandSandbox::Unspecified,
            allow_network: true,
            web: Some(PrivateHosts::default()),
            browser: None,
            browser_hosts: PrivateHosts::default(),
            has_project_programs: false,
        }
    }
}
