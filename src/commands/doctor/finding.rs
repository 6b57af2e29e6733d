//! A finding of a check, and the output of all findings without secrets.

use crate::assemble::known_secrets;
use crate::chat::pluralize;
use crate::commands::output::{print_lines, terminal_columns};
use crate::config::tool_credentials::{ToolCredentials, split_tokens};
use crate::config::{Config, Credentials, Key};
use crate::print::json_line;
use crate::text::clean::{clean_line, clean_text};
use crate::text::redaction;
use crate::tui::text::wrap;
use anyhow::Result;
use ratatui::style::Style;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Maximum line width, also for a pipe.
pub(super) const MAX_COLUMNS: u16 = 100;
/// Columns before the text: the mark and the area.
const INDENT: usize = 17;
/// Minimum length of a secret that is removed. Shorter ones are placeholders, such as the keys of local servers.
const MIN_SECRET_BYTES: usize = 4;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    /// No problem.
    Ok,
    /// Information; nothing is broken.
    Note,
    /// A problem to fix.
    Problem,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }

    /// Returns the name in version 0.1.
    fn old_name(self) -> &'static str {
        if self == Self::Problem { "wrong" } else { self.name() }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) area: &'static str,
    pub(super) state: Severity,
    pub(super) text: String,
    /// The remedy.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, state: Severity::Ok, text: text.into(), advice: None }
    }

    pub(super) fn note(area: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { area, state: Severity::Note, text: text.into(), advice: Some(advice.into()) }
    }

    pub(super) fn problem(area: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { area, state: Severity::Problem, text: text.into(), advice: Some(advice.into()) }
    }
}

/// Values that are never shown.
#[derive(Default)]
pub(super) struct Redaction {
    secrets: BTreeSet<String>,
    home: Option<String>,
}

impl Redaction {
    /// Collects every key and possible secret: from the environment, saved keys, headers, query parameters and proxies.
    pub(super) fn new(config: &Config, credentials: &Credentials, tool_credentials: &ToolCredentials) -> Self {
        let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
        let mut redaction = Self { secrets: BTreeSet::new(), home };
        redaction.add_secrets(known_secrets(config, credentials, tool_credentials));
        redaction
    }

    /// Adds keys that were not known before; of stored tokens each one.
    pub(super) fn add_keys(&mut self, keys: &[Key]) {
        keys.iter().for_each(|key| self.add_secrets(split_tokens(key)));
    }

    fn add_secrets(&mut self, secrets: Vec<String>) {
        self.secrets.extend(secrets.into_iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES));
    }

    /// Returns a text on one line, with known and likely secrets removed, and `~` for the home folder.
    pub(super) fn redact_line(&self, text: &str) -> String {
        self.remove_secrets(clean_line(text).into_owned())
    }

    /// Like `redact_line`, for a text of several lines.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.remove_secrets(clean_text(text).into_owned())
    }

    fn remove_secrets(&self, mut text: String) -> String {
        // The longest first, because one may be part of another.
        let mut secrets: Vec<&String> = self.secrets.iter().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets {
            text = text.replace(secret.as_str(), "…");
        }
        if let Some(home) = self.home.as_deref().map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty())
        {
            text = replace_folder(&text, home);
        }
        redaction::redact(&text).0.into_owned()
    }
}

/// Replaces a folder in a text by `~`, but not a longer name that begins with its name.
fn replace_folder(text: &str, folder: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut replaced = String::new();
    let mut parts = text.split(folder);
    replaced.push_str(parts.next().unwrap_or_default());
    for part in parts {
        replaced.push_str(if part.starts_with(is_name) { folder } else { "~" });
        replaced.push_str(part);
    }
    replaced
}

/// Prints all findings, one per line or as JSON lines. The exit code tells whether there are problems.
pub(super) fn print_findings(as_json: bool, findings: &[Finding], redaction: &Redaction) -> Result<ExitCode> {
    print_lines(if as_json { json_lines(findings, redaction) } else { text_lines(findings, redaction) })?;
    let has_problem = findings.iter().any(|finding| finding.state == Severity::Problem);
    Ok(if has_problem { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn json_lines(findings: &[Finding], redaction: &Redaction) -> Vec<String> {
    let finding_line = |Finding { area, state, text, advice }: &Finding| {
        let advice = advice.as_ref().map(|advice| redaction.redact_line(advice));
        let message = redaction.redact_line(text);
        json_line(&json!({
            "area": area, "severity": state.name(), "message": message, "advice": advice,
            // The names of version 0.1, kept for one release.
            "state": state.old_name(), "words": message, "do": advice,
        }))
    };
    findings.iter().map(finding_line).collect()
}

fn text_lines(findings: &[Finding], redaction: &Redaction) -> Vec<String> {
    let columns = terminal_columns(MAX_COLUMNS).map_or(MAX_COLUMNS, |columns| columns.clamp(40, MAX_COLUMNS));
    format_findings(findings, redaction, columns)
}

/// Formats all findings and a summary, wrapped to this width.
pub(super) fn format_findings(findings: &[Finding], redaction: &Redaction, columns: u16) -> Vec<String> {
    let mut out = Vec::new();
    let text_columns = usize::from(columns) - INDENT;
    let advice_columns = text_columns - "-> ".len();
    for Finding { area, state, text, advice } in findings {
        let mark = match state {
            Severity::Ok => "ok",
            Severity::Note => "--",
            Severity::Problem => "!!",
        };
        let lines = wrap::wrap_plain(&redaction.redact_line(text), Style::new(), text_columns);
        for (row, line) in lines.iter().enumerate() {
            let (mark, area) = if row == 0 { (mark, *area) } else { ("", "") };
            out.push(format!(" {mark:2}  {area:11} {line}"));
        }
        for (row, line) in advice
            .iter()
            .flat_map(|advice| wrap::wrap_plain(&redaction.redact_line(advice), Style::new(), advice_columns))
            .enumerate()
        {
            let arrow = if row == 0 { "->" } else { "  " };
            out.push(format!("{:INDENT$}{arrow} {line}", ""));
        }
    }
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    out.push(String::new());
    out.push(match count(Severity::Problem) {
        0 if count(Severity::Note) > 0 => "No problems. Lines marked -- may need attention.".to_owned(),
        0 => "No problems.".to_owned(),
        problems => format!("{}: see !! above.", pluralize(problems, "problem")),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_output_has_no_secret_and_a_tilde_for_home() {
        let secrets = ["sk-1234", "sk-1234-longer"].map(str::to_owned).into();
        let redaction = Redaction { secrets, home: Some("/home/ada".to_owned()) };
        assert_eq!(
            redaction
                .redact_line("sk-1234-longer and sk-1234 in /home/ada/x and /home/adam, '/home/ada'\n\u{1b}[31mred"),
            "… and … in ~/x and /home/adam, '~' <U+001B>[31mred"
        );
        // An unknown secret is removed as a whole, before the line is wrapped.
        let unknown_secret = format!("github_pat_{}", "a1".repeat(60));
        let findings = [Finding::ok("settings", format!("model.profile = {unknown_secret:?}"))];
        let lines = format_findings(&findings, &redaction, 40).join("\n");
        assert!(lines.contains("[redacted]") && !lines.contains("a1a1"), "{lines}");
    }
}
