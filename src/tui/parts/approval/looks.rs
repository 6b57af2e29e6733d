//! Layout and drawing of the approval prompt. Shows the whole plan, marks invisible characters, clips to the prompt.

use super::{Approval, Card, Seen, Step};
use crate::chat::{Access, Basis, CommandLine, Held, Preview};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::audit;
use crate::tui::parts::frame::{Frame, READABLE, Sight};
use crate::tui::parts::hints::{self, hint};
use crate::tui::parts::review::Row;
use crate::tui::parts::transcript::sub_agent::asked_by;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{diff, reveal, width};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// A preview with more rows than this shows its warning at the top, because its end may be off screen.
const LONG: usize = 6;

impl Approval {
    /// Returns the rows the prompt needs at this width. It scrolls in fewer.
    pub fn height(&self, card: &Card<'_>, width: u16, theme: &Theme) -> u16 {
        let rows = self.body(card, usize::from(width.saturating_sub(4)), theme).len() + 2;
        let line = usize::from(matches!(self.step, Step::Because(_)));
        u16::try_from(rows + line).unwrap_or(u16::MAX)
    }

    /// Draws the prompt.
    pub fn view(&self, card: &Card<'_>, sight: &Sight<'_>, area: Rect, buffer: &mut Buffer) -> Seen {
        let Sight { listening, keys, theme, says } = *sight;
        let (at, of) = card.place;
        let mut right: Vec<String> = Vec::new();
        if let Preview::Batch(batch) = &card.plan.preview {
            let count = self.review.count(batch);
            right.extend((count.all > 1).then(|| count.to_string()));
        }
        right.extend((of > 1).then(|| format!("{at} of {of}")));
        let right = right.join(" · ");
        // This frame may be the first to show the end, and no later frame is guaranteed to update the hints.
        let least = usize::from(self.height(card, area.width, theme));
        let ends = self.scroll.saturating_add(usize::from(area.height)) >= least;
        let frame = Frame {
            title: &card.plan.title,
            right: &right,
            hints: &self.hints(card, keys, ends),
            says,
            listens: listening.now() || self.is_writing(),
            danger: self.destroys(card.plan),
        };
        let mut inside = frame.view(area, buffer, theme);
        if inside.is_empty() {
            return Seen::default();
        }
        let mut seen = Seen::default();
        if let Step::Because(line) = &self.step {
            inside.height -= 1;
            let row = Rect { y: inside.bottom(), height: 1, ..inside };
            seen.cursor = Some(line.view_behind("deny: ", row, buffer, theme));
        }
        if let Step::Edit(form) = &self.step {
            seen.cursor = form.view(inside, buffer, theme);
            seen.rows = usize::from(inside.height);
            return seen;
        }
        let lines = self.body(card, usize::from(inside.width), theme);
        let rows = usize::from(inside.height);
        seen.scroll = self.scroll.min(lines.len().saturating_sub(rows));
        let left = lines.len().saturating_sub(seen.scroll + rows);
        // The count of remaining lines takes a row.
        let shown = if left > 0 && rows > 1 { rows - 1 } else { rows };
        for (row, at) in inside.rows().zip(seen.scroll..lines.len()).take(shown) {
            match (&lines, &card.plan.preview) {
                (Shown::Lines(lines), _) => buffer.set_line(row.x, row.y, &lines[at], row.width),
                (Shown::Rows(rows), Preview::Batch(batch)) => {
                    buffer.set_line(row.x, row.y, &self.review.line(&rows[at], batch, theme), row.width)
                }
                (Shown::Rows(_), Preview::Text(_) | Preview::Command(_) | Preview::Edit(_)) => continue,
            };
        }
        if shown < rows {
            let more = format!("{} more lines", left + 1);
            let words = width::fit(&more, usize::from(inside.width)).into_owned();
            buffer.set_stringn(
                inside.x,
                inside.bottom() - 1,
                words,
                usize::from(inside.width),
                theme.warning,
            );
        }
        seen.rows = rows;
        seen.readable = rows > 0 && inside.width >= READABLE && area == area.intersection(buffer.area);
        seen.end = left == 0;
        seen
    }

    /// Returns the body of the prompt, wrapped.
    fn body(&self, card: &Card<'_>, width: usize, theme: &Theme) -> Shown {
        if let (Preview::Batch(batch), Step::Plan | Step::Because(_)) = (&card.plan.preview, &self.step) {
            let end = || {
                let mut body = Body { lines: Vec::new(), width: width.max(1), theme };
                if !card.reason.is_empty() {
                    body.say(&format!("reason: {}", card.reason), theme.dim);
                }
                body.lines
            };
            return Shown::Rows(self.review.rows(batch, width, theme, end));
        }
        Shown::Lines(self.laid.lines(width, (), theme, || self.laid_out(card, width, theme)))
    }

    fn laid_out(&self, card: &Card<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut body = Body { lines: Vec::new(), width: width.max(1), theme };
        match &self.step {
            Step::Details => body.details(card),
            Step::Scope(choosing) => {
                for (line, style) in choosing.lines(theme) {
                    body.say(&line, style);
                }
            }
            // The form draws its fields.
            Step::Edit(form) => return vec![Line::default(); form.rows()],
            Step::Plan | Step::Because(_) => {
                body.by(card);
                let careful = card.plan.destroys.as_ref().map(|what| format!("careful: this {what}"));
                let from = body.lines.len();
                body.preview(&card.plan.preview);
                // A long preview has the warning at its top.
                let early = match &card.plan.preview {
                    Preview::Edit(_) => Some(1),
                    Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => {
                        (body.lines.len() - from > LONG).then_some(0)
                    }
                };
                if let (Some(words), Some(row)) = (&careful, early) {
                    let rest = body.lines.split_off((from + row).min(body.lines.len()));
                    body.say(words, theme.danger);
                    body.lines.extend(rest);
                }
                body.blank();
                body.place(card);
                if let (Some(words), None) = (&careful, early) {
                    body.say(words, theme.danger);
                }
                if !card.reason.is_empty() {
                    body.say(&format!("reason: {}", card.reason), theme.dim);
                }
            }
        }
        body.lines
    }

    /// Returns the key hints for the border, longest variant first.
    fn hints(&self, card: &Card<'_>, keys: &Keymap, ends: bool) -> Vec<String> {
        let key = |action| keys.hint(Scope::Approval, action);
        let (yes, always) = match (self.destroys(card.plan), &card.plan.always) {
            (true, _) => (Action::ApproveDestroying, false),
            (false, always) => (Action::ApproveOnce, always.is_some()),
        };
        let review = match &card.plan.preview {
            Preview::Batch(batch) => Some(self.review.hints(batch, keys)),
            Preview::Text(_) | Preview::Command(_) | Preview::Edit(_) => None,
        };
        let yes = key(yes);
        let (no, because, details) = (key(Action::Refuse), key(Action::RefuseBecause), key(Action::Details));
        let back = key(Action::Close);
        match &self.step {
            Step::Because(_) => {
                vec![format!("enter deny with this message · {back} back"), "enter deny".to_owned()]
            }
            Step::Scope(choosing) => choosing.hints(keys, ends),
            Step::Edit(form) => {
                let editor = keys.hint(Scope::Composer, Action::OpenEditor);
                let rest = if form.is_long() { format!("{editor} open editor · ") } else { String::new() };
                vec![
                    format!("↑↓ field · {rest}enter preview · {back} back"),
                    format!("enter preview · {back} back"),
                    "enter preview".to_owned(),
                ]
            }
            Step::Details => vec![format!("{details} back to prompt · {no} deny"), format!("{details} back")],
            Step::Plan => {
                let l = if card.place.1 > 1 { key(Action::ListWaiting) } else { String::new() };
                let always = if always { key(Action::ApproveAlways) } else { String::new() };
                let rest = [
                    hint(1, &no, &["deny"]),
                    hint(4, &because, &["deny with message…", "message"]),
                    hint(6, &details, &["details", "more"]),
                    hint(2, &l, &["list"]),
                ];
                if !self.end_seen && !ends {
                    let rest: Vec<_> = review.into_iter().flatten().chain(rest).collect();
                    return hints::end_first(&key(Action::Bottom), &yes, "approve", &rest);
                }
                let is_many = review.as_ref().is_some_and(|review| review.iter().any(Option::is_some));
                if let Some(review) = review {
                    let first =
                        hint(0, &yes, if is_many { &["apply selected", "apply"][..] } else { &["apply"] });
                    return hints::rows([first].into_iter().chain(review).chain(rest));
                }
                let first = [
                    hint(0, &yes, &["approve"]),
                    hint(3, &always, &["always…", "always"]),
                    hint(5, &key(Action::EditCall), &["edit"]),
                ];
                hints::rows(first.into_iter().chain(rest))
            }
        }
    }
}

/// Body of the prompt.
enum Shown {
    /// Lines of text.
    Lines(Arc<Vec<Line<'static>>>),
    /// Rows of a batch, with their selection.
    Rows(Arc<Vec<Row>>),
}

impl Shown {
    fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Rows(rows) => rows.len(),
        }
    }
}

/// Builder of the lines of the body.
struct Body<'a> {
    lines: Vec<Line<'static>>,
    width: usize,
    theme: &'a Theme,
}

impl Body<'_> {
    /// Adds wrapped text with marks for invisible characters.
    fn say(&mut self, text: &str, style: Style) {
        let pieces = reveal::pieces(text, style, self.theme.mark);
        self.lines.extend(wrap::wrap(&pieces, &Shape::of_width(self.width)).lines);
    }

    fn blank(&mut self) {
        self.lines.push(Line::default());
    }

    fn preview(&mut self, preview: &Preview) {
        match preview {
            Preview::Text(text) => self.say(text, self.theme.text),
            // The review lays out a batch row by row elsewhere.
            Preview::Batch(batch) => self.say(&batch.words(), self.theme.text),
            Preview::Edit(change) => self.lines.extend(diff::layout(change, self.width, self.theme)),
            Preview::Command(CommandLine { command, .. }) => {
                let pieces = reveal::pieces(command, self.theme.strong, self.theme.mark);
                let shape = Shape {
                    width: self.width,
                    first: vec![Piece::new("$ ", self.theme.accent)],
                    rest: vec![Piece::new("  ", self.theme.accent)],
                    verbatim: true,
                };
                let on = Piece::new(wrap::ON, self.theme.dim);
                self.lines.extend(wrap::going_on(&pieces, &shape, &on).lines);
            }
        }
    }

    /// Adds the working directory, the time limit and the sandbox of a command.
    fn place(&mut self, card: &Card<'_>) {
        let Access::Run(line) = &card.plan.access else { return };
        let folder = match card.home.and_then(|home| line.folder.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => line.folder.display().to_string(),
        };
        let mut parts = vec![(format!("in {folder} · {} s", line.seconds), false)];
        parts.extend(line.walls.parts(line.network.as_deref(), card.home));
        if parts.len() == 1 && !card.may.is_empty() {
            parts.push((card.may.to_owned(), false));
        }
        let mut pieces = Vec::new();
        for (at, (words, opens)) in parts.iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::new(" · ", self.theme.dim));
            }
            // Access that the sandbox normally denies is highlighted.
            let style = if *opens { self.theme.warning } else { self.theme.dim };
            pieces.extend(reveal::pieces(words, style, self.theme.mark));
        }
        self.lines.extend(wrap::wrap(&pieces, &Shape::of_width(self.width)).lines);
    }

    /// Adds the name of the sub-agent, if any, on one line.
    fn by(&mut self, card: &Card<'_>) {
        if let Some(name) = card.by {
            self.say(&width::fit(&asked_by(name), self.width), self.theme.accent);
        }
    }

    fn details(&mut self, card: &Card<'_>) {
        self.by(card);
        self.say(&format!("tool {}", card.call.name), self.theme.text);
        self.say(&format!("arguments {}", card.call.arguments), self.theme.text);
        self.place(card);
        self.basis(&card.plan.basis);
        if !card.reason.is_empty() {
            self.say(&format!("reason: {}", card.reason), self.theme.dim);
        }
    }

    /// Adds the preconditions of the call.
    fn basis(&mut self, basis: &Basis) {
        for seen in &basis.files {
            let words = match seen.held {
                Held::TooMuch => audit::file(seen),
                Held::Nothing | Held::Read { .. } => {
                    format!("{}, rechecked before the call", audit::file(seen))
                }
            };
            self.say(&format!("file {words}"), self.theme.text);
        }
        if basis.partial {
            self.say("the call may use files that are not checked", self.theme.warning);
        }
        if !basis.environment.is_empty() {
            let names = basis.environment.join(" ");
            self.say(&format!("{} environment variables: {names}", basis.environment.len()), self.theme.dim);
        }
    }
}
