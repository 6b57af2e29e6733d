//! The frontend with a screen.

pub mod text;
pub mod theme;
