//! The web search that the settings choose, among the tool files that come with the program.

use super::found_tool::{FoundTool, ToolState};
use super::request_credentials::CredentialStore;
use crate::config::WebSearch;
use crate::tools::tool_file::web_search::{SEARCH_SERVICES, SearchService};
use crate::tools::tool_file::{FileProblem, ParsedTool, ToolKind, parse_tool};

/// Name of the tool for the model.
pub(super) const WEB_SEARCH: &str = "web_search";
/// Address with which the file of a service is shown that is not chosen and has no address.
const SAMPLE_URL: &str = "http://localhost:8080";

/// The search service of the settings.
pub(super) struct SearchChoice {
    pub(super) service: WebSearch,
    /// Own address of the service.
    pub(super) url: Option<String>,
}

impl SearchChoice {
    /// Returns whether a service is chosen.
    pub(super) fn is_chosen(&self) -> bool {
        self.service != WebSearch::Off
    }

    /// Returns the chosen search, if any, with its state. `disabled` are the names of tools that are turned off.
    pub(super) fn find_search(&self, disabled: &[String], credentials: &CredentialStore) -> Option<FoundTool> {
        let service = SearchService::find(self.service.name())?;
        let file = format!("aye/{}", service.name);
        let failed = |message: String| FileProblem { file: file.clone(), line: 1, message, is_warning: false };
        let mut parsed = match service.tool_file(self.url.as_deref()) {
            Ok(text) => parse_search(&file, &text),
            Err(reason) => {
                let problems = vec![failed(reason)];
                ParsedTool { function_name: WEB_SEARCH.to_owned(), definition: None, problems }
            }
        };
        let mut state = match &parsed.definition {
            None => ToolState::Invalid,
            Some(_) if disabled.iter().any(|name| name == WEB_SEARCH) => ToolState::Disabled,
            Some(_) => ToolState::Active,
        };
        if state == ToolState::Active
            && let Some(ToolKind::Http(http)) = parsed.definition.as_ref().map(|definition| &definition.kind)
        {
            let url = http.url.sample();
            if let Some(reason) = http.credential.as_ref().and_then(|name| credentials.find_missing(name, url)) {
                let advice = service.credential_advice(&url.origin().ascii_serialization()).unwrap_or_default();
                parsed.problems.push(failed(format!("{reason} Run: {advice}")));
                state = ToolState::NotConnected;
            }
        }
        Some(FoundTool { file, parsed, state })
    }

    /// Returns the searches that are not chosen, as they would be.
    pub(super) fn find_other_searches(&self) -> Vec<FoundTool> {
        let others = SEARCH_SERVICES.into_iter().filter(|service| service.name != self.service.name());
        let to_found = |service: SearchService| {
            let text = service.tool_file(None).or_else(|_| service.tool_file(Some(SAMPLE_URL))).ok()?;
            let file = format!("aye/{}", service.name);
            Some(FoundTool { parsed: parse_search(&file, &text), file, state: ToolState::Disabled })
        };
        others.filter_map(to_found).collect()
    }
}

/// Parses the file of a service. `file` is its name as displayed.
fn parse_search(file: &str, text: &str) -> ParsedTool {
    let mut parsed = parse_tool(file, text);
    if let Some(ToolKind::Http(http)) = parsed.definition.as_mut().map(|definition| &mut definition.kind) {
        // A search with POST changes nothing either.
        http.is_external = false;
    }
    parsed
}
