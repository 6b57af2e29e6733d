//! Tool that lists the files of a folder.

use super::arguments::{PositiveInt, parse_arguments};
use super::planned_path::{self, PlannedPath};
use super::progress::{ProgressReporter, format_count};
use super::{
    Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read,
    run_blocking, summary_line,
};
use crate::chat::{Intent, Plan, Preconditions, Preview, ToolSpec, Work};
use crate::project::{self, Reader, Writer};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Entries listed per call.
const MAX_LISTED: usize = 500;
/// Entries visited before the listing stops.
const MAX_VISITED: usize = 200_000;
/// Default depth of a listing.
const DEPTH: u64 = 3;

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
    fn tool_spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_files".to_owned(),
            description: "List files and folders, except ignored ones.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "Folder, default the project" },
                    "depth": { "type": "integer", "minimum": 1, "description": "Levels, default 3" },
                },
                "required": [],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, depth } = parse_arguments(&self.tool_spec(), arguments)?;
        let at = planned_path::locate(files, path.as_deref().unwrap_or("."))?;
        let listing = Listing { place: PlannedPath::record(files, &at)?, depth: depth.map_or(DEPTH, |depth| depth.0) };
        let shown = planned_path::display_path(&at);
        Ok(Intent::Act(Box::new(Plan {
            title: "List a folder?".to_owned(),
            summary: summary_line::first_line(&shown, 120),
            access: planned_path::read_access(files, &at),
            preview: Preview::Text(shown),
            grant: None,
            destroys: None,
            preconditions: Preconditions::default(),
            work: Work::Arguments(json!(listing)),
        })))
    }

    async fn run(&self, plan: &Plan, hands: &LiveContext) -> Result<String, Error> {
        run_listing(plan, hands.project.clone(), &hands.progress).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_read("list_files", plan, stage, run_listing(plan, stage.project.clone(), &stage.progress)).await
    }
}

async fn run_listing(plan: &Plan, files: Arc<dyn Writer>, progress: &Progress) -> Result<String, Error> {
    let mut far = ProgressReporter::new(progress.clone());
    let listing: Listing = parse_plan_data(plan)?;
    run_blocking(files, move |files| format_listing(&listing, files, &mut far)).await
}

fn format_listing(listing: &Listing, files: &dyn Reader, far: &mut ProgressReporter) -> Result<String, Error> {
    let under = listing.place.locate_again(files)?;
    if !files.exists(&under) {
        return Err(project::Error::Missing(under.display_path).into());
    }
    let levels = under.real.components().count();
    let (mut out, mut named, mut more, mut deeper, mut looked_at) = (String::new(), 0, 0, 0, 0);
    files.walk(&under, true, &mut |found| {
        looked_at += 1;
        far.report(|| format!("{} scanned", format_count(looked_at, "file", "files")));
        if looked_at > MAX_VISITED {
            return ControlFlow::Break(());
        }
        let depth = found.location.real.components().count().saturating_sub(levels) as u64;
        if depth == 0 {
            return ControlFlow::Continue(());
        }
        if depth > listing.depth {
            deeper += 1;
        } else if named == MAX_LISTED {
            more += 1;
        } else {
            named += 1;
            let slash = if found.is_folder { "/" } else { "" };
            // Cannot fail: it writes into a string.
            let _ =
                writeln!(out, "{}{slash}", summary_line::first_line(&planned_path::display_path(&found.location), 500));
        }
        ControlFlow::Continue(())
    })?;
    let is_empty = named == 0 && deeper == 0;
    if is_empty && !matches!(files.read(&under), Err(project::Error::NotAFile { kind: "a folder", .. })) {
        return Err(Error::Failed(format!("{} is not a folder. Use read_file.", planned_path::display_path(&under))));
    }
    if is_empty {
        out.push_str("Empty, or every entry is ignored.\n");
    }
    if more > 0 {
        let _ = writeln!(out, "[{more} more; set path or a smaller depth]");
    }
    if deeper > 0 {
        let _ = writeln!(out, "[{deeper} deeper than {} levels]", listing.depth);
    }
    if looked_at > MAX_VISITED {
        let _ = writeln!(out, "[stopped after {MAX_VISITED} entries; the rest was not counted]");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Access;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    async fn listed(arguments: Value, files: &std::sync::Arc<MemoryProject>) -> String {
        let plan = plan_call(&ListFiles, arguments, files).unwrap();
        run_call(&ListFiles, &plan, files).await.unwrap_or_else(|error| error.to_string())
    }

    #[tokio::test]
    async fn lists_folders_with_slash_down_to_depth() {
        let files = MemoryProject::with_files(&[("a", ""), ("src/b.rs", ""), ("src/x/y/c.rs", "")]);
        let all = "a\nsrc/\nsrc/b.rs\nsrc/x/\nsrc/x/y/\n[1 deeper than 3 levels]\n";
        assert_eq!(listed(json!({}), &files).await, all);
        assert_eq!(listed(json!({"depth": 1}), &files).await, "a\nsrc/\n[4 deeper than 1 levels]\n");
        assert_eq!(listed(json!({"path": "src/x"}), &files).await, "src/x/y/\nsrc/x/y/c.rs\n");
        assert_eq!(listed(json!({"path": "no"}), &files).await, "there is no file no");
    }

    #[tokio::test]
    async fn counts_entries_beyond_the_limit() {
        let names: Vec<String> = (0..=MAX_LISTED).map(|n| format!("f{n:04}")).collect();
        let files = MemoryProject::with_bytes(names.iter().map(|name| (name.as_str(), vec![])));
        let list = listed(json!({}), &files).await;
        assert!(list.ends_with("f0499\n[1 more; set path or a smaller depth]\n"), "{list}");
    }

    #[test]
    fn r13_listing_outside_project_is_sensitive() {
        let files = MemoryProject::with_files(&[]);
        let plan = plan_call(&ListFiles, json!({"path": "/etc"}), &files).unwrap();
        assert_eq!(plan.access, Access::ReadSensitive("/etc".into()));
    }
}
