//! `aye trust`: shows the project's own files in full, and trusts them if a user at a terminal confirms.

use super::output::{confirm, print_lines};
use super::rules::CheckedRules;
use crate::cli::{FolderOptions, ReportOptions, UsageError, bail_usage};
use crate::config::project_files::{ProjectFile, ProjectFiles};
use crate::config::rules::{ProjectSource, today_date};
use crate::config::trust::{self, TrustState, TrustedProject};
use crate::print::json_line;
use crate::text::clean::clean_text;
use crate::text::reveal;
use crate::tui::prompts::trust_prompt::{describe_effects, describe_file};
use anyhow::Result;
use serde_json::json;
use std::process::ExitCode;

/// Shows all files of the project, and trusts them if the user confirms.
pub(super) fn ask_for_trust(place: &FolderOptions) -> Result<ExitCode> {
    show_and_ask(&CheckedRules::load(place, None)?.source)
}

/// Lists the files of this project and the trusted files of others.
pub(super) fn list(options: &ReportOptions) -> Result<ExitCode> {
    print_lines(list_trust(&CheckedRules::load(&options.place, None)?.source, options.json))
}

/// Revokes the trust in all files of the project.
pub(super) fn revoke(place: &FolderOptions) -> Result<ExitCode> {
    let source = CheckedRules::load(place, None)?.source;
    let every_file = None;
    trust::revoke_trust(&source.trust_file, &source.folder, every_file)
        .map_err(|error| UsageError(format!("Cannot remove the trust: {error}")))?;
    print_lines(["no file of this project is trusted".to_owned()])
}

/// Lists this project's files with their state, and the trusted files of other projects.
fn list_trust(source: &ProjectSource, as_json: bool) -> Vec<String> {
    let project_files = ProjectFiles::load(source);
    let others =
        trust::list_trusted_projects(&source.trust_file).into_iter().filter(|trusted| trusted.folder != source.folder);
    let mut lines = Vec::new();
    for file in &project_files.files {
        lines.push(match as_json {
            true => file_json(&project_files, file),
            false => format!("{} · {}", describe_file(file), describe_state(file)),
        });
    }
    if project_files.files.is_empty() && !as_json {
        lines.push("this project has no files that change how aye works".to_owned());
    }
    for TrustedProject { folder, trusted_on: date, files } in others {
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let folder = folder.display();
        lines.push(match as_json {
            true => json_line(&json!({"folder": folder.to_string(), "trusted": date, "files": names})),
            false => format!("{folder}, trusted {date}: {}", names.join(", ")),
        });
    }
    if !as_json {
        lines.iter_mut().for_each(|line| *line = clean_text(&reveal::reveal_line(line)).into_owned());
    }
    lines
}

fn describe_state(file: &ProjectFile) -> &'static str {
    match file.trust_state {
        TrustState::Trusted => "trusted",
        TrustState::Changed => "changed since it was trusted, not used",
        TrustState::Unknown => "not trusted, not used",
    }
}

fn file_json(project_files: &ProjectFiles, file: &ProjectFile) -> String {
    let state = match file.trust_state {
        TrustState::Trusted => "trusted",
        TrustState::Changed => "changed",
        TrustState::Unknown => "untrusted",
    };
    json_line(&json!({
        "folder": project_files.folder.display().to_string(), "file": file.name, "state": state, "bytes": file.bytes,
        "sha256": file.sha256.as_str(), "what": describe_file(file),
    }))
}

fn show_and_ask(source: &ProjectSource) -> Result<ExitCode> {
    let project_files = ProjectFiles::load(source);
    if project_files.files.is_empty() {
        bail_usage!(
            "Cannot trust this project: it has no files that change how aye works. Add an AGENTS.md with text, \
             .aye/instructions.md, .aye/rules.toml or an .mcp.json with servers first."
        );
    }
    let mut lines =
        vec![format!("Files of {} that change how aye works:", project_files.folder.display()), String::new()];
    for file in &project_files.files {
        lines.push(format!("{} · {}", describe_file(file), describe_state(file)));
        lines.extend(describe_effects(file).into_iter().map(|effect| format!("   {effect}")));
        // The text of a file that is already trusted is not shown again.
        if file.trust_state == TrustState::Trusted {
            continue;
        }
        lines.extend(
            file.text.replace("\r\n", "\n").lines().map(|line| format!("   | {}", reveal::reveal_to_string(line))),
        );
        lines.push(String::new());
    }
    let lines: Vec<String> = lines.iter().map(|line| clean_text(line).into_owned()).collect();
    print_lines(lines)?;
    if project_files.untrusted().next().is_none() {
        return print_lines(["All usable files are already trusted.".to_owned()]);
    }
    let question = || Ok("To trust these files as shown, only in this folder".to_owned());
    if !confirm(question, "Cannot ask for trust: not a terminal. Nothing was trusted. Run it in a terminal.")? {
        return print_lines(["Nothing was trusted.".to_owned()]);
    }
    let trusted = ProjectFiles::trust(source, &project_files.signature(), &today_date())
        .map_err(|error| UsageError(format!("Cannot save the trust: {error}")))?;
    if !trusted {
        bail_usage!("Cannot trust this project: its files changed while you read them. Run `aye trust` again.");
    }
    print_lines(["Trusted. Any change asks again.".to_owned()])
}
