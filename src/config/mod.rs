//! Settings: what there is to set, one file per section, and where each value came from.
//!
//! The rule for keys, in one place: a key goes to the address it was meant for and to no other.
//! - A key from the environment goes to the address of the profile that names its variable. That address may be
//!   changed by `--base-url`, by `OPENAI_BASE_URL` (for the profile `openai` alone) or in the user's own settings;
//!   nothing in a project's folder can change it.
//! - A key that a command prints goes where one from the environment would. It is asked for when something is about to
//!   be sent, and kept in memory alone.
//! - A key that was entered in the program is kept with the origin (scheme, host, port) it was entered for and is
//!   given out for that origin alone. Another address has no key until the person enters one.

pub mod approval;
mod base_address;
pub mod brought;
pub mod change;
pub mod connection;
pub mod credentials;
pub mod dry_run;
pub mod file;
pub mod hook;
pub mod key;
pub mod known;
pub mod model;
pub mod origin;
pub mod problem;
pub mod project;
pub mod read;
pub mod ready;
pub mod rules;
pub mod screen;
pub mod second_reader;
pub mod settings;
pub mod shell;
pub mod trust;
mod twice;
mod words;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use approval::Approval;
pub use brought::Brought;
pub use change::set;
pub use connection::{Connection, connect, fallback, usable};
pub use credentials::Credentials;
pub use dry_run::{DryRun, Tell};
pub use hook::Hook;
pub use key::Key;
pub use model::{Api, Model, Profile};
pub use origin::Origin;
pub use problem::Problem;
pub use project::Project;
pub use screen::{Links, Screen};
pub use second_reader::SecondReader;
pub use settings::{Environment, Overrides, Settings};
pub use shell::{Network, Shell};

/// Everything that can be set. `config.example.toml` says what each is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which model answers.
    pub model: Model,
    /// The services and servers there are, by name. Those that come with the program are among them.
    pub profiles: BTreeMap<String, Profile>,
    /// What runs without asking.
    pub approval: Approval,
    /// The programs that are asked about calls, by name, in whose order they are asked.
    pub hooks: BTreeMap<String, Hook>,
    /// The model that looks at what would go ahead.
    pub second_reader: SecondReader,
    /// What a project may say to the model.
    pub project: Project,
    /// What a rehearsal does.
    pub dry_run: DryRun,
    /// How commands run.
    pub shell: Shell,
    /// How it looks.
    pub screen: Screen,
    /// Chords by the name of what they do; they take the place of the usual ones. An empty list takes the key away.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: Model::default(),
            profiles: ready::profiles(),
            approval: Approval::default(),
            hooks: BTreeMap::new(),
            second_reader: SecondReader::default(),
            project: Project::default(),
            dry_run: DryRun::default(),
            shell: Shell::default(),
            screen: Screen::default(),
            keys: BTreeMap::new(),
        }
    }
}
