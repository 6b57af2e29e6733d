//! Talking to another service while the program runs: a server found on this machine, or one for which the person
//! enters a key.

use super::Mistake;
use super::model::Model;
use crate::config::{self, Connection, Credentials, Key, Overrides, Settings};
use anyhow::{Context, Result};

/// The service a key is for where nothing says which.
const SERVICE: &str = "https://api.openai.com/v1";

/// What a connection is made from.
pub(super) struct Connecting {
    pub(super) settings: Settings,
    pub(super) credentials: Credentials,
    pub(super) flags: Overrides,
    /// Whether new sessions of this run are dry runs.
    pub(super) dry_run: bool,
}

impl Connecting {
    /// The model that is configured; `None` where none is.
    pub(super) fn configured(&self) -> Result<Option<Connection>> {
        self.connect(&self.flags)
    }

    /// A server that was found on this machine. It gets no key that was meant for another service.
    pub(super) fn to_address(&self, address: &str, model: Option<&str>) -> Result<Model> {
        let flags = Overrides {
            profile: None,
            base_url: Some(address.to_owned()),
            model: model.map(str::to_owned).or_else(|| self.flags.model.clone()),
            ..self.flags.clone()
        };
        // Looked up as if the environment held nothing: its keys are for the services they were set for.
        let found =
            config::connect(&self.settings, &|_| None, &flags, &self.credentials).map_err(Mistake::of)?;
        let mut connection = found.context("no model can be reached there")?;
        (connection.key, connection.lacks_key) = (None, false);
        Ok(Model::configured(&connection))
    }

    /// Keeps a key for the service that is configured, or for OpenAI where none is, and connects with it.
    pub(super) fn with_key(&mut self, key: &str) -> Result<Model> {
        if key.trim().is_empty() {
            return Err(Mistake("the key is empty; nothing was kept".to_owned()).into());
        }
        let address = self.configured()?.map_or(SERVICE.to_owned(), |connection| connection.base_url);
        self.credentials.save(&address, Key::new(key)).context("the key could not be kept")?;
        let connection =
            self.configured()?.context("the key was kept, but no model is configured to use it")?;
        Ok(Model::configured(&connection))
    }

    fn connect(&self, flags: &Overrides) -> Result<Option<Connection>> {
        let environment = |name: &str| std::env::var(name).ok();
        Ok(config::connect(&self.settings, &environment, flags, &self.credentials).map_err(Mistake::of)?)
    }
}
