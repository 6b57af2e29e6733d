//! Cache for the laid-out lines of a prompt, which can be a diff of twenty thousand lines.

use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// Lines of the last layout, with the width, the theme and the other inputs they depend on. Comparing
/// prompts ignores this cache.
#[derive(Debug, Clone, Default)]
pub struct LineCache<Inputs>(RefCell<Option<Box<CachedLines<Inputs>>>>);

#[derive(Debug, Clone)]
struct CachedLines<Inputs> {
    width: usize,
    inputs: Inputs,
    theme: Theme,
    lines: Arc<Vec<Line<'static>>>,
}

impl<Inputs> PartialEq for LineCache<Inputs> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<Inputs: PartialEq> LineCache<Inputs> {
    /// Returns the lines, laid out again if one of the inputs has changed.
    pub fn lines_for(
        &self,
        width: usize,
        inputs: Inputs,
        theme: &Theme,
        lay_out: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Arc<Vec<Line<'static>>> {
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
}
