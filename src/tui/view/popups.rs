//! Draws the popup in front, over everything else.

use super::pictures::{PlacedStrip, draw_pictures};
use super::visible_lines::highlight_matches;
use super::{bars, layout};
use crate::text::reveal::reveal_to_string;
use crate::text::web_destination::find_destination;
use crate::text::{clean, width};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::{Frame, PromptContext, inner_area, rows_position_text, set_lines};
use crate::tui::parts::json_view::JsonView;
use crate::tui::parts::key_hints::{hint_rows, key_hint};
use crate::tui::parts::link_hints::LinkHints;
use crate::tui::parts::link_page::LinkPage;
use crate::tui::parts::listening::Listening;
use crate::tui::parts::secret_field::SecretField;
use crate::tui::parts::status_bar::StatusBar;
use crate::tui::popup::{List, Popup, Reader, ReaderBody};
use crate::tui::state::State;
use crate::tui::text::{PlacedLink, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

/// A drawn popup.
pub struct DrawnPopup {
    /// Area of the popup. Prompts and links under it count as hidden.
    pub area: Rect,
    /// Position of the cursor.
    pub cursor: Option<Position>,
    /// Links in the popup.
    pub links: Vec<PlacedLink>,
    /// Strips of pictures in the popup.
    pub strips: Vec<PlacedStrip>,
}

/// Draws the popup in front, if any. The hints of links are drawn over the page that has the links, or over the screen, which has
/// `links`.
pub fn draw_popup(state: &State, links: &[PlacedLink], buffer: &mut Buffer) -> Option<DrawnPopup> {
    let (front, below) = state.viewport.popups.split_last()?;
    match (front, below.last()) {
        (Popup::Links(hints), page) if hints.pending_address.is_none() => {
            let nothing = DrawnPopup { area: Rect::default(), cursor: None, links: Vec::new(), strips: Vec::new() };
            let drawn = page.map_or(nothing, |page| draw_one_popup(state, page, buffer));
            let links = if page.is_some() { &drawn.links } else { links };
            draw_hints(state, &hints.relocated(links.to_vec()), buffer);
            Some(DrawnPopup { cursor: None, ..drawn })
        }
        (Popup::Links(_), Some(page)) => {
            let drawn = draw_one_popup(state, page, buffer);
            draw_one_popup(state, front, buffer);
            Some(DrawnPopup { cursor: None, ..drawn })
        }
        (popup, _) => Some(draw_one_popup(state, popup, buffer)),
    }
}

fn draw_one_popup(state: &State, popup: &Popup, buffer: &mut Buffer) -> DrawnPopup {
    let theme = &state.theme;
    let area = layout::popup_area(state);
    if dims(popup) {
        dim_background(state, buffer);
    }
    let mut drawn = DrawnPopup { area, cursor: None, links: Vec::new(), strips: Vec::new() };
    match popup {
        Popup::Help(help) => help.draw(&state.keys, area, buffer, theme),
        Popup::List(picker, _) => drawn.cursor = picker.draw(area, buffer, theme),
        Popup::ApiKey(field) => drawn = draw_key_input(state, field, area, buffer),
        Popup::Credential(entry) => (drawn.area, drawn.cursor) = entry.draw(&state.keys, area, buffer, theme),
        Popup::RuleEdit(edit) => (drawn.area, drawn.cursor) = edit.draw(&state.keys, area, buffer, theme),
        Popup::ProjectCopy(copy) => (drawn.area, drawn.cursor) = copy.draw(&state.keys, area, buffer, theme),
        Popup::Reader(reader) => (drawn.links, drawn.strips) = draw_reader(state, reader, area, buffer),
        Popup::Confirmation(confirmation, _) => {
            let listening = state.confirmation_listening().unwrap_or(Listening::Unseen);
            confirmation.draw(&PromptContext { listening, keys: &state.keys, theme, message: "" }, area, buffer);
        }
        Popup::Links(LinkHints { pending_address: Some(address), .. }) => draw_address(state, address, area, buffer),
        // Drawn with the links of what is below.
        Popup::Links(_) => {}
    }
    drawn
}

/// Returns whether a popup dims the screen behind it.
pub fn is_background_dimmed(state: &State) -> bool {
    state.viewport.popups.iter().any(dims)
}

/// Returns whether the popup dims what is behind it. Theme previews and links with hints keep its colours.
fn dims(popup: &Popup) -> bool {
    match popup {
        Popup::List(_, List::Themes(_)) | Popup::Links(LinkHints { pending_address: None, .. }) => false,
        Popup::Help(_)
        | Popup::List(..)
        | Popup::ApiKey(_)
        | Popup::Credential(_)
        | Popup::RuleEdit(_)
        | Popup::ProjectCopy(_)
        | Popup::Confirmation(..)
        | Popup::Links(_)
        | Popup::Reader(_) => true,
    }
}

fn dim_background(state: &State, buffer: &mut Buffer) {
    let screen_area = buffer.area;
    let theme = &state.theme;
    // Everything else that a cell had, such as the background of a diff, is reset.
    let dimmed = Style::reset().patch(theme.background).patch(theme.text).patch(theme.border_dim);
    buffer.set_style(screen_area, dimmed);
    bars::highlight_dry_run(state, layout::compute_areas(state).footer, buffer);
}

/// Draws the input of an API key. Only its length is visible.
fn draw_key_input(state: &State, field: &SecretField, area: Rect, buffer: &mut Buffer) -> DrawnPopup {
    let theme = &state.theme;
    let hints = SecretField::hints(&state.keys);
    let width = area.width.min(72);
    // An empty profile means a local server found on this machine, unless --base-url set the address. Such a server
    // receives no key: the key is for the configured provider.
    let connection = &state.session.connection;
    let is_configured = !connection.profile.is_empty() || connection.source.ends_with("(set by --base-url)");
    let recipient = match connection.is_tour || !is_configured {
        true => "the configured provider: OpenAI, unless your settings name another".to_owned(),
        // The current provider may be the one that rejected the last key.
        false => {
            format!("the current provider: {}", clean::clean_line(&connection.source))
        }
    };
    let text = format!("Saved in a file that only you can read, and sent only to {recipient}.");
    // The frame takes four columns and two rows. The input and the blank row after it take two rows more.
    let lines = wrap::wrap_plain(&text, theme.dim, usize::from(width.saturating_sub(4)).max(1));
    let height = area.height.min(u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4));
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 3);
    let area = Rect { x, y, width, height };
    let frame = Frame { title: "Enter API key", hints: &hints, is_listening: true, ..Frame::default() };
    let inside = frame.draw(area, buffer, theme);
    let Some((cursor, rest)) = field.draw_dots(inside, buffer, theme) else {
        return DrawnPopup { area, cursor: None, links: Vec::new(), strips: Vec::new() };
    };
    set_lines(&lines, rest, buffer);
    DrawnPopup { area, cursor: Some(cursor), links: Vec::new(), strips: Vec::new() }
}

/// Draws a page. Returns its visible links and strips of pictures.
fn draw_reader(state: &State, reader: &Reader, area: Rect, buffer: &mut Buffer) -> (Vec<PlacedLink>, Vec<PlacedStrip>) {
    let inside = inner_area(area);
    let rows = usize::from(inside.height);
    let layout = reader.lay_out_text(usize::from(inside.width).max(1), &state.theme, &state.lookups);
    let (page, lines) = (&layout.page, &layout.page.lines);
    let top =
        reader.json_view().map_or(reader.top.get(), |view| view.scroll_to_cursor(reader.top.get(), lines.len(), rows));
    let top = top.min(lines.len().saturating_sub(rows));
    reader.top.set(top);
    let position = match &layout.numbered {
        Some(numbered) => numbered.position_text(top, rows),
        None => rows_position_text(top, rows, lines.len()),
    };
    let hints = match &reader.search {
        Some(search) => search.hints(),
        None => reader_hints(state, reader, rows < lines.len()),
    };
    let position = position.unwrap_or_default();
    // The position is shown even if the title has to be cut. `Frame::draw` needs 10 more cells than the two texts.
    let title_cells = usize::from(area.width).saturating_sub(width::text_width(&position) + 10);
    let facts = match &reader.body {
        ReaderBody::Link(page) => page.facts_in_title(),
        _ => String::new(),
    };
    let separator = if facts.is_empty() { "" } else { " · " };
    let title = format!("{}{separator}{facts}", reader.title);
    let title = if position.is_empty() { title.into() } else { width::fit_start(&title, title_cells) };
    let frame = Frame { title: &title, right_title: &position, hints: &hints, is_listening: true, ..Frame::default() };
    frame.draw(area, buffer, &state.theme);
    set_lines(&lines[top..], inside, buffer);
    if let Some(search) = reader.search.as_ref().filter(|search| !search.query.is_empty()) {
        let current = state.theme.search_match.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        for ((index, line), row) in lines.iter().enumerate().skip(top).zip(inside.rows()) {
            let style = if search.current_line() == Some(index) { current } else { state.theme.search_match };
            highlight_matches(&line.to_string(), &search.query, row, buffer, style);
        }
    }
    for row in reader.json_view().map(JsonView::cursor_rows).into_iter().flatten() {
        if let Some(area) = row.checked_sub(top).and_then(|row| inside.rows().nth(row)) {
            // As in a list, a single style, because not every colour is readable on this background.
            buffer.set_style(area, state.theme.text.patch(state.theme.selected));
        }
    }
    let links =
        inside.rows().enumerate().flat_map(|(index, row)| page.place_links(top + index, row)).collect::<Vec<_>>();
    let strips = draw_pictures(&state.lookups.pictures, &links, &state.theme, buffer);
    (links, strips)
}

/// Returns rows of key hints for a page: the keys of its file or links, and those that scroll if not all of it is visible.
fn reader_hints(state: &State, reader: &Reader, is_scrolled: bool) -> Vec<String> {
    let key = |scope, action| state.keys.first_chord(scope, action);
    let scroll_keys = |first, second| match is_scrolled {
        true => (key(Scope::Page, first), key(Scope::Page, second)),
        false => (String::new(), String::new()),
    };
    let join = |separator: &str, (first, second): (String, String)| match (&*first, &*second) {
        ("", "") => String::new(),
        ("up", "down") => "↑↓".to_owned(),
        _ => format!("{first}{separator}{second}"),
    };
    let file_hints = match &reader.body {
        ReaderBody::File(page) => page.page_key_hints(&state.keys),
        ReaderBody::Link(_) => LinkPage::key_hints(&state.keys),
        _ => Vec::new(),
    };
    let whole_text_key = if reader.whole_text.is_some() { "enter" } else { "" };
    let link_key = if reader.has_links() { key(Scope::Anywhere, Action::OpenLink) } else { String::new() };
    let can_search = is_scrolled && reader.json_view().is_none();
    let search_key = if can_search { key(Scope::Anywhere, Action::SearchTranscript) } else { String::new() };
    let arrows_verb = if reader.json_view().is_some() { "move" } else { "scroll" };
    // The numbers are the priorities of removal: the highest is removed first.
    let hints = [
        key_hint(1, &join(" ", scroll_keys(Action::Up, Action::Down)), &[arrows_verb]),
        key_hint(5, &join("/", scroll_keys(Action::Top, Action::Bottom)), &[""]),
        key_hint(6, &join("/", scroll_keys(Action::PageUp, Action::PageDown)), &[""]),
        key_hint(2, whole_text_key, &["open whole text", "open all"]),
        key_hint(3, &link_key, &["links"]),
        key_hint(9, &search_key, &["search"]),
    ];
    let back = key_hint(0, &key(Scope::Page, Action::Close), &["back"]);
    hint_rows(hints.into_iter().chain(file_hints).chain([back]))
}

/// Shows where a web address leads and the address in full before it is opened.
fn draw_address(state: &State, address: &str, area: Rect, buffer: &mut Buffer) {
    let copy_key = state.keys.first_chord(Scope::Files, Action::CopyAddress);
    let copy = key_hint(1, &copy_key, &["copy address"]);
    let enter = key_hint(0, "enter", &["open in browser", "open"]);
    let hints = hint_rows([enter, copy, key_hint(2, "esc", &["back"])]);
    let frame = Frame { title: "Open this address?", hints: &hints, is_listening: true, ..Frame::default() };
    // The frame takes four columns and two rows.
    let width = usize::from(area.width.saturating_sub(4)).max(1);
    let (theme, mut lines) = (&state.theme, Vec::new());
    if let Some(destination) = find_destination(address) {
        lines.extend(wrap::wrap_plain(&format!("Leads to {}", destination.host), theme.strong, width));
        lines.extend(destination.warnings.iter().flat_map(|warning| wrap::wrap_plain(warning, theme.warning, width)));
        if state.settings.is_remote {
            let key = if copy_key.is_empty() { "y" } else { &copy_key };
            let text = format!(
                "This session is remote, and the address opens there. Press {key} to copy it and open it here."
            );
            lines.extend(wrap::wrap_plain(&text, theme.warning, width));
        }
    }
    if lines.is_empty() {
        lines.extend(wrap::wrap_plain("The host of this address cannot be determined.", theme.warning, width));
    }
    lines.extend(wrap::wrap_plain(&reveal_to_string(address), theme.text, width));
    let rows = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let inside = frame.draw(Rect { y: area.bottom() - rows, height: rows, ..area }, buffer, theme);
    set_lines(&lines, inside, buffer);
}

/// Draws the hint next to each link, and in the bottom row what to type.
fn draw_hints(state: &State, hints: &LinkHints, buffer: &mut Buffer) {
    let (screen_area, theme) = (buffer.area, &state.theme);
    let role = if hints.is_preview { theme.warning } else { theme.accent };
    // The colours of readable text, exchanged: they are readable in every theme.
    let style = Style::reset().patch(theme.background).patch(theme.text).patch(role);
    let style = style.add_modifier(Modifier::BOLD | Modifier::REVERSED);
    let typed = hints.typed.map_or(0, char::len_utf8);
    for (position, link) in hints.place_hints(buffer) {
        let x = position.x + hints.typed.map_or(0, |_| 1);
        if x < screen_area.right() {
            buffer.set_stringn(x, position.y, &link.hint[typed..], usize::from(screen_area.right() - x), style);
        }
    }
    let mut links = hints.matching_links();
    let instruction = match (links.next(), links.next()) {
        (Some(link), None) => format!("type {}: {}", link.hint, link.target),
        _ if hints.typed.is_some() => "type the second letter".to_owned(),
        _ => "type the letters".to_owned(),
    };
    let row = Rect { y: screen_area.bottom() - 1, height: 1, ..screen_area };
    ratatui::widgets::Widget::render(ratatui::widgets::Clear, row, buffer);
    buffer.set_style(row, theme.background.patch(theme.text));
    // The last argument of each segment is its priority: 0 is never removed.
    let mut bar = StatusBar::with_separator("  ", theme.dim);
    if state.agent.is_dry_run() {
        bar.push_left("DRY RUN", theme.danger, 0);
    }
    let (title, other) = if hints.is_preview { (" PREVIEW ", "p open") } else { (" OPEN ", "p preview") };
    bar.push_left(title, style, 0);
    bar.push_left(instruction, role, 0).shrink_last();
    if hints.has_previews() {
        bar.push_right(other, theme.dim, 2);
    }
    bar.push_right("A-Z copy", theme.dim, 3);
    bar.push_right("esc back", theme.dim, 1);
    bar.draw(row, buffer);
}
