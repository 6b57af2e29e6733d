//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod approvals;
mod between_sessions;
mod command_line;
mod commands;
mod dry_run;
mod editor;
mod floors;
mod hands;
mod house;
mod kills;
mod odd_disks;
mod odd_places;
mod odd_servers;
mod questions;
mod rough_life;
mod secrets;
mod session_files;
mod settings;
mod support;
mod talk;
mod terminal;
mod true_server;
mod turns;
mod wire;
mod writing;
