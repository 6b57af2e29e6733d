//! Sign-in on another device (RFC 8628), for machines without a browser.

use super::token_request::{OAuthTokens, RegisteredClient};
use super::{build_client, describe_oauth_error, send_request};
use crate::text::clean::clean_line;
use reqwest::Url;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use std::time::Duration;

/// Shortest time between two requests for the tokens, whatever the server says.
const MIN_INTERVAL: Duration = Duration::from_millis(300);
/// Longest time between two requests for the tokens.
const MAX_INTERVAL: Duration = Duration::from_secs(60);
/// Longest time that a sign-in may take.
const MAX_LIFETIME: Duration = Duration::from_secs(1800);

/// A sign-in that the user completes on another device.
pub struct DeviceAuthorization {
    /// Address for the user, cleaned for display.
    pub verification_uri: String,
    /// Code that the user enters there, cleaned for display.
    pub user_code: String,
    device_code: String,
    interval: Duration,
    lifetime: Duration,
}

impl DeviceAuthorization {
    /// Starts a sign-in.
    ///
    /// # Errors
    /// One sentence.
    pub async fn start(endpoint: &Url, client_id: &str, scopes: &[String]) -> Result<Self, String> {
        let mut form = endpoint.clone();
        form.set_query(None);
        form.query_pairs_mut().append_pair("client_id", client_id);
        if !scopes.is_empty() {
            form.query_pairs_mut().append_pair("scope", &scopes.join(" "));
        }
        let body = form.query().unwrap_or_default().to_owned();
        let request = build_client()?.post(endpoint.clone());
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
        let (status, response) = send_request(request, "the device endpoint").await?;
        if !status.is_success() || response.get("error").is_some() {
            return Err(format!("The sign-in failed: {}.", describe_oauth_error(status, &response)));
        }
        parse_device_authorization(&response)
            .ok_or_else(|| "The device endpoint sent an incomplete response.".to_owned())
    }

    /// Waits until the user has signed in. `now` returns the seconds since 1970.
    ///
    /// # Errors
    /// One sentence, if the user or the server refused or the time is over.
    pub async fn wait_for_tokens(
        &self,
        client: &RegisteredClient<'_>,
        now: impl Fn() -> u64,
    ) -> Result<OAuthTokens, String> {
        let mut interval = self.interval;
        let poll = async {
            loop {
                tokio::time::sleep(interval).await;
                let fields = [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                    ("device_code", self.device_code.as_str()),
                ];
                match client.request_tokens(&fields).await {
                    Ok(issued) => {
                        return super::token_request::parse_tokens(&issued, None, client.client_secret, now());
                    }
                    Err(refusal) => match refusal.code.as_deref() {
                        Some("authorization_pending") => {}
                        // The server sets the pace.
                        Some("slow_down") => interval = (interval + Duration::from_secs(5)).min(MAX_INTERVAL),
                        _ => return Err(format!("The sign-in failed: {}.", refusal.reason)),
                    },
                }
            }
        };
        let expired = || Err("The code has expired; nothing was saved.".to_owned());
        tokio::time::timeout(self.lifetime, poll).await.unwrap_or_else(|_| expired())
    }
}

fn parse_device_authorization(response: &Value) -> Option<DeviceAuthorization> {
    let text = |name: &str| response.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let seconds = |name: &str| response.get(name).and_then(Value::as_u64).map(Duration::from_secs);
    Some(DeviceAuthorization {
        verification_uri: clean_line(text("verification_uri").or(text("verification_url"))?).into_owned(),
        user_code: clean_line(text("user_code")?).into_owned(),
        device_code: text("device_code")?.to_owned(),
        interval: seconds("interval").unwrap_or(Duration::from_secs(5)).clamp(MIN_INTERVAL, MAX_INTERVAL),
        lifetime: seconds("expires_in").unwrap_or(MAX_LIFETIME).min(MAX_LIFETIME),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_server_sends_is_limited_and_cleaned() {
        let response = json!({
            "device_code": "d", "user_code": "AB\u{1b}[2J-CD", "verification_uri": "https://a.example/\u{202e}x",
            "expires_in": u64::MAX, "interval": u64::MAX,
        });
        let device = parse_device_authorization(&response).unwrap();
        assert_eq!((device.user_code.as_str(), device.lifetime), ("AB<U+001B>[2J-CD", MAX_LIFETIME));
        assert!(device.interval == MAX_INTERVAL && !device.verification_uri.contains('\u{202e}'));
        for field in ["device_code", "user_code", "verification_uri"] {
            let mut incomplete = response.clone();
            incomplete[field] = json!("");
            assert!(parse_device_authorization(&incomplete).is_none(), "{field}");
        }
    }
}
