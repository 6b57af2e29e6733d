//! Choosing the scope of a grant: the rule that would be written, the calls it would have covered, and its limits.

use super::listening::QUIET;
use crate::agent::Width;
use crate::chat::{Grant, Scope, Span};
use crate::config::rules::keep;
use crate::tui::keys::{Action, Keymap, Scope as Keys};
use crate::tui::parts::hints::{self, hint};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of covered calls that are named.
const NAMED: usize = 4;

/// The scope of a grant while it is being chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choosing {
    /// Possible scopes, narrowest first; at least one.
    widths: Vec<Width>,
    at: usize,
    span: Span,
    folder: PathBuf,
    /// Name of the key that confirms, as stored in the rule.
    key: String,
    opened: Duration,
    /// True if everything shown for the current choice was on the screen.
    seen: bool,
    /// True while the rule is being written.
    keeping: bool,
}

/// Effect of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Another scope or duration was chosen, or the view scrolled.
    Moved,
    /// Nothing was done. Holds the reason and what would work.
    Says(String),
    /// Return to the prompt.
    Closed,
    /// Grant this and run the call.
    Kept(Grant),
}

impl Choosing {
    /// Opens the choice with the narrowest scope, for this session. Returns `None` if nothing can be granted.
    pub fn open(widths: Vec<Width>, folder: &Path, keys: &Keymap, now: Duration) -> Option<Self> {
        if widths.is_empty() {
            return None;
        }
        let (folder, key) = (folder.to_owned(), keys.hint(Keys::Keep, Action::Accept));
        Some(Self {
            widths,
            at: 0,
            span: Span::Session,
            folder,
            key,
            opened: now,
            seen: false,
            keeping: false,
        })
    }

    /// True while the rule is being written; until then keys have no effect.
    pub fn is_keeping(&self) -> bool {
        self.keeping
    }

    /// True shortly after the choice was opened.
    pub fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.opened) < QUIET
    }

    /// Handles a failure to write the rule: keys work again, except those pressed in the meantime.
    pub fn unkept(&mut self, now: Duration) {
        (self.keeping, self.opened) = (false, now);
    }

    /// Records that a frame showed all of the text, or its end.
    pub fn drawn(&mut self, end: bool) {
        self.seen |= end;
    }

    fn width(&self) -> &Width {
        &self.widths[self.at.min(self.widths.len() - 1)]
    }

    /// Returns the possible durations. A grant that cannot be written as a rule lasts for this session only.
    fn spans(&self) -> &'static [Span] {
        match self.width().lasts && self.folder.to_str().is_some() {
            true => &[Span::Session, Span::Project, Span::Everywhere],
            false => &[Span::Session],
        }
    }

    /// Runs an action of [`Keys::Keep`]; `listens` is true if a key may answer now.
    pub fn act(&mut self, action: Action, keys: &Keymap, listens: bool, now: Duration) -> Reply {
        let back = keys.hint(Keys::Keep, Action::Close);
        match action {
            Action::Close => Reply::Closed,
            Action::Narrower if self.at == 0 => Reply::Says("This is the narrowest scope".to_owned()),
            Action::Wider if self.at + 1 >= self.widths.len() => Reply::Says(self.no_wider()),
            Action::Narrower => self.moved(self.at - 1, self.span),
            Action::Wider => self.moved(self.at + 1, self.span),
            Action::Up | Action::Down => {
                let spans = self.spans();
                if spans.len() == 1 {
                    return Reply::Says(
                        "No rule can be stored for this: it applies to this session".to_owned(),
                    );
                }
                let at = spans.iter().position(|span| *span == self.span).unwrap_or(0);
                let to = if action == Action::Down { at + 1 } else { at + spans.len() - 1 };
                self.moved(self.at, spans[to % spans.len()])
            }
            Action::Accept if !listens || self.is_fresh(now) => {
                Reply::Says("Too soon, not counted · press it again".to_owned())
            }
            Action::Accept if !self.seen => {
                let end = keys.hint(Keys::Keep, Action::Bottom);
                Reply::Says(format!("Read to the end first · {end} to jump there"))
            }
            Action::Accept => {
                self.keeping = self.span != Span::Session;
                Reply::Kept(self.width().spanning(self.span))
            }
            Action::ApproveOnce | Action::ApproveAlways => {
                let enter = keys.hint(Keys::Keep, Action::Accept);
                Reply::Says(format!("{enter} to grant and approve · {back} to go back"))
            }
            _ => Reply::Says(format!("This key does nothing here · {back} to go back")),
        }
    }

    fn moved(&mut self, at: usize, span: Span) -> Reply {
        self.at = at;
        self.span = if self.spans().contains(&span) { span } else { Span::Session };
        self.seen = false;
        Reply::Moved
    }

    /// Explains why there is no wider scope.
    fn no_wider(&self) -> String {
        match &self.width().grant.scope {
            Scope::Command { network: true, .. } => {
                "No wider scope with network access: the command may reach other hosts than it names"
            }
            Scope::Command { .. } if !self.width().grant.scripts.is_empty() => {
                "No wider scope: the command runs a file and is allowed while that file is unchanged"
            }
            Scope::Command { .. } => {
                "No wider scope: this is not a simple command identified by its first words"
            }
            Scope::Words { .. } => "This is the widest scope: allowing any command would allow anything",
            Scope::File(_) | Scope::Under(_) => "This is the widest scope",
        }
        .to_owned()
    }

    /// Returns all lines of the choice with their styles.
    pub fn lines(&self, theme: &Theme) -> Vec<(String, Style)> {
        let width = self.width();
        let grant = width.spanning(self.span);
        let mut lines = vec![("Allow without asking:".to_owned(), theme.prompt)];
        let what = match self.widths.len() {
            1 => grant.what(),
            widths => format!("‹ {} ›  {} of {widths}", grant.what(), self.at + 1),
        };
        lines.push((what, theme.strong));
        if let Scope::Command { command, .. } = &grant.scope {
            lines.push((format!("$ {command}"), theme.text));
        }
        let spans = self.spans().iter().map(|span| match *span == self.span {
            true => format!("[{}]", span.words()),
            false => span.words().to_owned(),
        });
        lines.push((spans.collect::<Vec<_>>().join(" · "), theme.text));
        lines.push((String::new(), theme.text));
        if self.span != Span::Session {
            lines.push(("stored in your rules.toml for 90 days".to_owned(), theme.dim));
        }
        lines.push((covered(&width.covered), theme.dim));
        lines.push((never(&grant), theme.dim));
        if self.span != Span::Session {
            lines.push((String::new(), theme.text));
            let rule = keep::shown(&keep::rule(&grant, &self.folder, &self.key));
            lines.extend(rule.lines().map(|line| (line.to_owned(), theme.accent)));
        }
        if self.keeping {
            lines.push(("Writing the rule…".to_owned(), theme.prompt));
        }
        lines
    }

    /// Returns the key hints, from the longest to the shortest. `ends` is true if the frame with these hints also shows
    /// the end.
    pub fn hints(&self, keys: &Keymap, ends: bool) -> Vec<String> {
        let key = |action| keys.hint(Keys::Keep, action);
        let enter = key(Action::Accept);
        let wide = if self.widths.len() > 1 { "←→" } else { "" };
        let rest = [
            hint(3, wide, &["change scope", "scope"]),
            hint(4, "↑↓", &["where"]),
            hint(1, &key(Action::Close), &["back"]),
            hint(2, &key(Action::Refuse), &["deny"]),
        ];
        match self.seen || ends {
            true => hints::rows([hint(0, &enter, &["approve and grant", "grant"])].into_iter().chain(rest)),
            false => hints::end_first(&key(Action::Bottom), &enter, "grant", &rest),
        }
    }
}

/// Describes the calls of this session that the grant would have covered.
fn covered(calls: &[String]) -> String {
    let named = calls.iter().rev().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if calls.len() > NAMED { ", …" } else { "" };
    match calls.len() {
        0 => "would have covered no other call of this session".to_owned(),
        1 => format!("would have covered 1 call of this session: {named}"),
        many => format!("would have covered {many} calls of this session: {named}{more}"),
    }
}

/// Describes what the grant never covers.
fn never(grant: &Grant) -> String {
    let sensitive = "files with secrets, files that configure other programs, and destructive actions";
    match &grant.scope {
        Scope::Command { .. } => format!("never: a command that differs in any character; {sensitive}"),
        Scope::Words { .. } => format!(
            "never: a chain, pipe, redirection, substitution or variable in or before the command; a path outside the \
             project; {sensitive}"
        ),
        Scope::File(_) | Scope::Under(_) => {
            format!("never: {sensitive}; examples: .git/, .env, start-up files")
        }
    }
}
