//! Draws the state: a pure function of the state and the size of the screen.

mod ascii;
mod bars;
pub mod layout;
pub mod pictures;
mod popups;
mod sanitize;
#[cfg(test)]
pub mod tests;
pub mod visible_lines;
mod welcome;

use super::focus::{Focus, current_focus};
use super::parts::transcript::layout_cache::LayoutCache;
use super::prompts::prompt::DrawnPrompt;
use super::state::State;
use super::text::PlacedLink;
use pictures::PlacedStrip;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Description of a drawn frame, apart from its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawnScreen {
    /// Position of the terminal's cursor.
    pub cursor: Option<Position>,
    /// Part of the open prompt that was visible.
    pub prompt: Option<DrawnPrompt>,
    /// Cells that are links for the terminal (OSC 8).
    pub links: Vec<LinkedCells>,
    /// Strips of pictures, whose cells may be covered.
    pub strips: Vec<PlacedStrip>,
}

/// Cells of one row that link to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedCells {
    /// The cells.
    pub area: Rect,
    /// Address in printable ASCII.
    pub address: String,
}

/// Draws the screen. The cache only saves time: the result is the same with an empty one.
pub fn draw_screen(state: &State, cache: &mut LayoutCache, buffer: &mut Buffer) -> DrawnScreen {
    let (mut drawn, links) = draw_with_links(state, cache, buffer);
    if state.settings.has_links {
        drawn.links = sanitize::resolve_links(&links, &state.settings);
    }
    drawn
}

/// Returns the links on the screen: first those of an open prompt, unless the transcript has the focus, and then the others,
/// each in reading order.
pub fn find_screen_links(state: &State, cache: &mut LayoutCache) -> Vec<PlacedLink> {
    let (width, height) = state.viewport.size;
    let (_, mut links) = draw_with_links(state, cache, &mut Buffer::empty(Rect::new(0, 0, width, height)));
    let prompt = match current_focus(state) {
        Focus::Prompt | Focus::Composer => layout::compute_areas(state).prompt,
        Focus::Transcript | Focus::Popup | Focus::Search => Rect::default(),
    };
    links.sort_by_key(|link| (!link.area.intersects(prompt), link.area.y, link.area.x));
    links
}

/// Draws the screen, and also returns its links.
fn draw_with_links(state: &State, cache: &mut LayoutCache, buffer: &mut Buffer) -> (DrawnScreen, Vec<PlacedLink>) {
    let screen_area = buffer.area;
    buffer.set_style(screen_area, state.theme.background.patch(state.theme.text));
    if screen_area.is_empty() {
        return Default::default();
    }
    let areas = layout::compute_areas(state);
    bars::draw_header(state, areas.header, buffer);
    bars::draw_horizontal_line(state, areas.header_line, buffer);
    let (mut links, mut strips) = (Vec::new(), Vec::new());
    if layout::shows_welcome(state) {
        welcome::draw_welcome(state, areas.transcript, buffer);
    } else {
        links = visible_lines::draw_lines(state, cache, areas.transcript, buffer);
        // Dimmed, a picture would be a field of bars or lose its number.
        if !popups::is_background_dimmed(state) {
            strips = pictures::draw_pictures(&state.lookups.pictures, &links, &state.theme, buffer);
        }
        visible_lines::draw_scroll_bar(state, cache, areas.scroll_bar(), buffer);
    }
    if state.prompts.front().is_none() {
        bars::draw_horizontal_line(state, areas.separator, buffer);
    }
    visible_lines::draw_todos(state, areas.todos, buffer);
    bars::draw_chips(state, cache, areas.chip, buffer);
    bars::draw_footer(state, cache, areas.footer, buffer);
    let mut drawn = draw_prompt_and_composer(state, areas, buffer);
    if let Some(prompt) = &mut drawn.prompt {
        links.append(&mut prompt.links);
    }
    let toasts = layout::toast_area(state);
    let popup = popups::draw_popup(state, &links, buffer);
    state.notices.toasts.draw(toasts, buffer, &state.theme);
    if let Some(popup) = popup {
        drawn.cursor = popup.cursor;
        // A prompt that is covered, or that has hints of links over its text, has not been seen.
        drawn.prompt = None;
        links.retain(|link| !link.area.intersects(popup.area));
        links.extend(popup.links);
        strips.extend(popup.strips);
    }
    links.retain(|link| !link.area.intersects(toasts));
    sanitize::replace_controls(buffer);
    if state.settings.is_ascii {
        ascii::replace_symbols(buffer);
    }
    drawn.cursor = drawn.cursor.filter(|position| screen_area.contains(*position));
    drawn.strips = strips;
    (drawn, links)
}

/// Draws the prompt and the composer. Returns the drawn part of the prompt, and the cursor of the prompt or composer if
/// it has the focus.
fn draw_prompt_and_composer(state: &State, areas: layout::Areas, buffer: &mut Buffer) -> DrawnScreen {
    let theme = &state.theme;
    let focus = current_focus(state);
    let hint = if areas.toasts.is_empty() { state.notices.toasts.newest_hint() } else { "" };
    // A prompt without a visible row has not been seen.
    let drawn_prompt = if areas.prompt.is_empty() { None } else { state.draw_prompt(hint, areas.prompt, buffer) };
    let mut cursor = drawn_prompt.as_ref().filter(|_| focus == Focus::Prompt).and_then(|drawn| drawn.cursor);
    if !areas.composer.is_empty() {
        let has_focus = focus == Focus::Composer;
        let argument_hint = state.input.argument_hint();
        let composer_cursor = state.input.composer.draw(areas.composer, buffer, theme, has_focus, argument_hint);
        if focus == Focus::Composer {
            cursor = composer_cursor;
            let column = |top: u16, bottom: u16| Rect {
                y: top.min(bottom),
                height: bottom.saturating_sub(top),
                ..areas.composer
            };
            let above_prompt = column(areas.transcript.y, areas.toasts.y.min(areas.separator.y));
            let below_prompt = column(areas.prompt.bottom(), areas.composer.y - areas.toasts_below_prompt());
            let completion_area = if below_prompt.height > above_prompt.height { below_prompt } else { above_prompt };
            state.input.completion.draw(completion_area, buffer, theme, &state.keys);
        }
    }
    DrawnScreen { cursor, prompt: drawn_prompt, ..DrawnScreen::default() }
}
