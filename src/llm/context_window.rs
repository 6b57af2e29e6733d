//! Determines the context window of a model from the various formats of providers.

use super::models::model_name;
use super::transport::Transport;
use serde_json::Value;
use std::time::Duration;

/// Time limit for each request. The requests run in the background, so nothing waits for them.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 8 << 20;
/// Keys for the context window in effect, as set when the model was loaded.
const LOADED_WINDOW_KEYS: [&str; 5] =
    ["loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx"];
/// Keys for the maximum context window of the model.
const MAX_WINDOW_KEYS: [&str; 3] = ["max_context_length", "max_input_tokens", "inputTokenLimit"];

/// Requests the context window in tokens of this model, or of the provider's first one if `model` is empty. Returns
/// `None` if it is unknown or a request fails.
pub(super) async fn request_context_window(transport: &Transport, model: &str) -> Option<u64> {
    let root = transport.base.as_str().trim_end_matches('/');
    let get_json_at = async |address: String| transport.get_json(&address, MAX_RESPONSE_BYTES, REQUEST_TIMEOUT).await;
    let entry = find_model_entry(&get_json_at(format!("{root}/models")).await?, model)?;
    let listed_window = read_window(&entry);
    let name = model_name(&entry).unwrap_or(model).to_owned();
    // Local servers report the window in effect at other endpoints.
    let server_root = root.trim_end_matches("/v1");
    let loaded_models_path = match entry.get("owned_by").and_then(Value::as_str).unwrap_or_default() {
        "llamacpp" => {
            let props = get_json_at(format!("{server_root}/props")).await;
            let loaded_window =
                props.and_then(|props| parse_token_count(props.get("default_generation_settings")?.get("n_ctx")?));
            return loaded_window.or(listed_window);
        }
        // LM Studio
        "organization_owner" => "api/v0/models",
        // Ollama
        "library" => "api/ps",
        _ => return listed_window,
    };
    let loaded_models = get_json_at(format!("{server_root}/{loaded_models_path}")).await;
    loaded_models.and_then(|list| read_window(&find_model_entry(&list, &name)?)).or(listed_window)
}

/// Returns the entry of the model in a list, the first one if `model` is empty, or the only one whatever its name.
fn find_model_entry(list: &Value, model: &str) -> Option<Value> {
    let lists = ["data", "models"].iter().filter_map(|key| list.get(*key)?.as_array());
    let lists: Vec<&Vec<Value>> = lists.chain(list.as_array()).collect();
    let is_model = |entry: &&Value| model_name(entry).is_some_and(|name| model.is_empty() || name == model);
    let named_entry = lists.iter().find_map(|list| list.iter().find(is_model));
    // A server with one model uses it for every name.
    let single_entry = || lists.first().filter(|list| list.len() == 1).and_then(|list| list.first());
    named_entry.or_else(single_entry).cloned()
}

/// Reads the context window from an entry.
fn read_window(entry: &Value) -> Option<u64> {
    let read_first_count =
        |object: &Value, keys: &[&str]| keys.iter().find_map(|key| parse_token_count(object.get(*key)?));
    // The provider preferred by a router may have a smaller window than the model.
    let provider_window =
        entry.get("top_provider").and_then(|provider| read_first_count(provider, &LOADED_WINDOW_KEYS));
    let model_window = read_first_count(entry, &LOADED_WINDOW_KEYS);
    match (provider_window, model_window) {
        (Some(provider_window), Some(model_window)) => Some(provider_window.min(model_window)),
        (provider_window, model_window) => provider_window.or(model_window),
    }
    .or_else(|| read_first_count(entry.get("meta")?, &["n_ctx"]))
    .or_else(|| read_first_count(entry, &MAX_WINDOW_KEYS))
    .or_else(|| read_first_count(entry.get("meta")?, &["n_ctx_train"]))
}

/// Reads a plausible number of tokens.
fn parse_token_count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).filter(|tokens| (1..=1_000_000_000).contains(tokens))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_window_is_read_from_lists_of_known_providers() {
        let check = |entry: Value, tokens: Option<u64>| assert_eq!(read_window(&entry), tokens, "{entry}");
        check(json!({"id": "vllm", "max_model_len": 32768}), Some(32_768));
        check(json!({"id": "llamacpp", "meta": {"n_ctx_train": 131072, "n_ctx": 8192}}), Some(8_192));
        check(json!({"id": "older llamacpp", "meta": {"n_ctx_train": 131072}}), Some(131_072));
        check(
            json!({"id": "router", "context_length": 400000, "top_provider": {"context_length": 128000}}),
            Some(128_000),
        );
        check(
            json!({"id": "router", "context_length": 400000, "top_provider": {"context_length": null}}),
            Some(400_000),
        );
        check(json!({"id": "lmstudio", "max_context_length": 131072, "loaded_context_length": 4096}), Some(4_096));
        check(json!({"id": "unloaded", "max_context_length": 131072}), Some(131_072));
        check(json!({"id": "groq", "context_window": "131072"}), Some(131_072));
        for entry in [json!({"id": "x"}), json!({"context_length": 0}), json!({"context_length": -1}), json!([])] {
            check(entry, None);
        }
    }

    #[test]
    fn only_the_entry_of_the_model_is_used() {
        let list = json!({"object": "list", "data": [{"id": "a", "n_ctx": 1}, {"id": "b", "n_ctx": 2}]});
        let check = |list: &Value, model: &str, tokens: Option<u64>| {
            assert_eq!(find_model_entry(list, model).as_ref().and_then(read_window), tokens, "{model} in {list}");
        };
        check(&list, "b", Some(2));
        check(&list, "", Some(1));
        check(&list, "c", None);
        check(&json!({"data": [{"id": "/models/some.gguf", "n_ctx": 3}]}), "m", Some(3));
        check(&json!({"models": [{"name": "a"}], "data": [{"id": "a", "n_ctx": 4}]}), "a", Some(4));
        check(&json!([{"model": "a", "context_length": 5}, {"model": "b"}]), "a", Some(5));
        check(&json!({"error": "no"}), "a", None);
    }
}
