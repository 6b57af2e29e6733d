//! Lookups of the pictures in a reply.

use crate::text::link::LinkTarget;
use crate::tui::text::PictureKey;
use std::sync::Arc;

/// Looks up the pictures that links name.
pub trait FindPicture {
    /// Returns the caption of a picture; `None` if there is no such picture.
    fn caption(&self, target: &LinkTarget) -> Option<String>;
    /// Returns a picture that is drawn in at most this many columns; `None` if it is not drawn.
    fn find_drawn(&self, target: &LinkTarget, width: usize) -> Option<Arc<PictureKey>>;
}

/// Finds no picture.
pub struct NoPictures;

impl FindPicture for NoPictures {
    fn caption(&self, _: &LinkTarget) -> Option<String> {
        None
    }

    fn find_drawn(&self, _: &LinkTarget, _: usize) -> Option<Arc<PictureKey>> {
        None
    }
}
