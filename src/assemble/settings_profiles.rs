//! The profiles of the settings, as tools that hand over a session find them.

use crate::config::{self, Credentials, Overrides, Settings};
use crate::store::Places;
use crate::tools::transfer_tool::{ProfileFinder, ProfileTarget};
use reqwest::Url;
use std::path::PathBuf;

/// Finds profiles in the settings. Keys that the user entered are read for each lookup, because more may be entered.
pub(crate) struct SettingsProfiles {
    settings: Settings,
    flags: Overrides,
    keys_file: PathBuf,
}

impl SettingsProfiles {
    pub(crate) fn new(settings: &Settings, flags: &Overrides, places: &Places) -> Self {
        Self { settings: settings.clone(), flags: flags.clone(), keys_file: places.credentials() }
    }
}

impl ProfileFinder for SettingsProfiles {
    fn check_profile(&self, name: &str) -> Result<(), String> {
        match self.settings.config.profiles.contains_key(name) {
            true => Ok(()),
            // The error lists similar names.
            false => self.find_profile(name).map(|_| ()),
        }
    }

    fn find_profile(&self, name: &str) -> Result<ProfileTarget, String> {
        let credentials = Credentials::load(&self.keys_file).unwrap_or_default();
        let connection = config::resolve_other_profile(&self.settings, &self.flags, &credentials, name, None)
            .map_err(|problem| problem.message)?;
        if connection.lacks_key {
            return Err(format!("The profile {name} has no key: {} is not set.", connection.key_origin));
        }
        let url = Url::parse(&connection.base_url).map_err(|error| error.to_string())?;
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        Ok(ProfileTarget { model: connection.model, host })
    }
}
