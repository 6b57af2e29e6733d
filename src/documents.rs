//! Contents of documents as text and data. Those of formats that are hard to read are read in a process with limits.

pub mod data_format;
mod parquet;
mod pdf;
pub mod reader_process;
mod rows;
mod spreadsheet;
