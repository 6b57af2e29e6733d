//! Settings by section, and the source of each value.
//!
//! Rules for keys: a key is sent to the address it was meant for and to no other.
//! - A key from the environment goes to the address of the profile that names its variable. That address may be
//!   changed by `--base-url`, by `OPENAI_BASE_URL` (for the profile `openai` only) or in the user's own settings;
//!   nothing in a project directory can change it.
//! - A key printed by a command follows the same rule. The command runs when something is about to be sent, and the key
//!   is kept only in memory.
//! - A key entered in the program is stored with the origin (scheme, host, port) it was entered for and is used for
//!   that origin only. Any other address has no key until the user enters one.
//! - A credential for the requests of tools is bound to the origins that the user names ([`tool_credentials`]).

mod base_address;
pub mod built_in_profiles;
mod command_words;
pub mod connection;
pub mod credentials;
pub mod definition_files;
pub mod folder_instructions;
mod instruction_files;
mod instruction_imports;
pub mod key;
pub mod key_store;
pub mod mcp_files;
pub mod model;
pub mod origin;
pub mod problem;
pub mod project_files;
mod project_text;
pub mod renamed_settings;
mod repeated_profiles;
pub mod rules;
pub mod schema;
pub mod sections;
pub mod setting_writer;
pub mod settings;
pub mod settings_file;
pub mod settings_parser;
pub mod tool_credentials;
pub mod trust;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use command_words::split_command;
pub use connection::{Connection, resolve_connection, resolve_fallback, resolve_other_profile, usable_connections};
pub use credentials::Credentials;
pub use key::Key;
pub use model::{Api, Model, Profile};
pub use origin::Origin;
pub use problem::Problem;
pub use project_files::ProjectFiles;
pub use sections::{
    Approval, AskHandling, CredentialSettings, Docs, DrawnPictures, DryRun, Hook, LinkScheme, Links, McpServer,
    ModelReviewer, Network, OutsideWrites, OverlaySandbox, Project, Screen, SecretStore, Shell, TellModel, Tools, Undo,
    Web, WebSearch, WorkspaceSettings,
};
pub use setting_writer::write_setting;
pub use settings::{Environment, Overrides, Settings};

/// All settings. `config.example.toml` documents them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub model: Model,
    /// Providers by name, built-in ones included.
    #[serde(with = "model::shared_profiles")]
    pub profiles: BTreeMap<String, Arc<Profile>>,
    pub approval: Approval,
    /// Hooks by name; they run in this order.
    pub hooks: BTreeMap<String, Hook>,
    /// Model reviewer of calls that would run without asking.
    pub model_reviewer: ModelReviewer,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Limits for project instructions.
    pub project: Project,
    /// Contents of changed files.
    pub undo: Undo,
    pub workspace: WorkspaceSettings,
    pub dry_run: DryRun,
    pub shell: Shell,
    pub web: Web,
    /// Credentials of tools.
    pub credentials: CredentialSettings,
    /// Tools that files define.
    pub tools: Tools,
    /// Tools that search documents.
    pub docs: Docs,
    pub screen: Screen,
    /// Key chords by action name. They replace the defaults; an empty list removes the binding.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: Model::default(),
            profiles: built_in_profiles::built_in_profiles().clone(),
            approval: Approval::default(),
            hooks: BTreeMap::new(),
            model_reviewer: ModelReviewer::default(),
            mcp: BTreeMap::new(),
            project: Project::default(),
            undo: Undo::default(),
            workspace: WorkspaceSettings::default(),
            dry_run: DryRun::default(),
            shell: Shell::default(),
            web: Web::default(),
            credentials: CredentialSettings::default(),
            tools: Tools::default(),
            docs: Docs::default(),
            screen: Screen::default(),
            keys: BTreeMap::new(),
        }
    }
}
