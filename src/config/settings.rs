//! Settings of a run: defaults, files, environment and flags, in increasing precedence.

use super::built_in_profiles::built_in_profiles;
use super::problem::find_nearest;
use super::settings_parser::{Layer, WHOLE_FILE_IGNORED, parse_settings};
use super::{Config, Origin, Problem, settings_file};
use crate::chat::mcp_names::explain_invalid_server;
use crate::policy::Mode;
use crate::text::truncation::{abbreviate_home, truncate_end};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// Looks up an environment variable. An empty one counts as unset.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Settings from flags. They override everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--profile`
    pub profile: Option<String>,
    /// `--base-url`
    pub base_url: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--mode`
    pub mode: Option<Mode>,
    /// `--theme`
    pub theme: Option<String>,
}

/// Parses the value of `--mode`.
///
/// # Errors
/// One sentence that lists the modes.
pub fn parse_mode(word: &str) -> Result<Mode, String> {
    let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == word);
    mode.ok_or_else(|| format!("Cannot use the mode {word:?}: it does not exist. Use plan, ask, auto or full."))
}

/// Settings of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub config: Config,
    /// Invalid settings, which were ignored, in file order.
    pub problems: Vec<Problem>,
    /// Notices about settings with old names, whose values still apply.
    pub notices: Vec<Problem>,
    origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// Loads the user's config file. The file need not exist and is never changed here.
    pub fn load(file: &Path, environment: Environment<'_>, flags: &Overrides) -> Self {
        let display_name = abbreviate_home(file, environment("HOME").as_deref().map(Path::new));
        let layer = match fs::read(file) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => parse_settings(&text, &display_name),
                Err(error) => {
                    let line = settings_file::invalid_line(&error);
                    unusable_layer(&display_name, line, "this is not text in UTF-8")
                }
            },
            Err(error) if settings_file::is_missing(&error) => Layer::default(),
            Err(error) => unusable_layer(&display_name, 1, &format!("the file cannot be read ({error})")),
        };
        Self::from_layers([layer], environment, flags)
    }

    /// Merges layers; later ones override earlier ones. A layer from a trusted project must not contain profiles, hooks
    /// or a model reviewer.
    pub fn from_layers(
        layers: impl IntoIterator<Item = Layer>,
        environment: Environment<'_>,
        flags: &Overrides,
    ) -> Self {
        let mut table = Table::new();
        let (mut origins, mut problems, mut notices) = (BTreeMap::new(), Vec::new(), Vec::new());
        for layer in layers {
            merge_tables(&mut table, layer.table);
            origins.extend(layer.origins);
            problems.extend(layer.problems);
            notices.extend(layer.notices);
        }
        complete_profiles(&mut table);
        // All values are already validated, so an error here means that the parser and `Config` disagree about a type.
        let mut config: Config = serde_path_to_error::deserialize(Value::Table(table)).unwrap_or_else(|error| {
            let message = format!("{}: {}", error.path(), error.inner());
            problems.push(Problem { origin: Origin::Default, message });
            Config::default()
        });
        for (name, profile) in built_in_profiles() {
            config.profiles.entry(name.clone()).or_insert_with(|| profile.clone());
        }
        let mut settings = Self { config, problems, notices, origins };
        settings.apply_environment(environment);
        settings.apply_flags(flags);
        settings.check_consistency();
        settings
    }

    /// Returns the origin of a setting by its path, such as `screen.theme`.
    pub fn origin(&self, path: &str) -> Origin {
        self.origins.get(path).cloned().unwrap_or_default()
    }

    /// Iterates over all settings that are not defaults, by path.
    pub fn origins(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.origins.iter().map(|(path, origin)| (path.as_str(), origin))
    }

    fn apply_environment(&mut self, environment: Environment<'_>) {
        let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        if variable("NO_COLOR").is_some() {
            self.config.screen.color = false;
            self.set_origin("screen.color", Origin::Environment("NO_COLOR".to_owned()));
        }
        if let Some(profile) = variable("AYE_PROFILE") {
            self.config.model.profile = Some(profile);
            self.set_origin("model.profile", Origin::Environment("AYE_PROFILE".to_owned()));
        }
    }

    /// Applies the flags that replace a setting. `--base-url` and `--model` are applied when the model is connected.
    fn apply_flags(&mut self, flags: &Overrides) {
        if let Some(profile) = &flags.profile {
            self.config.model.profile = Some(profile.clone());
            self.set_origin("model.profile", Origin::Flag("--profile"));
        }
        if let Some(mode) = flags.mode {
            self.config.approval.mode = mode;
            self.set_origin("approval.mode", Origin::Flag("--mode"));
        }
        if let Some(theme) = &flags.theme {
            self.config.screen.theme = theme.clone();
            self.set_origin("screen.theme", Origin::Flag("--theme"));
        }
    }

    fn set_origin(&mut self, path: &str, origin: Origin) {
        self.origins.insert(path.to_owned(), origin);
    }

    /// Reports settings that contradict each other or are incomplete, and corrects or removes them.
    fn check_consistency(&mut self) {
        let shell = &mut self.config.shell;
        if shell.timeout > shell.max_timeout {
            let message = format!(
                "shell.timeout ({}) exceeds shell.max_timeout ({}). Both are set to {0}",
                shell.timeout, shell.max_timeout
            );
            shell.max_timeout = shell.timeout;
            let origins = ["shell.timeout", "shell.max_timeout"].map(|path| self.origin(path));
            let origin = origins.into_iter().find(|origin| *origin != Origin::Default).unwrap_or_default();
            self.problems.push(Problem { origin, message });
        }
        self.config.profiles.retain(|name, profile| {
            if profile.base_url.is_empty() {
                let prefix = format!("profiles.{name}.");
                let found_origin = self.origins.iter().find(|(path, _)| path.starts_with(&prefix));
                let origin = found_origin.map(|(_, origin)| origin.clone()).unwrap_or_default();
                let message = format!("profiles.{name} has no base_url. Set it to the address of the provider");
                self.problems.push(Problem { origin, message });
            }
            !profile.base_url.is_empty()
        });
        self.check_fallback();
        self.check_mcp_servers();
    }

    /// Reports and removes MCP servers without a usable name, and those that have not exactly one of command and address.
    fn check_mcp_servers(&mut self) {
        self.config.mcp.retain(|name, server| {
            let reason = match (server.command.is_empty(), &server.url) {
                _ if let Some(reason) = explain_invalid_server(name) => format!("the name {reason}"),
                (false, None) | (true, Some(_)) => return true,
                (true, None) => "it has no command and no url. Set one of them".to_owned(),
                (false, Some(_)) => "it has both command and url. Remove one of them".to_owned(),
            };
            let prefix = format!("mcp.{name}.");
            let found_origin = self.origins.iter().find(|(path, _)| path.starts_with(&prefix));
            let origin = found_origin.map(|(_, origin)| origin.clone()).unwrap_or_default();
            let message = format!("mcp.{} is not used: {reason}", truncate_end(name, 40));
            self.problems.push(Problem { origin, message });
            false
        });
    }

    /// Reports and removes a fallback profile that does not exist or is the profile in use.
    fn check_fallback(&mut self) {
        let model = &self.config.model;
        let Some(fallback) = &model.fallback else { return };
        let message = if !self.config.profiles.contains_key(fallback) {
            let known = self.config.profiles.keys().map(String::as_str);
            let hint = find_nearest(fallback, known).map(|nearest| format!(". Did you mean {nearest}?"));
            format!("profile {fallback:?} does not exist{}", hint.unwrap_or_default())
        } else if model.profile.as_ref() == Some(fallback) {
            SAME_PROFILE.to_owned()
        } else {
            return;
        };
        self.problems.push(Problem { origin: self.origin("model.fallback"), message });
        self.config.model.fallback = None;
    }
}

/// Error text for a fallback that is the profile in use.
pub(super) const SAME_PROFILE: &str = "model.fallback names the profile already in use. Set a different profile";

/// Returns a layer without settings, with the reason why the whole file is ignored.
fn unusable_layer(file: &str, line: usize, reason: &str) -> Layer {
    let problem = Problem::in_file(file, line, format!("{reason}. {WHOLE_FILE_IGNORED}"));
    Layer { problems: vec![problem], ..Layer::default() }
}

/// Adds to each built-in profile that the settings change what they do not set.
fn complete_profiles(table: &mut Table) {
    let Some(Value::Table(profiles)) = table.get_mut("profiles") else { return };
    for (name, profile) in profiles {
        let (Some(built_in), Value::Table(changes)) = (built_in_profiles().get(name), profile) else { continue };
        let mut complete = Table::try_from(built_in.as_ref()).expect("a profile is TOML");
        merge_tables(&mut complete, std::mem::take(changes));
        *changes = complete;
    }
}

/// Merges `source` into `target`. A table is merged into the table of the same name; any other value replaces the old
/// one.
fn merge_tables(target: &mut Table, source: Table) {
    for (name, value) in source {
        match (target.get_mut(&name), value) {
            (Some(Value::Table(subtable)), Value::Table(source)) => merge_tables(subtable, source),
            (_, value) => drop(target.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests;
