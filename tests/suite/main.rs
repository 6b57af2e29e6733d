//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod answer_files;
mod answers;
mod applying;
mod approvals;
mod asking_again;
mod audits;
mod between_sessions;
mod cards;
mod choosing;
mod command_line;
mod commands;
mod damaged;
mod doctor;
mod dry_run;
mod editor;
mod escapes;
mod floors;
mod forks;
mod gateway;
mod half_said;
mod hands;
mod hooks;
mod house;
mod idle;
mod keys;
mod kills;
mod long_talk;
mod long_talks;
mod modes;
mod nasty;
mod odd_disks;
mod odd_places;
mod odd_servers;
mod pictures;
mod questions;
mod record;
mod rehearsals;
mod rough_life;
mod rules;
mod second_reader;
mod secrets;
mod session_files;
mod sessions;
mod settings;
mod soak;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod stage_escapes;
mod sub_agents;
mod support;
mod talk;
mod terminal;
mod titles;
mod true_server;
mod trust;
mod turns;
mod waiting;
mod walled;
mod wire;
mod writing;
