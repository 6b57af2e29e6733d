//! Reads documents, pictures, web pages and the system's clipboard. Complex formats are read by a program of their own,
//! `aye-reader`, which has limits.

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
mod rows;
mod spreadsheet;

pub use feed::NO_FEED;
pub use reader_program::remember_reader;
