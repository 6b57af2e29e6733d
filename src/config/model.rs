//! `[model]` and `[profiles.NAME]`: the model in use and the configured providers.

use super::schema::{section, words};
use std::collections::BTreeMap;

section! {
    /// The model in use.
    pub struct Model {
        /// Profile in use. `None`: the first of `PREFERRED_PROFILES` that has a key.
        profile: Option<String> => Text,
        /// Let the model name a session after its first turn.
        titles: bool = true => Switch,
        /// Profile used if `profile` fails. `None`: no fallback.
        fallback: Option<String> => Text,
    }
}

section! {
    /// A configured provider.
    pub struct Profile {
        /// Base address with the `/v1`.
        base_url: String => Address,
        /// API that the provider supports.
        api: Api => Choice(Api::WORDS),
        /// Environment variable that holds the key. `None`: no key is needed.
        key_env: Option<String> => EnvVariable,
        /// Program that prints the key, with its arguments. Run without a shell.
        key_command: Option<Vec<String>> => Command,
        /// Header that carries the key. `None`: `Authorization: Bearer …`.
        key_header: Option<String> => HeaderName,
        /// Model to request. `None`: the first model in the provider's list.
        model: Option<String> => Name,
        /// Headers added to every request. They may hold secrets.
        headers: BTreeMap<String, String> => Headers,
        /// Query parameters added to every request. They may hold secrets.
        query: BTreeMap<String, String> => Query,
        /// Parameters added to the body of every request.
        parameters: toml::Table => Parameters,
        /// Parameters set by aye that the provider rejects.
        omit_parameters: Vec<String> => Names,
        /// Maximum tokens of a reply, reasoning included. `None`: decided by the provider.
        max_tokens: Option<u32> => Integer(1..=10_000_000, "tokens"),
        /// Name of the request parameter for `max_tokens`. `None`: the usual one.
        max_tokens_parameter: Option<String> => Name,
        /// Offer tools to the model.
        tools: bool = true => Switch,
        /// Send images to the model.
        images: bool => Switch,
        /// Simplify the schemas of tools of files and MCP servers. `None`: if the provider is known to reject parts of them.
        simple_schemas: Option<bool> => Switch,
        /// Request several calls in one reply. `None`: the parameter is not sent.
        parallel_calls: Option<bool> => Switch,
        /// Reasoning effort in the provider's own terms.
        reasoning_effort: Option<String> => Text,
        /// Send the model's reasoning back with its calls.
        send_reasoning: bool => Switch,
        /// Seconds without data after which a reply is aborted.
        idle_seconds: u64 = 90 => Integer(1..=3600, "seconds"),
        /// Seconds after which a connection attempt is aborted.
        connect_seconds: u64 = 10 => Integer(1..=600, "seconds"),
        /// PEM file with certificates that are trusted in addition to the system's.
        ca_file: Option<String> => File,
        /// Proxy address, or `none` for a direct connection. `None`: the system's proxy.
        proxy: Option<String> => Proxy,
        /// Context window in tokens. `None`: as reported by the provider.
        context_window: Option<u64> => Integer(1..=100_000_000, "tokens"),
        /// Estimated tokens of all tools above which those of files and MCP servers are deferred.
        tool_tokens: u64 = 6_000 => Integer(0..=10_000_000, "tokens"),
        /// Price per million input tokens.
        price_input: Option<f64> => Price,
        /// Price per million input tokens that the provider had cached. `None`: the same as `price_input`.
        price_cached: Option<f64> => Price,
        /// Price per million output tokens.
        price_output: Option<f64> => Price,
    }
}

words! {
    /// API of a provider.
    pub enum Api {
        /// `chat/completions`, which every provider supports.
        #[default]
        Chat = "chat",
        /// `responses`.
        Responses = "responses",
    }
}

/// Reads and writes profiles that several owners share, which serde only knows by a feature.
pub(super) mod shared_profiles {
    use super::Profile;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(profiles: &BTreeMap<String, Arc<Profile>>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(profiles.iter().map(|(name, profile)| (name, profile.as_ref())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Arc<Profile>>, D::Error> {
        let profiles = BTreeMap::<String, Profile>::deserialize(from)?;
        Ok(profiles.into_iter().map(|(name, profile)| (name, Arc::new(profile))).collect())
    }
}
