//! How the question card looks.

use super::{Draft, QuestionCard, Seen, Writing};
use crate::chat::{Given, Question, Questions, Source};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::Frame;
use crate::tui::parts::listening::Listening;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{clean, width};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// A card narrower than this inside cannot be said to have been read.
const READABLE: u16 = 16;

/// The lines of a page, and which of them the cursor is on.
struct Body {
    lines: Vec<Line<'static>>,
    cursor: std::ops::Range<usize>,
}

impl QuestionCard {
    /// The rows it would like at this width; it scrolls in fewer.
    pub fn height(&self, asked: &Questions, width: u16, theme: &Theme) -> u16 {
        let rows = self.body(asked, usize::from(width.saturating_sub(4)), theme).lines.len();
        u16::try_from(rows + 2 + usize::from(self.is_writing())).unwrap_or(u16::MAX)
    }

    /// The words of the chip while the card is parked.
    pub fn chip(&self, keys: &Keymap) -> String {
        let count = self.pages.len();
        let words =
            if count == 1 { "1 question waits".to_owned() } else { format!("{count} questions wait") };
        let key = |action| keys.hint(Scope::Anywhere, action);
        format!("{words} · {} · {} decline", key(Action::BringQuestion), key(Action::DeclineQuestion))
    }

    /// Draws the card.
    pub fn view(
        &self,
        asked: &Questions,
        listening: Listening,
        keys: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: &Theme,
    ) -> Seen {
        let (title, right) = match asked.list.get(self.at) {
            Some(question) => {
                let right = format!("{} of {}", self.at + 1, self.pages.len());
                (format!("question · {}", question.keyword), right)
            }
            None => ("your answers".to_owned(), String::new()),
        };
        let right = if self.pages.len() > 1 { right } else { String::new() };
        let hints = self.hints(asked, listening, keys);
        let listens = listening.now() || self.is_writing();
        let mut inside =
            Frame { title: &title, right: &right, hints: &hints, listens }.view(area, buffer, theme);
        if inside.is_empty() {
            return Seen::default();
        }
        let mut seen = Seen::default();
        if let Some((what, line)) = &self.writing {
            inside.height -= 1;
            let label = match what {
                Writing::OwnWords => "in my own words ",
                Writing::Note => "note ",
            };
            let label = width::cut(label, usize::from(inside.width / 2));
            let taken = width::width(label) as u16;
            let room = usize::from(inside.width - taken);
            let (text, cursor) = line.shown(room);
            buffer.set_stringn(inside.x, inside.bottom(), label, usize::from(taken), theme.prompt);
            buffer.set_stringn(inside.x + taken, inside.bottom(), text, room, theme.text);
            let x = (inside.x + taken + cursor as u16).min(inside.right().saturating_sub(1));
            seen.cursor = Some(Position { x, y: inside.bottom() });
        }
        let body = self.body(asked, usize::from(inside.width), theme);
        let rows = usize::from(inside.height);
        // The page of answers scrolls by itself, a question with its cursor; the first option brings the text along.
        let wanted = match self.pages.get(self.at) {
            Some(page) if page.cursor == 0 && body.cursor.end <= rows => 0,
            Some(_) => body.cursor.end.saturating_sub(rows).min(body.cursor.start),
            None => self.scroll,
        };
        seen.scroll = wanted.min(body.lines.len().saturating_sub(rows));
        for ((at, line), row) in body.lines.iter().enumerate().skip(seen.scroll).zip(inside.rows()) {
            if body.cursor.contains(&at) {
                buffer.set_style(row, theme.selected);
            }
            buffer.set_line(row.x, row.y, line, row.width);
        }
        seen.rows = rows;
        seen.readable = rows > 0 && inside.width >= READABLE && area == area.intersection(buffer.area);
        seen
    }

    fn body(&self, asked: &Questions, width: usize, theme: &Theme) -> Body {
        let mut body = Body { lines: Vec::new(), cursor: 0..0 };
        let (Some(question), Some(page)) = (asked.list.get(self.at), self.pages.get(self.at)) else {
            for (question, page) in asked.list.iter().zip(&self.pages) {
                body.lines.extend(wrap::plain(&question.text, theme.dim, width));
                let given = Given { keyword: String::new(), source: page.source(), note: page.note.clone() };
                let words = match (page.is_empty(), page.note.is_empty()) {
                    (true, _) => "  skipped".to_owned(),
                    (false, true) => format!("  {}", given.words(question)),
                    (false, false) => format!("  {} · note: {}", given.words(question), page.note),
                };
                let style = if page.is_empty() { theme.warning } else { theme.text };
                body.lines.extend(wrap::plain(&words, style, width));
            }
            return body;
        };
        body.lines.extend(wrap::plain(&question.text, theme.strong, width));
        body.lines.push(Line::default());
        let labels = question.options.iter().map(|choice| width::width(&clean::one_line(&choice.label)));
        let column = labels.max().unwrap_or(0).min(width / 3);
        let own = question.allow_text || question.options.is_empty();
        for row in 0..question.options.len() + usize::from(own) {
            let from = body.lines.len();
            body.lines.extend(option(question, page, row, column, width, theme));
            if row == page.cursor {
                body.cursor = from..body.lines.len();
            }
        }
        if !page.note.is_empty() {
            body.lines.extend(wrap::plain(&format!("note: {}", page.note), theme.dim, width));
        }
        body
    }

    fn hints(&self, asked: &Questions, listening: Listening, keys: &Keymap) -> Vec<String> {
        let key = |action| keys.hint(Scope::Question, action);
        if self.is_writing() {
            return vec![format!(
                "{} keep · {} back",
                keys.hint(Scope::Line, Action::Accept),
                keys.hint(Scope::Line, Action::Close)
            )];
        }
        if listening == Listening::Unsent {
            return vec![format!("{} to answer", keys.hint(Scope::Composer, Action::SwitchKeyboard))];
        }
        let (enter, later, next) = (key(Action::Accept), key(Action::Park), key(Action::NextQuestion));
        let Some(question) = asked.list.get(self.at) else {
            return vec![format!("{enter} send · {next} change · {later} later"), format!("{enter} send")];
        };
        let most = self.choices(asked).min(9);
        let (pick, send) = match (question.multi, self.pages.len()) {
            (true, 1) => ("tick", "send"),
            (true, _) => ("tick", "go on"),
            (false, 1) => ("pick", "send"),
            (false, _) => ("pick", "take"),
        };
        let tab = if self.pages.len() > 1 { format!(" · {next} next question") } else { String::new() };
        let (note, no) = (key(Action::Note), key(Action::Decline));
        vec![
            format!(
                "↑↓ move · 1-{most} {pick} · {note} note{tab} · {enter} {send} · {later} later · {no} decline"
            ),
            format!("1-{most} {pick} · {note} note · {enter} {send} · {later} later · {no} decline"),
            format!("1-{most} {pick} · {enter} {send} · {later} later"),
            format!("{enter} {send} · {later} later"),
        ]
    }
}

/// One row of the list: cursor, number, tick, label, what it means, whether it is recommended.
fn option(
    question: &Question,
    page: &Draft,
    row: usize,
    column: usize,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let at = row == page.cursor;
    // The row of the cursor has one look: not every colour can be read on its ground.
    let picked = theme.text.patch(theme.selected);
    let (style, dim, accent) =
        if at { (picked, picked, picked) } else { (theme.text, theme.dim, theme.accent) };
    let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
    let Some(choice) = question.options.get(row) else {
        let words = if page.own.is_empty() { "in my own words…" } else { &page.own };
        let pieces = [Piece::new(clean::clean(words), style)];
        let tick = tick(question.multi, matches!(page.source(), Source::Written(_)));
        return wrap::wrap(&pieces, &lead(at, &number, tick, width, accent)).lines;
    };
    let tick = tick(question.multi, page.picks.contains(&row));
    let label = clean::one_line(&choice.label).into_owned();
    let gap = " ".repeat(column.saturating_sub(width::width(&label)));
    let mut pieces = vec![Piece::new(label, style)];
    if !choice.description.is_empty() {
        pieces.push(Piece::new(format!("{gap}   {}", clean::clean(&choice.description)), dim));
    }
    if question.recommended == Some(row) {
        pieces.push(Piece::new("   recommended", accent));
    }
    wrap::wrap(&pieces, &lead(at, &number, tick, width, accent)).lines
}

/// Whether a row is taken. As wide where it is not, so that no label moves when it is.
fn tick(several: bool, taken: bool) -> &'static str {
    match (several, taken) {
        (true, true) => "[x] ",
        (true, false) => "[ ] ",
        (false, true) => "✓ ",
        (false, false) => "  ",
    }
}

/// What stands before a row, and a hanging indent of the same width.
fn lead(at: bool, number: &str, tick: &str, width: usize, style: Style) -> Shape {
    let words = format!("{} {number} {tick}", if at { "❯" } else { " " });
    let rest = vec![Piece::new(" ".repeat(width::width(&words)), style)];
    Shape { width, first: vec![Piece::new(words, style)], rest, verbatim: false }
}
