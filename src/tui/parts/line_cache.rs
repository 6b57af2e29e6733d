//! Cache for the layout of a prompt or page, which can be a diff of twenty thousand lines.

use super::link_lookups::{LinkLookups, UsedLookups};
use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::RefCell;
use std::sync::Arc;

/// The last layout, with the width, the theme and the other `Inputs` it depends on. All caches are equal, so that comparing two
/// prompts ignores their caches.
#[derive(Debug, Clone, Default)]
pub struct LineCache<Inputs, L = Vec<Line<'static>>>(RefCell<Option<Box<CachedLayout<Inputs, L>>>>);

#[derive(Debug, Clone)]
struct CachedLayout<Inputs, L> {
    width: usize,
    inputs: Inputs,
    theme: Theme,
    used_lookups: UsedLookups,
    layout: Arc<L>,
}

impl<Inputs, L> PartialEq for LineCache<Inputs, L> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<Inputs: PartialEq, L> LineCache<Inputs, L> {
    /// Returns the layout, made again if one of the inputs has changed.
    pub fn lines_for(&self, width: usize, inputs: Inputs, theme: &Theme, lay_out: impl FnOnce() -> L) -> Arc<L> {
        self.cached_layout(width, inputs, theme, |_| false, || (lay_out(), UsedLookups::None))
    }

    /// Returns the layout, made again if one of the inputs or a link in it has changed. `lay_out` takes its links from
    /// `lookups`.
    pub fn linked_lines_for(
        &self,
        width: usize,
        inputs: Inputs,
        theme: &Theme,
        lookups: &LinkLookups,
        lay_out: impl FnOnce() -> L,
    ) -> Arc<L> {
        let is_outdated = |used| lookups.is_outdated(used);
        self.cached_layout(width, inputs, theme, is_outdated, || lookups.track_lookups(lay_out))
    }

    fn cached_layout(
        &self,
        width: usize,
        inputs: Inputs,
        theme: &Theme,
        is_outdated: impl FnOnce(UsedLookups) -> bool,
        lay_out: impl FnOnce() -> (L, UsedLookups),
    ) -> Arc<L> {
        if let Some(cached) = &*self.0.borrow()
            && cached.width == width
            && cached.inputs == inputs
            && cached.theme == *theme
            && !is_outdated(cached.used_lookups)
        {
            return cached.layout.clone();
        }
        let (layout, used_lookups) = lay_out();
        let layout = Arc::new(layout);
        let cached = CachedLayout { width, inputs, theme: theme.clone(), used_lookups, layout: layout.clone() };
        *self.0.borrow_mut() = Some(Box::new(cached));
        layout
    }

    /// Returns the last layout, if any.
    pub fn last_lines(&self) -> Option<Arc<L>> {
        self.0.borrow().as_ref().map(|cached| cached.layout.clone())
    }
}
