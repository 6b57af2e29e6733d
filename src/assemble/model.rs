//! The model of this run: the configured one, or the tour.

use super::key_command::KeyCommand;
use crate::config::{self, Connection, Key};
use crate::llm::client::{Proxy, Way};
use crate::llm::tour::Tour;
use crate::llm::{Api, First, Keyed, Llm, Secret, Settings, patience};
use crate::tui::host;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A connected model.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) llm: Arc<dyn Llm>,
    /// Its provider, for the list of models; `None` for the tour.
    pub(super) service: Option<Keyed>,
    /// Name at the provider; empty if the provider's first model is used.
    pub(super) name: String,
    /// Its profile; `None` if the address was given only for this run.
    pub(super) profile: Option<String>,
    /// Details shown on the screen.
    pub(super) seen: host::Connection,
    /// Notices to show before anything is sent, one sentence each.
    pub(super) warnings: Vec<String>,
}

impl Model {
    /// Returns the scripted model, at a readable pace if a user watches.
    pub(super) fn tour(watched: bool) -> Self {
        let seen = host::Connection {
            model: "the tour".to_owned(),
            source: "a script, no model".to_owned(),
            tour: true,
            ..host::Connection::default()
        };
        let name = "tour".to_owned();
        Self {
            llm: Arc::new(if watched { Tour::new() } else { Tour::at_once() }),
            service: None,
            name,
            profile: None,
            seen,
            warnings: Vec::new(),
        }
    }

    /// Returns the configured model, with longer waits if a user watches. Nothing is connected yet.
    pub(super) fn configured(connection: &Connection, watched: bool) -> Self {
        let profile = &connection.settings;
        let name = connection.model.clone().unwrap_or_default();
        let price = match (profile.price_input, profile.price_output) {
            (Some(input), Some(output)) => Some((input, profile.price_cached.unwrap_or(input), output)),
            (Some(_) | None, _) => None,
        };
        let lasting = connection.is_of_profile().then(|| connection.profile.clone());
        let seen = host::Connection {
            model: name.clone(),
            profile: lasting.clone().unwrap_or_default(),
            source: connection.words(),
            tour: false,
            window: profile.context_window,
            images: profile.images,
            price,
        };
        let home = home();
        let mut settings = settings(connection, &home);
        if watched {
            settings.longest_wait = patience::WATCHED;
        }
        let asks = profile.key_command.clone().filter(|_| connection.key_by_command);
        let service = match asks {
            Some(words) => {
                Keyed::asking(settings, Arc::new(KeyCommand { myself: super::myself(), words, home }))
            }
            None => Keyed::of(settings),
        };
        let llm = Arc::new(First::of(service.clone()));
        Self { llm, service: Some(service), name, profile: lasting, seen, warnings: warnings(connection) }
    }
}

/// Converts a connection to request settings.
fn settings(connection: &Connection, home: &Path) -> Settings {
    let profile = &connection.settings;
    let secret = |key: &Key| Secret::new(key.expose());
    let mut extra = match serde_json::to_value(&profile.parameters) {
        Ok(serde_json::Value::Object(parameters)) => parameters,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    extra.extend(profile.leave_out.iter().map(|name| (name.clone(), serde_json::Value::Null)));
    let proxy = match profile.proxy.as_deref() {
        None => Proxy::System,
        Some("none") => Proxy::Straight,
        Some(address) => Proxy::Through(Secret::new(address)),
    };
    let roots = profile.ca_file.as_deref().map(|file| match file.strip_prefix("~/") {
        Some(inside) => home.join(inside),
        None => PathBuf::from(file),
    });
    Settings {
        key: connection.key.as_ref().map(secret),
        headers: profile.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect(),
        idle: Duration::from_secs(profile.idle_seconds),
        extra,
        way: Way { connect: Duration::from_secs(profile.connect_seconds), roots, proxy },
        api: match profile.api {
            config::Api::Chat => Api::Chat,
            config::Api::Responses => Api::Responses,
        },
        key_header: profile.key_header.clone(),
        query: profile.query.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        most: profile.max_tokens,
        most_name: profile.max_tokens_name.clone(),
        tools: profile.tools,
        images: profile.images,
        parallel_calls: profile.parallel_calls,
        effort: profile.reasoning_effort.clone(),
        reasoning_back: profile.reasoning_back,
        ..Settings::new(&connection.base_url)
    }
}

fn warnings(connection: &Connection) -> Vec<String> {
    let lacks = connection
        .lacks_key
        .then(|| format!("No key: {} is not set. Requests are sent without a key.", connection.key_from));
    let elsewhere = connection.key_elsewhere.as_ref().map(|origin| {
        let here = connection.origin();
        format!(
            "The key saved for {origin} is not sent to {here}. To enter a key for this address, use /connect."
        )
    });
    [lacks, elsewhere, connection.warning.clone()].into_iter().flatten().collect()
}

/// Returns the home folder, where key commands run.
pub(super) fn home() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    home.unwrap_or_else(|| PathBuf::from("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::read::read;
    use crate::config::{Credentials, Overrides, connect};

    fn connection(file: &str) -> Connection {
        let flags = Overrides { profile: Some("p".into()), ..Overrides::default() };
        let nothing = |_: &str| None;
        let settings = config::Settings::from_layers([read(file, "f")], &nothing, &flags);
        assert_eq!(settings.problems, []);
        connect(&settings, &nothing, &flags, &Credentials::default()).unwrap().unwrap()
    }

    #[test]
    fn all_profile_settings_reach_the_requests() {
        let connection = connection(
            "[profiles.p]\nbase_url = \"https://h/v1\"\napi = \"responses\"\nkey_header = \"api-key\"\nmodel = \"m\"\nheaders = { X = \"x\" }\nquery = { v = \"1\" }\nparameters = { a = { b = 1 } }\nleave_out = [\"stream_options\"]\nmax_tokens = 5\nmax_tokens_name = \"most\"\ntools = false\nimages = true\nparallel_calls = false\nreasoning_effort = \"none\"\nreasoning_back = true\nidle_seconds = 6\nconnect_seconds = 7\nca_file = \"~/a.pem\"\nproxy = \"http://p:1\"\n",
        );
        let made = settings(&connection, Path::new("/home/me"));
        assert_eq!(
            format!("{made:?}"),
            format!(
                "{:?}",
                Settings {
                    headers: vec![("X".into(), Secret::new("x"))],
                    idle: Duration::from_secs(6),
                    extra: serde_json::json!({"a": {"b": 1}, "stream_options": null})
                        .as_object()
                        .unwrap()
                        .clone(),
                    way: Way {
                        connect: Duration::from_secs(7),
                        roots: Some("/home/me/a.pem".into()),
                        proxy: Proxy::Through(Secret::new("http://p:1")),
                    },
                    api: Api::Responses,
                    key_header: Some("api-key".into()),
                    query: vec![("v".into(), "1".into())],
                    most: Some(5),
                    most_name: Some("most".into()),
                    tools: false,
                    images: true,
                    parallel_calls: Some(false),
                    effort: Some("none".into()),
                    reasoning_back: true,
                    ..Settings::new("https://h/v1")
                }
            )
        );
        assert_eq!(made.way.proxy, Proxy::Through(Secret::new("http://p:1")));
    }

    #[test]
    fn cached_tokens_have_their_own_price_or_the_input_price() {
        let price = |text: &str| {
            let file = format!("[profiles.p]\nbase_url = \"https://h/v1\"\n{text}");
            Model::configured(&connection(&file), false).seen.price
        };
        assert_eq!(price("price_input = 3\nprice_cached = 0.3\nprice_output = 15"), Some((3.0, 0.3, 15.0)));
        assert_eq!(price("price_input = 3\nprice_output = 15"), Some((3.0, 3.0, 15.0)));
        assert_eq!(price("price_input = 3"), None);
        assert_eq!(price("price_cached = 3"), None);
    }
}
