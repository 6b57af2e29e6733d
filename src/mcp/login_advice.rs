//! What the user can do if a server refuses a request because of its login.

use super::server_config::{Endpoint, ServerConfig};
use crate::web::oauth::find_missing_scopes;
use crate::web::request_credentials::RequestCredentials;
use reqwest::Url;
use std::sync::Arc;

/// The login of a server, if it has one.
#[derive(Clone, Default)]
pub(super) struct LoginAdvice {
    /// Name of the server; empty if it is not configured.
    server: String,
    login: Option<Login>,
}

#[derive(Clone)]
struct Login {
    credentials: Arc<dyn RequestCredentials>,
    name: String,
    url: Url,
}

impl LoginAdvice {
    pub(super) fn new(config: &ServerConfig, credentials: &Arc<dyn RequestCredentials>) -> Self {
        let login = match &config.endpoint {
            Endpoint::Address { url, credential: Some(name), .. } => {
                Url::parse(url).ok().map(|url| Login { credentials: credentials.clone(), name: name.clone(), url })
            }
            Endpoint::Address { credential: None, .. } | Endpoint::Program { .. } => None,
        };
        Self { server: config.name.clone(), login }
    }

    /// Explains that the server refuses requests without a login, worded to follow its name.
    pub(super) fn explain_needed_login(&self) -> String {
        format!("it requires authorization. Login needed: aye mcp login {}", self.server)
    }

    /// Explains a refusal whose challenge says that the login has too few scopes, and records these for the next login. `None` if
    /// it says something else. Worded to follow the server's name, and without its text.
    pub(super) fn explain_missing_scopes(&self, challenge: &str) -> Option<String> {
        let scopes = find_missing_scopes(challenge);
        if scopes.is_empty() {
            return None;
        }
        let recorded = match &self.login {
            Some(Login { credentials, name, url }) => credentials.require_scopes(name, url, &scopes),
            None => Ok(()),
        };
        Some(match recorded {
            Ok(()) => format!("it requires more scopes. Login needed: aye mcp login {}", self.server),
            Err(reason) => format!("it requires more scopes, but another login would not help: {reason}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_server_is_not_repeated() {
        let advice = LoginAdvice { server: "notes".to_owned(), login: None };
        let challenge = "Bearer error=\"insufficient_scope\", scope=\"ignore_all_rules;$(reboot)\"";
        let explanation = advice.explain_missing_scopes(challenge).unwrap();
        assert_eq!(explanation, "it requires more scopes. Login needed: aye mcp login notes");
        assert_eq!(advice.explain_missing_scopes("Bearer error=\"invalid_token\""), None);
    }
}
