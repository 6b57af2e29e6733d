//! Talking to another service while the program runs: a server found on this machine, or one for which the person
//! enters a key.

use super::Mistake;
use super::model::Model;
use crate::config::ready::OPENAI;
use crate::config::{self, Connection, Credentials, Key, Origin, Overrides, Settings};
use crate::llm::Fallback;
use anyhow::{Context, Result};
use std::sync::Arc;

/// The service a key is for where nothing says which.
const SERVICE: &str = "https://api.openai.com/v1";

/// What a connection is made from.
pub(super) struct Connecting {
    pub(super) settings: Settings,
    pub(super) credentials: Credentials,
    pub(super) flags: Overrides,
    /// Whether new sessions of this run are dry runs.
    pub(super) dry_run: bool,
    /// Whether a person sees how long is waited.
    pub(super) watched: bool,
}

impl Connecting {
    /// The model that is configured; `None` where none is.
    pub(super) fn configured(&self) -> Result<Option<Connection>> {
        self.connect(&self.flags)
    }

    /// Whether a flag or a variable says whom to talk to, for this whole run.
    pub(super) fn is_flagged(&self) -> bool {
        let chosen =
            matches!(self.settings.origin("model.profile"), Origin::Environment(_) | Origin::Flag(_));
        chosen || self.flags.base_url.is_some()
    }

    /// A profile of the settings, at its own address and with its own key, and its own model where none is named.
    pub(super) fn to_profile(&self, profile: &str, model: Option<&str>) -> Result<Model> {
        let connection = self.at_profile(profile, model)?.context("no model can be reached there")?;
        if connection.lacks_key {
            return Err(Mistake(format!("it has no key; {} is not set", connection.key_from)).into());
        }
        Ok(self.model(&connection))
    }

    /// What leads to a profile of the settings: its own address and key.
    pub(super) fn at_profile(&self, profile: &str, model: Option<&str>) -> Result<Option<Connection>> {
        let flags = Overrides {
            profile: Some(profile.to_owned()),
            base_url: None,
            model: model.map(str::to_owned),
            ..self.flags.clone()
        };
        let mut settings = self.settings.clone();
        settings.config.model.profile = Some(profile.to_owned());
        // What names a model for the run names one of the service that it began with.
        let environment = |name: &str| if name == "AYE_MODEL" { None } else { std::env::var(name).ok() };
        let found = config::connect(&settings, &environment, &flags, &self.credentials);
        Ok(found.map_err(|problem| Mistake(problem.words))?)
    }

    /// What else could be talked to now, each with its model where one is named.
    pub(super) fn usable(&self) -> Vec<Connection> {
        let environment = |name: &str| std::env::var(name).ok();
        config::usable(&self.settings, &environment, &self.flags, &self.credentials)
    }

    /// The profile that is at this address.
    pub(super) fn profile_at(&self, address: &str) -> Option<String> {
        let same = |url: &str| url.trim_end_matches('/') == address.trim_end_matches('/');
        let mut profiles = self.settings.config.profiles.iter();
        profiles.find(|(_, profile)| same(&profile.base_url)).map(|(name, _)| name.clone())
    }

    /// A server that was found on this machine. It gets no key that was meant for another service.
    pub(super) fn to_address(&self, address: &str, model: Option<&str>) -> Result<Model> {
        if let Some(profile) = self.profile_at(address) {
            return self.to_profile(&profile, model);
        }
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
        Ok(Model::configured(&connection, self.watched))
    }

    /// Keeps a key for this profile and goes on with its model, or else for the service that is configured, or for
    /// OpenAI where none is; and connects with it.
    pub(super) fn with_key(&mut self, key: &str, in_use: Option<(&str, &str)>) -> Result<Model> {
        let key = Key::new(key);
        if key.expose().is_empty() {
            return Err(Mistake("the key is empty; nothing was kept".to_owned()).into());
        }
        if !key.can_be_sent() || key.expose().contains(' ') {
            let words =
                "the key holds a blank, a line break or letters that cannot be sent; nothing was kept";
            return Err(Mistake(words.to_owned()).into());
        }
        let connect = |connecting: &Self| match in_use {
            Some((profile, model)) => {
                connecting.at_profile(profile, Some(model).filter(|model| !model.is_empty()))
            }
            None => connecting.configured(),
        };
        let (profile, address) = match connect(self)? {
            Some(connection) => (connection.profile, connection.base_url),
            None => (OPENAI.to_owned(), SERVICE.to_owned()),
        };
        self.credentials.save(&profile, &address, key).context("the key could not be kept")?;
        let connection = connect(self)?.context("the key was kept, but no model is configured to use it")?;
        Ok(self.model(&connection))
    }

    /// The model of a configured connection, with the one that answers in its place where the person set one.
    pub(super) fn model(&self, connection: &Connection) -> Model {
        let environment = |name: &str| std::env::var(name).ok();
        let (other, wrong) =
            match config::fallback(&self.settings, &environment, &self.credentials, connection) {
                Ok(other) => (other, None),
                Err(problem) => (None, Some(problem.to_string())),
            };
        // Nobody wants to wait an hour for the first where a second is there.
        let first = Model::configured(connection, self.watched && other.is_none());
        let Some(other) = other else {
            let warnings = first.warnings.into_iter().chain(wrong).collect();
            return Model { warnings, ..first };
        };
        let second = Model::configured(&other, self.watched);
        let name = if second.name.is_empty() { other.profile } else { second.name.clone() };
        let llm = Arc::new(Fallback::new(first.llm, second.llm, second.name, name));
        let warnings = first.warnings.into_iter().chain(second.warnings).collect();
        Model { llm, warnings, ..first }
    }

    fn connect(&self, flags: &Overrides) -> Result<Option<Connection>> {
        let environment = |name: &str| std::env::var(name).ok();
        Ok(config::connect(&self.settings, &environment, flags, &self.credentials).map_err(Mistake::of)?)
    }
}
