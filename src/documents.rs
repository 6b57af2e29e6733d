//! Contents of documents as text and data. Complex formats are read in a separate process with limits.

pub mod data_format;
mod parquet;
mod pdf;
pub mod reader_process;
mod rows;
mod spreadsheet;
