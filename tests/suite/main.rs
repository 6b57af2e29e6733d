//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod approvals;
mod commands;
mod dry_run;
mod floors;
mod questions;
mod session_files;
mod settings;
mod support;
mod turns;
mod wire;
