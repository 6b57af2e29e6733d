//! Detects errors of a request that exceeds the model's context window.

use super::Error;

/// Error codes of this error. They are searched for in the code and in the message of a provider.
#[rustfmt::skip]
const CODES: &[&str] = &[
    "context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded",
    "context_window_exceeded", "request_too_large", "string_too_long", "string_above_max_length",
];

/// Phrases of providers. An entry matches if the text contains all of its parts.
#[rustfmt::skip]
const PHRASES: &[&[&str]] = &[
    // OpenAI, OpenRouter, DeepSeek, vLLM, SGLang, Mistral, Fireworks
    &["maximum context length"], &["context length is only"], &["longer than the model's context length"],
    // Newer texts of OpenAI, Azure, Kimi and MiniMax
    &["exceeds the context window"], &["exceed the context window"], &["exceeds the model's context"],
    &["exceeded model token limit"], &["context window exceeds limit"], &["context window", "exceeded"],
    &["context length exceeded"], &["exceed context limit"],
    // Anthropic, also through Bedrock and Vertex
    &["prompt is too long"], &["input is too long"], &["too many input tokens"], &["request exceeds the maximum size"],
    // Gemini
    &["input token count", "exceeds the maximum"], &["exceeds the maximum number of tokens"],
    // Groq, Cerebras
    &["reduce the length of the messages"], &["reduce the length of your prompt"],
    // xAI, Copilot, Perplexity, Qwen
    &["maximum prompt length"], &["prompt token count", "exceeds the limit"], &["length of all messages is too long"],
    &["range of input length should be"],
    // llama.cpp, LM Studio, Ollama, text-generation-inference
    &["exceeds the available context size"], &["larger than the context size"], &["greater than the context length"],
    &["when context the overflows"], &["n_keep", "n_ctx"], &["exceeds the context length"],
    &["exceeded max context length"], &["prompt too long"], &["inputs", "max_new_tokens", "must be <="],
    &["expected a string with maximum length"],
];

/// Phrases of rate limits. Waiting helps against them and a shorter conversation does not.
#[rustfmt::skip]
const RATE_LIMIT_PHRASES: &[&str] = &[
    "per min", "per day", "per hour", "per second", "(tpm)", "(tpd)", "rate limit", "rate_limit", "ratelimit",
    "throttl", "please wait", "quota",
];

impl Error {
    /// Returns whether the request exceeds the model's context window, so that a shorter conversation may succeed.
    /// False for rate limits, and for a reply limit above the model's maximum.
    pub fn is_too_long(&self) -> bool {
        let error = self.last_error();
        if let Self::Provider { status, code, message, .. } = error {
            let text = format!("{} {message}", code.as_deref().unwrap_or_default());
            // Status 413 is sufficient, even from a gateway.
            !matches!(status, 401..=404 | 408 | 429 | 503 | 529)
                && (is_context_overflow(&text) || (*status == 413 && !is_rate_limit(&text)))
        } else {
            matches!(error, Self::InStream(message) if is_context_overflow(message))
        }
    }
}

fn is_context_overflow(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    !is_rate_limit(&text)
        && (CODES.iter().any(|code| text.contains(code))
            || PHRASES.iter().any(|parts| parts.iter().all(|part| text.contains(part))))
}

fn is_rate_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    RATE_LIMIT_PHRASES.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider_error(status: u16, code: &str, message: &str) -> Error {
        let code = (!code.is_empty()).then(|| code.to_owned());
        Error::Provider { status, code, message: message.to_owned(), retry_after: None }
    }

    #[test]
    fn context_window_errors_of_known_providers_are_detected() {
        for (status, code, message) in [
            (400, "context_length_exceeded", "This model's maximum context length is 128000 tokens."),
            (400, "context_length_exceeded", "Your input exceeds the context window of this model."),
            (400, "", "Input tokens exceed the configured limit: context length exceeded"),
            (400, "string_above_max_length", "Invalid 'input[2].content': string too long."),
            (400, "string_too_long", "too long"),
            (
                400,
                "BadRequestError",
                "This model's maximum context length is 4096 tokens. However, you requested 4100 tokens (4000 in the messages, 100 in the completion).",
            ),
            (
                400,
                "BadRequestError",
                "You passed 9000 input tokens and requested 10 output tokens. However, the model's context length is only 8192 tokens",
            ),
            (400, "", "Requested token count exceeds the model's maximum context length of 202752 tokens."),
            (400, "", "The input (516368 tokens) is longer than the model's context length (262144 tokens)."),
            (400, "exceed_context_size_error", "the request exceeds the available context size, try increasing it"),
            (500, "", "the request exceeds the available context size"),
            (400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
            (413, "request_too_large", "Request exceeds the maximum size"),
            (413, "", "Payload Too Large"),
            (413, "", ""),
            (400, "ValidationException", "Input is too long for requested model."),
            (
                400,
                "INVALID_ARGUMENT",
                "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            ),
            (400, "", "Please reduce the length of the messages or completion."),
            (
                400,
                "invalid_request_message_tokens",
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            ),
            (
                400,
                "",
                "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
            ),
            (400, "", "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"),
            (400, "", "The number of tokens to keep from the initial prompt is greater than the context length"),
            (500, "", "the input length exceeds the context length"),
            (400, "api_error", "prompt too long; exceeded max context length by 12 tokens"),
            (400, "", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
            (400, "", "prompt token count of 130000 exceeds the limit of 128000"),
            (400, "invalid_request_error", "Your request exceeded model token limit: 262144 (requested: 300000)"),
            (400, "", "invalid params, context window exceeds limit (2013)"),
            (400, "InvalidParameter", "Range of input length should be [1, 30720]"),
            (
                422,
                "validation",
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
            ),
            (
                400,
                "",
                "This endpoint’s maximum context length is 1048576 tokens. However, you requested about 1293741 tokens",
            ),
            (200, "", "Provider returned error: prompt is too long: 3 tokens > 2 maximum"),
        ] {
            assert!(provider_error(status, code, message).is_too_long(), "{status} {code} {message}");
        }
        assert!(
            Error::InStream("Your input exceeds the context window (context_length_exceeded)".into()).is_too_long()
        );
    }

    #[test]
    fn rate_quota_and_reply_limits_are_not_context_window_errors() {
        for (status, code, message) in [
            (429, "rate_limit_exceeded", "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 40000."),
            (
                413,
                "rate_limit_exceeded",
                "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
            ),
            (413, "tokens", "Request too large for gpt-4 on tokens per min (TPM): Limit 10000"),
            (429, "", "maximum context length"),
            (400, "ThrottlingException", "Too many input tokens, please wait before trying again."),
            (400, "", "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."),
            (400, "", "Invalid 'max_output_tokens': integer below minimum value."),
            (400, "", "too many tools: at most 128 are supported"),
            (400, "", "messages.1.content: text content blocks must be non-empty"),
            (400, "", "tool_call_id is too long: at most 40 letters"),
            (
                402,
                "",
                "This request requires more credits, or fewer max_tokens. Your prompt is too long for what is left.",
            ),
            (401, "", "invalid key"),
            (404, "", "model not found"),
            (400, "", ""),
            (500, "", "internal error"),
            (503, "", "the context window service is overloaded and exceeded"),
        ] {
            assert!(!provider_error(status, code, message).is_too_long(), "{status} {code} {message}");
        }
        for error in [
            Error::InStream("rate limit: maximum context length per minute".into()),
            Error::ConnectionLost("maximum context length".into()),
            Error::InvalidReply("maximum context length".into()),
        ] {
            assert!(!error.is_too_long(), "{error}");
        }
    }
}
