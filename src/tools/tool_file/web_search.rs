//! Tool files that come with the program: one for each search service.

/// A search service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchService {
    /// Name in the settings, and that of its credential.
    pub name: &'static str,
    /// Its usual address; `None` if every user has an own one.
    base_url: Option<&'static str>,
    /// The tool file, with `BASE` for the address.
    file: &'static str,
    /// How to add its credential; empty if it has none.
    advice: &'static str,
}

/// All services.
pub const SEARCH_SERVICES: [SearchService; 4] = [
    SearchService {
        name: "brave",
        base_url: Some("https://api.search.brave.com"),
        file: include_str!("web_search/brave.toml"),
        advice: "aye credentials add brave --kind api-key --header X-Subscription-Token --origin ORIGIN",
    },
    SearchService {
        name: "tavily",
        base_url: Some("https://api.tavily.com"),
        file: include_str!("web_search/tavily.toml"),
        advice: "aye credentials add tavily --origin ORIGIN",
    },
    SearchService {
        name: "exa",
        base_url: Some("https://api.exa.ai"),
        file: include_str!("web_search/exa.toml"),
        advice: "aye credentials add exa --kind api-key --header x-api-key --origin ORIGIN",
    },
    SearchService { name: "searxng", base_url: None, file: include_str!("web_search/searxng.toml"), advice: "" },
];

impl SearchService {
    /// Returns the service of this name.
    pub fn find(name: &str) -> Option<Self> {
        SEARCH_SERVICES.into_iter().find(|service| service.name == name)
    }

    /// Returns the text of the tool file. `own_url` replaces the usual address.
    ///
    /// # Errors
    /// What to do, if there is no address.
    pub fn tool_file(&self, own_url: Option<&str>) -> Result<String, String> {
        let base = own_url.or(self.base_url).ok_or("set web.search_url to the address of your server")?;
        let base = base.trim_end_matches('/');
        // The address is inside quotes.
        let is_plain = !base.contains(|c: char| c == '"' || c == '\\' || c == '{' || c.is_control());
        let text = self.file.replacen("BASE", base, 1);
        match (is_plain, own_url) {
            (false, _) => {
                Err("web.search_url contains a quote, a backslash, a brace or a control character".to_owned())
            }
            // A server that the settings name may be in a private network.
            (true, Some(_)) => Ok(text.replacen("timeout_ms", "allow_private = true\ntimeout_ms", 1)),
            (true, None) => Ok(text),
        }
    }

    /// Returns how to add the credential for this origin; `None` if the service has none.
    pub fn credential_advice(&self, origin: &str) -> Option<String> {
        (!self.advice.is_empty()).then(|| self.advice.replace("ORIGIN", origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tool_file::{ToolKind, parse_tool};

    #[test]
    fn every_file_defines_a_search_with_its_results() {
        for service in SEARCH_SERVICES {
            for own_url in [None, Some("http://127.0.0.1:8080/sub/")] {
                let Ok(text) = service.tool_file(own_url) else {
                    assert!(service.name == "searxng" && own_url.is_none());
                    continue;
                };
                let parsed = parse_tool(service.name, &text);
                let definition = parsed.definition.unwrap_or_else(|| panic!("{:?} {text}", parsed.problems));
                assert_eq!((definition.head.function_name.as_str(), parsed.problems.len()), ("web_search", 0));
                let ToolKind::Http(http) = definition.kind else { panic!("a request") };
                assert!(http.results.is_some() && http.allow_private == own_url.is_some());
                let starts = own_url.map_or(service.base_url.unwrap_or_default(), |_| "http://127.0.0.1:8080/sub/");
                assert!(http.url.as_str().starts_with(starts), "{}", http.url.as_str());
                let credential = (service.name != "searxng").then_some(service.name);
                assert_eq!(
                    (http.credential.as_deref(), service.credential_advice("x").is_some()),
                    (credential, credential.is_some())
                );
            }
        }
        let quoted = SearchService::find("brave").unwrap().tool_file(Some("http://a/\"\nmethod = \"POST"));
        assert!(quoted.is_err());
    }
}
