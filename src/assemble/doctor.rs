//! `aye doctor`: checks this machine, and lists problems with their remedies.
//!
//! Nothing that it checks can make it fail: a broken file, a server that does not answer and a missing terminal are
//! findings. All checks run at once, with a time limit of 2.5 s each.

mod bundle;
mod finding;
mod folders;
mod machine;
mod rules;
mod server;
mod settings;
mod simulator;
mod terminal;

use crate::cli::Cli;
use crate::config::{self, Credentials, Overrides, Settings};
use crate::store::Places;
use anyhow::Result;
use finding::{Finding, Redacted};
use std::process::ExitCode;
use std::time::Duration;

/// Time limit of one check.
const LIMIT: Duration = Duration::from_millis(2500);

/// The findings, and the settings and places they are from.
struct Seen {
    found: Vec<Finding>,
    redacted: Redacted,
    /// `None` if there is no folder for them.
    there: Option<(Settings, Places)>,
}

/// Runs all checks, and prints the findings or writes them to a file.
pub(super) async fn run(cli: &Cli) -> Result<ExitCode> {
    let Some(named) = &cli.bundle else {
        let seen = look(cli).await?;
        return finding::print(cli.json, &seen.found, &seen.redacted);
    };
    let file = bundle::place(named)?;
    let seen = look(cli).await?;
    bundle::write(cli, &file, seen).await
}

async fn look(cli: &Cli) -> Result<Seen> {
    let mode = cli.mode.as_deref().map(super::mode).transpose()?;
    let mut found = vec![machine::versions()];
    let places = match Places::find(std::env::var_os("AYE_HOME")) {
        Ok(places) => places,
        Err(error) => {
            let words = format!("no folder for settings and sessions: {error}");
            found.push(Finding::wrong("folders", words, "set HOME, or AYE_HOME to a folder of your own"));
            return Ok(Seen { found, redacted: Redacted::default(), there: None });
        }
    };
    let flags = Overrides {
        profile: cli.profile.clone(),
        base_url: cli.base_url.clone(),
        model: cli.model.clone(),
        mode,
        theme: cli.theme.clone(),
    };
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = config::Settings::load(&places.settings(), &environment, &flags);
    let modes_before = folders::modes(&places);
    let keys = Credentials::load(&places.credentials());
    let credentials = keys.as_ref().cloned().unwrap_or_default();
    let redacted = Redacted::new(&loaded.config, &credentials);

    let shell = loaded.config.shell.clone();
    let (stage, staged_folder, stage_places) =
        (loaded.config.dry_run.stage, cli.folder.clone(), places.clone());
    let (sandbox_places, session_places) = (places.clone(), places.clone());
    let folder = cli.folder.clone();
    let (rules_folder, rules_places) = (folder.clone(), places.clone());
    let (terminal, sandbox, stage, sessions, tools, rules, server) = tokio::join!(
        aside("terminal", terminal::look),
        aside("sandbox", move || machine::sandbox(&shell, &sandbox_places)),
        aside("overlay", move || machine::stage(stage, staged_folder.as_deref(), &stage_places)),
        aside("sessions", move || folders::sessions(&session_places)),
        aside("project", move || machine::project(folder.as_deref())),
        aside("rules", move || rules::rules(rules_folder.as_deref(), &rules_places)),
        server::look(cli, &loaded, &credentials, &flags),
    );
    found.extend(terminal);
    found.extend(sandbox);
    found.extend(stage);
    found.push(simulator::look(cli, &loaded, &credentials, &flags));
    found.extend(settings::look(&loaded, &places));
    found.extend(rules);
    found.extend(rules::advisers(cli, &loaded, &credentials, &flags));
    found.extend(folders::keys(&keys, &credentials, &modes_before));
    found.extend(server);
    found.extend(folders::look(&places, &modes_before));
    found.extend(sessions);
    found.extend(tools);
    Ok(Seen { found, redacted, there: Some((loaded, places)) })
}

/// Runs a check that may block on its own thread.
async fn aside(area: &'static str, look: impl FnOnce() -> Vec<Finding> + Send + 'static) -> Vec<Finding> {
    let looking = tokio::task::spawn_blocking(look);
    match tokio::time::timeout(LIMIT, looking).await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) => vec![Finding::wrong(area, "internal error in this check", "report this bug")],
        Err(_) => {
            let words = format!("no answer within {:.1} s", LIMIT.as_secs_f32());
            vec![Finding::wrong(area, words, "a network drive may hang, or the machine may be busy")]
        }
    }
}
