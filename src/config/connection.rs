//! Which model is talked to, where, with which key, and where all that came from.

use super::base_address::UNUSABLE;
use super::key::UNSENDABLE;
use super::model::Profile;
use super::problem::nearest;
use super::ready::{OPENAI, TO_FILL_IN, TRIED};
use super::settings::SAME;
use super::{Credentials, Environment, Key, Origin, Overrides, Problem, Settings, base_address};
use reqwest::Url;
use std::net::IpAddr;

/// A model that can be talked to.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// The profile's name.
    pub profile: String,
    /// Its settings. The address and the model in use are those below.
    pub settings: Profile,
    /// Where it is, with the `/v1`, without a slash at the end.
    pub base_url: String,
    /// Where that came from.
    pub base_url_from: Origin,
    /// The model's name; `None`: the first that the server says it has.
    pub model: Option<String>,
    /// Where that came from.
    pub model_from: Origin,
    /// The key to send there, and to no other origin.
    pub key: Option<Key>,
    /// Whether the key comes from the profile's command, which is run when something is about to be sent.
    pub key_by_command: bool,
    /// Where that came from; where there is no key, the variable that would hold it.
    pub key_from: Origin,
    /// Whether a key is wanted and there is none: the person is asked for one. A server on this machine wants none.
    pub lacks_key: bool,
    /// Another origin for which a key of this profile was entered. That key is not sent here.
    pub key_elsewhere: Option<String>,
    /// What the person should know before anything is sent.
    pub warning: Option<String>,
}

impl Connection {
    /// Scheme, host and port: what a key is bound to.
    pub fn origin(&self) -> String {
        address(&self.base_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
    }

    /// Whether the profile alone leads there: no flag and no variable put another address in its place.
    pub fn is_of_profile(&self) -> bool {
        !matches!(self.base_url_from, Origin::Flag(_) | Origin::Environment(_))
    }

    /// Whether something says who asks.
    pub fn has_key(&self) -> bool {
        self.key.is_some() || self.key_by_command
    }

    /// What the first screen says: `gpt-5-mini at api.openai.com, from OPENAI_API_KEY`.
    pub fn words(&self) -> String {
        let model = self.model.as_deref().unwrap_or("the server's own model");
        let place = address(&self.base_url).map(|url| place(&url)).unwrap_or_default();
        let from = match (&self.key_from, &self.base_url_from) {
            (Origin::Default, Origin::Default) if self.model_from == Origin::Default => {
                format!("from the profile {}", self.profile)
            }
            (Origin::Default, Origin::Default) => format!("from {}", self.model_from),
            (Origin::Default, from) => format!("from {from}"),
            (from, _) if self.lacks_key => format!("but {from} is not set"),
            (_, from) if !self.has_key() => format!("from {from}"),
            (from, _) => format!("from {from}"),
        };
        format!("{model} at {place}, {from}")
    }
}

/// Finds the model to talk to. `None` where nothing is configured; an error where what is configured cannot be: a
/// profile that does not exist, an address that is none.
pub fn connect(
    settings: &Settings,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Result<Option<Connection>, Problem> {
    let find = |profile: &str| resolve(settings, profile, environment, flags, credentials);
    if let Some(name) = &settings.config.model.profile {
        return find(name).map(Some);
    }
    // An address that was given for this run is meant, with a key or without.
    if flags.base_url.is_some() || variable(environment, "OPENAI_BASE_URL").is_some() {
        return find(OPENAI).map(Some);
    }
    let filled_in = |name: &&str| {
        let profile = settings.config.profiles.get(*name);
        profile.is_some_and(|profile| !profile.base_url.contains(TO_FILL_IN))
    };
    for name in TRIED.iter().filter(|name| filled_in(name)) {
        let connection = find(name)?;
        if connection.has_key() {
            return Ok(Some(connection));
        }
    }
    Ok(None)
}

/// Every profile that something could be said to now: it has a key, or wants none because it is on this machine. In
/// the order in which they are tried, then the others by name. What is wrong with the rest is not said here.
pub fn usable(
    settings: &Settings,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Vec<Connection> {
    let bare = Overrides { profile: None, base_url: None, model: None, ..flags.clone() };
    let mut names: Vec<&str> = settings.config.profiles.keys().map(String::as_str).collect();
    names.sort_by_key(|name| TRIED.iter().position(|tried| tried == name).unwrap_or(TRIED.len()));
    let found = names.into_iter().filter_map(|name| {
        // Which model was chosen for another profile says nothing here.
        let variables = |variable: &str| if variable == "AYE_MODEL" { None } else { environment(variable) };
        resolve(settings, name, &variables, &bare, credentials).ok()
    });
    let is_usable = |connection: &Connection| {
        let local = address(&connection.base_url).is_some_and(|url| is_this_machine(&url));
        connection.has_key() || local || connection.settings.key_env.is_none()
    };
    found.filter(is_usable).collect()
}

/// The service that answers where this one cannot; `None` where the person set none, an error where it would be the
/// same one. The flags and variables that name a model or an address are for the first.
pub fn fallback(
    settings: &Settings,
    environment: Environment<'_>,
    credentials: &Credentials,
    first: &Connection,
) -> Result<Option<Connection>, Problem> {
    let Some(name) = &settings.config.model.fallback else { return Ok(None) };
    if *name == first.profile {
        return Err(Problem { at: settings.origin("model.fallback"), words: SAME.to_owned() });
    }
    let environment = |name: &str| match name {
        "AYE_MODEL" | "OPENAI_BASE_URL" => None,
        name => environment(name),
    };
    resolve(settings, name, &environment, &Overrides::default(), credentials).map(Some)
}

fn resolve(
    settings: &Settings,
    name: &str,
    environment: Environment<'_>,
    flags: &Overrides,
    credentials: &Credentials,
) -> Result<Connection, Problem> {
    let profiles = &settings.config.profiles;
    let Some(profile) = profiles.get(name) else {
        let known = profiles.keys().map(String::as_str);
        let hint = match nearest(name, known.clone()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
        };
        let words = format!("no profile is called {name:?}; {hint}");
        return Err(Problem { at: settings.origin("model.profile"), words });
    };
    let of_file = |field: &str| settings.origin(&format!("profiles.{name}.{field}"));
    let from_flag = |value: &Option<String>, flag| value.clone().map(|value| (value, Origin::Flag(flag)));
    let from_variable =
        |name: &str| variable(environment, name).map(|value| (value, Origin::Environment(name.to_owned())));

    // What is wrong with a setting was found when its file was read.
    let wrong = |field: &str| settings.problems.iter().find(|problem| problem.at == of_file(field)).cloned();
    if profile.proxy.as_deref() == Some(UNUSABLE)
        && let Some(problem) = wrong("proxy")
    {
        return Err(problem);
    }
    let (base_url, base_url_from) = from_flag(&flags.base_url, "--base-url")
        .or_else(|| if name == OPENAI { from_variable("OPENAI_BASE_URL") } else { None })
        .unwrap_or_else(|| (profile.base_url.clone(), of_file("base_url")));
    let url = match base_address::parse(&base_url) {
        Ok(url) => url,
        Err(_)
            if base_url == UNUSABLE
                && let Some(problem) = wrong("base_url") =>
        {
            return Err(problem);
        }
        Err(words) => return Err(Problem { at: base_url_from, words }),
    };
    if base_url.contains(TO_FILL_IN) {
        let words = format!(
            "profiles.{name}.base_url has {TO_FILL_IN} in it: put the name of your own resource in its place, as {}",
            base_url.replace(TO_FILL_IN, "contoso")
        );
        return Err(Problem { at: base_url_from, words });
    }
    let (model, model_from) = from_flag(&flags.model, "--model")
        .or_else(|| from_variable("AYE_MODEL"))
        .map(|(model, from)| (Some(model), from))
        .unwrap_or_else(|| (profile.model.clone(), of_file("model")));

    let named = profile.key_env.as_deref();
    let origin = url.origin().ascii_serialization();
    let program = profile.key_command.as_ref().and_then(|command| command.first());
    let (key, key_from) = match (named.and_then(from_variable), program, credentials.key(&origin)) {
        (Some((key, from)), ..) => (Some(Key::new(&key)), from),
        (None, Some(program), _) => (None, Origin::Command(program.clone())),
        (None, None, Some(key)) => (Some(key), Origin::Entered),
        (None, None, None) => {
            (None, named.map_or(Origin::Default, |name| Origin::Environment(name.to_owned())))
        }
    };
    if key.as_ref().is_some_and(|key| !key.can_be_sent()) {
        return Err(Problem { at: key_from, words: UNSENDABLE.to_owned() });
    }
    let key_by_command = key.is_none() && program.is_some();
    let unkeyed = key.is_none() && !key_by_command;
    let key_elsewhere = if unkeyed { elsewhere(name, &origin, credentials) } else { None };
    let warning = (url.scheme() == "http" && !is_this_machine(&url)).then(|| {
        let sent = if !unkeyed { "the key and everything that is said" } else { "everything that is said" };
        format!("{} is reached without encryption: others on the way can read {sent}", place(&url))
    });
    Ok(Connection {
        profile: name.to_owned(),
        settings: profile.clone(),
        base_url: base_url.trim().trim_end_matches('/').to_owned(),
        base_url_from,
        model,
        model_from,
        lacks_key: named.is_some() && unkeyed && !is_this_machine(&url),
        key,
        key_by_command,
        key_elsewhere,
        key_from,
        warning,
    })
}

/// The origin that a key of this profile was entered for, where that is not this one.
fn elsewhere(name: &str, origin: &str, credentials: &Credentials) -> Option<String> {
    let usual = super::ready::profiles().remove(name).and_then(|profile| address(&profile.base_url));
    let usual = usual.map(|url| url.origin().ascii_serialization());
    let entered = usual.filter(|usual| credentials.key(usual).is_some()).or_else(|| credentials.of(name));
    entered.filter(|entered| entered != origin)
}

fn variable(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A base address, if it is one; see `base_address::parse`.
pub fn address(text: &str) -> Option<Url> {
    base_address::parse(text).ok()
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether an address is this machine itself, as surely as its letters say: another name than `localhost` may lead
/// anywhere, and a link-local address is a network's.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>().map(|address| address.to_canonical()) {
        // To the unspecified address, which servers print as theirs, one connects on this machine.
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host.trim_end_matches('.') == "localhost",
    }
}

#[cfg(test)]
mod tests;
