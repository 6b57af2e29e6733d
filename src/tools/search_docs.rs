//! Tool that finds documents by their words.

use super::arguments::{object_spec, parse_arguments};
use super::doc_sources::{DocLibrary, DocWalk};
use super::planned_path::{self, PlannedPath};
use super::progress::WorkClock;
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read, run_blocking,
    summary_line,
};
use crate::chat::{CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::doc_index::{Hit, MAX_SNIPPET_CHARS};
use crate::policy::ExcludedPaths;
use crate::project::{Reader, Writer};
use crate::text::search_words::{MAX_TERMS, SearchWords};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) const NAME: &str = "search_docs";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Search docs");
/// Maximum characters of a title and of a heading in a result.
const MAX_TITLE_CHARS: usize = 100;

/// Searches these documents.
pub struct SearchDocs(pub(super) Arc<DocLibrary>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
}

#[derive(Serialize, Deserialize)]
struct SearchRequest {
    query: String,
    place: PlannedPath,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Search docs of the project, aye and the user.",
        json!({ "query": { "type": "string", "description": "Words" } }),
        &["query"],
    )
}

#[async_trait]
impl Tool for SearchDocs {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { query } = parse_arguments(&tool_spec(), arguments)?;
        if SearchWords::parse(&query).is_none() {
            return Err(Error::Arguments(
                "The query has no words. Describe what to find, such as “proxy settings”.".to_owned(),
            ));
        }
        let root = planned_path::locate(files, ".")?;
        let folders: Vec<&str> = self.0.folders.iter().map(|folder| folder.shown.as_str()).collect();
        let scope = match folders.is_empty() {
            true => String::new(),
            false => format!(" in the docs and {}", folders.join(", ")),
        };
        let summary = format!("{}{scope}", summary_line::first_line(&query, 80));
        let request = SearchRequest { place: PlannedPath::record(files, &root)?, query };
        Ok(Intent::Act(Box::new(Plan::new(
            "Search the docs?",
            summary_line::first_line(&summary, 120),
            planned_path::read_access(files, &root),
            Preview::Text(format!("{}{scope}", request.query)),
            Work::Arguments(json!(request)),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        run_search(self.0.clone(), plan, context.project.clone(), context.excluded.clone()).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let result = run_search(self.0.clone(), plan, context.project.clone(), context.excluded.clone());
        rehearse_read(NAME, plan, context, result).await
    }
}

async fn run_search(
    library: Arc<DocLibrary>,
    plan: &Plan,
    files: Arc<dyn Writer>,
    excluded: ExcludedPaths,
) -> Result<String, Error> {
    let request: SearchRequest = parse_plan_data(plan)?;
    // Dropped with this future.
    let (caller, clock) = WorkClock::start();
    let result = run_blocking(files, move |files| {
        let root = request.place.locate_again(files)?;
        let walk = DocWalk { files, root, excluded: &excluded, page_access: None, elapsed: &|| clock.elapsed() };
        search(&library, &walk, &request.query)
    })
    .await;
    drop(caller);
    result
}

/// Searches and formats the result.
fn search(library: &DocLibrary, walk: &DocWalk<'_>, query: &str) -> Result<String, Error> {
    let Some(words) = SearchWords::parse(query) else {
        return Err(Error::Internal("the query of the plan has no words".to_owned()));
    };
    let found = library.search(walk, &words)?;
    let mut text: String = found.hits.best.iter().map(format_hit).collect();
    // Writing into a string cannot fail.
    let _ = match found.hits.total {
        0 => writeln!(
            text,
            "No document matches. {}. Try other words, or search_text for an exact text in any file.",
            found.searched
        ),
        total => {
            let shown = found.hits.best.len();
            let which = if shown < total {
                format!("best {shown} of {total} matching documents")
            } else {
                format!("{total} matching")
            };
            writeln!(text, "[{which}; {}; read one with get_doc_page]", found.searched)
        }
    };
    if words.is_truncated {
        let _ = writeln!(text, "[only the first {MAX_TERMS} words of the query were used]");
    }
    text.push_str(&found.omissions.describe());
    Ok(text)
}

/// Formats a document that matches: `docs/proxy.md:12: Proxies · Certificates` and its snippet.
fn format_hit(hit: &Hit) -> String {
    let [title, heading] = [&hit.title, &hit.heading].map(|text| summary_line::first_line(text, MAX_TITLE_CHARS));
    let heading = if heading.is_empty() || heading == title { String::new() } else { format!(" · {heading}") };
    let snippet = summary_line::first_line(&hit.snippet, MAX_SNIPPET_CHARS);
    format!("{}:{}: {title}{heading}\n    {snippet}\n", hit.path, hit.line)
}

#[cfg(test)]
mod tests;
