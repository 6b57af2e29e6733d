//! Which model is talked to, where, with which key, and where all that came from.

use super::model::{OPENAI, Profile};
use super::problem::nearest;
use super::{Credentials, Environment, Key, Origin, Overrides, Problem, Settings};
use reqwest::Url;

/// The profiles that are tried where none is chosen; the first that has a key is used.
const TRIED: [&str; 2] = [OPENAI, "openrouter"];

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
    /// Where that came from; where there is no key, the variable that would hold it.
    pub key_from: Origin,
    /// Whether a key is wanted and there is none: the person is asked for one. A server on this machine wants none.
    pub lacks_key: bool,
    /// What the person should know before anything is sent.
    pub warning: Option<String>,
}

impl Connection {
    /// Scheme, host and port: what a key is bound to.
    pub fn origin(&self) -> String {
        address(&self.base_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
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
            (_, from) if self.key.is_none() => format!("from {from}"),
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
    for name in TRIED {
        let connection = find(name)?;
        if connection.key.is_some() {
            return Ok(Some(connection));
        }
    }
    Ok(None)
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

    let (base_url, base_url_from) = from_flag(&flags.base_url, "--base-url")
        .or_else(|| if name == OPENAI { from_variable("OPENAI_BASE_URL") } else { None })
        .unwrap_or_else(|| (profile.base_url.clone(), of_file("base_url")));
    let Some(url) = address(&base_url) else {
        let words = "this is no address to send to; it takes one such as \"https://example.com/v1\"".into();
        return Err(Problem { at: base_url_from, words });
    };
    let (model, model_from) = from_flag(&flags.model, "--model")
        .or_else(|| from_variable("AYE_MODEL"))
        .map(|(model, from)| (Some(model), from))
        .unwrap_or_else(|| (profile.model.clone(), of_file("model")));

    let named = profile.key_env.as_deref();
    let origin = url.origin().ascii_serialization();
    let (key, key_from) = match named.and_then(from_variable) {
        Some((key, from)) => (Some(Key::new(&key)), from),
        None => match credentials.key(&origin) {
            Some(key) => (Some(key), Origin::Entered),
            None => (None, named.map_or(Origin::Default, |name| Origin::Environment(name.to_owned()))),
        },
    };
    let warning = (url.scheme() == "http" && !is_this_machine(&url)).then(|| {
        let sent =
            if key.is_some() { "the key and everything that is said" } else { "everything that is said" };
        format!("{} is reached without encryption: others on the way can read {sent}", place(&url))
    });
    Ok(Connection {
        profile: name.to_owned(),
        settings: profile.clone(),
        base_url: base_url.trim().trim_end_matches('/').to_owned(),
        base_url_from,
        model,
        model_from,
        lacks_key: named.is_some() && key.is_none() && !is_this_machine(&url),
        key,
        key_from,
        warning,
    })
}

fn variable(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// An address that a model can be reached at, read as the one who connects will read it: http or https, a host, and
/// no name or password, no question and no fragment in it.
pub fn address(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    (web && plain && url.fragment().is_none()).then_some(url)
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
