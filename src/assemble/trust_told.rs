//! `aye trust`: shows the project's own files in full, and trusts them if a user at a terminal confirms.

use super::rules_told::written;
use super::{Mistake, folder, rules};
use crate::cli::Cli;
use crate::config::brought::{Brought, File, Place, text};
use crate::config::trust::{self, Known, Look};
use crate::config::{self, Overrides};
use crate::print::harmless;
use crate::store::Places;
use crate::tui::parts::trust::{says, short};
use crate::tui::text::clean::clean;
use crate::tui::text::reveal;
use anyhow::Result;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let folder = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let settings =
        config::Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &Overrides::default());
    let tools = rules::tools(&settings.config);
    let place = rules::place(&places, &folder, &tools, settings.config.project.instructions_kib << 10);
    match words {
        ["trust", "list"] => written(&list(&place, cli.json)),
        ["untrust"] => {
            trust::forget(&place.trusted, &place.folder, None)
                .map_err(|error| Mistake(format!("Cannot remove the trust: {error}")))?;
            written(&["no file of this project is trusted".to_owned()])
        }
        _ => asks(&place),
    }
}

/// Lists this project's files with their state, and the trusted files of other projects.
fn list(place: &Place, as_json: bool) -> Vec<String> {
    let brought = Brought::look(place);
    let others = trust::all(&place.trusted).into_iter().filter(|known| known.folder != place.folder);
    let mut lines = Vec::new();
    for file in &brought.files {
        lines.push(match as_json {
            true => in_json(&brought, file),
            false => format!("{} · {}", short(file), state(file)),
        });
    }
    if brought.files.is_empty() && !as_json {
        lines.push("this project has no files that change how aye works".to_owned());
    }
    for Known { folder, day, files } in others {
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let folder = folder.display();
        lines.push(match as_json {
            true => {
                harmless(&json!({"folder": folder.to_string(), "trusted": day, "files": names}).to_string())
            }
            false => format!("{folder}, trusted {day}: {}", names.join(", ")),
        });
    }
    if !as_json {
        lines.iter_mut().for_each(|line| *line = clean(&reveal::one_line(line)).into_owned());
    }
    lines
}

fn state(file: &File) -> &'static str {
    match file.look {
        Look::Trusted => "trusted",
        Look::Changed => "changed since it was trusted, not used",
        Look::Unknown => "not trusted, not used",
    }
}

fn in_json(brought: &Brought, file: &File) -> String {
    let state = match file.look {
        Look::Trusted => "trusted",
        Look::Changed => "changed",
        Look::Unknown => "untrusted",
    };
    let object = json!({
        "folder": brought.folder.display().to_string(), "file": file.name, "state": state, "bytes": file.bytes,
        "sha256": file.sha256.as_str(), "what": short(file),
    });
    harmless(&object.to_string())
}

/// Shows all files, and trusts them if the user confirms.
fn asks(place: &Place) -> Result<ExitCode> {
    let brought = Brought::look(place);
    if brought.files.is_empty() {
        let words = "this project has no files that change how aye works: no AGENTS.md with text, no \
                     .aye/instructions.md, no .aye/rules.toml";
        return Err(Mistake(words.to_owned()).into());
    }
    let mut lines =
        vec![format!("Files of {} that change how aye works:", brought.folder.display()), String::new()];
    for file in &brought.files {
        lines.push(format!("{} · {}", short(file), state(file)));
        lines.extend(says(file).into_iter().map(|words| format!("   {words}")));
        if file.look == Look::Trusted {
            continue;
        }
        let text = text(&place.folder, &file.name).ok().flatten().unwrap_or_default();
        lines.extend(text.replace("\r\n", "\n").lines().map(|line| format!("   | {}", reveal::words(line))));
        lines.push(String::new());
    }
    let lines: Vec<String> = lines.iter().map(|line| clean(line).into_owned()).collect();
    written(&lines)?;
    if brought.untrusted().next().is_none() {
        return written(&["All usable files are already trusted.".to_owned()]);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let words = "Cannot ask for trust: not a terminal. Nothing was trusted";
        return Err(Mistake(words.to_owned()).into());
    }
    write!(io::stdout(), "To trust these files as shown, only in this folder, type yes: ")?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() != "yes" {
        return written(&["Nothing was trusted.".to_owned()]);
    }
    let trusted = Brought::trust(place, &brought.signature(), &rules::today())
        .map_err(|error| Mistake(format!("Cannot save the trust: {error}")))?;
    if !trusted {
        return Err(Mistake("the files changed while you read them; nothing was trusted".to_owned()).into());
    }
    written(&["Trusted. Any change asks again.".to_owned()])
}
