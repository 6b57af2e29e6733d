//! One sign-in: the address that the browser opens, and the check of what it brings back.

use super::AuthorizationServer;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};

/// A sign-in that was started. Its secrets are random and used once.
pub struct Authorization {
    /// Address to open in the browser.
    pub url: Url,
    /// Proves to the token endpoint that the same program started the sign-in.
    pub(super) verifier: String,
    state: String,
    issuer: String,
    pub(super) redirect_uri: String,
}

impl Authorization {
    /// Starts a sign-in that redirects to this address of this machine.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn start(
        server: &AuthorizationServer,
        client_id: &str,
        scopes: &[String],
        redirect_uri: &str,
    ) -> Result<Self, String> {
        let (verifier, state) = (random_text()?, random_text()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let mut url = server.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if !scopes.is_empty() {
            url.query_pairs_mut().append_pair("scope", &scopes.join(" "));
        }
        Ok(Self { url, verifier, state, issuer: server.issuer.clone(), redirect_uri: redirect_uri.to_owned() })
    }

    /// Limits the tokens to this service (RFC 8707).
    pub fn with_resource(mut self, resource: Option<&str>) -> Self {
        if let Some(resource) = resource {
            self.url.query_pairs_mut().append_pair("resource", resource);
        }
        self
    }

    /// Returns the code of a redirect. `None` if the redirect belongs to another sign-in and is to be ignored.
    ///
    /// # Errors
    /// The reason of the server, as part of a sentence, if it refused.
    pub(super) fn check_redirect(&self, url: &Url) -> Option<Result<String, String>> {
        let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if find("state")? != self.state {
            return None;
        }
        // A code of another server must not be sent to this one (RFC 9207).
        if find("iss").is_some_and(|issuer| issuer.trim_end_matches('/') != self.issuer) {
            return None;
        }
        match (find("code"), find("error")) {
            (_, Some(error)) => {
                let description = find("error_description").map(|text| format!(": {text}")).unwrap_or_default();
                Some(Err(super::shorten(&crate::text::clean::clean_line(&format!("{error}{description}")))))
            }
            (Some(code), None) if !code.is_empty() => Some(Ok(code)),
            (Some(_) | None, None) => None,
        }
    }
}

/// Returns 256 random bits as text.
fn random_text() -> Result<String, String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "The system has no random numbers.".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Authorization {
        let server = AuthorizationServer {
            issuer: "https://a.example".to_owned(),
            authorization_endpoint: Url::parse("https://a.example/authorize?tenant=x").unwrap(),
            token_endpoint: Url::parse("https://a.example/token").unwrap(),
            device_endpoint: None,
            registration_endpoint: None,
            has_pkce: true,
            takes_secret_in_header: false,
            requires_secret: false,
        };
        let scopes = ["read".to_owned(), "write:all".to_owned()];
        Authorization::start(&server, "id", &scopes, "http://127.0.0.1:9/callback").unwrap()
    }

    #[test]
    fn address_has_a_challenge_but_not_the_verifier() {
        let authorization = start();
        let url = authorization.url.as_str();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(authorization.verifier.as_bytes()));
        for part in
            ["?tenant=x&", &format!("code_challenge={challenge}"), "code_challenge_method=S256", "scope=read+write"]
        {
            assert!(url.contains(part), "{url}");
        }
        assert!(!url.contains(&authorization.verifier) && authorization.verifier.len() == 43);
        assert_ne!(authorization.state, start().state);
    }

    #[test]
    fn only_a_redirect_of_this_sign_in_counts() {
        let authorization = start();
        let state = &authorization.state;
        let check = |query: String| {
            authorization.check_redirect(&Url::parse(&format!("http://127.0.0.1:9/callback?{query}")).unwrap())
        };
        assert_eq!(check(format!("code=c&state={state}")), Some(Ok("c".to_owned())));
        assert_eq!(check(format!("code=c&state={state}&iss=https://a.example")), Some(Ok("c".to_owned())));
        let denied = check(format!("error=access_denied&error_description=no%1B%5B2J&state={state}"));
        assert_eq!(denied, Some(Err("access_denied: no<U+001B>[2J".to_owned())));
        for query in [
            "code=c".to_owned(),
            "code=c&state=".to_owned(),
            "code=c&state=other".to_owned(),
            "error=access_denied&state=other".to_owned(),
            format!("code=&state={state}"),
            format!("state={state}"),
            format!("code=c&state={state}&iss=https://evil.example"),
        ] {
            assert_eq!(check(query.clone()), None, "{query}");
        }
    }
}
