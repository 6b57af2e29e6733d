//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod addresses;
mod answer_files;
mod answers;
mod applying;
#[cfg(target_os = "linux")]
mod applying_groups;
mod approvals;
mod asking_again;
mod audits;
mod between_sessions;
mod bundles;
mod cards;
mod choosing;
mod clocks;
#[cfg(target_os = "linux")]
mod closed_layers;
mod command_line;
mod commands;
mod commit_subjects;
mod copies;
mod corpora;
mod crates;
mod damaged;
mod deep;
mod disclosure;
mod doctor;
mod dry_run;
mod editor;
mod ends;
mod escapes;
#[cfg(target_os = "linux")]
mod failing_disks;
mod faulty_writes;
mod floods;
mod floors;
mod forks;
#[cfg(target_os = "linux")]
mod full_disks;
mod gateway;
mod half_said;
mod hands;
mod hooks;
mod hostile_texts;
mod idle;
mod journal;
mod keys;
mod kills;
mod long_talk;
mod long_talks;
mod manual;
mod modes;
mod nasty;
mod odd_disks;
#[cfg(target_os = "linux")]
mod odd_layers;
mod odd_places;
mod odd_servers;
mod odd_sessions;
#[cfg(target_os = "linux")]
mod option_trials;
mod outside_project;
#[cfg(target_os = "linux")]
mod overlay_commands;
#[cfg(target_os = "linux")]
mod overlay_costs;
#[cfg(target_os = "linux")]
mod patches;
mod pictures;
mod project_trust;
mod proxies;
mod questions;
#[cfg(target_os = "linux")]
mod read_only_sandbox;
mod record;
mod redaction;
mod rehearsals;
mod rough_life;
mod rules;
mod scripts;
mod second_reader;
mod secrets;
mod session_files;
mod sessions;
mod settings;
mod simulator;
mod soak;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod stage_agrees;
#[cfg(target_os = "linux")]
mod stage_escapes;
#[cfg(target_os = "linux")]
mod stage_examination;
#[cfg(target_os = "linux")]
mod stage_outside;
#[cfg(target_os = "linux")]
mod stage_views;
mod sub_agents;
mod support;
mod talk;
mod terminal;
#[cfg(target_os = "linux")]
mod thrown_away;
mod titles;
mod true_server;
mod trust;
mod turns;
mod unsent;
mod unsent_kills;
mod waiting;
mod walled;
mod wide_modes;
mod wire;
mod writing;
