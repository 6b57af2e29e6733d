//! Start of a run: creates and connects its parts from the command line and the settings.

use super::connected_model::ConnectedModel;
use super::connector::Connector;
use super::credential_prompts::CredentialPrompts;
use super::demo_environment::{self, listed_paths, write_script_files};
use super::mcp_setup::{connection_context, set_up_servers, user_servers};
use super::read_folders::ReadFolders;
use super::request_credentials::CredentialStore;
use super::reviewers::{self, Reviewers};
use super::server_forms::ServerForms;
use super::server_samplings::ServerSamplings;
use super::session::Session;
use super::session_builder::SessionBuilder;
use super::settings_profiles::SettingsProfiles;
use super::terminal_query::TerminalQuery;
use super::tool_files::{ToolFactory, tool_settings};
use super::{rehearsal, sandbox_setup};
use crate::agent::ApplyRequest;
use crate::chat::ForkMode;
use crate::cli::commands::ApplyRehearsal;
use crate::cli::{ChatOptions, UsageError, bail_usage, resolve_folder};
use crate::config::tool_credentials::ToolCredentials;
use crate::config::{self, Config, Credentials};
use crate::demo::{self, Script};
use crate::mcp::connection::ConnectionContext;
use crate::mcp::form_prompts::FormPrompts;
use crate::mcp::sampling_prompts::Sampler;
use crate::project::guard::own_program;
use crate::project::shell::Shell;
use crate::store::{Journal, Places};
use crate::text::clean::clean_text;
use crate::text::known_secrets::KnownSecrets;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything this run was started with.
pub(crate) struct Start {
    pub(crate) options: ChatOptions,
    /// The rehearsal to apply at once, if any.
    pub(crate) apply: Option<ApplyRehearsal>,
    pub(crate) session_builder: SessionBuilder,
    pub(crate) model: ConnectedModel,
    pub(super) connector: Connector,
    /// Sent only if the run has a screen.
    pub(super) terminal_query: TerminalQuery,
    /// Folder of every session except the tour, which has its own.
    pub(super) real_folder: PathBuf,
    /// Notices for the user, one sentence each.
    pub(crate) notices: Vec<String>,
}

/// Reports invalid settings before another error that may result from them.
fn report_problems(settings: &config::Settings, error: &anyhow::Error) {
    let message = error.to_string();
    for problem in settings.problems.iter().map(ToString::to_string).filter(|problem| *problem != message) {
        // To stderr, where the error itself will be printed. A failure to print is ignored.
        let _ = writeln!(std::io::stderr(), "aye: {}", clean_text(&problem));
    }
}

/// Returns every key and possible secret: from the environment, saved keys and credentials, headers, query parameters and
/// proxies.
pub(crate) fn known_secrets(
    config: &Config,
    credentials: &Credentials,
    tool_credentials: &ToolCredentials,
) -> Vec<String> {
    let mut secrets: Vec<String> = credentials.keys().map(|key| key.expose().to_owned()).collect();
    secrets.extend(tool_credentials.secrets());
    secrets.extend(tool_credentials.variables().filter_map(|name| std::env::var(name).ok()));
    for profile in config.profiles.values() {
        let env_key = profile.key_env.as_ref().and_then(|name| std::env::var(name).ok());
        secrets.extend(env_key.map(|key| key.trim().to_owned()));
        // `none` is no address: it turns the proxy off.
        let proxy = profile.proxy.iter().filter(|proxy| *proxy != "none");
        secrets.extend(profile.headers.values().chain(profile.query.values()).chain(proxy).cloned());
    }
    for server in config.mcp.values() {
        secrets.extend(server.env.values().chain(server.headers.values()).cloned());
        secrets.extend(server.url.iter().filter_map(|url| url.split_once('?')).map(|(_, query)| query.to_owned()));
    }
    secrets
}

/// Where the replies of a run come from.
#[derive(Clone)]
enum ReplySource {
    /// The configured provider, or the tour.
    Provider,
    /// Nowhere: the calls come from another program.
    Nowhere,
    Script(Arc<Script>),
}

pub(crate) fn prepare_start(options: ChatOptions) -> Result<Start> {
    prepare_parts(options, None, &ReplySource::Provider, false)
}

/// Prepares a run with a screen. The terminal is queried meanwhile.
pub(crate) fn prepare_screen_start(options: ChatOptions, apply: Option<ApplyRehearsal>) -> Result<Start> {
    prepare_parts(options, apply, &ReplySource::Provider, true)
}

/// Prepares a run in which a script replies.
pub(crate) fn prepare_scripted_start(options: ChatOptions, script: Arc<Script>) -> Result<Start> {
    prepare_parts(options, None, &ReplySource::Script(script), false)
}

/// Prepares a run whose calls come from another program. It needs no provider, and contacts none but that of a model
/// reviewer.
pub(crate) fn prepare_served_start(options: ChatOptions) -> Result<Start> {
    prepare_parts(options, None, &ReplySource::Nowhere, false)
}

fn prepare_parts(
    options: ChatOptions,
    apply: Option<ApplyRehearsal>,
    source: &ReplySource,
    has_screen: bool,
) -> Result<Start> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let mut notices = Vec::new();
    if let Err(error) = places.prepare() {
        notices.push(format!("Cannot save anything between runs: {error}. Set AYE_HOME to a writable folder."));
    }
    let flags = options.connection.overrides(options.mode.as_deref(), options.theme.as_deref())?;
    let environment = |name: &str| std::env::var(name).ok();
    let settings = config::Settings::load(&places.settings(), &environment, &flags);
    notices.extend(settings.problems.iter().chain(&settings.notices).map(ToString::to_string));
    let credentials = Credentials::load(&places.credentials()).unwrap_or_else(|error| {
        notices.push(format!("Cannot read the saved keys: {error}. Check the file with `aye doctor`."));
        Credentials::default()
    });
    let tool_credentials = ToolCredentials::load(&places.tool_credentials()).unwrap_or_else(|error| {
        notices.push(format!("Cannot read the credentials of tools: {error}. Check the file with `aye doctor`."));
        ToolCredentials::default()
    });
    let settings = Arc::new(settings);
    let connector =
        Connector { settings, credentials, flags, dry_run: options.dry_run, is_interactive: !options.print };
    let opens_stored_session = options.continue_last || options.resume.is_some() || apply.is_some();
    let connection = match source {
        _ if options.tour => None,
        ReplySource::Nowhere | ReplySource::Script(_) => None,
        ReplySource::Provider => {
            connector.configured_connection().inspect_err(|error| report_problems(&connector.settings, error))?
        }
    };
    let model = match (connection, source) {
        (Some(connection), _) => connector.connect_model(&connection),
        (None, ReplySource::Script(script)) => ConnectedModel::scripted(script.clone(), false),
        (None, ReplySource::Nowhere) => ConnectedModel::unconfigured(),
        (None, ReplySource::Provider) if opens_stored_session && !options.tour => ConnectedModel::unconfigured(),
        (None, ReplySource::Provider) => ConnectedModel::tour(!options.print),
    };
    notices.extend(model.warnings.clone());
    let real_folder = resolve_folder(options.folder.as_deref())?;
    // The usual mistakes are found by now. An error below waits for the answer of the terminal.
    let terminal_query = match has_screen {
        true => TerminalQuery::begin(&connector.settings.config.screen),
        false => TerminalQuery::default(),
    };
    let folder = if model.connection_info.is_tour {
        write_script_files(&demo::tour(), &places.tour())?
    } else {
        real_folder.clone()
    };
    let shell = &connector.settings.config.shell;
    let sandbox = sandbox_setup::setup_sandbox(shell, &places);
    notices.extend(sandbox.notices);
    notices.extend(sandbox.no_sandbox_notice);
    let tools = tool_settings(&connector.settings.config, sandbox.sandbox, &folder);
    let secrets: KnownSecrets =
        known_secrets(&connector.settings.config, &connector.credentials, &tool_credentials).into_iter().collect();
    let secret_store = connector.settings.config.credentials.store;
    let store = Arc::new(CredentialStore::new(&places, secrets.clone(), secret_store));
    let credentials = Arc::new(CredentialPrompts::new(store.clone()));
    let profiles = Arc::new(SettingsProfiles::new(connector.settings.clone(), &connector.flags, &places));
    let server_samplings = Arc::new(ServerSamplings::new(profiles.clone()));
    let tool_factory = Arc::new(ToolFactory::new(tools, &connector.settings.config, store.clone(), profiles));
    let (user_tools, tool_notices) = tool_factory.user_toolbox(&places);
    notices.extend(tool_notices);
    let profiles = connector.settings.config.profiles.values();
    let profile_variables = profiles.filter_map(|profile| profile.key_env.clone());
    let key_variables: Vec<String> = profile_variables.chain(tool_credentials.variables().map(str::to_owned)).collect();
    let (reviewers, reviewer_notices) = Reviewers::from_settings(&connector, &key_variables);
    notices.extend(reviewer_notices);
    let journal = Journal::new(places.journal(), options.debug_content, secrets);
    let commands = Shell::new(own_program())
        .without_variables(key_variables.into_iter().chain(demo_environment::VARIABLES.map(str::to_owned)).collect())
        .with_closed_paths(
            [sandbox.write_protected, listed_paths(demo_environment::OWN_PATHS)].concat(),
            [sandbox.read_protected, listed_paths(demo_environment::KEY_FILES)].concat(),
        );
    let servers = if model.connection_info.is_tour { Vec::new() } else { user_servers(&connector.settings.config) };
    let server_forms = Arc::new(ServerForms::new());
    let form_prompts: Option<Arc<dyn FormPrompts>> = if options.print { None } else { Some(server_forms.clone()) };
    let sampler: Option<Arc<dyn Sampler>> = if options.print { None } else { Some(server_samplings.clone()) };
    let context =
        ConnectionContext { form_prompts, sampler, ..connection_context(&commands, &folder, &journal, store) };
    let mcp_servers = set_up_servers(servers, &places, context);
    notices.extend_from_slice(mcp_servers.notices());
    let tools = user_tools.with_servers(mcp_servers.clone()).with_credential_prompts(credentials.clone());
    let session_builder = SessionBuilder {
        journal,
        credentials,
        places,
        folder,
        tools: Arc::new(tools),
        mcp_servers,
        server_forms,
        server_samplings,
        tool_factory,
        shell: Arc::new(commands),
        reviewers,
        mode: connector.settings.config.approval.mode,
        trial_paths: shell.read.clone(),
        dry_run: connector.settings.config.dry_run.clone(),
        simulator: if model.provider.is_none() { None } else { reviewers::connect_simulator(&connector) },
        model_flag: options.connection.model.clone(),
        titles: connector.settings.config.model.titles && !options.print,
        max_instruction_bytes: connector.settings.config.project.instructions_kib << 10,
        read_folders: ReadFolders::default(),
        checkpoint_bytes: connector.settings.config.undo.max_mb << 20,
        workspace_limits: sandbox_setup::workspace_limits(&connector.settings.config),
        is_interactive: !options.print,
        is_served: matches!(source, ReplySource::Nowhere),
    };
    Ok(Start { options, apply, session_builder, model, connector, terminal_query, real_folder, notices })
}

impl Start {
    /// Returns the calls to approve at once, if any.
    pub(super) fn initial_apply_request(&self) -> Result<Option<ApplyRequest>> {
        let Some(apply) = &self.apply else { return Ok(None) };
        let options = apply.apply_options();
        rehearsal::build_apply_request(&self.session_builder, self.default_folder(), apply.id.as_deref(), options)
            .map(Some)
    }

    /// Returns the folder to use if nothing names another.
    pub(super) fn default_folder(&self) -> &Path {
        if self.options.tour { &self.session_builder.folder } else { &self.real_folder }
    }

    /// Explains why it is uncertain which session `--continue` means. `None` if it is certain, or not requested.
    pub(super) fn explain_doubt(&self) -> Option<String> {
        let latest = || self.session_builder.stored_sessions().find_latest(&self.session_builder.folder).ok();
        self.options.continue_last.then(latest).flatten().and_then(|latest| latest.explain_doubt())
    }

    /// Opens the session that the command line asks for.
    pub(crate) fn open_session(&self) -> Result<Session> {
        let sessions = self.session_builder.stored_sessions();
        if let Some(apply) = &self.apply {
            let folder = self.default_folder();
            let id = sessions.find_dry_run(folder, apply.id.as_deref()).map_err(UsageError::from_error)?;
            return self.session_builder.fork_session(&id, ForkMode::Live, None, &self.model, &self.connector);
        }
        let id = if self.options.continue_last {
            Some(sessions.find_continued(&self.session_builder.folder).map_err(UsageError::from_error)?)
        } else {
            let named = self.options.resume.as_deref().filter(|name| !name.is_empty());
            named.map(|name| sessions.find_id(name)).transpose().map_err(UsageError::from_error)?
        };
        let (builder, model, connector) = (&self.session_builder, &self.model, &self.connector);
        let Some(id) = id else { return builder.start_session(model, self.options.dry_run) };
        let mut session = match self.options.fork {
            true => builder.fork_session(&id, self.options.fork_mode(), None, model, connector)?,
            false => builder.continue_session(&id, model, connector)?,
        };
        match (session.state.is_dry_run(), self.options.dry_run) {
            (false, true) => bail_usage!(
                "Cannot rehearse in session {id}: it is live, and --dry-run cannot change that. Omit --dry-run, rehearse in a copy with --resume {id} --fork --dry-run, or start a new session."
            ),
            (true, false) => session.warn_still_dry_run(),
            (true, true) | (false, false) => {}
        }
        Ok(session)
    }
}
