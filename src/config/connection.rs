//! Resolves the model, address and key of a run, and where each of them was set.

use super::base_address::UNUSABLE_ADDRESS;
use super::built_in_profiles::{OPENAI, PLACEHOLDER, PREFERRED_PROFILES, built_in_profiles};
use super::key::UNSENDABLE;
use super::model::Profile;
use super::problem::find_nearest;
use super::settings::SAME_PROFILE;
use super::{Credentials, Environment, Key, Origin, Overrides, Problem, Settings, base_address};
use reqwest::Url;
use std::net::IpAddr;
use std::sync::Arc;

/// A resolved provider and model.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// Name of the profile.
    pub profile: String,
    /// Settings of the profile. `base_url` and `model` below take precedence over the ones in it.
    pub settings: Arc<Profile>,
    /// Base address with the `/v1` and without a trailing slash.
    pub base_url: String,
    pub base_url_origin: Origin,
    /// Name of the model. `None`: the first model in the provider's list.
    pub model: Option<String>,
    pub model_origin: Origin,
    /// Key to send to the origin of `base_url`, and to no other.
    pub key: Option<Key>,
    /// True if the key comes from the profile's command, which runs when the first request is sent.
    pub has_key_command: bool,
    /// Origin of the key. Without a key: the variable that would hold it.
    pub key_origin: Origin,
    /// True if a key is required and missing, so that the user is asked for one. Never true for a local server.
    pub lacks_key: bool,
    /// Another origin for which a key of this profile was entered. That key is not sent to this one.
    pub key_elsewhere: Option<String>,
    /// Warning to show before anything is sent.
    pub warning: Option<String>,
}

impl Connection {
    /// Returns scheme, host and port, the origin a key is bound to.
    pub fn origin(&self) -> String {
        parse_address(&self.base_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }

    /// Returns whether the address comes from the profile, not from a flag or a variable.
    pub fn has_profile_address(&self) -> bool {
        !matches!(self.base_url_origin, Origin::Flag(_) | Origin::Environment(_))
    }

    /// Returns whether a key is available or a command provides one.
    pub fn has_key(&self) -> bool {
        self.key.is_some() || self.has_key_command
    }

    /// Describes the connection for the first screen: `gpt-5-mini at api.openai.com (key from OPENAI_API_KEY)`.
    pub fn describe(&self) -> String {
        let model = self.model.as_deref().unwrap_or("the server's default model");
        let host = parse_address(&self.base_url).map(|url| format_host(&url)).unwrap_or_default();
        let source = match (&self.key_origin, &self.base_url_origin) {
            (Origin::Default, Origin::Default) if self.model_origin == Origin::Default => {
                format!(" (profile {})", self.profile)
            }
            (Origin::Default, Origin::Default) => format!(" ({})", describe_setter(&self.model_origin)),
            (Origin::Default, address) => format!(" ({})", describe_setter(address)),
            (key, _) if self.lacks_key => format!(", but {key} is not set"),
            (_, address) if !self.has_key() => format!(" ({})", describe_setter(address)),
            (Origin::Entered, _) => " (with the key you entered)".to_owned(),
            (key, _) => format!(" (key from {key})"),
        };
        format!("{model} at {host}{source}")
    }
}

/// Names where a value is set: `set in config.toml:2`, `set by --base-url`.
fn describe_setter(origin: &Origin) -> String {
    let word = if matches!(origin, Origin::File { .. }) { "in" } else { "by" };
    format!("set {word} {origin}")
}

/// Resolves the profile in use. Returns `None` if nothing is configured.
///
/// # Errors
/// Fails if the configured profile does not exist, or the address, proxy or key of a profile that is tried is invalid.
pub fn resolve_connection(
    settings: &Settings,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Result<Option<Connection>, Problem> {
    let find = |profile: &str| resolve_profile(settings, profile, environment, flags, credentials);
    if let Some(name) = &settings.config.model.profile {
        return find(name).map(Some);
    }
    // An address given for this run is used with or without a key.
    if flags.base_url.is_some() || read_variable(environment, "OPENAI_BASE_URL").is_some() {
        return find(OPENAI).map(Some);
    }
    let has_address = |name: &&str| {
        let profile = settings.config.profiles.get(*name);
        profile.is_some_and(|profile| !profile.base_url.contains(PLACEHOLDER))
    };
    for name in PREFERRED_PROFILES.iter().filter(|name| has_address(name)) {
        let connection = find(name)?;
        if connection.has_key() {
            return Ok(Some(connection));
        }
    }
    Ok(None)
}

/// Returns every profile that can be used now: it has a key, it names no variable for a key, or it is on this machine.
/// Those in `PREFERRED_PROFILES` come first, in that order, then the others by name. Invalid profiles are skipped.
pub fn usable_connections(
    settings: &Settings,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Vec<Connection> {
    let flags_without_profile = Overrides { profile: None, base_url: None, model: None, ..flags.clone() };
    let mut names: Vec<&str> = settings.config.profiles.keys().map(String::as_str).collect();
    names.sort_by_key(|name| {
        PREFERRED_PROFILES.iter().position(|preferred| preferred == name).unwrap_or(PREFERRED_PROFILES.len())
    });
    let connections = names.into_iter().filter_map(|name| {
        // A model chosen for another profile does not apply here.
        let variables = |variable: &str| if variable == "AYE_MODEL" { None } else { environment(variable) };
        resolve_profile(settings, name, &variables, &flags_without_profile, credentials).ok()
    });
    let is_usable = |connection: &Connection| {
        let is_local = parse_address(&connection.base_url).is_some_and(|url| is_this_machine(&url));
        connection.has_key() || is_local || connection.settings.key_env.is_none()
    };
    connections.filter(is_usable).collect()
}

/// Resolves the fallback profile. Returns `None` if none is set. Flags and variables that name a model or an address
/// apply only to the first profile.
///
/// # Errors
/// Fails if the fallback is the profile in use or cannot be resolved.
pub fn resolve_fallback(
    settings: &Settings,
    environment: Environment<'_>,
    credentials: &Credentials,
    primary: &Connection,
) -> Result<Option<Connection>, Problem> {
    let Some(name) = &settings.config.model.fallback else { return Ok(None) };
    if *name == primary.profile {
        return Err(Problem { origin: settings.origin("model.fallback"), message: SAME_PROFILE.to_owned() });
    }
    let environment = |name: &str| match name {
        "AYE_MODEL" | "OPENAI_BASE_URL" => None,
        name => environment(name),
    };
    resolve_profile(settings, name, &environment, &Overrides::default(), credentials).map(Some)
}

/// Resolves a profile other than the one in use, at its own address (which `OPENAI_BASE_URL` sets for the profile
/// `openai`) and with its own key, and with its own model if none is given.
///
/// # Errors
/// Fails if the profile does not exist or its address is invalid.
pub fn resolve_other_profile(
    settings: &Settings,
    flags: &Overrides,
    credentials: &Credentials,
    name: &str,
    model: Option<&str>,
) -> Result<Connection, Problem> {
    let flags = Overrides { base_url: None, model: model.map(str::to_owned), ..flags.clone() };
    // A model that the environment names for this run belongs to the first provider.
    let environment = |name: &str| if name == "AYE_MODEL" { None } else { std::env::var(name).ok() };
    resolve_profile(settings, name, &environment, &flags, credentials)
}

fn resolve_profile(
    settings: &Settings,
    name: &str,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Result<Connection, Problem> {
    let profiles = &settings.config.profiles;
    let Some(profile) = profiles.get(name) else {
        let known = profiles.keys().map(String::as_str);
        let hint = match find_nearest(name, known.clone()) {
            Some(nearest) => format!("Did you mean {nearest}?"),
            None => format!("Use one of: {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("profile {name:?} does not exist. {hint}");
        return Err(Problem { origin: settings.origin("model.profile"), message });
    };
    let file_origin = |field: &str| settings.origin(&format!("profiles.{name}.{field}"));
    let from_flag = |value: &Option<String>, flag| value.clone().map(|value| (value, Origin::Flag(flag)));
    let from_variable =
        |name: &str| read_variable(environment, name).map(|value| (value, Origin::Environment(name.to_owned())));

    // Invalid settings were reported when their file was read.
    let find_problem =
        |field: &str| settings.problems.iter().find(|problem| problem.origin == file_origin(field)).cloned();
    if profile.proxy.as_deref() == Some(UNUSABLE_ADDRESS)
        && let Some(problem) = find_problem("proxy")
    {
        return Err(problem);
    }
    let (base_url, base_url_origin) = from_flag(&flags.base_url, "--base-url")
        .or_else(|| if name == OPENAI { from_variable("OPENAI_BASE_URL") } else { None })
        .unwrap_or_else(|| (profile.base_url.clone(), file_origin("base_url")));
    let url = match base_address::parse(&base_url) {
        Ok(url) => url,
        Err(_)
            if base_url == UNUSABLE_ADDRESS
                && let Some(problem) = find_problem("base_url") =>
        {
            return Err(problem);
        }
        Err(message) => return Err(Problem { origin: base_url_origin, message }),
    };
    if base_url.contains(PLACEHOLDER) {
        let message = format!(
            "profiles.{name}.base_url contains the placeholder {PLACEHOLDER}. Replace it with the name of your resource, for example {}",
            base_url.replace(PLACEHOLDER, "contoso")
        );
        return Err(Problem { origin: base_url_origin, message });
    }
    let (model, model_origin) = from_flag(&flags.model, "--model")
        .or_else(|| from_variable("AYE_MODEL"))
        .map(|(model, origin)| (Some(model), origin))
        .unwrap_or_else(|| (profile.model.clone(), file_origin("model")));

    let key_variable = profile.key_env.as_deref();
    let origin = url.origin().ascii_serialization();
    let key_program = profile.key_command.as_ref().and_then(|command| command.first());
    let (key, key_origin) =
        match (key_variable.and_then(from_variable), key_program, credentials.key_for_origin(&origin)) {
            (Some((key, origin)), ..) => (Some(Key::new(&key)), origin),
            (None, Some(program), _) => (None, Origin::Command(program.clone())),
            (None, None, Some(key)) => (Some(key), Origin::Entered),
            (None, None, None) => {
                (None, key_variable.map_or(Origin::Default, |name| Origin::Environment(name.to_owned())))
            }
        };
    if key.as_ref().is_some_and(|key| !key.can_be_sent()) {
        return Err(Problem { origin: key_origin, message: UNSENDABLE.to_owned() });
    }
    let key_by_command = key.is_none() && key_program.is_some();
    let has_no_key = key.is_none() && !key_by_command;
    let key_elsewhere = if has_no_key { find_other_key_origin(name, &origin, credentials) } else { None };
    let warning = (url.scheme() == "http" && !is_this_machine(&url)).then(|| {
        let exposed = if !has_no_key { "the key and all messages" } else { "all messages" };
        format!("The connection to {} is not encrypted: others on the network can read {exposed}", format_host(&url))
    });
    Ok(Connection {
        profile: name.to_owned(),
        settings: profile.clone(),
        base_url: base_url.trim().trim_end_matches('/').to_owned(),
        base_url_origin,
        model,
        model_origin,
        lacks_key: key_variable.is_some() && has_no_key && !is_this_machine(&url),
        key,
        has_key_command: key_by_command,
        key_elsewhere,
        key_origin,
        warning,
    })
}

/// Returns the origin that a key of this profile was entered for, if it differs from `origin`.
fn find_other_key_origin(name: &str, origin: &str, credentials: &Credentials) -> Option<String> {
    let default_origin = built_in_profiles().get(name).and_then(|profile| parse_address(&profile.base_url));
    let default_origin = default_origin.map(|url| url.origin().ascii_serialization());
    let key_origin = default_origin
        .filter(|origin| credentials.key_for_origin(origin).is_some())
        .or_else(|| credentials.origin_for_profile(name));
    key_origin.filter(|key_origin| key_origin != origin)
}

fn read_variable(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Parses a base address; see `base_address::parse`.
fn parse_address(text: &str) -> Option<Url> {
    base_address::parse(text).ok()
}

fn format_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Returns whether the address is certainly this machine. Host names other than `localhost` may resolve to any machine,
/// and link-local addresses belong to the network.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>().map(|address| address.to_canonical()) {
        // Connecting to the unspecified address, which some servers print as their own, reaches this machine.
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host.trim_end_matches('.') == "localhost",
    }
}

#[cfg(test)]
mod tests;
