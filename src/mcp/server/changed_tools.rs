//! What the user sees of a server, and accepting its changed tools.

use super::{Server, ServerNews, accept_tools, damaged_notice};
use crate::chat::{Digest, ServerReport, ToolsChange, describe_tool_count};
use crate::mcp::catalogue::{Difference, KnownServer, compare};
use std::sync::{Arc, PoisonError};

/// Maximum bytes of a difference that is shown on the screen.
const MAX_BYTES: usize = 200_000;

impl Server {
    /// Connects to a server with changed tools whose new definitions are not known in this run. An error is reported like
    /// any other of the server.
    pub(in crate::mcp) async fn load_change(self: Arc<Self>) {
        let known = self.catalogue.load(&self.config.endpoint.identity()).ok().flatten();
        let has_changed = known.is_some_and(|known| !known.changed.is_empty());
        if has_changed
            && self.state().listed.is_none()
            && let Err(reason) = self.connect().await
        {
            self.mark_down(&reason);
        }
    }

    /// Describes the server for the user. Reads a file.
    pub(in crate::mcp) fn report(&self) -> ServerReport {
        let loaded = self.catalogue.load(&self.config.endpoint.identity());
        let problem = loaded.as_ref().err().map(|error| format!("its accepted tools cannot be read: {error}"));
        let is_new = matches!(loaded, Ok(None));
        let known = loaded.ok().flatten().unwrap_or_default();
        let state = self.state();
        let status = match (&problem, state.is_down, &state.listed) {
            (Some(problem), ..) => problem.clone(),
            (None, true, _) => format!("cannot be used: {}", state.problem),
            (None, false, Some(_)) => "connected".to_owned(),
            (None, false, None) if is_new => "never connected".to_owned(),
            (None, false, None) => "not connected yet".to_owned(),
        };
        let listed = state.listed.as_ref().filter(|_| problem.is_none());
        let differences = listed.map(|listed| compare(&known.tools, listed)).unwrap_or_default();
        let tools = known.tools.iter().flat_map(|tool| {
            let mark = if known.changed.contains(&tool.name) { " (changed, not offered)" } else { "" };
            let unusable = self.config.explain_excluded(tool).map(|reason| format!("  not offered: it {reason}"));
            let title = format!("tool {}{mark}", tool.display_name());
            let lines = tool.describe().into_iter().map(|line| format!("  {line}"));
            std::iter::once(title).chain(unusable).chain(lines).chain([String::new()])
        });
        let offered_count = state.tools.len();
        let tool_count = state.listed.as_ref().map_or_else(|| known.count_tools(), Vec::len).max(offered_count);
        let change = describe_change(&differences);
        let bytes = change.iter().flat_map(|change| &change.lines).map(String::len).sum::<usize>();
        let note = match &change {
            Some(_) if bytes > MAX_BYTES => {
                format!("The difference is too long to be shown here: aye mcp check {}", self.config.name)
            }
            None if !known.changed.is_empty() => "What changed is known once the server is connected".to_owned(),
            Some(_) | None => String::new(),
        };
        ServerReport {
            name: self.config.name.clone(),
            place: self.config.endpoint.describe(),
            status: format!("{} · {status}", describe_tool_count(offered_count, tool_count)),
            tools: tools.collect(),
            changed_count: known.changed.len(),
            change: change.filter(|_| bytes <= MAX_BYTES),
            note,
        }
    }

    /// Accepts the difference with this digest, which the user has read. Returns the number of tools that are new or changed.
    /// Writes a file.
    ///
    /// # Errors
    /// A sentence for the user, if the definitions are others by now, or if the accepted ones cannot be read or saved.
    /// Nothing is accepted then.
    pub(in crate::mcp) fn accept_change(&self, digest: &Digest) -> Result<usize, String> {
        let _comparison = self.comparison.lock().unwrap_or_else(PoisonError::into_inner);
        let (identity, name) = (self.config.endpoint.identity(), &self.config.name);
        // Replacing a damaged file would make the tools of all other servers new, and new servers are accepted unseen.
        let known = self.catalogue.load(&identity).map_err(|error| damaged_notice(&self.catalogue, &error))?;
        let known = known.unwrap_or_default();
        let listed = self.state().listed.clone().unwrap_or_default();
        let change = describe_change(&compare(&known.tools, &listed));
        let Some(change) = change.filter(|change| change.digest == *digest) else {
            return Err(format!(
                "The tools of MCP server {name} changed again. Nothing was accepted; read them again."
            ));
        };
        self.catalogue
            .save(&identity, Some(KnownServer::from_accepted(&listed)))
            .map_err(|error| format!("Cannot save the tools of MCP server {name}: {error}."))?;
        self.state().tools = accept_tools(&self.config, listed);
        (self.on_change)(ServerNews::default());
        Ok(change.tool_count)
    }
}

/// Describes what the user must accept; `None` if nothing.
fn describe_change(differences: &[Difference]) -> Option<ToolsChange> {
    let tool_count = differences.iter().filter(|difference| difference.needs_acceptance()).count();
    let lines: Vec<String> = differences.iter().flat_map(Difference::describe).collect();
    let digests: Vec<String> = differences.iter().map(Difference::identity).collect();
    let digest = Digest::of_bytes(digests.join("\n").as_bytes());
    (tool_count > 0).then_some(ToolsChange { digest, tool_count, lines })
}
