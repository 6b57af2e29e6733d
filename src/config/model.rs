//! `[model]` and `[profiles.NAME]`: the model in use and the configured providers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The model in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Profile in use. `None`: the first of `PREFERRED_PROFILES` that has a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Profile used if the first one fails. `None`: no fallback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// Let the model name a session after its first turn.
    pub titles: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self { profile: None, fallback: None, titles: true }
    }
}

/// A configured provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Base address with the `/v1`.
    pub base_url: String,
    /// API that the provider supports.
    pub api: Api,
    /// Environment variable that holds the key. `None`: no key is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Program that prints the key, with its arguments. Run without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_command: Option<Vec<String>>,
    /// Header that carries the key. `None`: `Authorization: Bearer …`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_header: Option<String>,
    /// Model to request. `None`: the first model in the provider's list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Headers added to every request. They may hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Query parameters added to every request. They may hold secrets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, String>,
    /// Parameters added to the body of every request.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub parameters: toml::Table,
    /// Parameters set by aye that the provider rejects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omit_parameters: Vec<String>,
    /// Maximum tokens of a reply, reasoning included. `None`: decided by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Name of the request parameter for `max_tokens`. `None`: the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_parameter: Option<String>,
    /// Offer tools to the model.
    pub tools: bool,
    /// Send images to the model.
    pub images: bool,
    /// Request several calls in one reply. `None`: the parameter is not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// Reasoning effort in the provider's own terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Send the model's reasoning back with its calls.
    pub send_reasoning: bool,
    /// Seconds without data after which a reply is aborted.
    pub idle_seconds: u64,
    /// Seconds after which a connection attempt is aborted.
    pub connect_seconds: u64,
    /// PEM file with certificates that are trusted in addition to the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Proxy address, or `none`. `None`: the system's proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Context window in tokens. `None`: as reported by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Price per million input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_input: Option<f64>,
    /// Price per million input tokens that the provider had cached. `None`: the same as `price_input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_cached: Option<f64>,
    /// Price per million output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_output: Option<f64>,
}

/// API of a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `chat/completions`, which every provider supports.
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
            omit_parameters: Vec::new(),
            max_tokens: None,
            max_tokens_parameter: None,
            tools: true,
            images: false,
            parallel_calls: None,
            reasoning_effort: None,
            send_reasoning: false,
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
