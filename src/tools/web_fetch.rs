//! Tool that reads a page of the web.

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::result_files::LongResult;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, CallWords, FetchAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::web::client::{ALLOWED_BY_SETTING, Fetched, WebClient, WebResponse, describe_network};
use crate::web::page_text::{UNTRUSTED_MARK, read_page};
use crate::web::target::{Target, parse_target};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// Name of the tool.
const NAME: &str = "web_fetch";

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new(NAME, "Fetch"),
    make: |settings| settings.has_requests.then(|| Arc::new(WebFetch(settings.web.clone())) as Arc<dyn Tool>),
};
/// Bytes of text returned per call.
const MAX_BYTES: usize = 48 << 10;

/// Reads pages of the web.
pub struct WebFetch(pub Arc<WebClient>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    line: Option<PositiveInt>,
}

/// The request of a plan.
#[derive(Serialize, Deserialize)]
struct PageRequest {
    url: String,
    first_line: u64,
}

#[async_trait]
impl Tool for WebFetch {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            NAME,
            "Get a public web page or file as text. No login, no scripts.",
            json!({
                "url": { "type": "string", "description": "http or https" },
                "line": { "type": "integer", "minimum": 1, "description": "First line, default 1" },
            }),
            &["url"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { url, line } = parse_arguments(&self.tool_spec(), arguments)?;
        let target = parse_target(&url, self.0.private_hosts()).map_err(Error::Arguments)?;
        let request = PageRequest { url: target.url.to_string(), first_line: line.map_or(1, |line| line.0) };
        let mut preview = format!("GET {}", target.url);
        if let Some(network) = describe_network(&target, ALLOWED_BY_SETTING) {
            preview.push_str(&format!("\n{network}"));
        }
        let access = FetchAccess { url: request.url.clone(), host: target.host.clone(), runs_scripts: false };
        let mut plan = Plan::new(
            "Read from the web?",
            summary_line::first_line(&request.url, 120),
            Access::Fetch(Box::new(access)),
            Preview::Text(preview),
            Work::Arguments(json!(request)),
        );
        plan.grant = Some(Grant::new(NAME, GrantScope::Host(target.host)));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let PageRequest { url, first_line } = parse_plan_data(plan)?;
        let target = parse_target(&url, self.0.private_hosts()).map_err(Error::Failed)?;
        match self.0.get(&target).await.map_err(Error::Failed)? {
            Fetched::RedirectedTo(next) => Err(Error::Failed(describe_redirect(&target, &next))),
            Fetched::Response(response) => {
                let is_complete = !response.is_cut_off;
                let describe = move || describe_response(&response, first_line);
                let described = tokio::task::spawn_blocking(describe).await;
                let mut page = described.map_err(|error| Error::Internal(error.to_string()))?.map_err(Error::Failed)?;
                if let Some((text, shown_bytes)) = page.whole.take() {
                    let result = LongResult {
                        label: &target.host,
                        omitted: shown_bytes..text.len(),
                        text,
                        is_complete,
                        untrusted_source: Some(format!("a page of {}", target.host)),
                    };
                    if let Some(note) = context.results.store(result).await {
                        page.facts.push(note.sentence);
                        // Its lines are from the page.
                        page.text.push_str(&note.outline);
                    }
                }
                page.into_result().map_err(Error::Failed)
            }
        }
    }
}

fn describe_redirect(from: &Target, next: &Target) -> String {
    format!("{} redirects to another host, which needs a call of its own: {}", from.host, next.url)
}

/// A response as the model gets it.
struct DescribedPage {
    is_success: bool,
    url: String,
    facts: Vec<String>,
    text: String,
    /// The whole text, if a part of it follows `text`, and the number of its bytes up to there.
    whole: Option<(String, usize)>,
}

impl DescribedPage {
    /// Returns a line about the response, then its text.
    ///
    /// # Errors
    /// The same for a response that is an error.
    fn into_result(self) -> Result<String, String> {
        let described = format!("{}\n{}\n{UNTRUSTED_MARK}\n{}", self.url, self.facts.join(" · "), self.text);
        if self.is_success { Ok(described) } else { Err(described) }
    }
}

/// Describes a response, with its text from a line on.
///
/// # Errors
/// If the response is no text.
fn describe_response(response: &WebResponse, first_line: u64) -> Result<DescribedPage, String> {
    let WebResponse { target, status, headers: _, content_type, body, is_cut_off } = response;
    let page = match read_page(content_type, body) {
        Ok(page) => page,
        Err(error) if status.is_success() => return Err(error),
        Err(_) => return Err(format!("{} answered {status}.", target.host)),
    };
    let skipped = usize::try_from(first_line - 1).unwrap_or(usize::MAX);
    let total = page.text.lines().count();
    let mut text = String::new();
    let (mut last_line, mut is_line_cut) = (skipped, false);
    for line in page.text.lines().skip(skipped) {
        if !text.is_empty() && text.len() + line.len() > MAX_BYTES {
            break;
        }
        let part = &line[..line.floor_char_boundary(MAX_BYTES)];
        text.push_str(part);
        is_line_cut |= part.len() < line.len();
        text.push('\n');
        last_line += 1;
    }
    let lines = match total.saturating_sub(skipped) {
        0 => format!("no text from line {first_line} on, {total} lines"),
        _ => format!("lines {}-{last_line} of {total}", skipped + 1),
    };
    let mut facts = vec![status.to_string(), lines];
    facts.extend((!page.note.is_empty()).then(|| page.note.clone().into_owned()));
    facts.extend(is_cut_off.then(|| format!("truncated: only the first {} bytes were read", body.len())));
    facts.extend(is_line_cut.then(|| format!("truncated: the line is longer than {MAX_BYTES} bytes")));
    facts.extend((last_line < total).then(|| format!("truncated: continue with line {}", last_line + 1)));
    let whole = (last_line < total || is_line_cut).then(|| {
        let lines_before = page.text.split_inclusive('\n').take(last_line.saturating_sub(usize::from(is_line_cut)));
        let shown_bytes = lines_before.map(str::len).sum();
        (page.text, shown_bytes)
    });
    Ok(DescribedPage { is_success: status.is_success(), url: target.url.to_string(), facts, text, whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::target::PrivateHosts;

    fn describe(body: &str, first_line: u64) -> Result<String, String> {
        let target = parse_target("https://a.example/x", &PrivateHosts::default()).unwrap();
        let (status, content_type, is_cut_off) = ("200".parse().unwrap(), "text/plain".to_owned(), false);
        let (body, headers) = (body.as_bytes().to_vec(), reqwest::header::HeaderMap::new());
        let response = WebResponse { target, status, headers, content_type, body, is_cut_off };
        describe_response(&response, first_line)?.into_result()
    }

    #[test]
    fn windows_of_lines_join_to_the_whole_text() {
        let body: String = (0..20_000).map(|number| format!("line {number} é\n")).collect();
        let (mut joined, mut next, mut windows) = (String::new(), 1, 0);
        loop {
            let described = describe(&body, next).unwrap();
            let (facts, text) = described.split_once(&format!("\n{UNTRUSTED_MARK}\n")).unwrap();
            joined.push_str(text);
            windows += 1;
            let Some((_, rest)) = facts.split_once("continue with line ") else { break };
            next = rest.trim().parse().unwrap();
        }
        assert_eq!(joined, body);
        assert!(windows > 3, "{windows}");
    }

    #[test]
    fn says_what_is_missing() {
        let long = describe(&"é".repeat(MAX_BYTES), 1).unwrap();
        assert!(long.contains("truncated: the line is longer than 49152 bytes"), "{long:.200}");
        let beyond = describe("a\nb\n", 9).unwrap();
        assert!(
            beyond.contains("no text from line 9 on, 2 lines") && beyond.ends_with(&format!("{UNTRUSTED_MARK}\n")),
            "{beyond}"
        );
        let none = describe("", 1).unwrap();
        assert!(none.contains("200 OK · no text from line 1 on, 0 lines"), "{none}");
    }
}
