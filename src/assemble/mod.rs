//! Assembles the program: connects the model, the project, the tools, the session and the frontend of a run.

mod answers;
pub(crate) mod connected_model;
mod connector;
mod file_names;
mod headless_run;
mod key_command;
mod link_probe;
mod model_switch;
pub(crate) mod newest_session;
pub(crate) mod rehearsal;
mod reviewers;
mod rule_changes;
pub(crate) mod rule_loading;
pub(crate) mod run_facts;
pub(crate) mod sandbox_setup;
mod screen;
mod screen_host;
pub(crate) mod session_builder;
mod session_search;
mod trust_prompt;

use crate::agent::ApplyRequest;
use crate::chat::ForkMode;
use crate::cli::commands::ApplyRehearsal;
use crate::cli::{ChatOptions, ConnectionOptions, FolderOptions};
use crate::config::{self, Credentials, Overrides};
use crate::policy::Mode;
use crate::project::shell::Shell;
use crate::store::{Journal, Places};
use crate::tools::{self, Toolbox};
use anyhow::{Context, Result};
use connected_model::ConnectedModel;
use connector::Connector;
use newest_session::{explain_doubt, find_continued};
use reviewers::Reviewers;
use session_builder::{Session, SessionBuilder};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// An error of the caller, or an invalid setting: exit code 2. One sentence that says what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl UsageError {
    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Everything this run was started with.
pub(crate) struct Start {
    options: ChatOptions,
    /// The rehearsal to apply at once, if any.
    apply: Option<ApplyRehearsal>,
    wiring: SessionBuilder,
    pub(crate) model: ConnectedModel,
    connecting: Connector,
    /// Folder of real sessions; the tour has its own.
    real_folder: PathBuf,
    /// Notices for the user, one sentence each.
    pub(crate) notices: Vec<String>,
}

/// Talks to the model: on the screen, or printing one reply.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(crate) async fn run_chat(options: ChatOptions) -> Result<ExitCode> {
    run_frontend(options, None).await
}

/// Opens the screen with the approval prompts that apply a rehearsal.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(crate) async fn run_apply(apply: ApplyRehearsal) -> Result<ExitCode> {
    let options = ChatOptions {
        connection: apply.connection.clone(),
        mode: apply.mode.clone(),
        theme: apply.theme.clone(),
        folder: apply.place.folder.clone(),
        tour: apply.place.tour,
        debug_content: apply.debug_content,
        ..ChatOptions::default()
    };
    run_frontend(options, Some(apply)).await
}

async fn run_frontend(options: ChatOptions, apply: Option<ApplyRehearsal>) -> Result<ExitCode> {
    let print = options.print;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !print && !is_terminal {
        return Err(UsageError(
            "standard input and output are not a terminal, which the screen needs. Use -p to print the reply instead"
                .to_owned(),
        )
        .into());
    }
    if !print && std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(UsageError(
            "this terminal cannot show a screen (TERM=dumb). Use -p to print the reply instead, or, if it can after all, \
             start with: TERM=xterm aye"
                .to_owned(),
        )
        .into());
    }
    answers::check_flags(&options)?;
    if options.fork && !options.continue_last && options.resume.is_none() {
        return Err(UsageError(
            "--fork needs a session to copy: --resume with an ID or to pick from a list, or --continue".to_owned(),
        )
        .into());
    }
    let mut start = prepare_start(options)?;
    start.apply = apply;
    let journal = start.wiring.journal.clone();
    let how = if print { "printing" } else { "with a screen" };
    journal.note(format_args!("aye {} begins, {how}, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    let (before, noted) = (std::panic::take_hook(), journal.clone());
    std::panic::set_hook(Box::new(move |info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        noted.note(format_args!("a panic at {at}"));
        before(info);
    }));
    let ended = if print { headless_run::run(start).await } else { screen::run(start).await };
    match &ended {
        Ok(_) => journal.note("aye ends"),
        Err(error) => {
            let whose = if error.is::<UsageError>() { "the caller's mistake" } else { "an error" };
            journal.note(format_args!("aye ends with {whose}"));
            journal.content("why", || format!("{error:#}"));
        }
    }
    ended
}

/// Returns all values that the settings treat as secret.
fn known_secrets(connecting: &Connector) -> Vec<String> {
    let mut secrets: Vec<String> = connecting.credentials.keys().map(|key| key.expose().to_owned()).collect();
    for profile in connecting.settings.config.profiles.values() {
        secrets.extend(profile.key_env.as_ref().and_then(|name| std::env::var(name).ok()));
        secrets.extend(profile.headers.values().chain(profile.query.values()).chain(&profile.proxy).cloned());
    }
    secrets
}

pub(crate) fn prepare_start(options: ChatOptions) -> Result<Start> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let mut notices = Vec::new();
    if let Err(error) = places.prepare() {
        notices.push(format!("Cannot save anything between runs: {error}."));
    }
    let flags = parse_overrides(&options.connection, options.mode.as_deref(), options.theme.as_deref())?;
    let environment = |name: &str| std::env::var(name).ok();
    let settings = config::Settings::load(&places.settings(), &environment, &flags);
    notices.extend(settings.problems.iter().chain(&settings.notices).map(ToString::to_string));
    let credentials = Credentials::load(&places.credentials()).unwrap_or_else(|error| {
        notices.push(format!("Cannot read the saved keys: {error}."));
        Credentials::default()
    });
    let connecting =
        Connector { settings, credentials, flags, dry_run: options.dry_run, is_interactive: !options.print };
    let model = if options.tour {
        ConnectedModel::tour(!options.print)
    } else {
        let connection = connecting.configured_connection()?;
        connection
            .map_or_else(|| ConnectedModel::tour(!options.print), |connection| connecting.connect_model(&connection))
    };
    notices.extend(model.warnings.clone());
    let real_folder = resolve_folder(options.folder.as_deref())?;
    let folder = if model.shown.is_tour { tour_folder(&places)? } else { real_folder.clone() };
    let shell = &connecting.settings.config.shell;
    let confined = sandbox_setup::setup_sandbox(shell, &places);
    notices.extend(confined.notices);
    notices.extend(confined.no_sandbox_notice);
    let tools = tools::toolbox::ToolSettings {
        default_timeout: shell.timeout,
        max_timeout: shell.max_timeout,
        walls: confined.sandbox,
        allow_network: shell.network != config::Network::Off,
    };
    let profiles = connecting.settings.config.profiles.values();
    let keys: Vec<String> = profiles.filter_map(|profile| profile.key_env.clone()).collect();
    let (advisers, told) = Reviewers::from_settings(&connecting, &keys);
    notices.extend(told);
    let journal = Journal::new(places.journal(), options.debug_content, known_secrets(&connecting));
    let wiring = SessionBuilder {
        journal,
        places,
        folder,
        tools: Arc::new(Toolbox::with_builtin_tools(tools)),
        shell: Arc::new(
            Shell::new(own_program())
                .without_variables(keys)
                .with_closed_paths(confined.write_protected, confined.read_protected),
        ),
        reviewers: advisers,
        mode: connecting.settings.config.approval.mode,
        dry_run: connecting.settings.config.dry_run.clone(),
        simulator: if model.shown.is_tour { None } else { reviewers::connect_simulator(&connecting) },
        model_flag: options.connection.model.clone(),
        titles: connecting.settings.config.model.titles && !options.print,
        max_instruction_bytes: connecting.settings.config.project.instructions_kib << 10,
        is_interactive: !options.print,
    };
    Ok(Start { options, apply: None, wiring, model, connecting, real_folder, notices })
}

impl Start {
    /// Returns the calls to approve at once, if any.
    fn initial_offers(&self) -> Result<Option<ApplyRequest>> {
        let Some(apply) = &self.apply else { return Ok(None) };
        let wanted = apply.apply_options();
        rehearsal::apply_offers(&self.wiring, self.default_folder(), apply.id.as_deref(), wanted).map(Some)
    }

    /// Returns the folder to use if nothing names another.
    fn default_folder(&self) -> &Path {
        if self.options.tour { &self.wiring.folder } else { &self.real_folder }
    }

    /// Explains why it is uncertain which session `--continue` means. `None` if it is certain, or not requested.
    fn explain_doubt(&self) -> Option<String> {
        let latest = || self.wiring.stored_sessions().find_latest(&self.wiring.folder).ok();
        self.options.continue_last.then(latest).flatten().and_then(|latest| explain_doubt(&latest))
    }

    /// Opens the session that the command line asks for.
    fn open_session(&self) -> Result<Session> {
        let sessions = self.wiring.stored_sessions();
        if let Some(apply) = &self.apply {
            let id = rehearsal::find_dry_run(&sessions, self.default_folder(), apply.id.as_deref())?;
            return self.wiring.fork_session(&id, ForkMode::Live, &self.model, &self.connecting);
        }
        let id = if self.options.continue_last {
            Some(find_continued(&sessions, &self.wiring.folder)?)
        } else {
            let named = self.options.resume.as_deref().filter(|name| !name.is_empty());
            named.map(|name| sessions.find_id(name)).transpose().map_err(UsageError::from_error)?
        };
        match id {
            None => self.wiring.start_session(&self.model, self.options.dry_run),
            Some(id) => {
                let (model, connecting) = (&self.model, &self.connecting);
                let mut session = match self.options.fork {
                    true => self.wiring.fork_session(&id, self.options.fork_mode(), model, connecting)?,
                    false => self.wiring.continue_session(&id, model, connecting)?,
                };
                match (session.state.is_dry_run(), self.options.dry_run) {
                    (false, true) => Err(UsageError(format!(
                        "session {id} is live, and --dry-run cannot change that. Omit --dry-run, rehearse in a copy with --resume {id} --fork --dry-run, or start a new session"
                    ))
                    .into()),
                    (true, false) => {
                        session.warn_still_dry_run();
                        Ok(session)
                    }
                    (true, true) | (false, false) => Ok(session),
                }
            }
        }
    }
}

pub(crate) fn parse_mode(word: &str) -> Result<Mode, UsageError> {
    let found = Mode::ALL.into_iter().find(|mode| mode.as_str() == word);
    found.ok_or_else(|| UsageError(format!("--mode is {word:?}; expected \"plan\", \"ask\", \"auto\" or \"full\"")))
}

/// Returns the settings given on the command line.
pub(crate) fn parse_overrides(
    connection: &ConnectionOptions,
    mode: Option<&str>,
    theme: Option<&str>,
) -> Result<Overrides, UsageError> {
    let ConnectionOptions { model, base_url, profile } = connection.clone();
    let mode = mode.map(parse_mode).transpose()?;
    Ok(Overrides { profile, base_url, model, mode, theme: theme.map(str::to_owned) })
}

/// Returns the folder of a command: the named one, the tour's, or the current one.
pub(crate) fn command_folder(place: &FolderOptions, places: &Places) -> Result<PathBuf> {
    if place.tour { Ok(places.tour()) } else { resolve_folder(place.folder.as_deref()) }
}

/// Returns the working folder with its links resolved.
pub(crate) fn resolve_folder(named: Option<&Path>) -> Result<PathBuf> {
    let folder = match named {
        Some(folder) => folder.to_owned(),
        None => std::env::current_dir().map_err(|_| UsageError("the current folder no longer exists".to_owned()))?,
    };
    let real = folder.canonicalize().map_err(|error| UsageError(format!("{}: {error}", folder.display())))?;
    if !real.is_dir() {
        return Err(UsageError(format!("{} is not a folder", folder.display())).into());
    }
    Ok(real)
}

/// Returns the tour's project, with its files reset.
fn tour_folder(places: &Places) -> Result<PathBuf> {
    let folder = places.tour();
    for (path, text) in crate::llm::tour::FILES {
        let path = folder.join(path);
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            std::fs::write(&path, text)
        };
        write()
            .with_context(|| format!("the tour needs a writable folder; set AYE_HOME to one: {}", path.display()))?;
    }
    Ok(folder.canonicalize()?)
}

/// Returns the program that commands are started through: this one, even if its file was replaced meanwhile.
pub(crate) fn own_program() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    if running.exists() { running.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "aye".into()) }
}
