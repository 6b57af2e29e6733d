//! Tool that saves a picture of the browser's page as a file of the project.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, Tool, parse_plan_data, planned_path, run_blocking, summary_line};
use crate::browser::session::{BrowserSession, PlannedPage};
use crate::chat::{Access, FileContent, FileSnapshot, Intent, Plan, Preconditions, Preview, ToolSpec, Work};
use crate::project::{self, Location, Reader};
use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

const NAME: &str = "browser_screenshot";
/// Name of a picture if the model gives none.
const DEFAULT_NAME: &str = "screenshot.png";
/// Last number that is added to a name that exists.
const MAX_NUMBER: u32 = 999;

/// Saves pictures of the session's browser.
pub struct BrowserScreenshot(pub Arc<BrowserSession>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default = "default_annotate", deserialize_with = "parse_annotate")]
    annotate: bool,
    filename: Option<String>,
}

/// The picture of a plan.
#[derive(Serialize, Deserialize)]
struct PlannedPicture {
    path: String,
    is_annotated: bool,
    page: PlannedPage,
}

fn default_annotate() -> bool {
    true
}

/// Accepts a switch also as text, as some models send it.
fn parse_annotate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Bool(annotate) => Ok(annotate),
        Value::String(text) if text == "true" || text == "false" => Ok(text == "true"),
        _ => Err(serde::de::Error::custom("expected true or false")),
    }
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Save a picture of the browser's page in the project, for the user.",
        json!({
            "annotate": { "type": "boolean", "description": "Draw refs, default true" },
            "filename": { "type": "string", "description": "Default screenshot.png; numbered if it exists" },
        }),
        &[],
    )
}

#[async_trait]
impl Tool for BrowserScreenshot {
    fn name(&self) -> Cow<'_, str> {
        NAME.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { annotate, filename } = parse_arguments(&tool_spec(), arguments)?;
        let (page, opened) = self.0.page_for_plan(None, files.is_rehearsal()).map_err(Error::Failed)?;
        let (path, location) = find_free_name(files, filename.as_deref().unwrap_or(DEFAULT_NAME))?;
        let displayed = planned_path::display_path(&location);
        let url = opened.map(|opened| opened.url.to_string());
        let mut plan = Plan::new(
            "Create a file?",
            summary_line::first_line(&displayed, 120),
            planned_path::write_access(&location),
            Preview::Text(format!("{displayed}\npicture of {}", url.as_deref().unwrap_or("the page"))),
            Work::Arguments(json!(PlannedPicture { path, is_annotated: annotate, page })),
        );
        let content = FileContent::from_bytes(None);
        let snapshot = FileSnapshot { path: location.display_path, content, new_sha256: None, may_grow: false };
        plan.preconditions = Preconditions { files: vec![snapshot], ..Preconditions::default() };
        // No grant: the next picture is another file.
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let PlannedPicture { path, is_annotated, page } = parse_plan_data(plan)?;
        let (picture, url) = self.0.capture(is_annotated, &page).await.map_err(Error::Failed)?;
        let (access, writer) = (plan.access.clone(), context.project.clone());
        run_blocking(context.project.clone(), move |files| {
            let location = files.locate(&path)?;
            if planned_path::write_access(&location) != access {
                return Err(project::Error::Changed(location.display_path).into());
            }
            writer.write_whole(&location, None, &picture)?;
            let (name, size) = (planned_path::display_path(&location), picture.len().div_ceil(1000));
            Ok(format!("Saved {name}, {size} kB, a picture of {url}. The user sees it; it is not part of your input."))
        })
        .await
    }
}

/// Finds a name in the project that no file has: the given one, or one with a number. Returns it as the tool locates it too.
fn find_free_name(files: &dyn Reader, name: &str) -> Result<(String, Location), Error> {
    let name = name.trim();
    let stem = if name.to_ascii_lowercase().ends_with(".png") { &name[..name.len() - 4] } else { name };
    if stem.is_empty() || stem.ends_with('/') {
        return Err(Error::Arguments("The filename is empty.".to_owned()));
    }
    for number in 1..=MAX_NUMBER {
        let path = if number == 1 { format!("{stem}.png") } else { format!("{stem}-{number}.png") };
        let location = files.locate(&path)?;
        if !matches!(planned_path::write_access(&location), Access::Write(_)) {
            return Err(Error::Arguments("The file must be a plain file inside the project.".to_owned()));
        }
        if !files.exists(&location) {
            return Ok((path, location));
        }
    }
    Err(Error::Arguments(format!("{stem}.png exists, and so do those with numbers up to {MAX_NUMBER}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;

    #[test]
    fn a_name_that_exists_gets_a_number() {
        let files = MemoryProject::with_files(&[("screenshot.png", "x"), ("screenshot-2.png", "x"), ("a/b.PNG", "x")]);
        let find = |name: &str| find_free_name(&files, name).map(|(path, _)| path).map_err(|error| error.to_string());
        assert_eq!(find("screenshot.png").as_deref(), Ok("screenshot-3.png"));
        assert_eq!(find("docs/page").as_deref(), Ok("docs/page.png"));
        assert_eq!(find("page.jpg").as_deref(), Ok("page.jpg.png"));
        for name in ["", ".png", "a/", "../outside.png", ".git/x.png", ".env/../../x"] {
            assert!(find(name).is_err(), "{name}");
        }
    }

    #[test]
    fn annotate_may_be_text() {
        let annotate =
            |arguments: Value| parse_arguments::<Arguments>(&tool_spec(), &arguments).map(|parsed| parsed.annotate);
        assert!(annotate(json!({})).unwrap() && annotate(json!({ "annotate": "true" })).unwrap());
        assert!(!annotate(json!({ "annotate": "false" })).unwrap() && !annotate(json!({ "annotate": false })).unwrap());
        assert!(annotate(json!({ "annotate": "no" })).is_err() && annotate(json!({ "annotate": 0 })).is_err());
    }
}
