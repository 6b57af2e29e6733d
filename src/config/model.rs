//! `[model]` and `[profiles.NAME]`: which model answers, and where it is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The profile of the service everybody means when they say nothing.
pub const OPENAI: &str = "openai";

/// Which model answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The profile in use. `None`: the first of `openai` and `openrouter` that has a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// One service or server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Where it is, with the `/v1`.
    pub base_url: String,
    /// The variable of the environment that holds its key. `None`: it wants no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The model to ask for. `None`: the first that the server says it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Sent with every request. They may hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Seconds of silence after which a reply is given up.
    pub idle_seconds: u64,
    /// Tokens that fit into a request. `None`: nobody says, so no share is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What a million tokens sent cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input: Option<f64>,
    /// What a million tokens received cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output: Option<f64>,
    /// Put into every request as it is.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub parameters: toml::Table,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            key_env: None,
            model: None,
            headers: BTreeMap::new(),
            idle_seconds: 90,
            context_window: None,
            price_input: None,
            price_output: None,
            parameters: toml::Table::new(),
        }
    }
}

/// The profiles that come with the program.
pub(super) fn bundled() -> BTreeMap<String, Profile> {
    let service = |url: &str, key: Option<&str>, model: Option<&str>| Profile {
        base_url: url.to_owned(),
        key_env: key.map(str::to_owned),
        model: model.map(str::to_owned),
        ..Profile::default()
    };
    let server = |port: u16| Profile {
        // A model that is loaded from disk says nothing for minutes.
        idle_seconds: 300,
        ..service(&format!("http://127.0.0.1:{port}/v1"), None, None)
    };
    let openai = service("https://api.openai.com/v1", Some("OPENAI_API_KEY"), Some("gpt-5-mini"));
    let openrouter =
        service("https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), Some("openai/gpt-5-mini"));
    [
        (OPENAI, openai),
        ("openrouter", openrouter),
        ("ollama", server(11434)),
        ("lmstudio", server(1234)),
        ("llamacpp", server(8080)),
        ("vllm", server(8000)),
    ]
    .map(|(name, profile)| (name.to_owned(), profile))
    .into()
}
