//! Resources and prompts of a server: listing and reading them.

use super::{Connection, clean_error, explain_service_error};
use crate::chat::server_offer::{OfferedPrompt, OfferedResource, ServerOffer};
use crate::mcp::result_text::{describe_prompt, describe_resource};
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use rmcp::model::{GetPromptRequestParams, PaginatedRequestParams, Prompt, ReadResourceRequestParams, Resource};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};

/// Maximum number of resources, and of prompts, of a server that are offered.
const MAX_OFFERED: usize = 500;
/// Maximum number of pages of a list.
const MAX_PAGES: usize = 20;
/// Maximum bytes of an address or name.
const MAX_NAME_BYTES: usize = 500;
/// Maximum characters of a title.
const MAX_TITLE_CHARS: usize = 120;
/// Maximum number of arguments of a prompt.
const MAX_ARGUMENTS: usize = 20;

impl Connection {
    /// Returns what the server offers to the user. What cannot be listed is left out.
    pub(in crate::mcp) async fn list_offer(&self) -> ServerOffer {
        let capabilities = self.peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default();
        let (mut offer, peer) = (ServerOffer::default(), &self.peer);
        if capabilities.resources.is_some() {
            offer.resources = list_pages(|parameters| async move {
                let page = peer.list_resources(Some(parameters)).await.ok()?;
                Some((page.resources.iter().filter_map(offered_resource).collect(), page.next_cursor))
            })
            .await;
        }
        if capabilities.prompts.is_some() {
            offer.prompts = list_pages(|parameters| async move {
                let page = peer.list_prompts(Some(parameters)).await.ok()?;
                Some((page.prompts.iter().filter_map(offered_prompt).collect(), page.next_cursor))
            })
            .await;
        }
        offer
    }

    /// Reads a resource as text.
    ///
    /// # Errors
    /// The reason, as part of a sentence.
    pub(in crate::mcp) async fn read_resource(&self, uri: &str) -> Result<String, String> {
        let read = self.peer.read_resource(ReadResourceRequestParams::new(uri)).await;
        let result = read.map_err(|error| self.explain_error(&error))?;
        Ok(describe_resource(&result))
    }

    /// Returns the messages of a prompt as one text.
    ///
    /// # Errors
    /// The reason, as part of a sentence.
    pub(in crate::mcp) async fn get_prompt(
        &self,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<String, String> {
        let arguments: Map<String, Value> =
            arguments.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
        let mut parameters = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            parameters = parameters.with_arguments(arguments);
        }
        let result = self.peer.get_prompt(parameters).await.map_err(|error| self.explain_error(&error))?;
        Ok(describe_prompt(&result))
    }

    fn explain_error(&self, error: &ServiceError) -> String {
        self.explain_missing_scopes(error).unwrap_or_else(|| clean_error(&explain_service_error(error)))
    }
}

/// Returns the items of all pages, at most [`MAX_OFFERED`]. A page that cannot be listed is the end of the list.
async fn list_pages<T, F>(list_page: impl Fn(PaginatedRequestParams) -> F) -> Vec<T>
where
    F: Future<Output = Option<(Vec<T>, Option<String>)>>,
{
    let (mut items, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let mut parameters = PaginatedRequestParams::default();
        parameters.cursor = cursor;
        let Some((page, next_cursor)) = list_page(parameters).await else { break };
        items.extend(page);
        cursor = next_cursor;
        if cursor.is_none() || items.len() >= MAX_OFFERED {
            break;
        }
    }
    items.truncate(MAX_OFFERED);
    items
}

/// Returns a resource that can be typed; `None` if its address has blanks or hidden characters, or is too long.
fn offered_resource(resource: &Resource) -> Option<OfferedResource> {
    let uri = resource.uri.clone();
    let title = resource.title.as_deref().unwrap_or(&resource.name);
    is_typable(&uri).then(|| OfferedResource { uri, title: clean_title(title) })
}

fn offered_prompt(prompt: &Prompt) -> Option<OfferedPrompt> {
    let title = prompt.description.as_deref().or(prompt.title.as_deref()).unwrap_or_default();
    let arguments = prompt.arguments.iter().flatten().filter(|argument| is_typable(&argument.name));
    let arguments =
        arguments.take(MAX_ARGUMENTS).map(|argument| (argument.name.clone(), argument.required == Some(true)));
    is_typable(&prompt.name).then(|| OfferedPrompt {
        name: prompt.name.clone(),
        title: clean_title(title),
        arguments: arguments.collect(),
    })
}

fn is_typable(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(char::is_whitespace) && mark_hidden(name) == name
}

fn clean_title(text: &str) -> String {
    truncate_end(&mark_hidden(&text.split_whitespace().collect::<Vec<_>>().join(" ")), MAX_TITLE_CHARS)
}
