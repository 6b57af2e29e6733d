//! Recordings of the screen: files in asciinema's format, asciicast.

pub mod cast;
pub mod cast_reader;
pub mod cast_rewriter;
pub mod cast_writer;
pub mod frames;
#[cfg(feature = "recording-images")]
pub mod gif;
mod glyph_shapes;
pub mod html;
#[cfg(feature = "recording-images")]
pub mod png;
#[cfg(feature = "recording-images")]
pub mod raster;
pub mod svg;
