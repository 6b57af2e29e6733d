//! Checks the accepted tools of the configured MCP servers. No server is started.

use super::finding::Finding;
use crate::assemble::mcp_setup::user_servers;
use crate::chat::pluralize;
use crate::config::Settings;
use crate::mcp::catalogue::Catalogue;
use crate::mcp::server_config::ServerConfig;
use crate::store::Places;

/// Reports each enabled server of the settings.
pub(super) fn check_servers(settings: &Settings, places: &Places) -> Vec<Finding> {
    let (area, catalogue) = ("mcp", Catalogue::new(places.mcp_catalogue()));
    let check = |server: &ServerConfig| {
        let name = &server.name;
        match catalogue.load(&server.endpoint.identity()) {
            Ok(None) => Finding::ok(area, format!("{name}: never connected")),
            Ok(Some(known)) if known.changed.is_empty() => {
                Finding::ok(area, format!("{name}: {}", pluralize(known.tools.len(), "accepted tool")))
            }
            Ok(Some(known)) => Finding::problem(
                area,
                format!("{name}: {} changed, not offered", pluralize(known.changed.len(), "tool")),
                format!("review the change: aye mcp check {name}"),
            ),
            Err(error) => Finding::problem(
                area,
                format!("{name}: cannot read {}: {error}", catalogue.file().display()),
                "remove the file; all tools are new again",
            ),
        }
    };
    user_servers(&settings.config).iter().map(check).collect()
}
