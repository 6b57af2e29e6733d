//! Opening a connection, with a handshake or without one.
//!
//! A connection begins with the handshake of the protocol. Servers of its version 2026-07-28 have none: they answer the
//! handshake with an error, and the connection is opened once more without it. Each request then contains what the handshake
//! would have said, and the server announces changes only on a subscription.
//!
//! The library can also try it the other way round (`ClientLifecycleMode::Auto`). That costs every server with a handshake a
//! request, and one that does not answer unknown requests ten seconds.

use super::{CallError, Connection, ConnectionContext, clean_error, root_cause};
use crate::mcp::client_handler::Client;
use crate::mcp::http_transport::{open_transport, plain_transport};
use crate::mcp::login_advice::LoginAdvice;
use crate::mcp::server_config::{Endpoint, ServerConfig};
use crate::project::stdio_program::{ProgramFolder, StdioProgram};
use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Pause before a subscription that ended is opened again. It doubles until there is a notification.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Why a connection could not be opened.
struct OpenError {
    /// One sentence, worded to follow the server's name.
    text: String,
    /// True if the server answered that it does not accept the first request.
    is_answer: bool,
}

impl OpenError {
    fn new(error: &ClientInitializeError, advice: &LoginAdvice) -> Self {
        let is_answer = matches!(error, ClientInitializeError::JsonRpcError(_));
        Self { text: clean_error(&explain_start_error(error, advice)), is_answer }
    }
}

impl From<String> for OpenError {
    fn from(text: String) -> Self {
        Self { text, is_answer: false }
    }
}

/// The first request of a connection without a handshake asks the server for its versions and capabilities.
fn without_handshake() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

impl Connection {
    /// Connects to a server. Requires a tokio runtime with I/O and time. A server that is a program is started twice if
    /// it accepts no handshake and the settings do not say so.
    ///
    /// # Errors
    /// One sentence, worded to follow the server's name.
    pub async fn open(config: &ServerConfig, context: &ConnectionContext) -> Result<Self, String> {
        let opened = match config.has_handshake {
            true => match Self::begin(config, context, ClientLifecycleMode::Initialize).await {
                // If the server rejects both requests, the first error has another reason and is reported.
                Err(first) if first.is_answer => Self::begin(config, context, without_handshake())
                    .await
                    .map_err(|second| if second.is_answer { first } else { second }),
                opened => opened,
            },
            false => Self::begin(config, context, without_handshake()).await,
        };
        opened.map_err(|error| error.text)
    }

    async fn begin(
        config: &ServerConfig,
        context: &ConnectionContext,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, OpenError> {
        let (client, owner) = (Client::new(config, context), watch::Sender::new(()));
        let advice = LoginAdvice::new(config, &context.credentials);
        let (service, program) = match &config.endpoint {
            Endpoint::Program { command_line, variables, folder } => {
                let mut environment = context.environment.clone();
                environment.retain(|(name, _)| name.to_str().is_none_or(|name| !variables.contains_key(name)));
                environment.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
                let folder = ProgramFolder::Existing(folder);
                let started = StdioProgram::start(&context.aye_path, command_line, folder, &environment);
                let (mut program, socket) = started.map_err(|error| format!("it could not be started: {error}"))?;
                match serve_client_with_lifecycle(client.clone(), socket.into_split(), lifecycle).await {
                    Ok(service) => (service, Some(program)),
                    Err(error) => {
                        let failed = OpenError::new(&error, &advice);
                        // A program that answered ends because its connection does, which explains nothing.
                        let end = if failed.is_answer { None } else { program.explain_end().await };
                        return Err(end.map_or(failed, |end| clean_error(&end).into()));
                    }
                }
            }
            Endpoint::Address { url, headers, credential } => {
                let credential = credential.clone().map(|name| (context.credentials.clone(), name));
                let transport = open_transport(url, headers, credential, owner.subscribe()).await?;
                let service = serve_client_with_lifecycle(client.clone(), transport, lifecycle).await;
                (service.map_err(|error| OpenError::new(&error, &advice))?, None)
            }
        };
        Ok(Self::from_service(service, client, program, advice, owner))
    }

    /// Connects to a server that is not configured, and offers it nothing. `http` decides which addresses it reaches.
    pub(in crate::mcp) async fn open_unlisted(url: &str, http: reqwest::Client) -> Result<Self, CallError> {
        let begin = async |lifecycle| {
            let (client, owner) = (Client::without_offers(), watch::Sender::new(()));
            let transport = plain_transport(url, http.clone(), owner.subscribe());
            let service = serve_client_with_lifecycle(client.clone(), transport, lifecycle).await?;
            Ok(Self::from_service(service, client, None, LoginAdvice::default(), owner))
        };
        let mut opened = begin(ClientLifecycleMode::Initialize).await;
        if let Err(ClientInitializeError::JsonRpcError(_)) = opened {
            opened = match begin(without_handshake()).await {
                Err(ClientInitializeError::JsonRpcError(_)) => opened,
                second => second,
            };
        }
        opened.map_err(|error| match error.auth_challenge() {
            Some(_) => CallError::NeedsLogin,
            None => CallError::Failed(clean_error(&explain_start_error(&error, &LoginAdvice::default()))),
        })
    }

    fn from_service(
        service: RunningService<RoleClient, Client>,
        client: Client,
        program: Option<StdioProgram>,
        login_advice: LoginAdvice,
        owner: watch::Sender<()>,
    ) -> Self {
        let (peer, stop) = (service.peer().clone(), Some(service.cancellation_token()).into());
        let (end_sender, has_ended) = watch::channel(false);
        tokio::spawn(async move {
            let _ = service.waiting().await;
            end_sender.send_replace(true);
        });
        if let Some(filter) = changes_to_subscribe(&peer) {
            tokio::spawn(watch_changes(peer.clone(), filter, client.tools_changed.clone(), has_ended.clone()));
        }
        Self { peer, client, stop, has_ended, program: program.into(), login_advice, _owner: owner }
    }
}

/// Returns the list changes that the server announces on a subscription; `None` if it announces none or began with a handshake.
fn changes_to_subscribe(peer: &Peer<RoleClient>) -> Option<SubscriptionFilter> {
    let info = peer.peer_info().filter(|info| !info.protocol_version.has_initialize())?;
    let capabilities = &info.capabilities;
    let lists = [
        capabilities.tools.as_ref().and_then(|tools| tools.list_changed),
        capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed),
        capabilities.resources.as_ref().and_then(|resources| resources.list_changed),
    ];
    let [tools, prompts, resources] = lists.map(|announces| announces.filter(|announces| *announces));
    let mut filter = SubscriptionFilter::new();
    (filter.tools_list_changed, filter.prompts_list_changed, filter.resources_list_changed) =
        (tools, prompts, resources);
    tools.or(prompts).or(resources).map(|_| filter)
}

/// Notifies of each change until the connection ends. A subscription that ends is opened again, after which any list may have
/// changed.
async fn watch_changes(
    peer: Peer<RoleClient>,
    filter: SubscriptionFilter,
    changed: Arc<Notify>,
    mut has_ended: watch::Receiver<bool>,
) {
    let notify = async {
        let (mut pause, mut is_first) = (MIN_PAUSE, true);
        loop {
            match peer.listen(filter.clone()).await {
                Ok(mut subscription) => {
                    if !is_first {
                        changed.notify_one();
                    }
                    is_first = false;
                    while let Ok(Some(_)) = subscription.next().await {
                        pause = MIN_PAUSE;
                        changed.notify_one();
                    }
                }
                // The server has no subscriptions, whatever it says.
                Err(ServiceError::McpError(_)) => return,
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = MAX_PAUSE.min(pause * 2);
        }
    };
    tokio::select! {
        () = notify => {}
        _ = has_ended.wait_for(|has_ended| *has_ended) => {}
    }
}

fn explain_start_error(error: &ClientInitializeError, advice: &LoginAdvice) -> String {
    if error.is_authorization_required() {
        return advice.explain_needed_login();
    }
    if let Some(explanation) = error.auth_challenge().and_then(|challenge| advice.explain_missing_scopes(challenge)) {
        return explanation;
    }
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::TransportError { error, .. } => {
            format!("it cannot be reached: {}", root_cause(error.error.as_ref()))
        }
        ClientInitializeError::JsonRpcError(error) => format!("it answered with an error: {}", error.message),
        error => format!("it does not speak the protocol: {error}"),
    }
}
