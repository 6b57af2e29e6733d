//! Assembles the program: connects the model, the project, the tools, the session and the frontend of a run.

pub(crate) mod attached_files;
pub(crate) mod connected_model;
pub(crate) mod connector;
pub mod credential_prompts;
pub(crate) mod custom_commands;
pub(crate) mod demo_environment;
pub(crate) mod found_tool;
pub(crate) mod mcp_setup;
mod read_folders;
pub(crate) mod rehearsal;
pub mod request_credentials;
mod required_scopes;
mod reviewers;
pub(crate) mod sandbox_setup;
mod screen;
mod screen_host;
mod screen_requests;
pub(crate) mod scripted_screen;
mod server_forms;
mod server_samplings;
pub(crate) mod session;
pub(crate) mod session_builder;
mod session_provider;
pub(crate) mod settings_profiles;
pub(crate) mod skills;
mod start;
mod terminal_query;
pub(crate) mod tool_files;
pub(crate) mod tool_list;
pub(crate) mod undo;
mod web_search;

pub(crate) use screen::run_screen;
pub(crate) use start::{Start, known_secrets, prepare_screen_start, prepare_served_start, prepare_start};
