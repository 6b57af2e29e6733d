//! Changes of the transcript that depend on its layout.

use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::parts::transcript::{Layouts, Transcript, read_run_layout};
use crate::tui::state::State;
use crate::tui::view::layout;

/// Changes the transcript, whose layout depends on the rest of the state.
pub fn change_transcript<R>(
    state: &mut State,
    cache: &mut LayoutCache,
    change: impl FnOnce(&mut Transcript, &mut Layouts<'_>) -> R,
) -> R {
    let height = usize::from(layout::compute_areas(state).transcript.height);
    let mut transcript = std::mem::take(&mut state.viewport.transcript);
    let result = change(&mut transcript, &mut Layouts { context: state.layout_context(), cache, height });
    state.viewport.transcript = transcript;
    result
}

/// Changes the size of the screen. A selection that was visible stays visible.
pub fn resize_screen(state: &mut State, cache: &mut LayoutCache, size: (u16, u16)) {
    let is_visible = change_transcript(state, cache, |transcript, layouts| transcript.shows_selection(layouts));
    state.viewport.size = size;
    if is_visible {
        measure_transcript(state, cache);
        change_transcript(state, cache, Transcript::show_selection);
    }
}

/// Opens or closes an item, and keeps its start on the screen. Once it is closed, the view follows the end again if that
/// shows the item.
pub fn toggle_item(state: &mut State, cache: &mut LayoutCache, item: usize) {
    // One change after the other: a view that does not follow the end leaves a row to the chip that says so.
    let old_top = change_transcript(state, cache, |transcript, layouts| transcript.toggle_item(layouts, item));
    if let Some(old_top) = old_top {
        change_transcript(state, cache, |transcript, layouts| transcript.show_toggled(layouts, item, old_top));
    }
    change_transcript(state, cache, |transcript, layouts| transcript.show_item(layouts, Some(item)));
}

/// Returns what the row of the selected run of reads says, and everything that its calls returned; `None` if no run is
/// selected.
pub fn selected_run_texts(state: &mut State, cache: &mut LayoutCache) -> Option<(String, String)> {
    let selected = change_transcript(state, cache, |transcript, layouts| transcript.selected_item(layouts))?;
    let run = cache.read_runs.run_at_header(selected)?;
    let context = state.layout_context();
    Some((read_run_layout::describe_run(&context, run), read_run_layout::full_texts(&context, run)))
}

/// Measures the transcript while a prompt is open, which is drawn right below a short one.
pub fn measure_transcript(state: &mut State, cache: &mut LayoutCache) {
    state.viewport.transcript_rows = None;
    if state.prompts.front().is_some() {
        let rows = change_transcript(state, cache, |transcript, layouts| transcript.count_rows(layouts));
        state.viewport.transcript_rows = u16::try_from(rows).ok();
    }
}
