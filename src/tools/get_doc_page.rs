//! Tool that returns a whole document which `search_docs` can find.

use super::arguments::{object_spec, parse_arguments};
use super::doc_sources::{DocLibrary, DocWalk, Origin};
use super::planned_path::{self, PlannedPath};
use super::progress::WorkClock;
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, ResultFiles, Tool, parse_plan_data, rehearse_read,
    run_blocking, summary_line,
};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::doc_index::DocText;
use crate::policy::ExcludedPaths;
use crate::project::{Reader, Writer};
use crate::text::passages::split_passages;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Component, Path};
use std::sync::Arc;

pub(crate) const NAME: &str = "get_doc_page";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Read document").with_path();
/// Maximum characters of the title in a result.
const MAX_TITLE_CHARS: usize = 100;

/// Returns pages of these documents.
pub struct GetDocPage(pub(super) Arc<DocLibrary>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

#[derive(Serialize, Deserialize)]
struct PageRequest {
    path: String,
    origin: Origin,
    /// The folder of the project.
    root: PlannedPath,
    /// The file; `None` if it is not in the project.
    place: Option<PlannedPath>,
}

/// A page that was read.
struct Page {
    heading: String,
    text: String,
    /// Note that the end of the file is missing.
    note: Option<String>,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Return a document found by search_docs.",
        json!({ "path": { "type": "string", "description": "As found: docs/a.md, aye/mcp" } }),
        &["path"],
    )
}

#[async_trait]
impl Tool for GetDocPage {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path } = parse_arguments(&tool_spec(), arguments)?;
        let path = check_path(&path)?;
        let root = PlannedPath::record(files, &planned_path::locate(files, ".")?)?;
        let document = self.0.find_page(path, files)?;
        // No rule about paths of the project is for a page of the manual or of a folder of the user.
        let (access, place) = match &document.location {
            Some(location) => (planned_path::read_access(files, location), Some(PlannedPath::record(files, location)?)),
            None => (Access::Read(Vec::new()), None),
        };
        if !matches!(access, Access::Read(_)) {
            return Err(Error::Failed(format!(
                "{} may hold secrets, so this tool does not read it. Use read_file; the user is asked.",
                document.path
            )));
        }
        let summary = match document.folder {
            Some(folder) => format!("{} in {}", document.path, folder.shown),
            None => document.path.clone(),
        };
        let request = PageRequest { path: document.path, origin: document.origin, root, place };
        Ok(Intent::Act(Box::new(Plan::new(
            "Read a document?",
            summary_line::first_line(&summary, 120),
            access,
            Preview::Text(summary),
            Work::Arguments(json!(request)),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone(), &context.excluded, &context.results).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let result = self.execute(plan, context.project.clone(), &context.excluded, &context.results);
        rehearse_read(NAME, plan, context, result).await
    }
}

impl GetDocPage {
    async fn execute(
        &self,
        plan: &Plan,
        files: Arc<dyn Writer>,
        excluded: &ExcludedPaths,
        results: &ResultFiles,
    ) -> Result<String, Error> {
        let (request, excluded): (PageRequest, ExcludedPaths) = (parse_plan_data(plan)?, excluded.clone());
        let (library, path, access) = (self.0.clone(), request.path.clone(), plan.access.clone());
        // Dropped with this future.
        let (caller, clock) = WorkClock::start();
        let page = run_blocking(files, move |files| {
            let root = request.root.locate_again(files)?;
            if let Some(place) = &request.place {
                place.locate_again(files)?;
            }
            let page_access = request.place.is_some().then_some(access);
            let walk = DocWalk { files, root, excluded: &excluded, page_access, elapsed: &|| clock.elapsed() };
            read_page(&library, &walk, &request)
        })
        .await?;
        drop(caller);
        let mut result = results.shorten(&path, page.heading, page.text).await;
        if let Some(note) = page.note {
            result.push_str(&format!("\n{note}"));
        }
        Ok(result)
    }
}

/// Checks that a path is relative and consists of names, and returns it.
fn check_path(path: &str) -> Result<&str, Error> {
    let path = path.trim();
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_relative = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    match is_relative && !path.is_empty() && !path.starts_with('~') && !path.contains('\0') {
        true => Ok(path),
        false => Err(Error::Arguments(
            "The path must be one that search_docs returns, without a leading “/” and without “..”: docs/a.md or aye/mcp."
                .to_owned(),
        )),
    }
}

/// Finds a document among those that the call may read, and reads it.
fn read_page(library: &DocLibrary, walk: &DocWalk<'_>, request: &PageRequest) -> Result<Page, Error> {
    let path = &request.path;
    let found = walk.find_documents(&library.folders, Some(request.origin))?;
    let Some(document) = found.documents.iter().find(|document| document.path == *path) else {
        return Err(Error::Failed(format!(
            "{path} is not one of the documents, or a rule of the user excludes it. Find one with search_docs.{}",
            if found.omissions.is_incomplete() { " Not every folder was looked at within the limits." } else { "" }
        )));
    };
    let Some(DocText { text, markup, fallback_title }) = document.read(walk.files)? else {
        return Err(Error::Failed(format!("{path} is not a text file, so it was not read.")));
    };
    let title = split_passages(&text, markup).0.unwrap_or(fallback_title);
    let heading = format!("{path}: {}", summary_line::first_line(&title, MAX_TITLE_CHARS));
    Ok(Page { heading, text, note: document.describe_truncation() })
}

#[cfg(test)]
mod tests;
