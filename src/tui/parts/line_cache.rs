//! Cache for the laid-out lines of a prompt, which can be a difference of twenty thousand lines.

use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// Lines of the last layout, with the width, the theme and the other inputs they depend on. As a cache, it is ignored
/// when prompts are compared.
#[derive(Debug, Clone, Default)]
pub struct LineCache<On>(RefCell<Option<Box<CachedLines<On>>>>);

#[derive(Debug, Clone)]
struct CachedLines<On> {
    width: usize,
    inputs: On,
    theme: Theme,
    lines: Arc<Vec<Line<'static>>>,
}

impl<On> PartialEq for LineCache<On> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<On: PartialEq> LineCache<On> {
    /// Returns the lines, laid out again if one of the inputs has changed.
    pub fn lines_for(
        &self,
        width: usize,
        on: On,
        theme: &Theme,
        lay_out: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Arc<Vec<Line<'static>>> {
        if let Some(laid) = &*self.0.borrow()
            && laid.width == width
            && laid.inputs == on
            && laid.theme == *theme
        {
            return laid.lines.clone();
        }
        let lines = Arc::new(lay_out());
        *self.0.borrow_mut() =
            Some(Box::new(CachedLines { width, inputs: on, theme: theme.clone(), lines: lines.clone() }));
        lines
    }
}
