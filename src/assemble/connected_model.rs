//! The model of this run: the configured one, the tour, or none.

use crate::chat::Request;
use crate::config::{self, Connection, Key, Origin};
use crate::demo::{self, Script};
use crate::llm::client::{ConnectionOptions, Proxy};
use crate::llm::key_command::KeyCommand;
use crate::llm::scripted_model::ScriptedModel;
use crate::llm::{Api, AuthProvider, DefaultModel, Error, Llm, Quirks, ReplyStream, Secret, Settings, timeouts};
use crate::project::guard::own_program;
use crate::runtime::Runtime;
use crate::tui::host;
use futures::stream::{self, StreamExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What to do if no provider is configured.
pub(super) const CONNECT_ADVICE: &str =
    "set the variable of a key, such as OPENAI_API_KEY, or use --profile or --base-url";

/// A connected model.
#[derive(Clone)]
pub(crate) struct ConnectedModel {
    pub(crate) llm: Arc<dyn Llm>,
    /// Its provider, for the list of models; `None` for the tour, and if none is configured.
    pub(crate) provider: Option<AuthProvider>,
    /// Name at the provider; empty if the provider's first model is used.
    pub(crate) name: String,
    /// Its profile; `None` if the address was given only for this run.
    pub(crate) profile: Option<String>,
    /// Its base address; empty without a provider.
    pub(crate) base_url: String,
    /// Details shown on the screen.
    pub(crate) connection_info: host::Connection,
    /// Notices to show before anything is sent, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl ConnectedModel {
    /// Returns the model of the tour, at a readable pace if a user watches.
    pub(crate) fn tour(is_watched: bool) -> Self {
        let mut model = Self::scripted(Arc::new(demo::tour()), is_watched);
        model.connection_info.is_tour = true;
        model.name = "tour".to_owned();
        model
    }

    /// Returns the model of a script, at the pace of the script if a user watches.
    pub(crate) fn scripted(script: Arc<Script>, is_watched: bool) -> Self {
        let connection_info = host::Connection {
            model: script.model.clone(),
            source: "a script instead of a model".to_owned(),
            ..host::Connection::default()
        };
        let name = script.model.clone();
        Self { name, ..Self::without_provider(Arc::new(ScriptedModel::new(script, is_watched)), connection_info) }
    }

    /// Returns a model for a session that is opened although no provider is configured: every request fails.
    pub(crate) fn unconfigured() -> Self {
        let connection_info =
            host::Connection { source: "no provider".to_owned(), is_unconfigured: true, ..host::Connection::default() };
        Self::without_provider(Arc::new(NoProvider), connection_info)
    }

    fn without_provider(llm: Arc<dyn Llm>, connection_info: host::Connection) -> Self {
        let (name, base_url) = (String::new(), String::new());
        Self { llm, provider: None, name, profile: None, base_url, connection_info, warnings: Vec::new() }
    }

    /// Returns the configured model, with longer waits if a user watches. Nothing is connected yet.
    pub(crate) fn configured(connection: &Connection, is_watched: bool) -> Self {
        let profile = &connection.settings;
        let name = connection.model.clone().unwrap_or_default();
        let price = match (profile.price_input, profile.price_output) {
            (Some(input), Some(output)) => Some((input, profile.price_cached.unwrap_or(input), output)),
            (Some(_) | None, _) => None,
        };
        let saved_profile = connection.has_profile_address().then(|| connection.profile.clone());
        let connection_info = host::Connection {
            model: name.clone(),
            profile: saved_profile.clone().unwrap_or_default(),
            source: connection.describe(),
            context_window: profile.context_window,
            accepts_images: profile.images,
            tool_limit: profile.tools.then_some(profile.tool_tokens),
            price,
            ..host::Connection::default()
        };
        let home = home_folder();
        let mut settings = request_settings(connection, &home);
        settings.missing_key_hint = missing_key_hint(connection, is_watched);
        if is_watched {
            settings.longest_wait = timeouts::INTERACTIVE_MAX_WAIT;
        }
        let key_command = profile.key_command.clone().filter(|_| connection.has_key_command);
        let provider = match key_command {
            Some(command) => AuthProvider::with_key_source(
                settings,
                Arc::new(KeyCommand { aye_program: own_program(), command, home }),
            ),
            None => AuthProvider::with_settings(settings),
        };
        Self {
            llm: Arc::new(DefaultModel::for_provider(provider.clone())),
            provider: Some(provider),
            name,
            profile: saved_profile,
            base_url: connection.base_url.clone(),
            connection_info,
            warnings: connection_warnings(connection),
        }
    }
}

/// The model of a session without a provider.
struct NoProvider;

impl Llm for NoProvider {
    fn stream(&self, _: Request) -> ReplyStream {
        let reason = "Cannot send the message: no provider is configured. Press alt-c to connect to one";
        stream::iter([Err(Error::InvalidAddress(reason.to_owned()))]).boxed()
    }
}

/// Converts a connection to request settings.
fn request_settings(connection: &Connection, home: &Path) -> Settings {
    let profile = &connection.settings;
    let secret = |key: &Key| Secret::new(key.expose());
    let mut parameters = match serde_json::to_value(&profile.parameters) {
        Ok(serde_json::Value::Object(parameters)) => parameters,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    // A parameter that is `null` is removed from the request.
    parameters.extend(profile.omit_parameters.iter().map(|name| (name.clone(), serde_json::Value::Null)));
    let proxy = match profile.proxy.as_deref() {
        None => Proxy::System,
        Some("none") => Proxy::Direct,
        Some(address) => Proxy::Address(Secret::new(address)),
    };
    let ca_file = profile.ca_file.as_deref().map(|file| match file.strip_prefix("~/") {
        Some(relative) => home.join(relative),
        None => PathBuf::from(file),
    });
    Settings {
        key: connection.key.as_ref().map(secret),
        headers: profile.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect(),
        idle_limit: Duration::from_secs(profile.idle_seconds),
        parameters,
        connection: ConnectionOptions { connect_timeout: Duration::from_secs(profile.connect_seconds), ca_file, proxy },
        api: match profile.api {
            config::Api::Chat => Api::Chat,
            config::Api::Responses => Api::Responses,
        },
        key_header: profile.key_header.clone(),
        query: profile.query.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        quirks: read_quirks(profile),
        ..Settings::new(&connection.base_url)
    }
}

/// Returns the quirks of a profile. Each field of [`Quirks`] is a setting of the profile with the same name and type.
fn read_quirks(profile: &config::Profile) -> Quirks {
    let settings = toml::Value::try_from(profile).expect("a profile was read from TOML");
    settings.try_into().expect("each quirk has the type of the setting with its name")
}

fn connection_warnings(connection: &Connection) -> Vec<String> {
    let missing_key = connection
        .lacks_key
        .then(|| format!("No key: {} is not set. Requests are sent without a key.", connection.key_origin));
    [missing_key, connection.warning.clone()].into_iter().flatten().collect()
}

/// Explains why no key is sent; added to the error if the provider rejects the request. `None` if a key or a header of
/// the profile is sent.
fn missing_key_hint(connection: &Connection, is_watched: bool) -> Option<String> {
    if connection.has_key() || !connection.settings.headers.is_empty() {
        return None;
    }
    let reason = match (&connection.key_elsewhere, &connection.key_origin) {
        (Some(origin), _) => {
            format!("No key was sent: the key saved for {origin} is not sent to {}.", connection.origin())
        }
        (None, Origin::Environment(variable)) => format!("No key was sent ({variable} is not set)."),
        (None, _) => "No key was sent.".to_owned(),
    };
    let advice =
        if is_watched { "alt-c enters one." } else { "Set the variable of the key, or enter one in aye with alt-c." };
    Some(format!("{reason} {advice}"))
}

/// Returns the home folder, where key commands run.
pub(crate) fn home_folder() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    home.unwrap_or_else(|| PathBuf::from("/"))
}

/// Sets the request that asks the provider for the context window of a model. It is sent after the model's next reply;
/// if `is_interactive` is false, only after a reply with calls, because no turn follows the current one.
pub(crate) fn request_context_window(
    runtime: &mut Runtime,
    is_interactive: bool,
    model: &ConnectedModel,
    name: String,
) {
    if let Some(provider) = model.provider.clone() {
        runtime.set_window_request(is_interactive, async move { provider.request_context_window(&name).await });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::settings_parser::parse_settings;
    use crate::config::{Credentials, Overrides, resolve_connection};

    /// Returns the connection of the profile `p` in this text of a settings file.
    pub(in crate::assemble) fn parse_connection(file: &str) -> Connection {
        let flags = Overrides { profile: Some("p".into()), ..Overrides::default() };
        let no_variables = |_: &str| None;
        let settings = config::Settings::from_layers([parse_settings(file, "f")], &no_variables, &flags);
        assert_eq!(settings.problems, []);
        resolve_connection(&settings, &no_variables, &flags, &Credentials::default()).unwrap().unwrap()
    }

    #[test]
    fn all_profile_settings_reach_the_requests() {
        let connection = parse_connection(
            "[profiles.p]\nbase_url = \"https://h/v1\"\napi = \"responses\"\nkey_header = \"api-key\"\nmodel = \"m\"\nheaders = { X = \"x\" }\nquery = { v = \"1\" }\nparameters = { a = { b = 1 } }\nomit_parameters = [\"stream_options\"]\nmax_tokens = 5\nmax_tokens_parameter = \"most\"\ntools = false\nimages = true\nparallel_calls = false\nreasoning_effort = \"none\"\nsend_reasoning = true\nidle_seconds = 6\nconnect_seconds = 7\nca_file = \"~/a.pem\"\nproxy = \"http://p:1\"\n",
        );
        let request = request_settings(&connection, Path::new("/home/me"));
        assert_eq!(
            format!("{request:?}"),
            format!(
                "{:?}",
                Settings {
                    headers: vec![("X".into(), Secret::new("x"))],
                    idle_limit: Duration::from_secs(6),
                    parameters: serde_json::json!({"a": {"b": 1}, "stream_options": null}).as_object().unwrap().clone(),
                    connection: ConnectionOptions {
                        connect_timeout: Duration::from_secs(7),
                        ca_file: Some("/home/me/a.pem".into()),
                        proxy: Proxy::Address(Secret::new("http://p:1")),
                    },
                    api: Api::Responses,
                    key_header: Some("api-key".into()),
                    query: vec![("v".into(), "1".into())],
                    quirks: request.quirks.clone(),
                    ..Settings::new("https://h/v1")
                }
            )
        );
        // The text of `Debug` hides the address of the proxy.
        assert_eq!(request.connection.proxy, Proxy::Address(Secret::new("http://p:1")));
        let quirks = request.quirks;
        assert_eq!((quirks.max_tokens, quirks.max_tokens_parameter.as_deref()), (Some(5), Some("most")));
        assert_eq!((quirks.tools, quirks.images, quirks.send_reasoning), (false, true, true));
        assert_eq!((quirks.parallel_calls, quirks.reasoning_effort.as_deref()), (Some(false), Some("none")));
    }

    #[test]
    fn every_quirk_is_a_setting_of_a_profile_with_the_same_default() {
        let quirks = Quirks::default();
        let names = serde_json::to_value(&quirks).unwrap();
        for name in names.as_object().unwrap().keys() {
            assert!(config::schema::find_setting("profiles.*", name).is_some(), "{name}");
        }
        assert_eq!(read_quirks(&config::Profile::default()), quirks);
    }

    #[test]
    fn cached_tokens_have_their_own_price_or_the_input_price() {
        let price = |text: &str| {
            let file = format!("[profiles.p]\nbase_url = \"https://h/v1\"\n{text}");
            let is_watched = false;
            ConnectedModel::configured(&parse_connection(&file), is_watched).connection_info.price
        };
        assert_eq!(price("price_input = 3\nprice_cached = 0.3\nprice_output = 15"), Some((3.0, 0.3, 15.0)));
        assert_eq!(price("price_input = 3\nprice_output = 15"), Some((3.0, 3.0, 15.0)));
        assert_eq!(price("price_input = 3"), None);
        assert_eq!(price("price_cached = 3"), None);
    }
}
