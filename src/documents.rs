//! Reads documents, pictures and the system's clipboard. Complex formats are read in a separate process with limits.

pub mod clipboard;
pub mod data_format;
mod feed;
pub mod html;
mod parquet;
mod pdf;
pub mod picture;
pub mod reader;
pub mod reader_process;
mod reader_program;
mod reader_task;

pub use feed::NO_FEED;
pub use reader_program::remember_reader;
mod rows;
mod spreadsheet;
