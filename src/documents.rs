//! Contents of documents as text. Those of formats that are hard to read are read in a process with limits.

mod pdf;
pub mod reader_process;
