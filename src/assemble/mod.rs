//! Assembles the program: the only folder that names every adapter.

mod advisers;
mod answers;
mod audit;
mod choosing;
mod connecting;
mod doctor;
mod document;
mod facts;
mod files;
mod handed;
mod host;
mod keeping;
mod key_command;
mod model;
mod models;
mod print;
mod rehearsal;
mod rules;
mod rules_told;
mod said;
mod screen;
mod sessions;
mod there;
mod trust_told;
mod trusting;
mod walls;
mod wiring;

use crate::agent::Offered;
use crate::chat::Becomes;
use crate::cli::Cli;
use crate::config::{self, Credentials, Overrides};
use crate::policy::Mode;
use crate::project::shell::Shell;
use crate::store::{Journal, Places};
use crate::tools::{self, Toolbox};
use advisers::Advisers;
use anyhow::{Context, Result};
use connecting::Connecting;
use model::Model;
use sessions::{explain_doubt, find_continued};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use wiring::{Session, Wiring};

/// An error of the caller, or an invalid setting: exit code 2. One sentence that says what was expected.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Mistake(pub String);

impl Mistake {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Everything this run was started with.
struct Start {
    cli: Cli,
    wiring: Wiring,
    model: Model,
    connecting: Connecting,
    /// Folder of real sessions; the tour has its own.
    real_folder: PathBuf,
    /// Notices for the user, one sentence each.
    notices: Vec<String>,
}

/// Runs the program.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    let print = cli.print;
    if cli.lists_models() {
        return models::run(prepare(cli)?).await;
    }
    if let Some(named) = cli.audits() {
        let resumed = cli.resume.as_deref().filter(|id| !id.is_empty());
        return audit::run(&cli, named.or(resumed));
    }
    if let Some(words) = cli.asks_rules() {
        return rules_told::run(&cli, &words);
    }
    if let Some(words) = cli.asks_rehearsal() {
        rehearsal::allowed(&cli, &words)?;
        if cli.applies().is_none() {
            return rehearsal::run(&cli, &words);
        }
    }
    if cli.applies().is_none() {
        let flags = [("--hunks", cli.hunks), ("--ignored", cli.ignored), ("--commands", cli.commands)];
        if let Some((flag, _)) = flags.into_iter().find(|(_, is)| *is) {
            return Err(Mistake(format!("{flag} can only be used with aye rehearsal apply")).into());
        }
    }
    if let Some(words) = cli.asks_trust() {
        return trust_told::run(&cli, &words);
    }
    if let Some(words) = cli.keeps_sessions() {
        return sessions::run(&cli, &words);
    }
    if cli.applies().is_none()
        && !cli.examines()
        && let Some(why) = cli.stray()
    {
        return Err(Mistake(why).into());
    }
    if let Some((flag, with)) = cli.kept.set().next() {
        return Err(Mistake(format!(
            "{flag} can only be used with: aye sessions {}",
            with.join(", aye sessions ")
        ))
        .into());
    }
    if cli.examines() {
        return doctor::run(&cli).await;
    }
    if cli.bundle.is_some() {
        return Err(Mistake("--bundle can only be used with aye doctor".to_owned()).into());
    }
    if cli.json && !print {
        return Err(Mistake(
            "--json can only be used with -p, or with: aye models, aye audit, aye doctor, aye rules, aye trust list, aye rehearsal, \
             aye sessions list, aye sessions search"
                .to_owned(),
        )
        .into());
    }
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !print && !is_terminal {
        return Err(Mistake(
            "standard input and output are not a terminal, which the screen needs. Use -p to print the reply instead"
                .to_owned(),
        )
        .into());
    }
    if !print && std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(Mistake(
            "this terminal cannot show a screen (TERM=dumb). Use -p to print the reply instead, or, if it can after all, \
             start with: TERM=xterm aye"
                .to_owned(),
        )
        .into());
    }
    answers::allowed(&cli)?;
    if cli.fork && !cli.go_on && cli.resume.is_none() {
        return Err(Mistake(
            "--fork needs a session to copy: --resume with an ID or to pick from a list, or --continue"
                .to_owned(),
        )
        .into());
    }
    let start = prepare(cli)?;
    let journal = start.wiring.journal.clone();
    let how = if print { "printing" } else { "with a screen" };
    journal.note(format_args!(
        "aye {} begins, {how}, process {}",
        env!("CARGO_PKG_VERSION"),
        std::process::id()
    ));
    let (before, noted) = (std::panic::take_hook(), journal.clone());
    std::panic::set_hook(Box::new(move |info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        noted.note(format_args!("a panic at {at}"));
        before(info);
    }));
    let ended = if print { print::run(start).await } else { screen::run(start).await };
    match &ended {
        Ok(_) => journal.note("aye ends"),
        Err(error) => {
            let whose = if error.is::<Mistake>() { "the caller's mistake" } else { "an error" };
            journal.note(format_args!("aye ends with {whose}"));
            journal.content("why", || format!("{error:#}"));
        }
    }
    ended
}

/// Returns all values that the settings treat as secret.
fn secrets(connecting: &Connecting) -> Vec<String> {
    let mut secrets: Vec<String> = connecting.credentials.all().map(|key| key.expose().to_owned()).collect();
    for profile in connecting.settings.config.profiles.values() {
        secrets.extend(profile.key_env.as_ref().and_then(|name| std::env::var(name).ok()));
        secrets.extend(profile.headers.values().chain(profile.query.values()).chain(&profile.proxy).cloned());
    }
    secrets
}

fn prepare(cli: Cli) -> Result<Start> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let mut notices = Vec::new();
    if let Err(error) = places.prepare() {
        notices.push(format!("Cannot save anything between runs: {error}."));
    }
    let flags = Overrides {
        profile: cli.profile.clone(),
        base_url: cli.base_url.clone(),
        model: cli.model.clone(),
        mode: cli.mode.as_deref().map(mode).transpose()?,
        theme: cli.theme.clone(),
    };
    let environment = |name: &str| std::env::var(name).ok();
    let settings = config::Settings::load(&places.settings(), &environment, &flags);
    notices.extend(settings.problems.iter().map(ToString::to_string));
    let credentials = Credentials::load(&places.credentials()).unwrap_or_else(|error| {
        notices.push(format!("Cannot read the saved keys: {error}."));
        Credentials::default()
    });
    let connecting = Connecting { settings, credentials, flags, dry_run: cli.dry_run, watched: !cli.print };
    let model = if cli.tour {
        Model::tour(!cli.print)
    } else {
        let connection = connecting.configured()?;
        connection.map_or_else(|| Model::tour(!cli.print), |connection| connecting.model(&connection))
    };
    notices.extend(model.warnings.clone());
    let real_folder = folder(cli.folder.as_deref())?;
    let folder = if model.seen.tour { tour_folder(&places)? } else { real_folder.clone() };
    let shell = &connecting.settings.config.shell;
    let confined = walls::confined(shell, &places);
    notices.extend(confined.notices);
    notices.extend(confined.reads_less);
    let tools = tools::toolbox::Settings {
        seconds: shell.timeout,
        seconds_at_most: shell.max_timeout,
        walls: confined.walls,
        may_ask: shell.network != config::Network::Off,
    };
    let profiles = connecting.settings.config.profiles.values();
    let keys: Vec<String> = profiles.filter_map(|profile| profile.key_env.clone()).collect();
    let (advisers, told) = Advisers::of(&connecting, &keys);
    notices.extend(told);
    let journal = Journal::new(places.journal(), cli.debug_content, secrets(&connecting));
    let wiring = Wiring {
        journal,
        places,
        folder,
        tools: Arc::new(Toolbox::builtin(tools)),
        shell: Arc::new(Shell::new(myself()).without(keys).keeping(confined.keep, confined.hide)),
        advisers,
        mode: connecting.settings.config.approval.mode,
        dry_run: connecting.settings.config.dry_run.clone(),
        simulator: if model.seen.tour { None } else { advisers::simulator(&connecting) },
        model_flag: cli.model.clone(),
        titles: connecting.settings.config.model.titles && !cli.print,
        most_words: connecting.settings.config.project.instructions_kib << 10,
        lasts: !cli.print,
    };
    Ok(Start { cli, wiring, model, connecting, real_folder, notices })
}

impl Start {
    /// Returns the calls to approve at once, if any.
    fn offers(&self) -> Result<Option<Offered>> {
        let Some(named) = self.cli.applies() else { return Ok(None) };
        rehearsal::offers(&self.wiring, self.here(), named, self.cli.wanted()).map(Some)
    }

    /// Returns the folder to use if nothing names another.
    fn here(&self) -> &Path {
        if self.cli.tour { &self.wiring.folder } else { &self.real_folder }
    }

    /// Explains why it is uncertain which session `--continue` means. `None` if it is certain, or not requested.
    fn doubt(&self) -> Option<String> {
        let latest = || self.wiring.sessions().latest(&self.wiring.folder).ok();
        self.cli.go_on.then(latest).flatten().and_then(|latest| explain_doubt(&latest))
    }

    /// Opens the session that the command line asks for.
    fn session(&self) -> Result<Session> {
        let sessions = self.wiring.sessions();
        if let Some(named) = self.cli.applies() {
            let id = rehearsal::find(&sessions, self.here(), named)?;
            return self.wiring.fork(&id, Becomes::Live, &self.model, &self.connecting);
        }
        let id = if self.cli.go_on {
            Some(find_continued(&sessions, &self.wiring.folder)?)
        } else {
            let named = self.cli.resume.as_deref().filter(|name| !name.is_empty());
            named.map(|name| sessions.find(name)).transpose().map_err(Mistake::of)?
        };
        match id {
            None => self.wiring.begin(&self.model, self.cli.dry_run),
            Some(id) => {
                let (model, connecting) = (&self.model, &self.connecting);
                let mut session = match self.cli.fork {
                    true => self.wiring.fork(&id, self.cli.becomes(), model, connecting)?,
                    false => self.wiring.go_on(&id, model, connecting)?,
                };
                match (session.state.is_dry_run(), self.cli.dry_run) {
                    (false, true) => Err(Mistake(format!(
                        "session {id} is live, and --dry-run cannot change that. Omit --dry-run, rehearse in a copy with --resume {id} --fork --dry-run, or start a new session"
                    ))
                    .into()),
                    (true, false) => {
                        session.says_that_it_stays_dry();
                        Ok(session)
                    }
                    (true, true) | (false, false) => Ok(session),
                }
            }
        }
    }
}

fn mode(word: &str) -> Result<Mode, Mistake> {
    let found = Mode::ALL.into_iter().find(|mode| mode.word() == word);
    found.ok_or_else(|| {
        Mistake(format!("--mode is {word:?}; expected \"plan\", \"ask\", \"auto\" or \"full\""))
    })
}

/// Returns the working folder with its links resolved.
fn folder(named: Option<&Path>) -> Result<PathBuf> {
    let folder = match named {
        Some(folder) => folder.to_owned(),
        None => {
            std::env::current_dir().map_err(|_| Mistake("the current folder no longer exists".to_owned()))?
        }
    };
    let real = folder.canonicalize().map_err(|error| Mistake(format!("{}: {error}", folder.display())))?;
    if !real.is_dir() {
        return Err(Mistake(format!("{} is not a folder", folder.display())).into());
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
        write().with_context(|| {
            format!("the tour needs a writable folder; set AYE_HOME to one: {}", path.display())
        })?;
    }
    Ok(folder.canonicalize()?)
}

/// Returns the program that commands are started through: this one, even if its file was replaced meanwhile.
fn myself() -> PathBuf {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        running.to_owned()
    } else {
        std::env::current_exe().unwrap_or_else(|_| "aye".into())
    }
}
