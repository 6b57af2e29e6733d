//! Rows of a page on which a picture is drawn.

use super::{Link, Page};
use crate::chat::image::ImageSize;
use crate::text::link::LinkTarget;
use ratatui::text::Line;
use std::sync::Arc;

/// A picture at the size at which it is drawn. If the size of the file changes, the key is a different one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PictureKey {
    pub target: LinkTarget,
    /// Size of the picture in the file.
    pub size: ImageSize,
    pub columns: u16,
    pub rows: u16,
}

/// A row of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRow {
    pub key: Arc<PictureKey>,
    /// Row, from the top.
    pub row: u16,
}

/// Returns the blank rows on which a picture is drawn.
pub fn blank_rows(key: &Arc<PictureKey>) -> Page {
    let target = Arc::new(key.target.clone());
    let lines = (0..key.rows).map(|_| Line::raw(" ".repeat(usize::from(key.columns))));
    let link = |row: u16| Link {
        line: usize::from(row),
        start: 0,
        end: key.columns,
        target: target.clone(),
        picture: Some(PictureRow { key: key.clone(), row }),
    };
    Page { lines: lines.collect(), links: (0..key.rows).map(link).collect() }
}
