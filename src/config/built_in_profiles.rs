//! Built-in profiles of common providers and local servers.
//!
//! Addresses and special cases follow each provider's documentation. A model is named only if its name is expected to
//! stay valid; otherwise the provider's own list decides. All profiles use chat completions, OpenAI's too, because that
//! API works for all of its models and through every gateway; `api = "responses"` switches to the other one.

use super::Profile;
use std::collections::BTreeMap;

/// Profile used if only an OpenAI variable or a flag is set.
pub const OPENAI: &str = "openai";

/// Order in which profiles are tried if none is chosen. The first that has a key is used.
pub const PREFERRED_PROFILES: [&str; 13] = [
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

/// Placeholder in an address that the user has to replace.
pub const PLACEHOLDER: &str = "RESOURCE";

/// Idle limit in seconds for local servers, which may load a model from disk for minutes.
const LOCAL_IDLE_SECONDS: u64 = 300;

/// Returns whether this is the profile of a local server, running or not.
pub fn is_local_server(name: &str) -> bool {
    built_in_profiles().get(name).is_some_and(|profile| profile.base_url.starts_with("http:"))
}

/// Returns all built-in profiles by name.
pub(super) fn built_in_profiles() -> BTreeMap<String, Profile> {
    let service = |url: &str, key: &str| Profile {
        base_url: url.to_owned(),
        key_env: Some(key.to_owned()),
        ..Profile::default()
    };
    let server = |port: u16| Profile {
        base_url: format!("http://127.0.0.1:{port}/v1"),
        idle_seconds: LOCAL_IDLE_SECONDS,
        ..Profile::default()
    };
    let named = |model: &str, profile: Profile| Profile { model: Some(model.to_owned()), ..profile };
    let limited_by = |name: &str, profile: Profile| Profile { max_tokens_parameter: Some(name.to_owned()), ..profile };
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
                // Its model list requires this header.
                headers: [("anthropic-version".to_owned(), "2023-06-01".to_owned())].into(),
                images: true,
                ..service("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
            },
        ),
        ("gemini", seeing(service("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"))),
        (
            "mistral",
            Profile {
                // It rejects unknown parameters and reports token usage without being asked.
                omit_parameters: vec!["stream_options".to_owned()],
                ..limited_by("max_tokens", service("https://api.mistral.ai/v1", "MISTRAL_API_KEY"))
            },
        ),
        ("groq", limited_by("max_completion_tokens", service("https://api.groq.com/openai/v1", "GROQ_API_KEY"))),
        (
            "deepseek",
            Profile {
                // It rejects calls without the reasoning that led to them.
                send_reasoning: true,
                ..service("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY")
            },
        ),
        ("xai", service("https://api.x.ai/v1", "XAI_API_KEY")),
        ("together", service("https://api.together.ai/v1", "TOGETHER_API_KEY")),
        ("fireworks", service("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY")),
        ("cerebras", limited_by("max_completion_tokens", service("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"))),
        (
            "moonshot",
            Profile {
                // Its reasoning models lose track over several calls without it.
                send_reasoning: true,
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
