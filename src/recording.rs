//! Recordings of the screen: files in asciinema's format, asciicast.

pub mod cast;
pub mod cast_reader;
pub mod cast_writer;
pub mod frames;
pub mod svg;
