//! One configured server: its state, and its connection while there is one.

mod changed_tools;
mod user_texts;

use super::catalogue::{Catalogue, Difference, KnownServer, compare};
use super::client_handler::OnProgress;
use super::connection::{CallError, Connection, ConnectionContext};
use super::definition::Definition;
use super::result_text::{ResultText, mark_untrusted};
use super::server_config::ServerConfig;
use crate::chat::{Digest, ServerOffer, ToolSpec, UnacceptedTools};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// News when the offered tools change.
#[derive(Debug, Clone, Default)]
pub struct ServerNews {
    /// Notices for the user, one sentence each.
    pub notices: Vec<String>,
    /// New or changed tools, not offered until accepted.
    pub unaccepted: Option<UnacceptedTools>,
}

/// Receives the news.
pub(super) type OnChange = Arc<dyn Fn(ServerNews) + Send + Sync>;

/// Maximum number of attempts to reach a server that ended.
const MAX_ATTEMPTS: u32 = 10;
/// Maximum time before an attempt.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A tool that may be offered.
#[derive(Debug)]
pub(super) struct AcceptedTool {
    pub(super) definition: Definition,
    pub(super) digest: Digest,
    pub(super) spec: ToolSpec,
}

/// A configured server.
pub(super) struct Server {
    pub(super) config: ServerConfig,
    catalogue: Catalogue,
    context: ConnectionContext,
    on_change: OnChange,
    state: Mutex<State>,
    /// Held while definitions are compared or accepted, so that none is accepted that changed meanwhile.
    comparison: Mutex<()>,
    connection: tokio::sync::Mutex<Option<Arc<Connection>>>,
}

#[derive(Default)]
struct State {
    /// Tools whose definitions the user has accepted, and which the server still has if it was connected.
    tools: Vec<Arc<AcceptedTool>>,
    /// Definitions that the server gave when it was last connected in this run.
    listed: Option<Vec<Definition>>,
    /// Resources and prompts for the user.
    offer: ServerOffer,
    /// True if definitions of the server were accepted before.
    is_known: bool,
    /// True if the server cannot be reached. Its tools are not offered.
    is_down: bool,
    /// Why it could not be reached when that was last tried.
    problem: String,
    /// True if the user knows that it is down.
    is_down_reported: bool,
    /// True if the user knows that it refuses calls because of its login.
    is_refusal_reported: bool,
    /// Ends of its connection since the last successful call.
    failures: u32,
}

impl Server {
    /// Creates a server with the tools that were accepted before. Returns a notice if they cannot be read.
    pub(super) fn new(
        config: ServerConfig,
        catalogue: Catalogue,
        context: ConnectionContext,
        on_change: OnChange,
    ) -> (Arc<Self>, Option<String>) {
        let loaded = catalogue.load(&config.endpoint.identity());
        let notice = loaded.as_ref().err().map(|error| damaged_notice(&catalogue, error));
        let offer = catalogue.load_offer(&config.endpoint.identity());
        let mut state = State { is_known: !matches!(loaded, Ok(None)), offer, ..State::default() };
        state.tools = accept_tools(&config, loaded.ok().flatten().unwrap_or_default().into_offered());
        let (state, connection) = (Mutex::new(state), tokio::sync::Mutex::default());
        let comparison = Mutex::default();
        (Arc::new(Self { config, catalogue, context, on_change, state, comparison, connection }), notice)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether definitions of the server were accepted before.
    pub(super) fn is_known(&self) -> bool {
        self.state().is_known
    }

    /// Returns the tools to offer now.
    pub(super) fn offered_tools(&self) -> Vec<Arc<AcceptedTool>> {
        let state = self.state();
        if state.is_down { Vec::new() } else { state.tools.clone() }
    }

    /// Connects to a server that was never connected, and reports the tools. Errors are reported too.
    pub(super) async fn discover(self: Arc<Self>) {
        match self.connect().await {
            Ok(_) => (self.on_change)(ServerNews::default()),
            Err(reason) => self.mark_down(&reason),
        }
    }

    /// Calls a tool with the accepted definition of this digest. Connects first if necessary.
    ///
    /// # Errors
    /// A text for the model.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &AcceptedTool,
        arguments: Map<String, Value>,
        on_progress: OnProgress,
    ) -> Result<ResultText, String> {
        let name = &self.config.name;
        let connection = match self.connect().await {
            Ok(connection) => connection,
            Err(reason) => {
                self.mark_down(&reason);
                return Err(format!("MCP server {name} cannot be used: {reason}. The call was not made."));
            }
        };
        let is_unchanged = self.state().tools.iter().any(|known| known.digest == tool.digest);
        if !is_unchanged {
            return Err(format!(
                "The definition of this tool changed since the user accepted it. The call was not made. The user can \
                 review the change with /mcp, or with: aye mcp check {name}"
            ));
        }
        match connection.call(&tool.definition.name, arguments, self.config.call_limit, on_progress).await {
            Ok(text) => {
                let mut state = self.state();
                (state.failures, state.is_down_reported, state.is_refusal_reported) = (0, false, false);
                Ok(text.mark_untrusted(name))
            }
            Err(CallError::Failed(text)) => Err(mark_untrusted(name, &text)),
            Err(CallError::NeedsLogin) => Err(self.report_refusal(&connection.login_advice().explain_needed_login())),
            Err(CallError::MissingScopes(reason)) => Err(self.report_refusal(&reason)),
            Err(CallError::NotSent(text)) => {
                connection.end_if_unreachable().await;
                Err(mark_untrusted(name, &text))
            }
            Err(CallError::Lost) => {
                connection.end_if_unreachable().await;
                Err(format!(
                    "MCP server {name} ended during the call: {}. Whether the call had an effect is unknown.",
                    connection.explain_end().await
                ))
            }
        }
    }

    /// Tells the user once, until a call succeeds, that the server refuses a call because of its login. Returns the text for the
    /// model.
    fn report_refusal(&self, reason: &str) -> String {
        let refusal = format!("MCP server {} refused the call: {reason}.", self.config.name);
        if !std::mem::replace(&mut self.state().is_refusal_reported, true) {
            (self.on_change)(ServerNews { notices: vec![refusal.clone()], unaccepted: None });
        }
        format!("{refusal} The call was not made.")
    }

    /// Returns the connection, and opens it if there is none. A new connection is returned only after the definitions
    /// were compared with the accepted ones.
    async fn connect(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.has_ended()) {
            return Ok(connection.clone());
        }
        let open = async {
            let connection = Connection::open(&self.config, &self.context).await?;
            let definitions = connection.list_definitions().await?;
            Ok::<_, String>((connection, definitions))
        };
        let limit = self.config.discovery_limit;
        let opened = tokio::time::timeout(limit, open).await;
        let (connection, definitions) =
            opened.unwrap_or_else(|_| Err(format!("it did not answer within {} s", limit.as_secs())))?;
        let news = self.update_tools(definitions);
        let connection = Arc::new(connection);
        *slot = Some(connection.clone());
        let had_been_down = std::mem::take(&mut self.state().is_down);
        if had_been_down || !news.notices.is_empty() || news.unaccepted.is_some() {
            (self.on_change)(news);
        }
        tokio::spawn(watch_connection(Arc::downgrade(self), Arc::downgrade(&connection)));
        Ok(connection)
    }

    /// Compares the definitions of the server with the accepted ones. Those of a server that was never connected are
    /// accepted. A change is reported when it is first found, and in every other program that still offered the tools.
    fn update_tools(&self, mut definitions: Vec<Definition>) -> ServerNews {
        let _comparison = self.comparison.lock().unwrap_or_else(PoisonError::into_inner);
        let (identity, name) = (self.config.endpoint.identity(), &self.config.name);
        let loaded = self.catalogue.load(&identity);
        let mut notices: Vec<String> =
            loaded.as_ref().err().map(|error| damaged_notice(&self.catalogue, error)).into_iter().collect();
        let known = match loaded {
            Ok(Some(known)) => known,
            Ok(None) => KnownServer::from_accepted(&definitions),
            Err(_) => KnownServer::default(),
        };
        self.state().listed = Some(definitions.clone());
        let differences = compare(&known.tools, &definitions);
        let pending: Vec<&Difference> = differences.iter().filter(|found| found.needs_acceptance()).collect();
        let updated = KnownServer {
            changed: pending.iter().map(|difference| difference.tool_name().to_owned()).collect(),
            ..known.clone()
        };
        definitions.retain(|definition| !updated.changed.contains(&definition.name));
        let mut unaccepted = None;
        if notices.is_empty() {
            let is_changed = |tool: &Arc<AcceptedTool>| updated.changed.contains(&tool.definition.name);
            if !pending.is_empty() && (updated != known || self.state().tools.iter().any(is_changed)) {
                let tools = pending.iter().map(|difference| difference.display_name()).collect();
                unaccepted = Some(UnacceptedTools { server: name.clone(), tools });
            }
            if updated != known || !self.is_known() {
                let saved = self.catalogue.save(&identity, Some(updated));
                notices
                    .extend(saved.err().map(|error| format!("Cannot save the tools of MCP server {name}: {error}.")));
            }
        }
        let mut state = self.state();
        state.tools = accept_tools(&self.config, definitions);
        state.is_known = true;
        ServerNews { notices, unaccepted }
    }

    /// Withdraws the tools of a server that cannot be reached, reports it once, and tries again later.
    fn mark_down(self: &Arc<Self>, reason: &str) {
        let mut state = self.state();
        let is_first = !std::mem::replace(&mut state.is_down_reported, true);
        let had_been_down = std::mem::replace(&mut state.is_down, true);
        reason.clone_into(&mut state.problem);
        drop(state);
        let name = &self.config.name;
        let notice = format!("MCP server {name} cannot be used: {reason}. Its tools are not offered until it answers.");
        let notices = if is_first { vec![notice] } else { Vec::new() };
        (self.on_change)(ServerNews { notices, unaccepted: None });
        if !had_been_down {
            tokio::spawn(reconnect(Arc::downgrade(self)));
        }
    }
}

/// Returns the tools of these definitions that can be offered and that the settings do not exclude.
fn accept_tools(config: &ServerConfig, definitions: Vec<Definition>) -> Vec<Arc<AcceptedTool>> {
    let is_wanted = |definition: &Definition| config.explain_excluded(definition).is_none();
    let to_tool = |definition: Definition| {
        let (digest, spec) = (definition.digest(), definition.to_spec(&config.name));
        Arc::new(AcceptedTool { definition, digest, spec })
    };
    definitions.into_iter().filter(is_wanted).map(to_tool).collect()
}

fn damaged_notice(catalogue: &Catalogue, error: &std::io::Error) -> String {
    let file = catalogue.file().display();
    format!(
        "Cannot read the accepted tools of MCP servers: {file}: {error}. Remove the file, and all tools are new again."
    )
}

/// Handles the notifications of a connection until it ends.
async fn watch_connection(server: Weak<Server>, connection: Weak<Connection>) {
    let Some((tools_changed, mut end)) =
        connection.upgrade().map(|connection| (connection.tools_changed(), connection.end_receiver()))
    else {
        return;
    };
    if let Some((server, connection)) = server.upgrade().zip(connection.upgrade()) {
        server.update_offer(&connection).await;
    }
    loop {
        let has_ended = tokio::select! {
            _ = end.wait_for(|has_ended| *has_ended) => true,
            () = tools_changed.notified() => false,
        };
        let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) else { return };
        if has_ended {
            let mut slot = server.connection.lock().await;
            slot.take_if(|current| Arc::ptr_eq(current, &connection));
            drop(slot);
            server.state().failures += 1;
            return server.mark_down(&connection.explain_end().await);
        }
        let limit = server.config.discovery_limit;
        if let Ok(Ok(definitions)) = tokio::time::timeout(limit, connection.list_definitions()).await {
            (server.on_change)(server.update_tools(definitions));
        }
        server.update_offer(&connection).await;
    }
}

/// Returns the time to wait before the next attempt to reach a server, after this many failures in a row.
fn retry_pause(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(6)).min(MAX_WAIT)
}

/// Tries to reach a server again, with growing pauses.
async fn reconnect(server: Weak<Server>) {
    for _ in 0..MAX_ATTEMPTS {
        let Some(failures) = server.upgrade().map(|server| server.state().failures) else { return };
        tokio::time::sleep(retry_pause(failures)).await;
        let Some(server) = server.upgrade().filter(|server| server.state().is_down) else { return };
        if server.connect().await.is_ok() {
            return;
        }
        server.state().failures += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_before_an_attempt_doubles_up_to_a_minute() {
        let pauses: Vec<u64> = (0..9).map(|failures| retry_pause(failures).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(retry_pause(u32::MAX), MAX_WAIT);
    }
}
