//! The model of this run: what was configured, or the tour where nothing was.

use crate::config::{Connection, Key};
use crate::llm::tour::Tour;
use crate::llm::{First, Llm, OpenAi, Secret, Settings};
use crate::tui::host;
use std::sync::Arc;
use std::time::Duration;

/// A model in hand.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) llm: Arc<dyn Llm>,
    /// Its service, for the list of models; none for the tour.
    pub(super) service: Option<OpenAi>,
    /// As the service knows it; empty where the service's first is taken.
    pub(super) name: String,
    /// What the screen says of it.
    pub(super) seen: host::Connection,
    /// What the person should know before anything is sent.
    pub(super) warning: Option<String>,
}

impl Model {
    /// The scripted model, at a pace that can be read where somebody watches.
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
            seen,
            warning: None,
        }
    }

    /// The model that the settings name.
    pub(super) fn configured(connection: &Connection) -> Self {
        let profile = &connection.settings;
        let secret = |key: &Key| Secret::new(key.expose());
        let mut settings = Settings::new(&connection.base_url);
        settings.key = connection.key.as_ref().map(secret);
        settings.headers =
            profile.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value))).collect();
        settings.idle = Duration::from_secs(profile.idle_seconds);
        settings.extra = match serde_json::to_value(&profile.parameters) {
            Ok(serde_json::Value::Object(parameters)) => parameters,
            Ok(_) | Err(_) => serde_json::Map::new(),
        };
        let name = connection.model.clone().unwrap_or_default();
        let price = match (profile.price_input, profile.price_output) {
            (Some(input), Some(output)) => Some((input, input, output)),
            (Some(_) | None, _) => None,
        };
        let seen = host::Connection {
            model: name.clone(),
            source: connection.words(),
            tour: false,
            window: profile.context_window,
            price,
        };
        let warning = match (connection.lacks_key, &connection.warning) {
            (true, _) => Some(format!(
                "No key was found: {} is not set. Requests are sent without one.",
                connection.key_from
            )),
            (false, warning) => warning.clone(),
        };
        let service = OpenAi::new(settings);
        let llm = Arc::new(First::of(service.clone()));
        Self { llm, service: Some(service), name, seen, warning }
    }
}
