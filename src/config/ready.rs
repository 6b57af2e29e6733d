//! The profiles that come with the program: the services and servers people use, and how each wants to be asked.
//!
//! Addresses and oddities are those of each service's own documentation. A model is named only where its name is sure
//! to be known there for long; else the server's own list decides. All of them are asked by chat completions, also
//! OpenAI: it is the one way that works for every model of theirs and through every gateway in front of them, and
//! `api = "responses"` is one line away.

use super::Profile;
use std::collections::BTreeMap;

/// The profile of the service everybody means when they say nothing.
pub const OPENAI: &str = "openai";

/// The profiles that are tried where none is chosen, in this order; the first that has a key is used.
pub const TRIED: [&str; 13] = [
    OPENAI,
    "openrouter",
    "anthropic",
    "gemini",
    "azure",
    "mistral",
    "groq",
    "deepseek",
    "xai",
    "together",
    "fireworks",
    "cerebras",
    "moonshot",
];

/// What stands in an address where the person has to fill something in.
pub const TO_FILL_IN: &str = "RESOURCE";

/// Seconds a server on this machine may be silent: one that loads its model from disk first is so for minutes.
const LOADING: u64 = 300;

/// Whether this is a server that people run on their own machine, where it may run or not.
pub fn is_server(name: &str) -> bool {
    profiles().get(name).is_some_and(|profile| profile.base_url.starts_with("http:"))
}

/// All of them, by name.
pub(super) fn profiles() -> BTreeMap<String, Profile> {
    let service = |url: &str, key: &str| Profile {
        base_url: url.to_owned(),
        key_env: Some(key.to_owned()),
        ..Profile::default()
    };
    let server = |port: u16| Profile {
        base_url: format!("http://127.0.0.1:{port}/v1"),
        idle_seconds: LOADING,
        ..Profile::default()
    };
    let named = |model: &str, profile: Profile| Profile { model: Some(model.to_owned()), ..profile };
    let limited_by =
        |name: &str, profile: Profile| Profile { max_tokens_name: Some(name.to_owned()), ..profile };
    let seeing = |profile: Profile| Profile { images: true, ..profile };
    let keyed = |key: &str, profile: Profile| Profile { key_env: Some(key.to_owned()), ..profile };
    [
        (
            OPENAI,
            seeing(named(
                "gpt-5-mini",
                limited_by("max_completion_tokens", service("https://api.openai.com/v1", "OPENAI_API_KEY")),
            )),
        ),
        (
            "azure",
            Profile {
                key_header: Some("api-key".to_owned()),
                images: true,
                ..limited_by(
                    "max_completion_tokens",
                    service("https://RESOURCE.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"),
                )
            },
        ),
        (
            "openrouter",
            seeing(named("openai/gpt-5-mini", service("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"))),
        ),
        (
            "anthropic",
            Profile {
                // Its list of models wants it.
                headers: [("anthropic-version".to_owned(), "2023-06-01".to_owned())].into(),
                images: true,
                ..service("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
            },
        ),
        (
            "gemini",
            seeing(service("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY")),
        ),
        (
            "mistral",
            Profile {
                // It refuses a request with any parameter it does not know, and counts tokens unasked.
                leave_out: vec!["stream_options".to_owned()],
                ..limited_by("max_tokens", service("https://api.mistral.ai/v1", "MISTRAL_API_KEY"))
            },
        ),
        (
            "groq",
            limited_by("max_completion_tokens", service("https://api.groq.com/openai/v1", "GROQ_API_KEY")),
        ),
        (
            "deepseek",
            Profile {
                // It refuses calls that come back without the reasoning they came with.
                reasoning_back: true,
                ..service("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY")
            },
        ),
        ("xai", service("https://api.x.ai/v1", "XAI_API_KEY")),
        ("together", service("https://api.together.ai/v1", "TOGETHER_API_KEY")),
        ("fireworks", service("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY")),
        (
            "cerebras",
            limited_by("max_completion_tokens", service("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY")),
        ),
        (
            "moonshot",
            Profile {
                // Its thinking models lose their thread over several calls without it.
                reasoning_back: true,
                ..service("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY")
            },
        ),
        ("ollama", server(11434)),
        ("lmstudio", server(1234)),
        ("llamacpp", server(8080)),
        ("vllm", server(8000)),
        ("sglang", server(30000)),
        ("koboldcpp", server(5001)),
        ("litellm", keyed("LITELLM_API_KEY", server(4000))),
        ("jan", keyed("JAN_API_KEY", server(1337))),
    ]
    .map(|(name, profile)| (name.to_owned(), profile))
    .into()
}
