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

/// The profiles of `config.example.toml`, extracted by the build script.
const PROFILES: &str = include_str!(concat!(env!("OUT_DIR"), "/profiles.toml"));

#[derive(Deserialize)]
struct Profiles {
    #[serde(with = "shared_profiles")]
    profiles: BTreeMap<String, Arc<Profile>>,
}

/// Returns all built-in profiles by name.
pub fn built_in_profiles() -> &'static BTreeMap<String, Arc<Profile>> {
    static BUILT_IN: LazyLock<BTreeMap<String, Arc<Profile>>> = LazyLock::new(|| {
        let built_in: Profiles = toml::from_str(PROFILES).expect("the example file is valid");
        built_in.profiles
    });
    &BUILT_IN
}

/// Returns whether this is the profile of a local server, running or not.
pub fn is_local_server(name: &str) -> bool {
    built_in_profiles().get(name).is_some_and(|profile| profile.base_url.starts_with("http:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_all_profiles_of_the_example_file() {
        let example: Profiles = toml::from_str(include_str!("../../config.example.toml")).unwrap();
        assert!(example.profiles.len() > 10);
        assert_eq!(*built_in_profiles(), example.profiles);
    }
}
