//! `aye doctor`: checks this machine, and lists problems with their remedies.
//!
//! Nothing that it checks can make it fail: a broken file, a server that does not answer and a missing terminal are
//! findings. All checks run at once, with a time limit of 2.5 s each.

mod bundle;
mod finding;
mod folders;
mod machine;
mod provider;
mod rules_check;
mod settings_check;
mod simulator_check;
mod terminal_check;

use crate::assemble::parse_overrides;
use crate::cli::FolderOptions;
use crate::cli::commands::Doctor;
use crate::config::{self, Credentials, Settings};
use crate::store::Places;
use anyhow::Result;
use finding::{Finding, Redaction};
use std::process::ExitCode;
use std::time::Duration;

/// Time limit of one check.
const TIME_LIMIT: Duration = Duration::from_millis(2500);

/// The findings, and the settings and places they are from.
struct Report {
    found: Vec<Finding>,
    redacted: Redaction,
    /// `None` if there is no folder for them.
    environment: Option<(Settings, Places)>,
}

/// Runs all checks, and prints the findings or writes them to a file.
pub(super) async fn run(arguments: &Doctor) -> Result<ExitCode> {
    let Some(named) = &arguments.bundle else {
        let seen = run_checks(arguments).await?;
        return finding::print_findings(arguments.json, &seen.found, &seen.redacted);
    };
    let file = bundle::target_file(named)?;
    let seen = run_checks(arguments).await?;
    bundle::write_bundle(arguments, &file, seen).await
}

async fn run_checks(arguments: &Doctor) -> Result<Report> {
    let (mode, theme) = (arguments.mode.as_deref(), arguments.theme.as_deref());
    let flags = parse_overrides(&arguments.connection, mode, theme)?;
    let mut found = vec![machine::check_versions()];
    let places = match Places::find(std::env::var_os("AYE_HOME")) {
        Ok(places) => places,
        Err(error) => {
            let words = format!("no folder for settings and sessions: {error}");
            found.push(Finding::problem("folders", words, "set HOME, or AYE_HOME to a folder of your own"));
            return Ok(Report { found, redacted: Redaction::default(), environment: None });
        }
    };
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = config::Settings::load(&places.settings(), &environment, &flags);
    let modes_before = folders::read_modes(&places);
    let keys = Credentials::load(&places.credentials());
    let credentials = keys.as_ref().cloned().unwrap_or_default();
    let redacted = Redaction::new(&loaded.config, &credentials);

    let shell = loaded.config.shell.clone();
    let FolderOptions { folder, tour } = arguments.place.clone();
    let (stage, staged_folder, stage_places) = (loaded.config.dry_run.overlay_sandbox, folder.clone(), places.clone());
    let (sandbox_places, session_places) = (places.clone(), places.clone());
    let (rules_folder, rules_places) = (folder.clone(), places.clone());
    let (terminal, sandbox, stage, sessions, tools, rules, server) = tokio::join!(
        run_check("terminal", terminal_check::check_terminal),
        run_check("sandbox", move || machine::check_sandbox(&shell, &sandbox_places)),
        run_check("overlay", move || machine::check_overlay(stage, staged_folder.as_deref(), &stage_places)),
        run_check("sessions", move || folders::check_sessions(&session_places)),
        run_check("project", move || machine::check_project(folder.as_deref())),
        run_check("rules", move || rules_check::check_rules(rules_folder.as_deref(), &rules_places)),
        provider::check_provider(tour, &loaded, &credentials, &flags),
    );
    found.extend(terminal);
    found.extend(sandbox);
    found.extend(stage);
    found.push(simulator_check::check_simulator(tour, &loaded, &credentials, &flags));
    found.extend(settings_check::check_settings(&loaded, &places));
    found.extend(rules);
    found.extend(rules_check::check_reviewers(tour, &loaded, &credentials, &flags));
    found.extend(folders::check_keys(&keys, &credentials, &modes_before));
    found.extend(server);
    found.extend(folders::check_folders(&places, &modes_before));
    found.extend(sessions);
    found.extend(tools);
    Ok(Report { found, redacted, environment: Some((loaded, places)) })
}

/// Runs a check that may block on its own thread.
async fn run_check(area: &'static str, look: impl FnOnce() -> Vec<Finding> + Send + 'static) -> Vec<Finding> {
    let looking = tokio::task::spawn_blocking(look);
    match tokio::time::timeout(TIME_LIMIT, looking).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) => vec![Finding::problem(area, "internal error in this check", "report this bug")],
        Err(_) => {
            let words = format!("no answer within {:.1} s", TIME_LIMIT.as_secs_f32());
            vec![Finding::problem(area, words, "a network drive may hang, or the machine may be busy")]
        }
    }
}
