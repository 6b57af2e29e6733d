//! Tool that lists the files of a folder.

use super::arguments::{Count, checked};
use super::far::{Far, count};
use super::place::{self, Place};
use super::{Error, Hands, Progress, Rehearsed, Stage, Tool, blocking, brief, reading_on_stage, work};
use crate::chat::{Basis, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::{self, Reader, Writer};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Entries listed per call.
const ENTRIES: usize = 500;
/// Entries visited before the listing stops.
const LOOKED_AT: usize = 200_000;
/// Default depth of a listing.
const DEPTH: u64 = 3;

pub struct ListFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    depth: Option<Count>,
}

#[derive(Serialize, Deserialize)]
struct Listing {
    place: Place,
    depth: u64,
}

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> ToolSpec {
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
        let Arguments { path, depth } = checked(&self.spec(), arguments)?;
        let at = place::locate(files, path.as_deref().unwrap_or("."))?;
        let listing = Listing { place: Place::of(files, &at)?, depth: depth.map_or(DEPTH, |depth| depth.0) };
        let shown = place::shown(&at);
        Ok(Intent::Act(Box::new(Plan {
            title: "list a folder?".to_owned(),
            summary: brief::line(&shown, 120),
            access: place::reading(files, &at),
            preview: Preview::Text(shown),
            always: None,
            destroys: None,
            basis: Basis::default(),
            work: Work::Arguments(json!(listing)),
        })))
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        look(plan, hands.project.clone(), &hands.progress).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        reading_on_stage("list_files", plan, stage, look(plan, stage.project.clone(), &stage.progress)).await
    }
}

async fn look(plan: &Plan, files: Arc<dyn Writer>, progress: &Progress) -> Result<String, Error> {
    let mut far = Far::new(progress.clone());
    let listing: Listing = work(plan)?;
    blocking(files, move |files| list(&listing, files, &mut far)).await
}

fn list(listing: &Listing, files: &dyn Reader, far: &mut Far) -> Result<String, Error> {
    let under = listing.place.again(files)?;
    if !files.exists(&under) {
        return Err(project::Error::Missing(under.shown).into());
    }
    let levels = under.real.components().count();
    let (mut out, mut named, mut more, mut deeper, mut looked_at) = (String::new(), 0, 0, 0, 0);
    files.walk(&under, true, &mut |found| {
        looked_at += 1;
        far.is(|| format!("{} scanned", count(looked_at, "file", "files")));
        if looked_at > LOOKED_AT {
            return ControlFlow::Break(());
        }
        let depth = found.at.real.components().count().saturating_sub(levels) as u64;
        if depth == 0 {
            return ControlFlow::Continue(());
        }
        if depth > listing.depth {
            deeper += 1;
        } else if named == ENTRIES {
            more += 1;
        } else {
            named += 1;
            let slash = if found.folder { "/" } else { "" };
            // Cannot fail: it writes into a string.
            let _ = writeln!(out, "{}{slash}", brief::line(&place::shown(&found.at), 500));
        }
        ControlFlow::Continue(())
    })?;
    let is_empty = named == 0 && deeper == 0;
    if is_empty && !matches!(files.read(&under), Err(project::Error::NotAFile { kind: "a folder", .. })) {
        return Err(Error::Failed(format!("{} is not a folder. Use read_file.", place::shown(&under))));
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
    if looked_at > LOOKED_AT {
        let _ = writeln!(out, "[stopped after {LOOKED_AT} entries; the rest was not counted]");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Access;
    use crate::tools::memory::Memory;
    use crate::tools::tests::{acted, planned};

    async fn listed(arguments: Value, files: &std::sync::Arc<Memory>) -> String {
        let plan = planned(&ListFiles, arguments, files).unwrap();
        acted(&ListFiles, &plan, files).await.unwrap_or_else(|error| error.to_string())
    }

    #[tokio::test]
    async fn lists_folders_with_slash_down_to_depth() {
        let files = Memory::with(&[("a", ""), ("src/b.rs", ""), ("src/x/y/c.rs", "")]);
        let all = "a\nsrc/\nsrc/b.rs\nsrc/x/\nsrc/x/y/\n[1 deeper than 3 levels]\n";
        assert_eq!(listed(json!({}), &files).await, all);
        assert_eq!(listed(json!({"depth": 1}), &files).await, "a\nsrc/\n[4 deeper than 1 levels]\n");
        assert_eq!(listed(json!({"path": "src/x"}), &files).await, "src/x/y/\nsrc/x/y/c.rs\n");
        assert_eq!(listed(json!({"path": "no"}), &files).await, "there is no file no");
    }

    #[tokio::test]
    async fn counts_entries_beyond_the_limit() {
        let names: Vec<String> = (0..=ENTRIES).map(|n| format!("f{n:04}")).collect();
        let files = Memory::bytes(names.iter().map(|name| (name.as_str(), vec![])));
        let list = listed(json!({}), &files).await;
        assert!(list.ends_with("f0499\n[1 more; set path or a smaller depth]\n"), "{list}");
    }

    #[test]
    fn r13_listing_outside_project_is_sensitive() {
        let files = Memory::with(&[]);
        let plan = planned(&ListFiles, json!({"path": "/etc"}), &files).unwrap();
        assert_eq!(plan.access, Access::ReadSensitive("/etc".into()));
    }
}
