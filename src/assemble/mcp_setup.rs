//! Sets up the configured MCP servers, and connects changes of their tools with sessions.

use super::connected_model::home_folder;
use super::request_credentials::CredentialStore;
use super::session::Session;
use super::session_builder::SessionBuilder;
use crate::agent::{self, Event};
use crate::config::rules::ProjectSource;
use crate::config::{self, Config, ProjectFiles};
use crate::mcp::catalogue::Catalogue;
use crate::mcp::connection::ConnectionContext;
use crate::mcp::server_config::{Endpoint, ServerConfig};
use crate::mcp::server_pool::{ServerNews, ServerPool};
use crate::project::guard::own_program;
use crate::project::shell::Shell;
use crate::runtime::{FIRST_FRAME_DELAY, Runtime};
use crate::store::{Journal, Places};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Returns the server of these settings. A program runs in `folder`.
pub(crate) fn server_config(name: &str, settings: &config::McpServer, folder: &Path) -> ServerConfig {
    let endpoint = match &settings.url {
        Some(url) => Endpoint::Address {
            url: url.clone(),
            headers: settings.headers.clone(),
            credential: settings.credential.clone(),
        },
        None => Endpoint::Program {
            command_line: settings.command.clone(),
            variables: settings.env.clone(),
            folder: folder.to_owned(),
        },
    };
    ServerConfig {
        name: name.to_owned(),
        endpoint,
        tools: settings.tools.clone(),
        is_trusted: settings.trusted,
        allows_sampling: settings.sampling,
        has_handshake: settings.handshake,
        call_limit: Duration::from_secs(settings.call_seconds),
        discovery_limit: Duration::from_secs(settings.discovery_seconds),
    }
}

/// Returns the enabled servers of the user's settings. Their programs run in the home folder, so that no file of a
/// project influences them.
pub(crate) fn user_servers(config: &Config) -> Vec<ServerConfig> {
    let enabled = config.mcp.iter().filter(|(_, settings)| settings.enabled);
    enabled.map(|(name, settings)| server_config(name, settings, &home_folder())).collect()
}

/// Returns what connections without a screen need.
pub(crate) fn connection_context(
    shell: &Shell,
    project: &Path,
    journal: &Journal,
    credentials: Arc<CredentialStore>,
) -> ConnectionContext {
    ConnectionContext {
        aye_path: own_program(),
        project: project.to_owned(),
        environment: shell.environment().to_vec(),
        journal: journal.clone(),
        form_prompts: None,
        sampler: None,
        credentials,
    }
}

/// Returns the servers of the project that the user trusts. Their programs run in its folder.
pub(crate) fn project_servers(source: &ProjectSource) -> Vec<ServerConfig> {
    let servers = ProjectFiles::trusted_mcp_servers(source);
    servers.iter().map(|(name, settings)| server_config(name, settings, &source.folder)).collect()
}

/// Creates the servers of the user. Nothing is started.
pub(crate) fn set_up_servers(
    servers: Vec<ServerConfig>,
    places: &Places,
    context: ConnectionContext,
) -> Arc<ServerPool> {
    Arc::new(ServerPool::new(servers, Catalogue::new(places.mcp_catalogue()), context))
}

/// Uses the servers of the session's project, and sends changes of tools to the session. For a live session on the
/// screen, connects to the servers that were never connected; in a dry run no server is started.
pub(super) fn follow_servers(session_builder: &SessionBuilder, folder: &Path, runtime: &Runtime, dry_run: bool) {
    let pool = &session_builder.mcp_servers;
    pool.set_project_servers(project_servers(&session_builder.project_source(folder)));
    let (events, tools) = (runtime.event_sender(), session_builder.tools.clone());
    pool.add_listener(Box::new(move |ServerNews { notices, unaccepted }| {
        if let Ok(permit) = events.try_reserve() {
            // Before the outcome of the call that noticed the change, and so before the next request.
            permit.send(Event::ToolsChanged { tools: tools.mcp_specs(), notices, unaccepted });
            return true;
        }
        let (events, tools) = (events.clone(), tools.clone());
        let is_open = !events.is_closed();
        tokio::spawn(async move {
            // The tools are read when the event is sent, so that the last event has the latest ones.
            if let Ok(permit) = events.reserve().await {
                permit.send(Event::ToolsChanged { tools: tools.mcp_specs(), notices, unaccepted });
            }
        });
        is_open
    }));
    if session_builder.is_interactive && !dry_run {
        pool.start_discovery(FIRST_FRAME_DELAY);
    }
}

/// Uses the servers of the project after the user gave or removed trust. Requires a tokio runtime.
pub(super) fn apply_trust(pool: &ServerPool, source: &ProjectSource, dry_run: bool) {
    pool.set_project_servers(project_servers(source));
    pool.announce_change();
    if !dry_run {
        pool.start_discovery(Duration::ZERO);
    }
}

/// Waits until the servers that were never connected have answered or failed, so that the first request of a headless
/// session has their tools. In a dry run no server is started.
pub(crate) async fn discover_servers(session_builder: &SessionBuilder, session: &mut Session) {
    if !session.state.is_dry_run() {
        session_builder.mcp_servers.discover().await;
        let (tools, notices, unaccepted) = (session_builder.tools.mcp_specs(), Vec::new(), None);
        session.effects.extend(agent::update(&mut session.state, Event::ToolsChanged { tools, notices, unaccepted }));
    }
}
