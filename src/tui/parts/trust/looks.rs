//! Rendering of the trust prompt: the effects of the files first, then their contents. A bar at the left marks
//! everything that comes from a file, and a file cannot draw over it.

use super::{Seen, TrustCard, says, size, state};
use crate::config::brought::{File, What};
use crate::config::trust::Look;
use crate::tui::host::Why;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{Frame, READABLE, Sight};
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{diff, reveal, width};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::path::Path;
use std::sync::Arc;

/// Prefix of every line that comes from a file.
const BAR: &str = "│ ";

/// Surroundings of the prompt.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The user's home directory, shortened to `~`.
    pub home: Option<&'a Path>,
    /// Context window of the model in tokens, if known.
    pub window: Option<u64>,
}

impl TrustCard {
    /// Returns the rows needed at this width; with fewer, the prompt scrolls.
    pub fn height(&self, about: About<'_>, width: u16, theme: &Theme) -> u16 {
        let rows = self.body(about, usize::from(width.saturating_sub(4)), theme).len() + 2;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    pub fn view(&self, about: About<'_>, sight: &Sight<'_>, area: Rect, buffer: &mut Buffer) -> Seen {
        let Sight { listening, keys, theme, says } = *sight;
        // This frame may be the one that shows the end, and no other frame follows to update the hints.
        let least = usize::from(self.height(about, area.width, theme));
        let ends = self.scroll.saturating_add(usize::from(area.height)) >= least;
        let frame = Frame {
            title: self.title(),
            hints: &self.hints(keys, ends),
            says,
            listens: listening.now() && !self.keeping,
            ..Frame::default()
        };
        let inside = frame.view(area, buffer, theme);
        if inside.is_empty() {
            return Seen::default();
        }
        let lines = self.body(about, usize::from(inside.width), theme);
        let rows = usize::from(inside.height);
        let scroll = self.scroll.min(lines.len().saturating_sub(rows));
        let left = lines.len().saturating_sub(scroll + rows);
        // The count of the remaining lines takes a row itself.
        let shown = if left > 0 && rows > 1 { rows - 1 } else { rows };
        for (row, line) in inside.rows().zip(lines.iter().skip(scroll).take(shown)) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
        if shown < rows {
            let more = format!("{} more lines", left + 1);
            let room = usize::from(inside.width);
            let words = width::fit(&more, room).into_owned();
            buffer.set_stringn(inside.x, inside.bottom() - 1, words, room, theme.warning);
        }
        let readable = rows > 0 && inside.width >= READABLE && area == area.intersection(buffer.area);
        Seen { scroll, rows, readable, end: left == 0 }
    }

    fn has_changed(&self) -> bool {
        self.brought.untrusted().any(|file| file.look == Look::Changed)
    }

    fn title(&self) -> &'static str {
        match (self.stands(), self.has_changed()) {
            (true, _) => "Files trusted in this project",
            (false, true) => "Trust the changed files of this project?",
            (false, false) => "Trust the files of this project?",
        }
    }

    /// Returns the key hints, from the longest to the shortest.
    fn hints(&self, keys: &Keymap, ends: bool) -> Vec<String> {
        let key = |action| keys.hint(Scope::Trust, action);
        let (yes, no) = (key(Action::Trust), key(Action::Refuse));
        let (end, back) = (key(Action::Bottom), key(Action::Close));
        if self.keeping {
            return vec!["Saving…".to_owned()];
        }
        if self.stands() {
            return vec![format!("{no} revoke trust · {back} close"), format!("{no} revoke · {back} close")];
        }
        if !self.end_seen && !ends {
            return vec![
                format!("{end} jump to the end, then {yes} trust · {no} continue without them"),
                format!("{end} jump to the end, then {yes} trust · {no} skip"),
                format!("{end} end, then {yes} · {no} skip"),
            ];
        }
        vec![
            format!("{yes} trust these versions in this folder · {no} continue without them"),
            format!("{yes} trust these versions · {no} continue without them"),
            format!("{yes} trust · {no} skip"),
        ]
    }

    /// Returns the wrapped lines of the prompt.
    fn body(&self, about: About<'_>, width: usize, theme: &Theme) -> Arc<Vec<Line<'static>>> {
        self.laid.lines(width, about.window, theme, || {
            let mut body = Body { lines: Vec::new(), width: width.max(1), theme };
            body.card(self, about);
            body.lines
        })
    }
}

/// Lines of a prompt while they are collected.
struct Body<'a> {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: &'a Theme,
}

impl Body<'_> {
    fn card(&mut self, card: &TrustCard, about: About<'_>) {
        let theme = self.theme;
        if card.why == Why::Changed {
            self.say(
                "A file changed while you read it, so nothing was trusted. This is the new version.",
                theme.warning,
            );
        }
        let folder = &card.brought.folder;
        let folder = match about.home.and_then(|home| folder.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => folder.display().to_string(),
        };
        self.say(&reveal::one_line(&folder), theme.strong);
        let words = match (card.stands(), card.has_changed()) {
            (true, _) => {
                format!(
                    "You trusted these files on {}. They may change how aye works here.",
                    card.brought.day
                )
            }
            (false, true) => format!(
                "You trusted files here on {}. Changes since then are not used until you approve them.",
                card.brought.day
            ),
            (false, false) => {
                "These files would change how aye works here. They are not used until you approve \
                               them."
                    .to_owned()
            }
        };
        self.say(&words, theme.text);
        for file in &card.brought.files {
            self.lines.push(Line::default());
            self.file(file, about.window, card.stands() || file.look != Look::Trusted);
        }
        if !card.brought.beside.is_empty() {
            self.lines.push(Line::default());
            let names: Vec<String> = card.brought.beside.iter().map(|name| reveal::one_line(name)).collect();
            self.say(
                &format!(".aye/ also contains {}, which aye does not read", names.join(", ")),
                theme.dim,
            );
        }
        let stands = card.stands();
        for file in card.brought.usable().filter(|file| stands || file.look != Look::Trusted) {
            self.lines.push(Line::default());
            self.whole(file);
        }
    }

    /// Adds the heading of a file and, if `told`, its effects. They are left out for a trusted file next to a changed
    /// one, because the user has read them before.
    fn file(&mut self, file: &File, window: Option<u64>, told: bool) {
        let theme = self.theme;
        let mut pieces = vec![Piece::new(file.name.clone(), theme.accent)];
        if !matches!(file.what, What::Unread(_)) {
            pieces.push(Piece::new(format!(" · {}", size(file, window)), theme.dim));
            let style = if file.look == Look::Trusted { theme.dim } else { theme.prompt };
            pieces.push(Piece::new(format!(" · {}", state(file)), style));
        }
        self.lines.extend(wrap::wrap(&pieces, &Shape::of_width(self.width)).lines);
        for words in says(file).into_iter().filter(|_| told) {
            let careful = words.starts_with("careful") || matches!(file.what, What::Unread(_));
            let style = if careful { theme.warning } else { theme.text };
            self.behind("  ", &words, style);
        }
    }

    /// Adds the contents of a file, or the changes in it.
    fn whole(&mut self, file: &File) {
        let theme = self.theme;
        if let What::Rules { told, .. } = &file.what {
            self.say(&format!("{}, all rules:", file.name), theme.strong);
            for rule in told {
                self.behind(BAR, rule, theme.text);
            }
        }
        match (&file.changed, &file.what) {
            (Some(changed), _) => {
                let (added, removed) = (changed.added, changed.removed);
                self.say(&format!("{}, changes: +{added} −{removed}", file.name), theme.strong);
                let lines = diff::changes(changed, self.width.saturating_sub(2).max(1), theme);
                self.lines.extend(lines.into_iter().map(|mut line| {
                    line.spans.insert(0, Span::styled(BAR, theme.border_dim));
                    line
                }));
            }
            (None, What::Words(words)) => {
                let known = if file.look == Look::Changed { " (previous version unknown)" } else { "" };
                self.say(&format!("{}, text sent to the model{known}:", file.name), theme.strong);
                // In prose a tab hides nothing, so it is not marked.
                let text = words.text.replace("\r\n", "\n").replace('\t', "    ");
                self.behind(BAR, text.trim_end(), theme.text);
            }
            (None, What::Rules { .. } | What::Unread(_)) => {}
        }
    }

    /// Adds text, with invisible characters marked.
    fn say(&mut self, text: &str, style: Style) {
        self.behind("", text, style);
    }

    /// Adds text with a prefix before each of its lines.
    fn behind(&mut self, sign: &str, text: &str, style: Style) {
        let pieces = reveal::pieces(text, style, self.theme.mark);
        let sign = || vec![Piece::new(sign, self.theme.border_dim)];
        let shape = Shape { width: self.width, first: sign(), rest: sign(), verbatim: false };
        self.lines.extend(wrap::wrap(&pieces, &shape).lines);
    }
}
