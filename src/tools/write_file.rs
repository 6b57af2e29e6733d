//! Tool that creates or replaces a file.

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, file_change, planned_path};
use crate::chat::{CallWords, Intent, Plan, ReferenceUse, ToolSpec};
use crate::project::Reader;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new("write_file", "Write").with_path().with_creation("Create"),
    make: |_| Some(Arc::new(WriteFile)),
};

/// The model gives the whole new content, unlike for edit_file.
const IS_FULL_REPLACEMENT: bool = true;

pub struct WriteFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

#[async_trait]
impl Tool for WriteFile {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "write_file",
            "Create or replace a whole file. To change a part, use edit_file.",
            json!({
                "path": { "type": "string", "description": "Relative to the project" },
                "content": { "type": "string", "description": "Full content" },
            }),
            &["path", "content"],
        )
        .with_file_references(&[("content", ReferenceUse::Text)])
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, content } = parse_arguments(&self.tool_spec(), arguments)?;
        let location = planned_path::locate(files, &path)?;
        let before = match file_change::read_text(files, &location) {
            Ok(before) => before,
            // This error may be reported: it says that something other than a file is there, not what it contains.
            Err(error @ Error::Project(crate::project::Error::NotAFile { .. })) => return Err(error),
            Err(error) => {
                let message = format!("{} cannot be replaced as text.", planned_path::display_path(&location));
                return file_change::hide_read_error(files, &location, error, &message);
            }
        };
        let after =
            before.as_deref().map_or_else(|| content.clone(), |before| file_change::match_file_style(before, &content));
        file_change::plan_change("write_file", files, &location, before, after, IS_FULL_REPLACEMENT)
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        file_change::write_change(plan, context.project.clone(), IS_FULL_REPLACEMENT).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        file_change::rehearse_change(plan, context.project.clone(), IS_FULL_REPLACEMENT).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Access;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};
    use std::sync::Arc;

    fn plan_write(path: &str, content: &str, files: &Arc<MemoryProject>) -> Result<Plan, Error> {
        plan_call(&WriteFile, json!({"path": path, "content": content}), files)
    }

    #[tokio::test]
    async fn r24_writes_only_over_the_planned_content() {
        let files = MemoryProject::with_files(&[("a", "1\n2\n")]);
        let create_plan = plan_write("b/c", "x\n", &files).unwrap();
        assert_eq!((create_plan.title.as_str(), create_plan.summary.as_str()), ("Create a file?", "b/c"));
        assert_eq!(run_call(&WriteFile, &create_plan, &files).await.unwrap(), "b/c: +1 −0");
        assert_eq!(files.text("b/c").as_deref(), Some("x\n"));
        let error = run_call(&WriteFile, &create_plan, &files).await.unwrap_err();
        assert!(error.to_string().contains("has changed since the plan was made"));
        let (first, second) = (plan_write("a", "1\n3\n", &files).unwrap(), plan_write("a", "1\n4\n", &files).unwrap());
        assert_eq!(run_call(&WriteFile, &first, &files).await.unwrap(), "a: +1 −1");
        assert!(run_call(&WriteFile, &second, &files).await.is_err());
        assert_eq!(files.text("a").as_deref(), Some("1\n3\n"));
    }

    #[test]
    fn r26_only_plain_files_inside_can_be_granted() {
        let files = MemoryProject::with_files(&[(".env", "K=1\n"), ("a", "1\n2\n3\n")]);
        let check = |path: &str, access: Access, is_grantable: bool, destroys: Option<&str>| {
            let plan = plan_write(path, "1\n2\n4\n", &files).unwrap();
            assert_eq!((plan.access, plan.grant.is_some(), plan.destroys.as_deref()), (access, is_grantable, destroys));
        };
        check("a", Access::Write("a".into()), true, None);
        check("new", Access::Write("new".into()), true, None);
        check(".git/hooks/x", Access::WriteOutside(".git/hooks/x".into()), false, None);
        check("../x", Access::WriteOutside("/x".into()), false, Some("creates /x, outside the project"));
        let full_rewrite = plan_write("a", "x\n", &files).unwrap();
        assert_eq!(full_rewrite.destroys.as_deref(), Some("replaces all 3 lines of a"));
        let partial_rewrite = plan_write("a", "1\n", &files).unwrap();
        assert_eq!(partial_rewrite.destroys.as_deref(), Some("replaces 2 of 3 lines of a"));
    }

    #[tokio::test]
    async fn r24_keeps_line_endings_bom_and_final_newline() {
        let files = MemoryProject::with_files(&[("a", "\u{feff}1\r\n2\r\n")]);
        let plan = plan_write("a", "1\n3", &files).unwrap();
        run_call(&WriteFile, &plan, &files).await.unwrap();
        assert_eq!(files.text("a").as_deref(), Some("\u{feff}1\r\n3\r\n"));
    }

    #[test]
    fn rejects_files_that_cannot_be_changed() {
        let files = MemoryProject::with_bytes([
            ("bin", vec![0xff, 0xfe]),
            ("nul", b"a\0".to_vec()),
            ("same", b"x\n".to_vec()),
            ("d/e", vec![]),
        ]);
        let check = |path: &str, content: &str, part: &str| {
            let error = plan_write(path, content, &files).unwrap_err().to_string();
            assert!(error.contains(part), "{path}: {error}");
        };
        check("bin", "x", "not UTF-8");
        check("nul", "x", "a binary file");
        check("same", "x\n", "already has exactly this");
        check("d", "x", "d is a folder, not a file");
        check("big", &"x".repeat(file_change::MAX_FILE_BYTES + 1), "the limit is 1048576");
        assert!(plan_write("big", &"x".repeat(file_change::MAX_FILE_BYTES), &files).is_ok());
    }

    #[test]
    fn an_error_tells_nothing_about_a_file_that_asks_to_be_read() {
        let files = MemoryProject::with_bytes([
            (".env", b"KEY=1\n".to_vec()),
            ("a/.env", vec![0xff]),
            ("b/.env", b"a\0".to_vec()),
            ("c/.env", vec![b'x'; file_change::MAX_FILE_BYTES + 1]),
        ]);
        for path in ["a/.env", "b/.env", "c/.env"] {
            let error = plan_write(path, "x\n", &files).unwrap_err().to_string();
            assert_eq!(error, format!("{path} cannot be replaced as text. Call read_file first; the user is asked."));
        }
        // A right guess of the content asks like a wrong one.
        for guess in ["KEY=1\n", "KEY=2\n"] {
            let plan = plan_write(".env", guess, &files).unwrap();
            assert_eq!((plan.access, plan.grant), (Access::WriteOutside(".env".into()), None));
        }
    }
}
