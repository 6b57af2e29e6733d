//! Cache for the laid-out lines of a prompt or page, which can be a diff of twenty thousand lines.

use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// Lines of the last layout, with the width, the theme and the other `Inputs` they depend on. All caches are equal, so that
/// comparing two prompts ignores their caches.
#[derive(Debug, Clone, Default)]
pub struct LineCache<Inputs, L = Line<'static>>(RefCell<Option<Box<CachedLines<Inputs, L>>>>);

#[derive(Debug, Clone)]
struct CachedLines<Inputs, L> {
    width: usize,
    inputs: Inputs,
    theme: Theme,
    lines: Arc<Vec<L>>,
}

impl<Inputs, L> PartialEq for LineCache<Inputs, L> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<Inputs: PartialEq, L> LineCache<Inputs, L> {
    /// Returns the lines, laid out again if one of the inputs has changed.
    pub fn lines_for(
        &self,
        width: usize,
        inputs: Inputs,
        theme: &Theme,
        lay_out: impl FnOnce() -> Vec<L>,
    ) -> Arc<Vec<L>> {
        if let Some(cached) = &*self.0.borrow()
            && cached.width == width
            && cached.inputs == inputs
            && cached.theme == *theme
        {
            return cached.lines.clone();
        }
        let lines = Arc::new(lay_out());
        *self.0.borrow_mut() =
            Some(Box::new(CachedLines { width, inputs, theme: theme.clone(), lines: lines.clone() }));
        lines
    }

    /// Returns the lines of the last layout, if any.
    pub fn last_lines(&self) -> Option<Arc<Vec<L>>> {
        self.0.borrow().as_ref().map(|cached| cached.lines.clone())
    }
}
