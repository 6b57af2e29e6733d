//! Draws a frame of a replay cell by cell, and the bar below it.

use super::frame_search::row_text;
use super::playback::Playback;
use crate::recording::cast_reader::RecordingTheme;
use crate::recording::frames::{Run, RunStyle, parse_colour};
use crate::text::clean::clean_line;
use crate::text::hidden_chars::remove_hidden;
use crate::text::width::{fit_end, fit_start, text_width};
use crate::tui::parts::key_hints::{hint_rows, hint_spans, key_hint};
use crate::tui::theme::Theme;
use crate::tui::theme::recorded_style::recorded_style;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::time::Duration;

/// A name that has room for at most this many columns is not shown.
const MIN_NAME: usize = 2;
/// Columns of the keys that pause, seek and quit, and of the space before them.
const IMPORTANT_KEYS: usize = 32;
/// Minimum columns between the state and the keys.
const GAP: usize = 2;

/// Draws replays.
pub(super) struct ReplayView {
    theme: Theme,
    text: [u8; 3],
    background: [u8; 3],
    palette: Vec<[u8; 3]>,
    title: String,
    /// First column and row of the recording that are shown, if the terminal is smaller.
    origin: (u16, u16),
    /// Columns and rows of the terminal in the last frame.
    shown: (u16, u16),
}

impl ReplayView {
    /// Uses the colours of the recording for its frames, and a theme for the bar.
    pub fn new(recorded: &RecordingTheme, theme: Theme, title: &str) -> Self {
        Self {
            theme,
            text: parse_colour(&recorded.text),
            background: parse_colour(&recorded.background),
            palette: recorded.palette.iter().map(|colour| parse_colour(colour)).collect(),
            title: clean_line(title).into_owned(),
            origin: (0, 0),
            shown: (0, 0),
        }
    }

    /// Draws the frame and the bar. Returns the place of the cursor, if the recording shows it.
    pub fn draw(&mut self, playback: &Playback, buffer: &mut Buffer) -> Option<Position> {
        let area = buffer.area;
        // A terminal of one row has no bar.
        let bar_rows = u16::from(area.height > 1);
        let screen = Rect { height: area.height - bar_rows, ..area };
        let size = playback.frames.size;
        let frame = &playback.frames.frames[playback.frame_index()];
        self.follow_cursor(frame.cursor, size, screen);
        buffer.set_style(screen, self.cell_style(None));
        for y in 0..screen.height {
            let Some(runs) = frame.rows.get(usize::from(self.origin.1 + y)) else { break };
            self.draw_row(runs, playback, (screen, screen.y + y), buffer);
        }
        if bar_rows > 0 {
            let bar = Rect { y: area.bottom() - 1, height: 1, ..area };
            self.draw_bar(playback, screen, bar, buffer);
        }
        let (column, row) = frame.cursor?;
        let place = (column.checked_sub(self.origin.0)?, row.checked_sub(self.origin.1)?);
        (place.0 < screen.width && place.1 < screen.height)
            .then(|| Position::new(screen.x + place.0, screen.y + place.1))
    }

    /// Moves the shown part so that it has the cursor.
    fn follow_cursor(&mut self, cursor: Option<(u16, u16)>, size: (u16, u16), screen: Rect) {
        let shown = (screen.width, screen.height);
        if std::mem::replace(&mut self.shown, shown) != shown {
            // In another size, the part begins as far left and up as the cursor allows.
            self.origin = (0, 0);
        }
        let place = |origin: u16, cursor: Option<u16>, total: u16, shown: u16| {
            let origin = match cursor {
                Some(cursor) if cursor < origin => cursor,
                Some(cursor) if cursor >= origin.saturating_add(shown) => cursor + 1 - shown.min(cursor + 1),
                Some(_) | None => origin,
            };
            origin.min(total.saturating_sub(shown))
        };
        self.origin.0 = place(self.origin.0, cursor.map(|(column, _)| column), size.0, screen.width);
        self.origin.1 = place(self.origin.1, cursor.map(|(_, row)| row), size.1, screen.height);
    }

    /// Returns the style of a run; `None` for blank cells.
    fn cell_style(&self, style: Option<&RunStyle>) -> Style {
        let background = style.and_then(|style| style.background);
        let colour = style.map_or(self.text, |style| style.colour);
        let mut cell = recorded_style(
            colour,
            background.unwrap_or(self.background),
            background.is_none(),
            self.theme.depth,
            &self.palette,
        );
        let Some(style) = style else { return cell };
        for (is_set, modifier) in [
            (style.is_bold, Modifier::BOLD),
            (style.is_italic, Modifier::ITALIC),
            (style.is_underlined, Modifier::UNDERLINED),
            (style.is_dim, Modifier::DIM),
        ] {
            if is_set {
                cell = cell.add_modifier(modifier);
            }
        }
        cell
    }

    fn draw_row(&self, runs: &[Run], playback: &Playback, (screen, y): (Rect, u16), buffer: &mut Buffer) {
        let first = self.origin.0;
        for run in runs {
            let style = self.cell_style(Some(&run.style));
            for (column, width, grapheme) in run.glyphs() {
                let Some(x) = column.checked_sub(first).filter(|x| x + width <= screen.width) else { continue };
                let x = screen.x + x;
                buffer[(x, y)].set_symbol(" ");
                buffer.set_stringn(x, y, remove_hidden(grapheme), usize::from(width), style);
                // Also of the second cell of a wide character.
                for x in x..x + width {
                    buffer[(x, y)].set_style(style);
                }
            }
        }
        let Some(search) = playback.search() else { return };
        self.mark_matches(&row_text(runs), search.query(), (screen, y), buffer);
    }

    /// Marks the matches of a search in a row.
    fn mark_matches(&self, text: &str, query: &str, (screen, y): (Rect, u16), buffer: &mut Buffer) {
        let lower = text.to_lowercase();
        for (at, found) in lower.match_indices(query) {
            let column = text_width(&lower[..at]).saturating_sub(usize::from(self.origin.0));
            let columns = column..column + text_width(found);
            for x in columns.start..columns.end.min(usize::from(screen.width)) {
                buffer[(screen.x + x as u16, y)].set_style(self.theme.search_match);
            }
        }
    }

    fn draw_bar(&self, playback: &Playback, screen: Rect, bar: Rect, buffer: &mut Buffer) {
        let theme = &self.theme;
        buffer.set_style(bar, theme.background.patch(theme.text));
        for x in bar.left()..bar.right() {
            buffer[(x, bar.y)].set_symbol(" ");
        }
        let columns = usize::from(bar.width);
        if let Some(typed) = playback.typed() {
            let text = format!(" search: {}▏", fit_end(typed, columns.saturating_sub(12)));
            let hints = hint_rows([key_hint(0, "enter", &["find"]), key_hint(1, "esc", &["cancel"])]);
            return self.draw_bar_line(&[Span::styled(text, theme.text)], &hints, bar, buffer);
        }
        let state = match (playback.is_playing(), playback.position() >= playback.frames.duration) {
            (true, _) => "playing",
            (false, true) => "ended",
            (false, false) => "paused",
        };
        let time = format!("{} / {}", format_time(playback.position()), format_time(playback.frames.duration));
        let mut spans = vec![Span::styled(format!(" {state} "), theme.accent), Span::styled(time, theme.text)];
        let hints = replay_hints(playback);
        // The keys that pause and quit have room whatever else is shown.
        let width_of_keys = hints.iter().rev().nth(1).map_or(0, |row| text_width(row));
        let room = columns.saturating_sub(width_of(&spans) + GAP + width_of_keys + 1);
        spans.extend(self.choose_facts(playback, screen, room));
        let place = match playback.chapter() {
            // The place of a search is more important.
            _ if playback.search().is_some() => String::new(),
            Some((number, name)) => format!("{number}/{} {}", playback.frames.chapters.len(), clean_line(name)),
            None => self.title.clone(),
        };
        let text = if playback.message().is_empty() { place } else { playback.message().to_owned() };
        let width_of_quit = hints.last().map_or(0, |row| text_width(row));
        // A name leaves room for the most important keys, and half of the rest to the others.
        let room = columns.saturating_sub(width_of(&spans) + 3);
        let room_of_name = room.saturating_sub(IMPORTANT_KEYS).min(room / 2 + 8);
        let room_of_message = columns.saturating_sub(width_of(&spans) + 3 + GAP + width_of_quit + 1);
        let is_message = !playback.message().is_empty();
        let text = fit_start(&text, if is_message { room_of_message } else { room_of_name }).into_owned();
        if text_width(&text) > MIN_NAME || is_message && !text.is_empty() {
            let style = if is_message { theme.warning } else { theme.dim };
            spans.push(Span::styled(format!(" · {text}"), style));
        }
        self.draw_bar_line(&spans, &hints, bar, buffer);
    }

    /// Returns what fits into this many columns, the most important first: the place of a search, a speed that is not the usual one,
    /// that only a part is shown, and the usual speed.
    fn choose_facts(&self, playback: &Playback, screen: Rect, mut room: usize) -> Vec<Span<'static>> {
        let theme = &self.theme;
        let (columns, rows) = playback.frames.size;
        let is_part = columns > screen.width || rows > screen.height;
        let has_usual_speed = playback.speed() == 1.0;
        // A message says that nothing was found.
        let place = playback.search().map(|search| search.count_places(playback.frame_index()));
        let place = place.filter(|(_, count)| *count > 0);
        let text_of_place = |(number, count)| match number {
            0 => format!("{count} found"),
            _ => format!("match {number} of {count}"),
        };
        let text_of_size = match columns > screen.width || rows > screen.height + 1 {
            true => format!("part of {columns}x{rows}"),
            // The bar hides it.
            false => "1 row hidden".to_owned(),
        };
        let facts = [
            Some((if has_usual_speed { 3 } else { 1 }, format!("{}×", playback.speed()), theme.dim)),
            is_part.then_some((2, text_of_size, theme.warning)),
            place.map(|place| (0, text_of_place(place), theme.accent)),
        ];
        let mut facts: Vec<_> = facts.into_iter().flatten().enumerate().collect();
        facts.sort_by_key(|(_, (priority, ..))| *priority);
        facts.retain(|(_, (_, text, _))| {
            let fits = text_width(text) + 3 <= room;
            room -= if fits { text_width(text) + 3 } else { 0 };
            fits
        });
        facts.sort_by_key(|(place, _)| *place);
        facts.into_iter().map(|(_, (_, text, style))| Span::styled(format!(" · {text}"), style)).collect()
    }

    /// Draws the state at the left, and the longest row of keys that fits at the right.
    fn draw_bar_line(&self, spans: &[Span<'_>], hints: &[String], bar: Rect, buffer: &mut Buffer) {
        let columns = usize::from(bar.width);
        let used = width_of(spans);
        Line::from(spans.to_vec()).render(bar, buffer);
        let Some(row) = hints.iter().find(|row| used + GAP + text_width(row) < columns) else { return };
        let width = text_width(row) as u16;
        let place = Rect { x: bar.right() - width - 1, width, ..bar };
        Line::from(hint_spans(row, &self.theme)).render(place, buffer);
    }
}

fn width_of(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| text_width(&span.content)).sum()
}

/// Returns rows of hints, longest first.
fn replay_hints(playback: &Playback) -> Vec<String> {
    let has_chapters = !playback.frames.chapters.is_empty();
    let is_found = playback.search().is_some_and(|search| search.count_places(0).1 > 0);
    hint_rows([
        key_hint(if is_found { 2 } else { 1 }, "space", &[if playback.is_playing() { "pause" } else { "play" }]),
        key_hint(3, "←→", &["5 s"]),
        key_hint(8, "0-9", &["tenths"]),
        key_hint(7, ".", &["frame"]),
        key_hint(6, "+-", &["speed"]),
        has_chapters.then(|| key_hint(5, "][", &["chapter"])).flatten(),
        match is_found {
            // The next match is what a search is for.
            true => key_hint(1, "n N", &["match"]),
            false => key_hint(4, "/", &["search"]),
        },
        key_hint(0, "q", &["quit"]),
    ])
}

fn format_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests;
