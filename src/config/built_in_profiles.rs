//! Built-in profiles of common providers and local servers: those of `config.example.toml`.
//!
//! Addresses and special cases follow each provider's documentation. A model is named only if its name is expected to
//! stay valid; otherwise the provider's own list decides. All profiles use chat completions, OpenAI's too, because that
//! API works for all of its models and through every gateway; `api = "responses"` switches to the other one.

use super::Profile;
use super::model::shared_profiles;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// Profile used if only an OpenAI variable or a flag is set.
pub const OPENAI: &str = "openai";

/// Order in which profiles are tried if none is chosen. The first that has a key is used.
#[rustfmt::skip]
pub const PREFERRED_PROFILES: [&str; 13] = [
    OPENAI, "openrouter", "anthropic", "gemini", "azure", "mistral", "groq", "deepseek", "xai", "together", "fireworks",
    "cerebras", "moonshot",
];

/// Placeholder in an address that the user has to replace.
pub const PLACEHOLDER: &str = "RESOURCE";

/// `config.example.toml` contains the built-in profiles.
const EXAMPLE: &str = include_str!("../../config.example.toml");

#[derive(Deserialize)]
struct Example {
    #[serde(with = "shared_profiles")]
    profiles: BTreeMap<String, Arc<Profile>>,
}

/// Returns all built-in profiles by name.
pub fn built_in_profiles() -> &'static BTreeMap<String, Arc<Profile>> {
    static PROFILES: LazyLock<BTreeMap<String, Arc<Profile>>> = LazyLock::new(|| {
        let example: Example = toml::from_str(EXAMPLE).expect("the example file is valid");
        example.profiles
    });
    &PROFILES
}

/// Returns whether this is the profile of a local server, running or not.
pub fn is_local_server(name: &str) -> bool {
    built_in_profiles().get(name).is_some_and(|profile| profile.base_url.starts_with("http:"))
}
