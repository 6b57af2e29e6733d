//! Tool that lists the files of a folder.

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::planned_path::{self, PlannedPath};
use super::progress::{ProgressReporter, format_count};
use super::{
    Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read,
    run_blocking, summary_line,
};
use crate::chat::{CallResult, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::{self, Reader, Writer};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new("list_files", "List").with_path().with_result(CallResult::Reading),
    make: |_| Some(Arc::new(ListFiles)),
};

/// Maximum number of entries listed per call.
const MAX_LISTED: usize = 500;
/// Entries visited before the listing stops.
const MAX_VISITED: usize = 200_000;
/// Default depth of a listing.
const DEFAULT_DEPTH: u64 = 3;

pub struct ListFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    depth: Option<PositiveInt>,
}

#[derive(Serialize, Deserialize)]
struct Listing {
    place: PlannedPath,
    depth: u64,
}

#[async_trait]
impl Tool for ListFiles {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "list_files",
            "List files and folders, except ignored ones.",
            json!({
                "path": { "type": "string", "description": "Default the project" },
                "depth": { "type": "integer", "minimum": 1, "description": "Levels, default 3" },
            }),
            &[],
        )
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, depth } = parse_arguments(&self.tool_spec(), arguments)?;
        let location = planned_path::locate(files, path.as_deref().unwrap_or("."))?;
        let listing = Listing {
            place: PlannedPath::record(files, &location)?,
            depth: depth.map_or(DEFAULT_DEPTH, |depth| depth.0),
        };
        let displayed_path = planned_path::display_path(&location);
        Ok(Intent::Act(Box::new(Plan::new(
            "List a folder?",
            summary_line::first_line(&displayed_path, 120),
            planned_path::read_access(files, &location),
            Preview::Text(displayed_path),
            Work::Arguments(json!(listing)),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        run_listing(plan, context.project.clone(), &context.progress).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_read("list_files", plan, context, run_listing(plan, context.project.clone(), &context.progress)).await
    }
}

async fn run_listing(plan: &Plan, files: Arc<dyn Writer>, progress: &Progress) -> Result<String, Error> {
    let mut reporter = ProgressReporter::new(progress.clone());
    let listing: Listing = parse_plan_data(plan)?;
    run_blocking(files, move |files| format_listing(&listing, files, &mut reporter)).await
}

fn format_listing(listing: &Listing, files: &dyn Reader, reporter: &mut ProgressReporter) -> Result<String, Error> {
    let folder = listing.place.locate_again(files)?;
    if !files.exists(&folder) {
        return Err(project::Error::Missing(folder.display_path).into());
    }
    let base_depth = folder.real.components().count();
    let (mut text, mut listed_count, mut unlisted_count, mut deeper_count, mut scanned_count) =
        (String::new(), 0, 0, 0, 0);
    let include_hidden = true;
    files.walk(&folder, include_hidden, &mut |entry| {
        scanned_count += 1;
        reporter.report_if_due(|| format!("{} scanned", format_count(scanned_count, "file", "files")));
        if scanned_count > MAX_VISITED {
            return ControlFlow::Break(());
        }
        let depth = entry.location.real.components().count().saturating_sub(base_depth) as u64;
        if depth == 0 {
            return ControlFlow::Continue(());
        }
        if depth > listing.depth {
            deeper_count += 1;
        } else if listed_count == MAX_LISTED {
            unlisted_count += 1;
        } else {
            listed_count += 1;
            let slash = if entry.is_folder { "/" } else { "" };
            // Cannot fail: it writes into a string.
            let _ = writeln!(
                text,
                "{}{slash}",
                summary_line::first_line(&planned_path::display_path(&entry.location), 500)
            );
        }
        ControlFlow::Continue(())
    })?;
    // The walk of a file lists no entry either, like the walk of an empty folder.
    let is_empty = listed_count == 0 && deeper_count == 0;
    if is_empty && !matches!(files.read(&folder), Err(project::Error::NotAFile { kind: "a folder", .. })) {
        return Err(Error::Failed(format!("{} is not a folder. Use read_file.", planned_path::display_path(&folder))));
    }
    if is_empty {
        text.push_str("Empty, or every entry is ignored.\n");
    }
    if unlisted_count > 0 {
        let _ = writeln!(text, "[{unlisted_count} more; set path or a smaller depth]");
    }
    if deeper_count > 0 {
        let _ = writeln!(text, "[{deeper_count} deeper than {} levels]", listing.depth);
    }
    if scanned_count > MAX_VISITED {
        let _ = writeln!(text, "[stopped after {MAX_VISITED} entries; the rest was not counted]");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Access;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    async fn list_call(arguments: Value, files: &std::sync::Arc<MemoryProject>) -> String {
        let plan = plan_call(&ListFiles, arguments, files).unwrap();
        run_call(&ListFiles, &plan, files).await.unwrap_or_else(|error| error.to_string())
    }

    #[tokio::test]
    async fn lists_folders_with_slash_down_to_depth() {
        let files = MemoryProject::with_files(&[("a", ""), ("src/b.rs", ""), ("src/x/y/c.rs", "")]);
        let expected = "a\nsrc/\nsrc/b.rs\nsrc/x/\nsrc/x/y/\n[1 deeper than 3 levels]\n";
        assert_eq!(list_call(json!({}), &files).await, expected);
        assert_eq!(list_call(json!({"depth": 1}), &files).await, "a\nsrc/\n[4 deeper than 1 levels]\n");
        assert_eq!(list_call(json!({"path": "src/x"}), &files).await, "src/x/y/\nsrc/x/y/c.rs\n");
        assert_eq!(list_call(json!({"path": "no"}), &files).await, "there is no file no");
    }

    #[tokio::test]
    async fn counts_entries_beyond_the_limit() {
        let names: Vec<String> = (0..=MAX_LISTED).map(|n| format!("f{n:04}")).collect();
        let files = MemoryProject::with_bytes(names.iter().map(|name| (name.as_str(), vec![])));
        let list = list_call(json!({}), &files).await;
        assert!(list.ends_with("f0499\n[1 more; set path or a smaller depth]\n"), "{list}");
    }

    #[test]
    fn r13_listing_outside_project_is_sensitive() {
        let files = MemoryProject::with_files(&[]);
        let plan = plan_call(&ListFiles, json!({"path": "/etc"}), &files).unwrap();
        assert_eq!(plan.access, Access::ReadSensitive("/etc".into()));
    }
}
