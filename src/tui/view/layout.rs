//! What stands where, from one cell to a very large screen.

use crate::tui::overlay::Overlay;
use crate::tui::prompt::Prompt;
use crate::tui::state::State;
use ratatui::layout::Rect;

/// The places of the screen. A place may have no rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Areas {
    /// Title, model, project.
    pub head: Rect,
    /// The line below it.
    pub rule: Rect,
    /// What was said and done, without the blank column at either side.
    pub transcript: Rect,
    /// One row for what waits beside the card: a parked question, what is searched for.
    pub chip: Rect,
    /// Notices: rows of their own, so that they cover nothing; above a card the last of them is the one below, which is
    /// blank there. No rows where there are no notices.
    pub told: Rect,
    /// One row that keeps what is above from what is below, where there is room.
    pub air: Rect,
    /// The card of the call that waits.
    pub card: Rect,
    /// The composer.
    pub composer: Rect,
    /// What it costs, what runs, what waits.
    pub foot: Rect,
}

impl Areas {
    /// The column of the transcript's bar, in the blank one at its right; no cells where there is none.
    pub fn bar(&self) -> Rect {
        let Rect { x, width, .. } = self.transcript;
        Rect { x: x + width, width: x.min(1), ..self.transcript }
    }
}

/// Where everything stands now.
pub fn areas(state: &State) -> Areas {
    let (width, height) = state.size;
    let all = Rect::new(0, 0, width, height);
    // A blank column at the left, which what is said and what is written have in common.
    let side = u16::from(width > 2);
    let mut left = height;
    let mut take = |wanted: u16, keep: u16| {
        let rows = wanted.min(left.saturating_sub(keep));
        left -= rows;
        rows
    };
    // The composer's first row is the last thing to go: without it nothing can be said.
    let open = state.open_card();
    let writes = open.is_none() || !state.composer.is_empty();
    let least = u16::from(writes);
    // Where nothing real is touched, that is said before anything else.
    let foot = take(u16::from(height >= 3 || height == 2 && state.agent.is_dry_run()), least);
    let head = take(u16::from(height >= 8), least);
    let rule = take(u16::from(height >= 12), least);
    let air = take(u16::from(height >= 16), least);
    let chip = take(u16::from(has_chip(state) && height >= 4), least);
    let composer = match writes {
        false => 0,
        // Beside a card the composer only shows what is unsent.
        true if open.is_some() => take(state.composer.height(width - side, 3).min(3), 1),
        true => take(state.composer.height(width - side, (height / 3).max(1)), 0),
    };
    // Some rows of what led to the question stay, where there is room for both.
    let card = take(state.card_height(width), if height >= 20 { 4 } else { 0 });
    let wanted = told_rows(state, width - 2 * side);
    // Between transcript and composer that row is a line; above a card it is blank.
    let lent = if open.is_some() { air } else { 0 };
    let told = wanted.saturating_sub(lent).min(left.div_ceil(2));
    left -= told;
    let mut y = 0;
    let mut place = |rows: u16| {
        let area = Rect { y, height: rows, ..all };
        y += rows;
        area
    };
    let beside = |area: Rect| Rect { x: side, width: width - side, ..area };
    let (head, rule, transcript) = (place(head), place(rule), place(left));
    let chip = place(chip);
    let (above, air) = (beside(place(told)), place(air));
    let told = if wanted == 0 { 0 } else { above.height + lent };
    Areas {
        head,
        rule,
        transcript: Rect { width: width - 2 * side, ..beside(transcript) },
        chip,
        told: Rect { width: width - 2 * side, height: told, ..above },
        air,
        card: place(card),
        composer: beside(place(composer)),
        foot: place(foot),
    }
}

/// The rows that notices want. While letters stand on links nothing moves, so that each letter stays on its link.
fn told_rows(state: &State, width: u16) -> u16 {
    match state.overlays.last() {
        Some(Overlay::Links(links)) => links.told,
        Some(_) | None => state.toasts.height(width),
    }
}

/// Where notices are drawn: above the composer; and where a list or page lies over a card, above the foot. A list or page
/// ends above them, so there are fewer of them then where the screen is low.
pub fn told(state: &State) -> Rect {
    let areas = areas(state);
    if matches!(state.overlays.last(), None | Some(Overlay::Links(_))) {
        return areas.told;
    }
    let bottom = match state.open_card() {
        Some(_) => state.size.1 - areas.foot.height,
        None => areas.told.bottom(),
    };
    // Where it is very low the list or page needs every row.
    let most = if bottom < OVER { 0 } else { bottom / OVER };
    let rows = state.toasts.height(areas.told.width).min(most);
    Rect { y: bottom - rows, height: rows, ..areas.told }
}

/// Of so many rows that a list or page and notices share, notices have one.
const OVER: u16 = 6;

/// Rows of the transcript.
pub fn transcript_height(state: &State) -> usize {
    usize::from(areas(state).transcript.height)
}

fn has_chip(state: &State) -> bool {
    state.transcript.search.is_some()
        || state.prompt.as_ref().is_some_and(Prompt::is_parked)
        || !state.transcript.follows()
}
