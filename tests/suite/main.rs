//! Every test that needs more than one module. The `mod` lines are the table of contents.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its support too")]

mod answer_files;
mod answers;
mod api_keys;
mod approval_prompts;
mod approvals;
mod asciinema_player;
mod audit_records;
mod audits;
mod auto_mode;
mod background_commands;
mod base_urls;
mod browser_actions;
mod browser_changes;
mod browser_frames;
mod browser_pages;
mod browser_proxies;
mod calculations;
mod call_reasons;
mod chain_steps;
mod chains;
mod clipboard;
mod clock_jumps;
#[cfg(target_os = "linux")]
mod closed_overlay_files;
mod command_line;
mod command_words;
mod commands;
mod commit_subjects;
mod compaction;
mod completions;
mod composer;
mod connect_list;
mod continued_providers;
mod conversation;
mod crates;
mod credentials;
mod custom_commands;
mod damaged_sessions;
mod decision_counts;
mod deep_nesting;
mod deferred_tools;
mod demos;
#[cfg(target_os = "linux")]
mod discarded_rehearsals;
mod disclosure;
mod docs_search;
mod doctor;
mod doctor_bundles;
mod draft_kills;
mod drafts;
mod dry_run;
mod editor;
mod error_messages;
mod exits;
#[cfg(target_os = "linux")]
mod failing_disks;
mod faulty_writes;
mod file_change_grants;
mod floors;
mod forks;
#[cfg(target_os = "linux")]
mod full_disks;
mod fuzz_corpora;
mod gateway;
mod grants_list;
mod hasty_keys;
mod hooks;
mod hostile_texts;
mod https_tools;
mod idle_costs;
mod images;
mod instruction_files;
mod interrupted_replies;
mod journal;
mod key_caps;
#[cfg(target_os = "linux")]
mod key_store_faults;
#[cfg(target_os = "linux")]
mod key_stores;
mod kills;
mod links;
mod live_sandbox;
mod man_pages;
mod manual;
mod mcp_changes;
mod mcp_commands;
mod mcp_connections;
mod mcp_everything;
mod mcp_forms;
mod mcp_login_changes;
mod mcp_logins;
mod mcp_samplings;
mod mcp_servers;
mod mcp_texts;
mod mcp_without_handshake;
mod misbehaving_models;
mod model_reviewer;
mod model_switch;
mod modes;
mod oauth_credentials;
#[cfg(target_os = "linux")]
mod old_sessions;
#[cfg(target_os = "linux")]
mod option_trials;
mod output_floods;
mod outside_project;
mod overlay_changed_paths;
#[cfg(target_os = "linux")]
mod overlay_commands;
#[cfg(target_os = "linux")]
mod overlay_sandbox;
#[cfg(target_os = "linux")]
mod overlay_sandbox_consistency;
#[cfg(target_os = "linux")]
mod overlay_sandbox_escapes;
#[cfg(target_os = "linux")]
mod overlay_sandbox_outside;
#[cfg(target_os = "linux")]
mod overlay_sandbox_races;
#[cfg(target_os = "linux")]
mod overlay_sandbox_view;
mod packages;
mod permissive_modes;
#[cfg(feature = "images")]
mod pictures;
mod project_trust;
mod prompt_tools;
mod provider_tls;
mod provider_waits;
mod proxies;
mod questions;
#[cfg(target_os = "linux")]
mod read_only_sandbox;
mod reader_program;
mod real_server;
mod recording_exports;
mod recordings;
mod redaction;
mod references;
mod rehearsal_apply;
#[cfg(target_os = "linux")]
mod rehearsal_apply_groups;
#[cfg(target_os = "linux")]
mod rehearsal_patches;
mod rehearsals;
mod replays;
mod retries;
mod rewinds;
mod rules;
mod sandbox_escapes;
mod scope_choices;
mod script_grants;
mod secrets;
mod serve_acp;
mod serve_mcp;
mod session_exports;
mod session_files;
mod session_growth;
mod session_switch;
mod sessions;
mod settings;
mod simulator;
mod skills;
mod small_terminals;
mod soak;
mod special_file_trials;
mod sub_agents;
mod support;
mod terminal;
mod terminal_disruptions;
mod timeouts;
mod titles;
mod todo_lists;
mod token_budgets;
mod token_reports;
mod tool_files;
mod tool_requests;
mod tour;
mod trial_prompts;
mod trials;
mod turn_end_tools;
mod turns;
mod undo;
mod undo_limits;
mod undo_origins;
mod unlisted_mcp_servers;
mod unusual_files;
#[cfg(target_os = "linux")]
mod unusual_overlays;
mod unusual_paths;
mod unusual_servers;
mod unusual_session_files;
mod user_commands;
mod web_pages;
mod web_searches;
mod wire;
mod workspace_calls;
mod workspace_page;
mod workspaces;
