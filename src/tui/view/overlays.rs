//! Draws the overlay in front, over everything else.

use super::{bars, layout};
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Links, Overlay, Reader};
use crate::tui::parts::frame::{Frame, Sight};
use crate::tui::parts::line;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::status::Bar;
use crate::tui::state::State;
use crate::tui::text::reveal::{Shown, reveal};
use crate::tui::text::{clean, width, wrap};
use crate::tui::update::sure;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A drawn overlay.
pub struct Over {
    /// Area of the overlay; what it covers cannot be clicked.
    pub area: Rect,
    /// Position of the cursor.
    pub cursor: Option<Position>,
}

/// Draws the overlay in front, if any.
pub fn draw(state: &State, buffer: &mut Buffer) -> Option<Over> {
    let theme = &state.theme;
    let all = buffer.area;
    let area = inset(state, all);
    recede(state, buffer);
    let cursor = match state.overlays.last()? {
        Overlay::Help(help) => {
            help.view(&state.keys, area, buffer, theme);
            None
        }
        Overlay::Sessions(picker, ..)
        | Overlay::Themes(picker, _)
        | Overlay::Commands(picker)
        | Overlay::Models(picker, _)
        | Overlay::Connect(picker, _)
        | Overlay::Audit(picker, _)
        | Overlay::Grants(picker, _)
        | Overlay::Rehearsal(picker, _)
        | Overlay::Modes(picker, _)
        | Overlay::Leaving(picker, _)
        | Overlay::Copies(picker, _) => picker.view(area, buffer, theme),
        Overlay::Key(line) => return Some(enter_key(state, line, area, buffer)),
        Overlay::Reader(reader) => {
            read(state, reader, area, buffer);
            None
        }
        Overlay::Sure(card, _) => {
            let listening = sure::listening(state).unwrap_or(Listening::Unseen);
            card.view(&Sight { listening, keys: &state.keys, theme, says: "" }, area, buffer);
            None
        }
        Overlay::Links(Links { asks: Some(address), .. }) => {
            asks(state, address, area, buffer);
            None
        }
        Overlay::Links(links) => {
            letters(state, links, buffer);
            return Some(Over { area: Rect::default(), cursor: None });
        }
    };
    Some(Over { area, cursor })
}

/// Dims the screen behind the overlay. Theme previews and links keep their colours.
fn recede(state: &State, buffer: &mut Buffer) {
    match state.overlays.last() {
        None | Some(Overlay::Themes(..) | Overlay::Links(_)) => {}
        Some(
            Overlay::Help(_)
            | Overlay::Sessions(..)
            | Overlay::Commands(_)
            | Overlay::Models(..)
            | Overlay::Connect(..)
            | Overlay::Key(_)
            | Overlay::Audit(..)
            | Overlay::Grants(..)
            | Overlay::Rehearsal(..)
            | Overlay::Modes(..)
            | Overlay::Leaving(..)
            | Overlay::Sure(..)
            | Overlay::Copies(..)
            | Overlay::Reader(_),
        ) => {
            let all = buffer.area;
            buffer.set_style(all, state.theme.border_dim);
            bars::dry_run(state, layout::areas(state).foot, buffer);
        }
    }
}

/// Draws the input of an API key. Only its length is visible.
fn enter_key(state: &State, line: &line::Line, area: Rect, buffer: &mut Buffer) -> Over {
    let theme = &state.theme;
    let key = |action| state.keys.hint(Scope::Line, action);
    let hints = [
        format!("{} save and connect · {} back", key(Action::Accept), key(Action::Close)),
        format!("{} save · {} back", key(Action::Accept), key(Action::Close)),
    ];
    let width = area.width.min(72);
    // Local servers found on this machine receive no key: the key is for the configured provider.
    let connection = &state.connection;
    let named = !connection.profile.is_empty() || connection.source.ends_with("from --base-url");
    let whose = match connection.tour || !named {
        true => "its provider: OpenAI, unless your settings name another".to_owned(),
        // For example the provider that rejected the last key.
        false => {
            format!("the current provider: {}", clean::one_line(&connection.source))
        }
    };
    let words = format!("Saved in a file that only you can read, and sent only to {whose}.");
    let words = wrap::plain(&words, theme.dim, usize::from(width.saturating_sub(4)).max(1));
    let height = area.height.min(u16::try_from(words.len()).unwrap_or(u16::MAX).saturating_add(4));
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
    let area = Rect { x, y, width, height };
    let frame = Frame { title: "Enter API key", right: "", hints: &hints, listens: true, ..Frame::default() };
    let inside = frame.view(area, buffer, theme);
    let Some(row) = inside.rows().next() else { return Over { area, cursor: None } };
    let dots = "•".repeat(line.text().chars().count());
    let shown = width::fit_end(&dots, usize::from(row.width).saturating_sub(3));
    let (x, _) = buffer.set_stringn(row.x, row.y, "❯ ", usize::from(row.width), theme.accent);
    let (x, _) = buffer.set_stringn(x, row.y, shown, usize::from(row.right() - x), theme.text);
    for (row, line) in inside.rows().skip(2).zip(&words) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
    Over { area, cursor: Some(Position { x: x.min(row.right().saturating_sub(1)), y: row.y }) }
}

/// Returns the area for an overlay. It leaves a border of the screen visible if there is space; in a dry run always the
/// footer. Toasts are drawn below it.
fn inset(state: &State, all: Rect) -> Rect {
    let y = if all.height >= 16 { 1 } else { 0 };
    let foot = y.max(layout::areas(state).foot.height * u16::from(state.agent.is_dry_run()));
    let told = layout::told(state);
    let bottom = if told.is_empty() { all.height - foot } else { told.y.min(all.height - foot) };
    Rect { y: all.y + y, height: bottom.saturating_sub(y), ..all }
}

fn read(state: &State, reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let hints = ["↑↓ move · page-up/page-down page · esc back".to_owned(), "esc back".to_owned()];
    let frame = Frame { title: &reader.title, right: "", hints: &hints, listens: true, ..Frame::default() };
    let inside = frame.view(area, buffer, &state.theme);
    let lines = reader.lines(usize::from(inside.width).max(1), &state.theme);
    let top = reader.top.min(lines.len().saturating_sub(usize::from(inside.height)));
    for (row, line) in inside.rows().zip(&lines[top..]) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
}

/// Shows a web address in full before it is opened.
fn asks(state: &State, address: &str, area: Rect, buffer: &mut Buffer) {
    let hints = ["enter open in browser · y copy · esc back".to_owned(), "enter · esc".to_owned()];
    let frame =
        Frame { title: "Open this address?", right: "", hints: &hints, listens: true, ..Frame::default() };
    let shown: String = reveal(address)
        .into_iter()
        .map(|shown| match shown {
            Shown::Text(text) | Shown::Mark(text) => text,
        })
        .collect();
    let width = usize::from(area.width.saturating_sub(4)).max(1);
    let lines = wrap::plain(&shown, state.theme.text, width);
    let rows = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let inside = frame.view(Rect { y: area.bottom() - rows, height: rows, ..area }, buffer, &state.theme);
    for (row, line) in inside.rows().zip(&lines) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
}

/// Draws a letter on each link, and the targets in the bottom row.
fn letters(state: &State, links: &Links, buffer: &mut Buffer) {
    let all = buffer.area;
    for link in &links.list {
        if all.contains(Position::from(link.at)) {
            buffer.set_string(link.at.0, link.at.1, link.letter.to_string(), state.theme.found);
        }
    }
    let words: Vec<String> =
        links.list.iter().map(|link| format!("{} {}", link.letter, link.target)).collect();
    let row = Rect { y: all.bottom() - 1, height: 1, ..all };
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, row, buffer);
    buffer.set_style(row, state.theme.ground.patch(state.theme.text));
    let mut bar = Bar::between("  ", state.theme.dim);
    if state.agent.is_dry_run() {
        bar.left("DRY RUN", state.theme.danger, 0);
    }
    bar.left(format!("open: {}", words.join("  ")), state.theme.accent, 0).shrinks();
    bar.right("shift copy · esc back", state.theme.dim, 1);
    bar.draw(row, buffer);
}
