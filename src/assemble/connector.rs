//! Connects to another provider while the program runs: a profile, a server found on this machine, or one with a newly
//! entered key.

use super::connected_model::ConnectedModel;
use crate::cli::{UsageError, bail_usage};
use crate::config::built_in_profiles::OPENAI;
use crate::config::{self, Connection, Credentials, Key, Origin, Overrides, Settings};
use crate::llm::Fallback;
use anyhow::{Context, Result};
use std::sync::Arc;

/// Address to which an entered key is sent if no provider is configured.
const OPENAI_URL: &str = "https://api.openai.com/v1";

/// Settings from which connections are made.
pub(crate) struct Connector {
    pub(crate) settings: Arc<Settings>,
    pub(crate) credentials: Credentials,
    pub(crate) flags: Overrides,
    /// True if new sessions of this run are dry runs.
    pub(crate) dry_run: bool,
    /// True if a user watches the screen: requests may then wait longer for a retry.
    pub(crate) is_interactive: bool,
}

impl Connector {
    /// Returns the connection to the configured model, if any.
    pub(crate) fn configured_connection(&self) -> Result<Option<Connection>> {
        Ok(config::resolve_connection(&self.settings, &read_variable, &self.flags, &self.credentials)
            .map_err(UsageError::from_error)?)
    }

    /// Returns whether a flag or an environment variable sets the provider of this run.
    pub(crate) fn is_provider_overridden(&self) -> bool {
        let is_chosen = matches!(self.settings.origin("model.profile"), Origin::Environment(_) | Origin::Flag(_));
        is_chosen || self.flags.base_url.is_some()
    }

    /// Connects to a profile of the settings, at its own address and with its own key, and with its own model if none
    /// is given.
    pub(crate) fn connect_profile(&self, profile: &str, model: Option<&str>) -> Result<ConnectedModel> {
        Ok(self.connect_model(&self.connection_with_key(profile, model)?))
    }

    /// Returns the connection of a profile of the settings: its own address and key.
    pub(crate) fn profile_connection(&self, profile: &str, model: Option<&str>) -> Result<Connection> {
        let resolved = config::resolve_other_profile(&self.settings, &self.flags, &self.credentials, profile, model);
        Ok(resolved.map_err(|problem| UsageError(problem.message))?)
    }

    /// Returns the connection of a reviewer or simulator, which may use another profile than the session. An empty
    /// `profile` stands for invalid settings.
    pub(crate) fn side_connection(&self, profile: &str, model: Option<&str>) -> Result<Connection> {
        if profile.is_empty() {
            bail_usage!("its settings are invalid");
        }
        self.connection_with_key(profile, model)
    }

    /// Returns the connection of a profile; an error if its key is missing.
    fn connection_with_key(&self, profile: &str, model: Option<&str>) -> Result<Connection> {
        let connection = self.profile_connection(profile, model)?;
        if connection.lacks_key {
            bail_usage!("the profile {profile} has no key; {} is not set", connection.key_origin);
        }
        Ok(connection)
    }

    /// Returns the other connections that can be used now, each with its model if known.
    pub(crate) fn usable_connections(&self) -> Vec<Connection> {
        config::usable_connections(&self.settings, &read_variable, &self.flags, &self.credentials)
    }

    /// Returns the name of the profile with this address, if any. A slash at the end makes no difference.
    pub(crate) fn profile_at(&self, address: &str) -> Option<String> {
        let is_same_address = |url: &str| url.trim_end_matches('/') == address.trim_end_matches('/');
        let mut profiles = self.settings.config.profiles.iter();
        profiles.find(|(_, profile)| is_same_address(&profile.base_url)).map(|(name, _)| name.clone())
    }

    /// Connects to an address: that of a server found on this machine, or the one that a session began with. Uses the
    /// profile with this address, if any. Otherwise no key, header or parameter of another provider is sent to it.
    pub(crate) fn connect_address(&self, address: &str, model: Option<&str>) -> Result<ConnectedModel> {
        if let Some(profile) = self.profile_at(address) {
            return self.connect_profile(&profile, model);
        }
        Ok(ConnectedModel::configured(&self.address_connection(address, model)?, self.is_interactive))
    }

    /// Returns the connection to an address without a profile.
    fn address_connection(&self, address: &str, model: Option<&str>) -> Result<Connection> {
        let flags = Overrides {
            profile: None,
            base_url: Some(address.to_owned()),
            model: model.map(str::to_owned).or_else(|| self.flags.model.clone()),
            ..self.flags.clone()
        };
        let mut settings = Settings::clone(&self.settings);
        settings.config.model.profile = None;
        // An address without a profile uses the settings of the profile `openai`, except those for its provider and model.
        if let Some(profile) = settings.config.profiles.get_mut(OPENAI) {
            let profile = Arc::make_mut(profile);
            profile.headers.clear();
            profile.query.clear();
            profile.parameters.clear();
            profile.key_command = None;
            profile.model = None;
            profile.reasoning_effort = None;
            profile.context_window = None;
            (profile.price_input, profile.price_cached, profile.price_output) = (None, None, None);
        }
        // Without the environment, because its keys belong to other providers.
        let resolved = config::resolve_connection(&settings, &|_| None, &flags, &self.credentials)
            .map_err(UsageError::from_error)?;
        let mut connection = resolved.context("no model is configured there")?;
        connection.lacks_key = false;
        if connection.key.is_none() {
            // The variable may be set, but its key is for another address.
            connection.key_origin = Origin::Default;
        }
        Ok(connection)
    }

    /// Saves a key and connects with it. `current` is the profile in use and its model. If `current` is `None`, the
    /// key is saved for the configured provider, or for OpenAI if none is configured.
    pub(crate) fn connect_with_key(&mut self, key: &str, current: Option<(&str, &str)>) -> Result<ConnectedModel> {
        let key = Key::parse_entered(key).map_err(|reason| UsageError(format!("Cannot save the key: {reason}")))?;
        let resolve = |connector: &Self| match current {
            Some((profile, model)) => {
                connector.profile_connection(profile, Some(model).filter(|model| !model.is_empty())).map(Some)
            }
            None => connector.configured_connection(),
        };
        let (profile, address) = match resolve(self)? {
            Some(connection) => (connection.profile, connection.base_url),
            None => (OPENAI.to_owned(), OPENAI_URL.to_owned()),
        };
        self.credentials.save(&profile, &address, key).context("Cannot save the key")?;
        let connection = resolve(self)?.context("the key was saved, but no model is configured to use it")?;
        Ok(self.connect_model(&connection))
    }

    /// Returns the model of a connection, with its fallback model if one is set.
    pub(crate) fn connect_model(&self, connection: &Connection) -> ConnectedModel {
        let (fallback, fallback_problem) =
            match config::resolve_fallback(&self.settings, &read_variable, &self.credentials, connection) {
                Ok(fallback) => (fallback, None),
                Err(problem) => (None, Some(problem.to_string())),
            };
        // With a fallback, a long wait for the first model is not useful.
        let primary = ConnectedModel::configured(connection, self.is_interactive && fallback.is_none());
        let Some(fallback) = fallback else {
            let warnings = primary.warnings.into_iter().chain(fallback_problem).collect();
            return ConnectedModel { warnings, ..primary };
        };
        let fallback_model = ConnectedModel::configured(&fallback, self.is_interactive);
        let display_name = if fallback_model.name.is_empty() { fallback.profile } else { fallback_model.name.clone() };
        let llm = Arc::new(Fallback::new(primary.llm, fallback_model.llm, fallback_model.name, display_name));
        let warnings = primary.warnings.into_iter().chain(fallback_model.warnings).collect();
        ConnectedModel { llm, warnings, ..primary }
    }
}

fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings_parser::parse_settings;

    fn connector_with(settings: &str) -> (tempfile::TempDir, Connector) {
        let home = tempfile::tempdir().unwrap();
        let flags = Overrides::default();
        let connector = Connector {
            settings: Arc::new(Settings::from_layers([parse_settings(settings, "f")], &|_| None, &flags)),
            credentials: Credentials::load(&home.path().join("keys.toml")).unwrap(),
            flags,
            dry_run: false,
            is_interactive: true,
        };
        (home, connector)
    }

    #[test]
    fn an_address_without_a_profile_gets_neither_model_nor_parameters_of_the_profile_openai() {
        let settings = "[profiles.openai]\nmodel = \"own\"\nreasoning_effort = \"low\"\ncontext_window = 9\n\
            price_input = 1.0\nca_file = \"/ca.pem\"\nparameters = { service_tier = \"flex\" }\nheaders = { x-org = \"o\" }\n";
        let (_home, connector) = connector_with(settings);
        let connection = connector.address_connection("http://127.0.0.1:8080/v1", None).unwrap();
        let profile = &connection.settings;
        assert_eq!((&connection.model, profile.parameters.len(), profile.headers.len()), (&None, 0, 0));
        assert_eq!((&profile.reasoning_effort, profile.context_window, profile.price_input), (&None, None, None));
        // Settings for the network and the API still apply.
        assert_eq!((profile.ca_file.as_deref(), profile.images), (Some("/ca.pem"), true));
    }

    #[test]
    fn an_error_about_a_missing_key_names_the_profile() {
        let (_home, connector) =
            connector_with("[profiles.mine]\nbase_url = \"https://a.b/v1\"\nkey_env = \"AYE_NO_SUCH_KEY\"\n");
        let error = connector.connect_profile("mine", None).err().unwrap();
        assert_eq!(error.to_string(), "the profile mine has no key; AYE_NO_SUCH_KEY is not set");
    }
}
