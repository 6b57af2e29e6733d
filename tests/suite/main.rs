//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod answer_files;
mod answers;
mod api_keys;
mod approval_prompts;
mod approvals;
mod audits;
mod base_urls;
mod clipboard;
mod clock_jumps;
#[cfg(target_os = "linux")]
mod closed_overlay_files;
mod command_line;
mod commands;
mod commit_subjects;
mod compaction;
mod crates;
mod damaged_sessions;
mod deep_nesting;
mod disclosure;
mod doctor;
mod doctor_bundles;
mod dry_run;
mod editor;
mod exits;
#[cfg(target_os = "linux")]
mod failing_disks;
mod faulty_writes;
mod floors;
mod forks;
#[cfg(target_os = "linux")]
mod full_disks;
mod fuzz_corpora;
mod gateway;
mod hasty_keys;
mod hooks;
mod hostile_texts;
mod idle_costs;
mod interrupted_replies;
mod journal;
mod kills;
mod manual;
mod model_switch;
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
mod output_floods;
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
mod rehearsal_apply;
#[cfg(target_os = "linux")]
mod rehearsal_apply_groups;
mod rehearsals;
mod retries;
mod rough_life;
mod rules;
mod sandbox_escapes;
mod scripts;
mod second_reader;
mod secrets;
mod session_files;
mod session_growth;
mod session_switch;
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
