//! Contents of documents as text and data, and pictures. Complex formats are read in a separate process with limits.

pub mod clipboard;
pub mod data_format;
mod parquet;
mod pdf;
pub mod picture;
mod picture_limits;
pub mod reader_process;
mod rows;
mod spreadsheet;
