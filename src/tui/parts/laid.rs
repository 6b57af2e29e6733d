//! What is read in a card, laid out once for what it depends on: a difference may have twenty thousand lines.

use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// Lines as they were laid out last, for a width, a theme and whatever else they depend on. It only spares work, and
/// counts for nothing where cards are compared.
#[derive(Debug, Clone, Default)]
pub struct Laid<On>(RefCell<Option<Box<LaidOut<On>>>>);

#[derive(Debug, Clone)]
struct LaidOut<On> {
    width: usize,
    on: On,
    theme: Theme,
    lines: Arc<Vec<Line<'static>>>,
}

impl<On> PartialEq for Laid<On> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<On: PartialEq> Laid<On> {
    /// The lines, laid out anew where something that they depend on is another.
    pub fn lines(
        &self,
        width: usize,
        on: On,
        theme: &Theme,
        lay_out: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Arc<Vec<Line<'static>>> {
        if let Some(laid) = &*self.0.borrow()
            && laid.width == width
            && laid.on == on
            && laid.theme == *theme
        {
            return laid.lines.clone();
        }
        let lines = Arc::new(lay_out());
        *self.0.borrow_mut() =
            Some(Box::new(LaidOut { width, on, theme: theme.clone(), lines: lines.clone() }));
        lines
    }
}
