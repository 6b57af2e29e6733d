//! Copies a text file of the workspace into the project, with one prompt that shows the difference. Never offered to the
//! model, which has write_file.

use super::arguments::{object_spec, parse_arguments};
use super::workspace_target::parse_target;
use super::{Error, LiveContext, Tool, file_change, planned_path};
use crate::chat::apply_message::COPY_TO_PROJECT;
use crate::chat::{CallWords, Intent, Plan, ToolSpec};
use crate::project::Reader;
use crate::text::byte_size::format_bytes;
use crate::workspace::{Workspace, is_text};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(COPY_TO_PROJECT, "Copy to project").with_path();

/// The file is replaced as a whole.
const IS_FULL_REPLACEMENT: bool = true;

/// Copies files of this workspace.
pub struct CopyToProject(pub Arc<Workspace>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_id: String,
    path: String,
}

#[async_trait]
impl Tool for CopyToProject {
    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            COPY_TO_PROJECT,
            "Copy a text file of the workspace into the project.",
            json!({
                "file_id": { "type": "string", "description": "ID, or ID@VERSION" },
                "path": { "type": "string", "description": "Relative to the project" },
            }),
            &["file_id", "path"],
        )
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { file_id, path } = parse_arguments(&self.tool_spec(), arguments)?;
        let source = parse_target(&self.0, Some(&file_id), None)?;
        let file = source.workspace.find(&source.target)?;
        let other_way = format!("Copy it with: aye files get {file_id}");
        if file.size > file_change::MAX_FILE_BYTES as u64 {
            let limit = format_bytes(file_change::MAX_FILE_BYTES as u64);
            return Err(Error::Failed(format!(
                "Cannot copy {}: it exceeds the limit of {limit}. {other_way}",
                file.path
            )));
        }
        let bytes = source.workspace.read(&file)?;
        let text = match String::from_utf8(bytes) {
            Ok(text) if is_text(text.as_bytes()) => text,
            _ => return Err(Error::Failed(format!("Cannot copy {}: it is not text. {other_way}", file.path))),
        };
        let location = planned_path::locate(files, &path)?;
        let before = file_change::read_text(files, &location)?;
        let mut intent =
            file_change::plan_change(COPY_TO_PROJECT, files, &location, before, text, IS_FULL_REPLACEMENT)?;
        if let Intent::Act(plan) = &mut intent {
            // No grant is offered, because calls the user starts always ask.
            plan.grant = None;
        }
        Ok(intent)
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        file_change::write_change(plan, context.project.clone(), IS_FULL_REPLACEMENT).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Access, SessionId};
    use crate::store::Places;
    use crate::text::workspace_address::WorkspacePath;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};
    use crate::workspace::{Limits, NewFile, Origin, Replaces};

    #[tokio::test]
    async fn copies_exactly_the_text_that_was_shown() {
        let folder = tempfile::tempdir().unwrap();
        let workspace =
            Arc::new(Workspace::new(&Places::within(folder.path()), SessionId("01A".into()), Limits::default()));
        let store = |path: &str, bytes: &[u8]| {
            let path = WorkspacePath::parse(path).unwrap();
            workspace
                .write(&NewFile {
                    path: &path,
                    bytes,
                    origin: Origin::default(),
                    replaces: Replaces::Any,
                    media_type: None,
                })
                .unwrap()
                .id
        };
        let (text, picture, long) =
            (store("a.txt", b"1\r\n2"), store("b.png", b"\x89PNG\r\n\x1a\n\0"), store("c", &vec![b'x'; 1_048_577]));
        let files = MemoryProject::with_files(&[("old.txt", "1\n")]);
        let tool = CopyToProject(workspace.clone());
        let plan = |id: &str, path: &str| plan_call(&tool, json!({ "file_id": id, "path": path }), &files);
        let create = plan(&text, "new/a.txt").unwrap();
        assert_eq!((create.title.as_str(), &create.access), ("Create a file?", &Access::Write("new/a.txt".into())));
        assert_eq!(create.grant, None);
        store("a.txt", b"changed meanwhile");
        run_call(&tool, &create, &files).await.unwrap();
        assert_eq!(files.text("new/a.txt").as_deref(), Some("1\r\n2"));
        let replace = plan(&format!("{text}@1"), "old.txt").unwrap();
        assert_eq!(replace.title, "Change a file?");
        for (id, path, part) in [
            (picture.as_str(), "b.png", "it is not text. Copy it with: aye files get"),
            (&long, "c", "it exceeds the limit of 1.0 MB. Copy it with: aye files get"),
            (&format!("{text}@9"), "c", "has no version 9"),
            (&format!("{text}@1"), "new/a.txt", "already has exactly this content"),
        ] {
            let error = plan(id, path).unwrap_err().to_string();
            assert!(error.contains(part), "{path}: {error}");
        }
    }
}
