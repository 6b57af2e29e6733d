//! The model list of a provider, in any known format.

use serde_json::Value;

/// Maximum length of a model name in bytes.
const MAX_NAME_BYTES: usize = 300;
/// Substrings in the names of models that are not for chat.
#[rustfmt::skip]
const NON_CHAT_NAMES: [&str; 19] = [
    "embed", "whisper", "tts", "dall-e", "image", "imagen", "veo-", "sora", "moderation", "rerank", "transcribe",
    "realtime", "babbage", "davinci", "guard", "ocr", "speech", "diffusion", "bge-",
];

/// A model in the list of its provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub id: String,
    /// Context window in tokens, if listed.
    pub context_window: Option<u64>,
    /// Price, if listed.
    pub price: Option<Price>,
    /// True if the model is for chat, as far as the list or its name indicates.
    pub is_chat: bool,
}

impl Model {
    /// Creates a model of which only the name is known.
    pub fn from_name(id: &str) -> Self {
        Self { id: id.to_owned(), context_window: None, price: None, is_chat: true }
    }
}

/// Price in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens in the provider's cache.
    pub cached: f64,
    /// Output tokens.
    pub output: f64,
}

/// Parses a model list. Returns `None` if the body contains no list.
pub fn parse_models(body: &Value) -> Option<Vec<Model>> {
    let list = ["data", "models"].iter().find_map(|key| body.get(*key)?.as_array()).or_else(|| body.as_array())?;
    Some(list.iter().filter_map(parse_model).collect())
}

/// Returns the name of the model that an object in a model list describes.
pub fn model_name(entry: &Value) -> Option<&str> {
    ["id", "name", "model"].iter().find_map(|key| entry.get(*key)?.as_str())
}

fn parse_model(entry: &Value) -> Option<Model> {
    let id = model_name(entry)
        .or_else(|| entry.as_str())
        .filter(|id| !id.trim().is_empty() && id.len() <= MAX_NAME_BYTES && !id.chars().any(char::is_control))?;
    let window_keys = ["context_length", "max_model_len", "context_window", "max_context_length"];
    let window = window_keys.iter().find_map(|key| entry.get(*key)?.as_u64());
    let meta_window =
        || entry.get("meta").and_then(|meta| meta.get("n_ctx").or_else(|| meta.get("n_ctx_train"))?.as_u64());
    Some(Model {
        id: id.to_owned(),
        context_window: window.or_else(meta_window).filter(|tokens| *tokens > 0),
        price: entry.get("pricing").and_then(parse_price),
        is_chat: is_chat_model(entry, id),
    })
}

/// Parses a price. Strings are prices per token, as routers send them; numbers are prices per million tokens.
fn parse_price(pricing: &Value) -> Option<Price> {
    let dollars_per_million = |names: &[&str]| {
        let price = names.iter().find_map(|name| pricing.get(*name))?;
        let dollars = match price {
            Value::String(text) => text.trim().parse::<f64>().ok()? * 1e6,
            number => number.as_f64()?,
        };
        (dollars.is_finite() && (0.0..1e6).contains(&dollars)).then_some(dollars)
    };
    let input = dollars_per_million(&["prompt", "input"])?;
    let output = dollars_per_million(&["completion", "output"])?;
    let cached = dollars_per_million(&["input_cache_read", "cached_input", "cached"]).unwrap_or(input);
    Some(Price { input, cached, output })
}

fn is_chat_model(entry: &Value, id: &str) -> bool {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
    let non_chat_kinds = ["image", "embedding", "embeddings", "moderation", "rerank", "audio", "video", "transcribe"];
    let completes_chat =
        entry.get("capabilities").and_then(|capabilities| capabilities.get("completion_chat")).and_then(Value::as_bool);
    let output_kinds = entry.get("architecture").and_then(|architecture| architecture.get("output_modalities"));
    let writes_text = output_kinds.and_then(Value::as_array).map(|kinds| kinds.iter().any(|kind| kind == "text"));
    let name = id.to_ascii_lowercase();
    !non_chat_kinds.contains(&kind)
        && completes_chat != Some(false)
        && writes_text != Some(false)
        && (completes_chat == Some(true) || !NON_CHAT_NAMES.iter().any(|part| name.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn model_lists_of_every_format_are_parsed() {
        let check = |body: Value, expected: Option<&[(&str, Option<u64>)]>| {
            let models = expected.map(|list| {
                let model = |(id, window): &(&str, _)| Model { context_window: *window, ..Model::from_name(id) };
                list.iter().map(model).collect()
            });
            assert_eq!(parse_models(&body), models, "{body}");
        };
        check(json!({"data": [{"id": "a"}, {"id": "b", "context_length": 9}]}), Some(&[("a", None), ("b", Some(9))]));
        check(json!({"data": [{"id": "a", "meta": {"n_ctx_train": 7}}]}), Some(&[("a", Some(7))]));
        check(json!({"models": [{"name": "a"}, {}, 3]}), Some(&[("a", None)]));
        check(json!([{"id": "a", "max_model_len": 5}, "b"]), Some(&[("a", Some(5)), ("b", None)]));
        check(json!({"data": []}), Some(&[]));
        check(json!({"error": "no"}), None);
    }

    #[test]
    fn prices_are_converted_to_dollars_per_million_tokens() {
        let parse_entry_price = |pricing: Value| parse_model(&json!({"id": "a", "pricing": pricing})).unwrap().price;
        let price = |input, cached, output| Some(Price { input, cached, output });
        assert_eq!(
            parse_entry_price(json!({"prompt": "0.00000025", "completion": "0.000002"})),
            price(0.25, 0.25, 2.0)
        );
        assert_eq!(
            parse_entry_price(json!({"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"})),
            // The product is not exactly 0.3.
            price(3.0, 0.0000003 * 1e6, 15.0)
        );
        assert_eq!(parse_entry_price(json!({"input": 0.2, "output": 0.6})), price(0.2, 0.2, 0.6));
        assert_eq!(parse_entry_price(json!({"prompt": "0", "completion": "0"})), price(0.0, 0.0, 0.0));
        for pricing in [
            json!({"prompt": "-1", "completion": "-1"}),
            json!({"prompt": "free", "completion": "1"}),
            json!({"prompt": "NaN", "completion": "inf"}),
            json!({"input": 0.2}),
            json!([]),
            json!(null),
        ] {
            assert_eq!(parse_entry_price(pricing.clone()), None, "{pricing}");
        }
    }

    #[test]
    fn models_that_are_not_for_chat_are_detected() {
        for (entry, is_chat) in [
            (json!({"id": "gpt-5-mini"}), true),
            (json!({"id": "text-embedding-3-large"}), false),
            (json!({"id": "whisper-large-v3"}), false),
            (json!({"id": "a", "type": "chat"}), true),
            (json!({"id": "a", "type": "image"}), false),
            (json!({"id": "claude", "type": "model"}), true),
            (json!({"id": "a", "capabilities": {"completion_chat": false}}), false),
            (json!({"id": "mistral-ocr", "capabilities": {"completion_chat": true}}), true),
            (json!({"id": "a", "architecture": {"output_modalities": ["image"]}}), false),
            (json!({"id": "a", "architecture": {"output_modalities": ["image", "text"]}}), true),
        ] {
            assert_eq!(parse_model(&entry).unwrap().is_chat, is_chat, "{entry}");
        }
    }

    #[test]
    fn entries_with_invalid_names_are_ignored() {
        for id in [json!(""), json!(" "), json!("a\u{1b}[31mb"), json!("a\nb"), json!("x".repeat(301)), json!(7)] {
            assert_eq!(parse_model(&json!({"id": id})), None, "{id}");
        }
    }
}
