//! Advice for addresses that reach a server but not its models.

use super::transport::Transport;
use super::{Error, models};
use reqwest::Url;
use std::time::Duration;

/// Time limit for the probe: a request to the address with `/v1` added.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum bytes of the probe's response that are read.
const MAX_PROBE_BYTES: usize = 1 << 20;

impl Transport {
    /// Returns advice for a base address at which there are no models. If `/v1` may be missing from the address, tries
    /// the address with it; that is the same origin, so headers and query may be sent.
    pub async fn advise_address(&self) -> String {
        if has_version(&self.base) {
            return "Check the address of the provider.".to_owned();
        }
        let mut versioned_url = self.base.clone();
        versioned_url.set_path(&format!("{}/v1", self.base.path().trim_end_matches('/')));
        let list = self.get_json(&format!("{versioned_url}/models"), MAX_PROBE_BYTES, PROBE_TIMEOUT).await;
        match list.is_some_and(|list| models::parse_models(&list).is_some()) {
            true => format!("{versioned_url} answers. Use it as the address."),
            false => format!("Is the `/v1` missing from the address? Try {versioned_url}."),
        }
    }

    /// Adds advice to an error if it may mean that the `/v1` is missing from the address. Returns other errors
    /// unchanged.
    pub async fn add_advice(&self, error: Error) -> Error {
        match error {
            Error::Provider { status: status @ (200..=299 | 404 | 405), code, message, retry_after }
                if !has_version(&self.base) =>
            {
                let advice = self.advise_address().await;
                let message =
                    if message.is_empty() { advice } else { format!("{}. {advice}", message.trim_end_matches('.')) };
                Error::Provider { status, code, message, retry_after }
            }
            other => other,
        }
    }
}

/// Returns whether a path segment of the address is a version, such as `v1` or `v1beta`.
fn has_version(base: &Url) -> bool {
    let is_version = |segment: &str| {
        let mut characters = segment.chars();
        characters.next() == Some('v') && characters.next().is_some_and(|next| next.is_ascii_digit())
    };
    base.path_segments().is_some_and(|mut segments| segments.any(is_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_only_in_the_path() {
        for (base, expected) in [
            ("http://h", false),
            ("http://h/", false),
            ("http://v1.example", false),
            ("http://h/api", false),
            ("http://h/vendor", false),
            ("http://h/v1", true),
            ("http://h/v1/", true),
            ("http://h/openai/v1", true),
            ("http://h/v1beta/openai", true),
        ] {
            assert_eq!(has_version(&Url::parse(base).unwrap()), expected, "{base}");
        }
    }
}
