//! `[model]` and `[profiles.NAME]`: which model answers, where it is, and how it wants to be asked.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The profile in use. `None`: the first of [`super::ready::TRIED`] that has a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The profile that answers where that one cannot. `None`: nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Whether the model names a session after its first turn.
    pub titles: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self { profile: None, fallback: None, titles: true }
    }
}

/// One service or server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Where it is, with the `/v1`.
    pub base_url: String,
    /// Which of the two ways of talking it understands.
    pub api: Api,
    /// The variable of the environment that holds its key. `None`: it wants no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The program that prints its key, with its arguments. Run without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_command: Option<Vec<String>>,
    /// The header that carries the key. `None`: `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_header: Option<String>,
    /// The model to ask for. `None`: the first that the server says it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Sent with every request. They may hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Put behind the address of every request. They may hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Put into every request as it is.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub parameters: toml::Table,
    /// Parameters of ours that the service refuses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<String>,
    /// Tokens of a reply at most, reasoning included. `None`: as the service likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The parameter that carries this limit. `None`: the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_name: Option<String>,
    /// Whether the model can be offered tools.
    pub tools: bool,
    /// Whether the model can be shown pictures.
    pub images: bool,
    /// Whether several calls in one reply are asked for. `None`: nothing is said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// How hard the model is asked to think, in the service's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Whether the model's reasoning is sent back with its calls.
    pub reasoning_back: bool,
    /// Seconds of silence after which a reply is given up.
    pub idle_seconds: u64,
    /// Seconds after which a connection that is not made is given up.
    pub connect_seconds: u64,
    /// A file of certificates, in PEM, that are trusted beside the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// The proxy to go through, or `none`. `None`: the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Tokens that fit into a request. `None`: what the service says of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What a million tokens sent cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input: Option<f64>,
    /// What a million tokens sent cost where the service had them in its cache. `None`: as much as any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_cached: Option<f64>,
    /// What a million tokens received cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output: Option<f64>,
}

/// A way of talking to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `chat/completions`, which every service has.
    #[default]
    Chat,
    /// `responses`.
    Responses,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api: Api::Chat,
            key_env: None,
            key_command: None,
            key_header: None,
            model: None,
            headers: BTreeMap::new(),
            query: BTreeMap::new(),
            parameters: toml::Table::new(),
            leave_out: Vec::new(),
            max_tokens: None,
            max_tokens_name: None,
            tools: true,
            images: false,
            parallel_calls: None,
            reasoning_effort: None,
            reasoning_back: false,
            idle_seconds: 90,
            connect_seconds: 10,
            ca_file: None,
            proxy: None,
            context_window: None,
            price_input: None,
            price_cached: None,
            price_output: None,
        }
    }
}
