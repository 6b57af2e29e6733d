//! One sign-in: the address that the browser opens, and the check of what it brings back.

use super::AuthorizationServer;
use crate::text::clean::clean_line;
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
    server: AuthorizationServer,
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
        Ok(Self { url, verifier, state, server: server.clone(), redirect_uri: redirect_uri.to_owned() })
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
    /// One sentence, if the server refused, or if the redirect is not of this server (RFC 9207).
    pub(super) fn check_redirect(&self, url: &Url) -> Option<Result<String, String>> {
        let find = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if find("state")? != self.state {
            return None;
        }
        if let Err(error) = self.check_issuer(find("iss").as_deref()) {
            return Some(Err(error));
        }
        match (find("code"), find("error")) {
            (_, Some(error)) => {
                let description = find("error_description").map(|text| format!(": {text}")).unwrap_or_default();
                let reason = super::shorten(&clean_line(&format!("{error}{description}")));
                Some(Err(format!("The authorization server refused: {reason}.")))
            }
            (Some(code), None) if !code.is_empty() => Some(Ok(code)),
            (Some(_) | None, None) => None,
        }
    }

    /// Checks the server that a redirect names: a code of another server must not be sent to this one.
    fn check_issuer(&self, issuer: Option<&str>) -> Result<(), String> {
        let is_own = match (issuer, &self.server.own_issuer) {
            (None, _) => !self.server.names_issuer,
            (Some(issuer), Some(own)) => issuer == own,
            // The user named it, perhaps without the slash at its end.
            (Some(issuer), None) => issuer.trim_end_matches('/') == self.server.issuer,
        };
        match (is_own, issuer) {
            (true, _) => Ok(()),
            (false, Some(issuer)) => Err(format!(
                "The redirect names another authorization server, {}, and was not used. Nothing was saved.",
                super::shorten(&clean_line(issuer))
            )),
            (false, None) => Err(format!(
                "The redirect does not name its authorization server, which {} always does, and was not used. Nothing was saved.",
                clean_line(&self.server.issuer)
            )),
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

    fn server() -> AuthorizationServer {
        let url = |text: &str| Url::parse(text).unwrap();
        let (authorization, token) = (url("https://a.example/authorize?tenant=x"), url("https://a.example/token"));
        AuthorizationServer::new("https://a.example", authorization, token)
    }

    fn start() -> Authorization {
        start_at(&server())
    }

    fn start_at(server: &AuthorizationServer) -> Authorization {
        let scopes = ["read".to_owned(), "write:all".to_owned()];
        Authorization::start(server, "id", &scopes, "http://127.0.0.1:9/callback").unwrap()
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
        assert_eq!(denied, Some(Err("The authorization server refused: access_denied: no<U+001B>[2J.".to_owned())));
        for query in [
            "code=c".to_owned(),
            "code=c&state=".to_owned(),
            "code=c&state=other".to_owned(),
            "error=access_denied&state=other".to_owned(),
            format!("code=&state={state}"),
            format!("state={state}"),
        ] {
            assert_eq!(check(query.clone()), None, "{query}");
        }
    }

    #[test]
    fn a_redirect_of_another_server_or_of_none_is_an_error() {
        let own = Some("https://a.example/".to_owned());
        let (known, named) = (AuthorizationServer { own_issuer: own.clone(), ..server() }, "&iss=https://a.example/");
        let strict = AuthorizationServer { own_issuer: own, names_issuer: true, ..server() };
        for (server, issuer, is_own) in [
            (server(), "", true),
            (server(), "&iss=https://a.example", true),
            (server(), named, true),
            (server(), "&iss=https://evil.example", false),
            (known.clone(), "", true),
            (known.clone(), named, true),
            // An address is compared character by character.
            (known, "&iss=https://a.example", false),
            (strict.clone(), named, true),
            (strict.clone(), "", false),
            (strict, "&iss=", false),
        ] {
            let authorization = start_at(&server);
            for result in ["code=c", "error=access_denied"] {
                let url = format!("http://127.0.0.1:9/callback?{result}&state={}{issuer}", authorization.state);
                let checked = authorization.check_redirect(&Url::parse(&url).unwrap()).unwrap();
                let is_rejected = checked.is_err_and(|error| error.contains("was not used"));
                assert_eq!(is_rejected, !is_own, "{issuer} {result}");
            }
        }
    }
}
