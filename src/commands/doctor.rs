//! `aye doctor`: checks this machine, and lists problems with their remedies.
//!
//! Nothing that it checks can make it fail: a broken file, a server that does not answer and a missing terminal are
//! findings. The slow checks run concurrently, with a time limit of 2.5 s each; the key store has one of 3 s for each secret,
//! one after the other.

mod browser_check;
mod bundle;
mod docs_check;
mod finding;
mod folders;
mod machine;
mod mcp_check;
mod provider;
mod rules_check;
mod saved_secrets;
mod settings_check;
mod simulator_check;
mod terminal_check;
mod tools_check;

use crate::assemble::connector::Connector;
use crate::cli::FolderOptions;
use crate::cli::commands::Doctor;
use crate::config::tool_credentials::ToolCredentials;
use crate::config::{Credentials, Settings};
use crate::store::Places;
use anyhow::Result;
use finding::{Finding, Redaction};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of one check.
const TIME_LIMIT: Duration = Duration::from_millis(2500);

/// The findings, and the settings and folders that were checked.
struct Report {
    findings: Vec<Finding>,
    redaction: Redaction,
    /// Settings and folders; `None` if there is no folder for settings and sessions.
    environment: Option<(Arc<Settings>, Places)>,
}

/// Runs all checks, and prints the findings or writes them to a file.
pub(super) async fn run(arguments: &Doctor) -> Result<ExitCode> {
    let Some(target) = &arguments.bundle else {
        let report = run_checks(arguments).await?;
        return finding::print_findings(arguments.json, &report.findings, &report.redaction);
    };
    let file = bundle::target_file(target)?;
    let report = run_checks(arguments).await?;
    bundle::write_bundle(arguments, &file, report).await
}

async fn run_checks(arguments: &Doctor) -> Result<Report> {
    let (mode, theme) = (arguments.mode.as_deref(), arguments.theme.as_deref());
    let flags = arguments.connection.overrides(mode, theme)?;
    let mut findings = vec![machine::check_versions()];
    let places = match Places::find(std::env::var_os("AYE_HOME")) {
        Ok(places) => places,
        Err(error) => {
            let message = format!("no folder for settings and sessions: {error}");
            findings.push(Finding::problem("folders", message, "set HOME, or AYE_HOME to a folder of your own"));
            return Ok(Report { findings, redaction: Redaction::default(), environment: None });
        }
    };
    let settings = Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &flags);
    let initial_permissions = folders::read_permissions(&places);
    let loaded_credentials = Credentials::load(&places.credentials());
    let credentials = loaded_credentials.as_ref().cloned().unwrap_or_default();
    let loaded_tool_credentials = ToolCredentials::load(&places.tool_credentials());
    let tool_credentials = loaded_tool_credentials.as_ref().cloned().unwrap_or_default();
    let mut redaction = Redaction::new(&settings.config, &credentials, &tool_credentials);
    let connector =
        Connector { settings: Arc::new(settings), credentials, flags, dry_run: false, is_interactive: false };

    let config = &connector.settings.config;
    let shell = config.shell.clone();
    let FolderOptions { folder, tour } = arguments.place.clone();
    let (overlay_mode, overlay_folder, overlay_places) =
        (config.dry_run.overlay_sandbox, folder.clone(), places.clone());
    let (sandbox_places, session_places) = (places.clone(), places.clone());
    let (rules_folder, rules_places) = (folder.clone(), places.clone());
    // It has a time limit of its own for each secret.
    let key_store_credentials = tool_credentials.clone();
    let key_store = tokio::task::spawn_blocking(move || saved_secrets::check_key_store(&key_store_credentials));
    let (web, browser_folder) = (config.web.clone(), folder.clone());
    let (docs, docs_folder) = (config.docs.clone(), folder.clone());
    let (terminal, reader, sandbox, overlay, browser, docs, sessions, project, rules, server) = tokio::join!(
        run_check("terminal", terminal_check::check_terminal),
        run_check("reader", machine::check_reader),
        run_check("sandbox", move || machine::check_sandbox(&shell, &sandbox_places)),
        run_check("overlay", move || machine::check_overlay(overlay_mode, overlay_folder.as_deref(), &overlay_places)),
        run_check("browser", move || browser_check::check_browser(&web, browser_folder.as_deref())),
        run_check("docs", move || docs_check::check_docs(&docs, docs_folder.as_deref())),
        run_check("sessions", move || folders::check_sessions(&session_places)),
        run_check("project", move || machine::check_project(folder.as_deref())),
        run_check("rules", move || rules_check::check_rules(rules_folder.as_deref(), &rules_places)),
        provider::check_provider(tour, &connector),
    );
    findings.extend(terminal);
    findings.extend(sandbox);
    findings.extend(overlay);
    findings.extend(browser);
    findings.extend(reader);
    findings.push(simulator_check::check_simulator(tour, &connector));
    findings.extend(settings_check::check_settings(&connector.settings, &places));
    findings.extend(rules);
    findings.extend(docs);
    findings.extend(rules_check::check_reviewers(tour, &connector));
    findings.extend(mcp_check::check_servers(&connector.settings, &places));
    findings.extend(saved_secrets::check_keys(&loaded_credentials, &places, &initial_permissions));
    findings.extend(saved_secrets::check_tool_credentials(&loaded_tool_credentials, &places, &initial_permissions));
    let (key_store_findings, keys) = key_store.await.unwrap_or_default();
    redaction.add_keys(&keys);
    findings.extend(key_store_findings);
    findings.extend(server);
    findings.extend(folders::check_folders(&places, &initial_permissions));
    findings.extend(sessions);
    findings.extend(project);
    Ok(Report { findings, redaction, environment: Some((connector.settings, places)) })
}

/// Runs a check on a thread of its own, because it may block.
async fn run_check(area: &'static str, check: impl FnOnce() -> Vec<Finding> + Send + 'static) -> Vec<Finding> {
    let task = tokio::task::spawn_blocking(check);
    match tokio::time::timeout(TIME_LIMIT, task).await {
        Ok(Ok(findings)) => findings,
        Ok(Err(_)) => vec![Finding::problem(area, "internal error in this check", "report this bug")],
        Err(_) => {
            let message = format!("no answer within {:.1} s", TIME_LIMIT.as_secs_f32());
            vec![Finding::problem(area, message, "a network drive may hang, or the machine may be busy")]
        }
    }
}
