//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod answer_files;
mod answers;
mod approvals;
mod asking_again;
mod audits;
mod between_sessions;
mod cards;
mod choosing;
mod command_line;
mod commands;
mod dry_run;
mod editor;
mod floors;
mod forks;
mod gateway;
mod hands;
mod house;
mod idle;
mod keys;
mod kills;
mod long_talk;
mod long_talks;
mod nasty;
mod odd_disks;
mod odd_places;
mod odd_servers;
mod pictures;
mod questions;
mod record;
mod rough_life;
mod secrets;
mod session_files;
mod settings;
mod soak;
mod support;
mod talk;
mod terminal;
mod titles;
mod true_server;
mod trust;
mod turns;
mod waiting;
mod wire;
mod writing;
