//! Tool that saves a picture of the browser's page in the workspace.

use super::arguments::{object_spec, parse_arguments};
use super::workspace_target::run_in_workspace;
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::browser::known_page::PlannedPage;
use crate::browser::session::BrowserSession;
use crate::chat::{
    Access, CallResult, CallWords, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work, WorkspaceAccess,
};
use crate::project::Reader;
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{AddressTarget, ScopedPath, WorkspacePath};
use crate::workspace::{self, NewFile, Replaces, StoredFile, Workspace};
use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

pub const NAME: &str = "browser_screenshot";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Capture").with_result(CallResult::Picture);
/// Name of a picture if the model gives none.
const DEFAULT_NAME: &str = "screenshot.png";
/// Last number that is added to a name that exists.
const MAX_NUMBER: u32 = 999;

/// Saves pictures of the session's browser.
pub struct BrowserScreenshot {
    pub browser: Arc<BrowserSession>,
    pub workspace: Arc<Workspace>,
}

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
        "Save a picture of the page in the workspace, for the user.",
        json!({
            "annotate": { "type": "boolean", "description": "Draw refs, default true" },
            "filename": { "type": "string", "description": "Default screenshot.png" },
        }),
        &[],
    )
}

#[async_trait]
impl Tool for BrowserScreenshot {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { annotate, filename } = parse_arguments(&tool_spec(), arguments)?;
        let (page, opened) = self.browser.page_for_plan(None, files.is_rehearsal()).map_err(Error::Failed)?;
        let path = find_free_path(&self.workspace, filename.as_deref().unwrap_or(DEFAULT_NAME))?.to_string();
        let url = opened.map(|opened| opened.url.to_string());
        let access = WorkspaceAccess { path: path.clone(), changes: true, ..WorkspaceAccess::default() };
        let mut plan = Plan::new(
            "Save a picture of the web page?",
            summary_line::first_line(&path, 120),
            Access::Workspace(Box::new(access)),
            Preview::Text(format!("{path}, in the workspace\npicture of {}", url.as_deref().unwrap_or("the page"))),
            Work::Arguments(json!(PlannedPicture { path, is_annotated: annotate, page })),
        );
        plan.grant = Some(Grant::new(NAME, GrantScope::Workspace));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let PlannedPicture { path, is_annotated, page } = parse_plan_data(plan)?;
        let (picture, url) = self.browser.capture(is_annotated, &page).await.map_err(Error::Failed)?;
        let (origin, project) = (context.results.origin(), context.project.clone());
        run_in_workspace(&self.workspace, project, move |workspace| {
            let path = parse_path(&path)?;
            let file = NewFile { path: &path, bytes: &picture, origin, replaces: Replaces::Nothing, media_type: None };
            let StoredFile { id, size, .. } = workspace.write(&file)?;
            Ok(format!(
                "Saved {path}: workspace://{id} ({}), a picture of {url}. The user sees it; it is not part of your input.",
                format_bytes(size)
            ))
        })
        .await
    }
}

/// Finds a path in the workspace that no file has: the given one, or one with a number.
fn find_free_path(workspace: &Workspace, name: &str) -> Result<WorkspacePath, Error> {
    let name = name.trim();
    let stem = if name.to_ascii_lowercase().ends_with(".png") { &name[..name.len() - 4] } else { name };
    if stem.is_empty() || stem.ends_with('/') {
        return Err(Error::Arguments("The filename is empty.".to_owned()));
    }
    for number in 1..=MAX_NUMBER {
        let path = parse_path(&if number == 1 { format!("{stem}.png") } else { format!("{stem}-{number}.png") })?;
        let scoped = ScopedPath { session: None, path: path.clone() };
        match workspace.find(&AddressTarget::Path(scoped)) {
            Err(workspace::Error::Missing(_)) => return Ok(path),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Arguments(format!("{stem}.png exists, and so do those with numbers up to {MAX_NUMBER}.")))
}

fn parse_path(path: &str) -> Result<WorkspacePath, Error> {
    WorkspacePath::parse(path).map_err(|reason| Error::Arguments(format!("Cannot use the filename: {reason}.")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;
    use crate::store::Places;
    use crate::workspace::{Limits, Origin};

    #[test]
    fn a_name_that_exists_gets_a_number() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(&Places::within(home.path()), SessionId("01A".into()), Limits::default());
        for path in ["screenshot.png", "screenshot-2.png", "a/b.PNG"] {
            let path = WorkspacePath::parse(path).unwrap();
            let file = NewFile {
                path: &path,
                bytes: b"x",
                origin: Origin::default(),
                replaces: Replaces::Nothing,
                media_type: None,
            };
            workspace.write(&file).unwrap();
        }
        let find = |name: &str| {
            let found = find_free_path(&workspace, name);
            found.map(|path| path.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(find("screenshot.png").as_deref(), Ok("screenshot-3.png"));
        assert_eq!(find("docs/page").as_deref(), Ok("docs/page.png"));
        assert_eq!(find("page.jpg").as_deref(), Ok("page.jpg.png"));
        for name in ["", ".png", "a/", "../outside.png", "a/../../x"] {
            assert!(find(name).is_err(), "{name}: {:?}", find(name));
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
