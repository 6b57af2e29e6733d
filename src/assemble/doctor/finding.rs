//! A finding of a check, and the output of all findings without secrets.

use crate::chat::redact;
use crate::config::{Config, Credentials};
use crate::print;
use crate::tui::text::clean::{clean, one_line};
use crate::tui::text::wrap;
use anyhow::Result;
use ratatui::style::Style;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Maximum line width, also for a pipe.
pub(super) const WIDEST: u16 = 100;
/// Columns before the text: the mark and the area.
const BEFORE: usize = 17;
/// Shorter secrets are placeholders, such as the keys of local servers.
const SHORTEST: usize = 4;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No problem.
    Well,
    /// Information; nothing is broken.
    Note,
    /// A problem to fix.
    Wrong,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) area: &'static str,
    pub(super) state: State,
    pub(super) words: String,
    /// The remedy.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn well(area: &'static str, words: impl Into<String>) -> Self {
        Self { area, state: State::Well, words: words.into(), advice: None }
    }

    pub(super) fn note(area: &'static str, words: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { area, state: State::Note, words: words.into(), advice: Some(advice.into()) }
    }

    pub(super) fn wrong(area: &'static str, words: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { area, state: State::Wrong, words: words.into(), advice: Some(advice.into()) }
    }
}

/// Values that are never shown.
#[derive(Default)]
pub(super) struct Redacted {
    secrets: BTreeSet<String>,
    home: Option<String>,
}

impl Redacted {
    /// Collects every key and possible secret: from the environment, saved keys, headers, query parameters and proxies.
    pub(super) fn new(config: &Config, credentials: &Credentials) -> Self {
        let mut secrets: Vec<String> = credentials.all().map(|key| key.expose().to_owned()).collect();
        for profile in config.profiles.values() {
            let named = profile.key_env.as_ref().and_then(|name| std::env::var(name).ok());
            secrets.extend(named.map(|key| key.trim().to_owned()));
            secrets.extend(profile.headers.values().chain(profile.query.values()).cloned());
            secrets.extend(profile.proxy.clone().filter(|proxy| proxy != "none"));
        }
        secrets.retain(|secret| secret.len() >= SHORTEST);
        let home = std::env::var("HOME").ok().filter(|home| home.len() > 1);
        Self { secrets: secrets.into_iter().collect(), home }
    }

    /// Returns a text on one line, with known and likely secrets removed, and `~` for the home folder.
    pub(super) fn tell(&self, text: &str) -> String {
        self.hide(one_line(text).into_owned())
    }

    /// Like `redact_line`, for a text of several lines.
    pub(super) fn tell_all(&self, text: &str) -> String {
        self.hide(clean(text).into_owned())
    }

    fn hide(&self, mut text: String) -> String {
        // The longest first, because one may be part of another.
        let mut secrets: Vec<&String> = self.secrets.iter().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets {
            text = text.replace(secret.as_str(), "…");
        }
        if let Some(home) = &self.home {
            text = text.replace(home.trim_end_matches('/'), "~");
        }
        redact::redact(&text).0.into_owned()
    }
}

/// Prints all findings, one per line or as JSON lines. The exit code tells whether there are problems.
pub(super) fn print(as_json: bool, found: &[Finding], redacted: &Redacted) -> Result<ExitCode> {
    let written = if as_json { in_json(found, redacted) } else { in_words(found, redacted) };
    match written {
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    let wrong = found.iter().any(|finding| finding.state == State::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn in_json(found: &[Finding], redacted: &Redacted) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for Finding { area, state, words, advice } in found {
        let advice = advice.as_ref().map(|advice| redacted.tell(advice));
        let object =
            json!({ "area": area, "state": state.word(), "words": redacted.tell(words), "do": advice });
        writeln!(out, "{}", print::harmless(&object.to_string()))?;
    }
    out.flush()
}

fn in_words(found: &[Finding], redacted: &Redacted) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let columns = crossterm::terminal::size().map_or(WIDEST, |(columns, _)| columns);
    let columns = if out.is_terminal() { columns.clamp(40, WIDEST) } else { WIDEST };
    for line in lines(found, redacted, columns) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Formats all findings and a summary, wrapped to this width.
pub(super) fn lines(found: &[Finding], redacted: &Redacted, columns: u16) -> Vec<String> {
    let mut out = Vec::new();
    let room = usize::from(columns) - BEFORE;
    for Finding { area, state, words, advice } in found {
        let mark = match state {
            State::Well => "ok",
            State::Note => "--",
            State::Wrong => "!!",
        };
        let lines = wrap::plain(&redacted.tell(words), Style::new(), room);
        for (row, line) in lines.iter().enumerate() {
            let (mark, area) = if row == 0 { (mark, *area) } else { ("", "") };
            out.push(format!(" {mark:2}  {area:11} {line}"));
        }
        for (row, line) in advice
            .iter()
            .flat_map(|advice| wrap::plain(&redacted.tell(advice), Style::new(), room - 3))
            .enumerate()
        {
            let arrow = if row == 0 { "->" } else { "  " };
            out.push(format!("{:BEFORE$}{arrow} {line}", ""));
        }
    }
    let count = |state| found.iter().filter(|finding| finding.state == state).count();
    out.push(String::new());
    out.push(match count(State::Wrong) {
        0 if count(State::Note) > 0 => "No problems. Lines marked -- may need attention.".to_owned(),
        0 => "No problems.".to_owned(),
        1 => "1 problem: see !! above.".to_owned(),
        many => format!("{many} problems: see !! above."),
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_output_has_no_secret_and_a_tilde_for_home() {
        let secrets = ["sk-1234", "sk-1234-longer"].map(str::to_owned).into();
        let redacted = Redacted { secrets, home: Some("/home/ada".to_owned()) };
        assert_eq!(
            redacted.tell("sk-1234-longer and sk-1234 in /home/ada/x\n\u{1b}[31mred"),
            "… and … in ~/x <U+001B>[31mred"
        );
        // An unknown secret is removed as a whole, before the line is wrapped.
        let unknown = format!("github_pat_{}", "a1".repeat(60));
        let found = [Finding::well("settings", format!("model.profile = {unknown:?}"))];
        let lines = lines(&found, &redacted, 40).join("\n");
        assert!(lines.contains("[redacted]") && !lines.contains("a1a1"), "{lines}");
    }
}
