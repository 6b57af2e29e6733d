//! Changes of the transcript that depend on its layout.

use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::parts::transcript::{Layouts, Transcript};
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
