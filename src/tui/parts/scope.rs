//! How wide a yes is kept: the rule as it will be written, what it would have covered, and what it never covers.

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

/// Calls that are named among those it would have covered.
const NAMED: usize = 4;

/// The scope of a yes that is being chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choosing {
    /// At least one.
    widths: Vec<Width>,
    at: usize,
    span: Span,
    folder: PathBuf,
    /// The key that keeps it, as it is written in the rule.
    key: String,
    opened: Duration,
    /// Whether all of what stands here now was on the screen.
    seen: bool,
    /// The rule is being written.
    keeping: bool,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Another width or span, or a place further down.
    Moved,
    /// Nothing; why, and what would work.
    Says(String),
    /// Back to the card.
    Closed,
    /// This is kept, and the call goes ahead.
    Kept(Grant),
}

impl Choosing {
    /// Opens it at the narrowest, for this session. `None` where nothing may be kept.
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

    /// Whether the rule is being written: no key means anything until it is.
    pub fn is_keeping(&self) -> bool {
        self.keeping
    }

    /// Whether it was opened only just now.
    pub fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.opened) < QUIET
    }

    /// The rule could not be written: the keys mean something again, but none that was pressed meanwhile.
    pub fn unkept(&mut self, now: Duration) {
        (self.keeping, self.opened) = (false, now);
    }

    /// A frame showed all of it, or its last lines.
    pub fn drawn(&mut self, end: bool) {
        self.seen |= end;
    }

    fn width(&self) -> &Width {
        &self.widths[self.at.min(self.widths.len() - 1)]
    }

    /// Where it may hold: what cannot be written as a rule holds in this session alone.
    fn spans(&self) -> &'static [Span] {
        match self.width().lasts && self.folder.to_str().is_some() {
            true => &[Span::Session, Span::Project, Span::Everywhere],
            false => &[Span::Session],
        }
    }

    /// An action of [`Keys::Keep`]; `listens` is whether a key may answer now.
    pub fn act(&mut self, action: Action, keys: &Keymap, listens: bool, now: Duration) -> Reply {
        let back = keys.hint(Keys::Keep, Action::Close);
        match action {
            Action::Close => Reply::Closed,
            Action::Narrower if self.at == 0 => Reply::Says("this is the narrowest there is".to_owned()),
            Action::Wider if self.at + 1 >= self.widths.len() => Reply::Says(self.no_wider()),
            Action::Narrower => self.moved(self.at - 1, self.span),
            Action::Wider => self.moved(self.at + 1, self.span),
            Action::Up | Action::Down => {
                let spans = self.spans();
                if spans.len() == 1 {
                    return Reply::Says("no rule can be kept for this: it holds for this session".to_owned());
                }
                let at = spans.iter().position(|span| *span == self.span).unwrap_or(0);
                let to = if action == Action::Down { at + 1 } else { at + spans.len() - 1 };
                self.moved(self.at, spans[to % spans.len()])
            }
            Action::Accept if !listens || self.is_fresh(now) => {
                Reply::Says("too soon to have been read · press it again".to_owned())
            }
            Action::Accept if !self.seen => {
                let end = keys.hint(Keys::Keep, Action::Bottom);
                Reply::Says(format!("not all of it was seen yet · {end} shows the end"))
            }
            Action::Accept => {
                self.keeping = self.span != Span::Session;
                Reply::Kept(self.width().spanning(self.span))
            }
            Action::ApproveOnce | Action::ApproveAlways => {
                let enter = keys.hint(Keys::Keep, Action::Accept);
                Reply::Says(format!("{enter} keeps it and says yes · {back} goes back to the card"))
            }
            _ => Reply::Says(format!("that key does nothing here · {back} goes back to the card")),
        }
    }

    fn moved(&mut self, at: usize, span: Span) -> Reply {
        self.at = at;
        self.span = if self.spans().contains(&span) { span } else { Span::Session };
        self.seen = false;
        Reply::Moved
    }

    /// Why there is nothing wider.
    fn no_wider(&self) -> String {
        match &self.width().grant.scope {
            Scope::Command { network: true, .. } => {
                "with the network only exactly this is kept: the host it names is not all it may reach"
            }
            Scope::Command { .. } if !self.width().grant.scripts.is_empty() => {
                "nothing wider can be kept: it runs a file, and is allowed as long as that stays as it is"
            }
            Scope::Command { .. } => {
                "nothing wider can be kept: this is no plain command whose first words say what it does"
            }
            Scope::Words { .. } => "this is the widest there is: a command of any kind can do anything",
            Scope::File(_) | Scope::Under(_) => "this is the widest there is",
        }
        .to_owned()
    }

    /// Everything that is read here, each line with its style.
    pub fn lines(&self, theme: &Theme) -> Vec<(String, Style)> {
        let width = self.width();
        let grant = width.spanning(self.span);
        let mut lines = vec![("from now on, without asking:".to_owned(), theme.prompt)];
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
            lines.push(("kept in your rules.toml for 90 days".to_owned(), theme.dim));
        }
        lines.push((covered(&width.covered), theme.dim));
        lines.push((never(&grant), theme.dim));
        if self.span != Span::Session {
            lines.push((String::new(), theme.text));
            let rule = keep::shown(&keep::rule(&grant, &self.folder, &self.key));
            lines.extend(rule.lines().map(|line| (line.to_owned(), theme.accent)));
        }
        if self.keeping {
            lines.push(("the rule is being written…".to_owned(), theme.prompt));
        }
        lines
    }

    /// What the keys do, from the longest way to say it to the shortest. `ends` is whether the frame that shows them shows
    /// the end too.
    pub fn hints(&self, keys: &Keymap, ends: bool) -> Vec<String> {
        let key = |action| keys.hint(Keys::Keep, action);
        let enter = key(Action::Accept);
        let wide = if self.widths.len() > 1 { "←→" } else { "" };
        let rest = [
            hint(3, wide, &["how wide", "width"]),
            hint(4, "↑↓", &["where"]),
            hint(1, &key(Action::Close), &["back"]),
            hint(2, &key(Action::Refuse), &["no"]),
        ];
        match self.seen || ends {
            true => hints::rows([hint(0, &enter, &["yes, and keep this", "keep"])].into_iter().chain(rest)),
            false => hints::end_first(&key(Action::Bottom), &enter, "keep", &rest),
        }
    }
}

/// What it would have covered.
fn covered(calls: &[String]) -> String {
    let named = calls.iter().rev().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if calls.len() > NAMED { ", …" } else { "" };
    match calls.len() {
        0 => "would have covered no other call of this session".to_owned(),
        1 => format!("would have covered 1 call of this session: {named}"),
        many => format!("would have covered {many} calls of this session: {named}{more}"),
    }
}

/// What it never covers.
fn never(grant: &Grant) -> String {
    let sensitive = "what holds secrets or is obeyed by other programs, and what destroys";
    match &grant.scope {
        Scope::Command { .. } => format!("never: a command that differs by as much as a letter; {sensitive}"),
        Scope::Words { .. } => format!(
            "never: a chain, a pipe, a redirection, a substitution or a variable before or in it; a path outside of the \
             project; {sensitive}"
        ),
        Scope::File(_) | Scope::Under(_) => {
            format!("never: {sensitive}, such as .git/, .env and start-up files")
        }
    }
}
