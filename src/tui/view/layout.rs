//! Layout of the screen, for sizes from one cell up.

use crate::tui::parts::frame::inner_area;
use crate::tui::popup::Popup;
use crate::tui::state::State;
use ratatui::layout::Rect;

/// Divisor of the screen's rows: toasts use at most one fifth of them.
const TOAST_SHARE: u16 = 5;
/// Divisor while a popup is open: toasts use at most one sixth of the rows above their bottom edge.
const POPUP_TOAST_SHARE: u16 = 6;

/// Divisor of the screen's rows: the todos use at most one sixth of them.
const TODO_SHARE: u16 = 6;
/// Minimum rows of a screen that shows todos.
const TODO_MIN_HEIGHT: u16 = 12;

/// Areas of the screen. An area may be empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Areas {
    /// Header: title, model, project.
    pub header: Rect,
    /// Line below the header.
    pub header_line: Rect,
    /// Transcript, without the blank column on either side.
    pub transcript: Rect,
    /// The open todos of the model, below a blank row if there is space for one.
    pub todos: Rect,
    /// One row for a parked question, the search and similar.
    pub chip: Rect,
    /// Toasts, in rows of their own so that they cover nothing; empty if there are none. They are below a prompt if there
    /// are blank rows, otherwise above it, where the last row is the blank separator row.
    pub toasts: Rect,
    /// Separator row, if there is space for one.
    pub separator: Rect,
    /// Prompt of the waiting call.
    pub prompt: Rect,
    /// The composer.
    pub composer: Rect,
    /// Footer: usage, current activity, pending prompts.
    pub footer: Rect,
}

impl Areas {
    /// Returns the column of the scroll bar, at the right of the transcript; empty if there is no space.
    pub fn scroll_bar(&self) -> Rect {
        let Rect { x, width, .. } = self.transcript;
        // The transcript starts at column 1 if there is a blank column on either side, otherwise at column 0.
        Rect { x: x + width, width: x.min(1), ..self.transcript }
    }
}

impl Areas {
    /// Returns the number of rows for toasts between the prompt and the composer.
    pub fn toasts_below_prompt(&self) -> u16 {
        if self.toasts.y >= self.prompt.bottom() { self.toasts.height } else { 0 }
    }
}

/// Computes the layout.
pub fn compute_areas(state: &State) -> Areas {
    let (width, height) = state.viewport.size;
    let screen_area = Rect::new(0, 0, width, height);
    // Transcript and composer share a blank column at the left.
    let margin = u16::from(width > 2);
    let mut rows_left = height;
    // Takes up to `wanted` rows, but leaves `reserve` rows for other parts.
    let mut take_rows = |wanted: u16, reserve: u16| {
        let rows = wanted.min(rows_left.saturating_sub(reserve));
        rows_left -= rows;
        rows
    };
    // The composer keeps its first row longer than the other parts, because nothing can be typed without it.
    let open_prompt = state.prompts.front();
    let shows_composer = open_prompt.is_none() || !state.input.composer.is_empty();
    let composer_min = u16::from(shows_composer);
    // The footer shows DRY RUN, which must be visible before anything else.
    let footer = take_rows(u16::from(height >= 3 || height == 2 && state.agent.is_dry_run()), composer_min);
    let header = take_rows(u16::from(height >= 8), composer_min);
    let header_line = take_rows(u16::from(height >= 12), composer_min);
    let separator = take_rows(u16::from(height >= 16), composer_min);
    let chip = take_rows(u16::from(has_chip(state) && height >= 4), composer_min);
    let todos = take_rows(todo_rows(state), composer_min);
    let above_todos = take_rows(u16::from(todos > 0 && height >= 16), composer_min);
    let composer = match shows_composer {
        false => 0,
        // Next to a prompt the composer only shows the draft, in at most three rows, and leaves a row for the prompt.
        true if open_prompt.is_some() => take_rows(state.input.composer.preferred_height(width - margin, 3).min(3), 1),
        true => take_rows(state.input.composer.preferred_height(width - margin, (height / 3).max(1)), 0),
    };
    // Keep some rows of the transcript above the prompt if there is space for both, and always if a row is selected.
    let kept_transcript_rows = match state.viewport.transcript.has_selection() {
        _ if height >= 20 => 4,
        true => 3,
        false => 0,
    };
    let max_prompt_rows = take_rows(height, kept_transcript_rows);
    let prompt = state.prompt_height(width, max_prompt_rows).min(max_prompt_rows);
    rows_left += max_prompt_rows - prompt;
    // The separator is a line between transcript and composer. Above a prompt it is blank, and toasts may use it.
    let shared_rows = if open_prompt.is_some() { separator } else { 0 };
    let transcript_rows =
        match state.viewport.transcript_rows.filter(|_| open_prompt.is_some() && !shows_welcome(state)) {
            // A prompt follows a short transcript directly, below a blank row.
            Some(rows) => rows.saturating_add(1 - separator).min(rows_left),
            None => rows_left,
        };
    let blank_rows = rows_left - transcript_rows;
    // Half of the rows are left to the transcript, or fewer if the newest toast would be cut. A selected row stays visible.
    let needed_toast_rows = match state.viewport.transcript.has_selection() {
        true => 0,
        false => state.notices.toasts.newest_rows(width - 2 * margin).saturating_sub(shared_rows),
    };
    let free_toast_rows = rows_left.div_ceil(2).max(needed_toast_rows.min(rows_left));
    let max_toast_rows = (height / TOAST_SHARE).max(1).min(free_toast_rows + shared_rows);
    let wanted_toast_rows = toast_rows(state, width - 2 * margin, max_toast_rows);
    // Toasts that fit below the prompt do not move it.
    let toasts_below = if wanted_toast_rows <= blank_rows { wanted_toast_rows } else { 0 };
    let toasts_above = match toasts_below {
        0 => wanted_toast_rows.saturating_sub(shared_rows).min(free_toast_rows),
        _ => 0,
    };
    let blank_rows = blank_rows.saturating_sub(toasts_below + toasts_above);
    let transcript_rows = rows_left - blank_rows - toasts_below - toasts_above;
    let mut y = 0;
    let mut place_rows = |rows: u16| {
        let area = Rect { y, height: rows, ..screen_area };
        y += rows;
        area
    };
    let indent = |area: Rect| Rect { x: margin, width: width - margin, ..area };
    let (header, header_line, transcript) = (place_rows(header), place_rows(header_line), place_rows(transcript_rows));
    place_rows(above_todos);
    let (todos, chip) = (place_rows(todos), place_rows(chip));
    let (above, separator, prompt) = (place_rows(toasts_above), place_rows(separator), place_rows(prompt));
    place_rows(blank_rows);
    let below = place_rows(toasts_below);
    let toasts = match (wanted_toast_rows, toasts_below) {
        (0, _) => Rect { height: 0, ..above },
        (_, 0) => Rect { height: above.height + shared_rows, ..above },
        _ => below,
    };
    Areas {
        header,
        header_line,
        transcript: Rect { width: width - 2 * margin, ..indent(transcript) },
        todos: Rect { width: width - 2 * margin, ..indent(todos) },
        chip,
        toasts: Rect { x: margin, width: width - 2 * margin, ..toasts },
        separator,
        prompt,
        composer: indent(place_rows(composer)),
        footer: place_rows(footer),
    }
}

/// Returns the area for a popup. It leaves the first and last row of the screen visible if there is space; in a dry
/// run always the footer. Toasts are drawn below it.
pub fn popup_area(state: &State) -> Rect {
    let screen_area = Rect::new(0, 0, state.viewport.size.0, state.viewport.size.1);
    let margin = if screen_area.height >= 16 { 1 } else { 0 };
    let footer_rows = margin.max(compute_areas(state).footer.height * u16::from(state.agent.is_dry_run()));
    let toasts = toast_area(state);
    let bottom = if toasts.is_empty() {
        screen_area.height - footer_rows
    } else {
        toasts.y.min(screen_area.height - footer_rows)
    };
    Rect { y: screen_area.y + margin, height: bottom.saturating_sub(margin), ..screen_area }
}

/// Returns the area inside the frame of a page that fills the area for a popup.
pub fn page_area(state: &State) -> Rect {
    inner_area(popup_area(state))
}

/// Returns the rows for toasts. While each link shows its hint (`Popup::Links`), the rows for toasts are fixed, so that no
/// hint moves off its link.
fn toast_rows(state: &State, width: u16, max_rows: u16) -> u16 {
    match state.viewport.popups.last() {
        Some(Popup::Links(hints)) => hints.toast_rows,
        Some(_) | None => state.notices.toasts.fit_rows(width, max_rows).1,
    }
}

/// Returns the area of toasts: above the composer, or above the footer if a popup covers a prompt. The popup ends
/// above them, so on a low screen there are fewer.
pub fn toast_area(state: &State) -> Rect {
    let areas = compute_areas(state);
    let hints = match state.viewport.popups.last() {
        Some(Popup::Links(hints)) => Some(hints),
        Some(_) | None => None,
    };
    if state.viewport.popups.len() == usize::from(hints.is_some()) {
        return areas.toasts;
    }
    let bottom = match state.prompts.front() {
        Some(_) => state.viewport.size.1 - areas.footer.height,
        None => areas.toasts.bottom(),
    };
    // On a very low screen the popup needs every row.
    let fitting_rows = || state.notices.toasts.fit_rows(areas.toasts.width, bottom / POPUP_TOAST_SHARE).1;
    let rows = hints.map_or_else(fitting_rows, |hints| hints.toast_rows.min(bottom));
    Rect { y: bottom - rows, height: rows, ..areas.toasts }
}

/// Returns whether the welcome screen is drawn in place of the transcript.
pub fn shows_welcome(state: &State) -> bool {
    state.agent.session.entries().is_empty() && state.agent.is_idle()
}

/// Returns the wanted rows for the todos: one next to a prompt or on a small screen.
fn todo_rows(state: &State) -> u16 {
    let todos = state.agent.session.todos();
    let height = state.viewport.size.1;
    if !todos.is_open() || height < TODO_MIN_HEIGHT {
        return 0;
    }
    let max_rows = if state.prompts.front().is_some() { 1 } else { (height / TODO_SHARE).max(1) };
    u16::try_from(todos.todos.len()).unwrap_or(u16::MAX).min(max_rows)
}

fn has_chip(state: &State) -> bool {
    state.viewport.transcript.search.is_some()
        || state.prompts.current.as_ref().is_some_and(|prompt| prompt.is_parked())
        || !state.viewport.transcript.is_following()
        || shows_command_hint(state)
}

/// Returns whether the row of chips says what Enter does with a draft that is a command of the user.
pub fn shows_command_hint(state: &State) -> bool {
    state.input.composer.is_command() && state.prompts.front().is_none()
}
